"""`decentral arena`: every agent in a process of its own."""

from decentral.api import arena
from decentral.api.choices import Saving, Terms
from decentral.cli.exits import exit_if_diverged
from decentral.cli.flags import add_flags, overrides
from decentral.cli.request import Request


def arena_command(words: list[str]) -> None:
    """Read the request, train, and show how it goes."""
    request = Request.of("arena", words)
    parser = request.parser
    parser.add_argument("--out", metavar="DIR", help="where the run goes (default: a new directory under runs)")
    parser.add_argument("--resume", action="store_true", help="go on with the arena in --out, if one has begun there")
    parser.add_argument("--log-messages", metavar="DIR", help="write every message of each agent there, for an auditor")
    add_flags(parser, "arena", Terms())
    add_flags(parser, "checkpoints", Saving())
    found = request.read()
    run = arena(
        request.team(found),
        request.environment,
        config=found.config,
        algorithm=request.given(found, "algorithm"),
        environment=request.given(found, "environment"),
        training=request.given(found, "training"),
        terms=overrides(found, "arena", Terms),
        out=found.out,
        log_messages=found.log_messages,
        checkpoints=overrides(found, "checkpoints", Saving),
        resume=found.resume,
    )
    exit_if_diverged(run)
