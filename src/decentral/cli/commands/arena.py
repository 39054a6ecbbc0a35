"""`decentral arena`: every agent in its own process."""

from decentral.api import arena
from decentral.api.choices import ArenaSettings, Saving
from decentral.cli.exits import exit_if_diverged
from decentral.cli.flags import add_flags, overrides
from decentral.cli.plain_flags import add_trust_flag
from decentral.cli.request import Request


def arena_command(words: list[str]) -> None:
    """Read the request, train, and show the progress."""
    request = Request.of("arena", words)
    parser = request.parser
    parser.add_argument("--out", metavar="DIR", help="where the run goes (default: a new directory under runs)")
    parser.add_argument("--resume", action="store_true", help="resume the arena in --out if there is one")
    parser.add_argument("--log-messages", metavar="DIR", help="write every message of each agent there, for an auditor")
    add_trust_flag(parser)
    add_flags(parser, "arena", ArenaSettings())
    add_flags(parser, "checkpoints", Saving())
    args = request.read()
    request.trust(args)
    run = arena(
        request.team(args),
        request.environment,
        config=args.config,
        algorithm=request.given(args, "algorithm"),
        environment=request.given(args, "environment"),
        training=request.given(args, "training"),
        terms=overrides(args, "arena", ArenaSettings),
        out=args.out,
        log_messages=args.log_messages,
        checkpoints=overrides(args, "checkpoints", Saving),
        resume=args.resume,
    )
    exit_if_diverged(run)
