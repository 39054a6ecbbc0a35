"""Every agent in a process of its own: what crosses between it and the environment is all that it is ever told."""
