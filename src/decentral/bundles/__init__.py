"""Exported agents: from a run to a directory that needs only this library's runtime."""
