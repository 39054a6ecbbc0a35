"""Inspection of a trained team: its values, its contexts, its episodes, and how it plays with others."""
