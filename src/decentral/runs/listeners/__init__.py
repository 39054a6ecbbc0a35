"""Listeners: what follows the progress of a run."""
