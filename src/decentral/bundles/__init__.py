"""Agents that leave: from a run to a directory that needs nothing of this library but its runtime."""
