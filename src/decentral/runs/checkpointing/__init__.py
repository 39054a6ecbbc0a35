"""Checkpoints: when a run is saved, what is saved, the files, and how a run resumes from them."""
