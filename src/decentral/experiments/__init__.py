"""Experiments: configurations, presets and runs. Side effects live here."""
