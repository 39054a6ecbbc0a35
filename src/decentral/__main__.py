"""`python -m decentral` is the command line."""

from decentral.cli import command

command()
