"""Environments: the environments that agents act in. They know nothing of learning."""
