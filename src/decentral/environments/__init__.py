"""Environments: the worlds that agents act in. They know nothing of learning."""
