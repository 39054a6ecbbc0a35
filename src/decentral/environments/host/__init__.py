"""Environments that are stepped in Python, in this process or in others."""
