"""The check of an environment, rule by rule."""
