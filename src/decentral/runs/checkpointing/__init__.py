"""Checkpoints: when a run is saved, what is saved, how it lies on the disk, and how it goes on from there."""
