"""Is it what it claims to be? Audits of agents, checks of environments and of files."""
