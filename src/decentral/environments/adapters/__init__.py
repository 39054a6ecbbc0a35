"""Environments of other projects: PettingZoo, JaxMARL, SMAC."""
