"""Audits of agents, and checks of environments and of files."""
