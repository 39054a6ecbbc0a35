"""Configurations: team, environment and plan; how they are named, resolved, written and read."""
