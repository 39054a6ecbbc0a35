"""Arenas: every agent runs in its own process and knows only the messages between it and the environment."""
