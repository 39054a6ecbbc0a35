"""The command line: parse, call, print."""

from decentral.cli.main import main

__all__ = ["main"]
