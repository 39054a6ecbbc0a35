"""Squads: agents that are alike, and how they act and learn side by side."""
