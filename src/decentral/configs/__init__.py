"""Configurations: who learns, where, by which plan; how they are named, resolved, written and read again."""
