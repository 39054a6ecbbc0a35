"""The command line: parse, call, print."""

from decentral.cli.main import command, main

__all__ = ["command", "main"]
