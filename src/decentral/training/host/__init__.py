"""Playing and learning where the environment is stepped in Python."""
