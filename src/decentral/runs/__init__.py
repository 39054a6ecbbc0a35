"""Runs: a configuration is trained, tested, recorded, saved and resumed."""
