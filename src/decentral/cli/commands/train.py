"""`decentral train`: an algorithm, or a team of several, on an environment."""

from decentral.api import train
from decentral.api.choices import Saving
from decentral.cli.exits import exit_if_diverged
from decentral.cli.flags import add_flags, add_live_flag, add_track_flag, overrides
from decentral.cli.plain_flags import add_trust_flag
from decentral.cli.request import Request


def train_command(words: list[str]) -> None:
    """Read the request, train, and show the progress."""
    request = Request.of("train", words)
    parser = request.parser
    parser.add_argument("--out", metavar="DIR", help="where the run goes (default: a new directory under runs)")
    parser.add_argument("--resume", action="store_true", help="resume the run in --out if there is one")
    add_live_flag(parser)
    add_track_flag(parser)
    add_trust_flag(parser)
    add_flags(parser, "checkpoints", Saving())
    args = request.read()
    request.trust(args)
    run = train(
        request.team(args),
        request.environment,
        config=args.config,
        algorithm=request.given(args, "algorithm"),
        environment=request.given(args, "environment"),
        training=request.given(args, "training"),
        out=args.out,
        track=args.track,
        live=args.live,
        checkpoints=overrides(args, "checkpoints", Saving),
        resume=args.resume,
    )
    exit_if_diverged(run)
