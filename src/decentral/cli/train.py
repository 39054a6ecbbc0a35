"""`decentral train`: an algorithm, or a team of several, on an environment."""

from decentral.api import train
from decentral.cli.flags import add_flags, overrides
from decentral.cli.request import Request
from decentral.cli.resume import exit_if_diverged
from decentral.experiments.saving import Saving
from decentral.settings import Refused


def train_command(words: list[str]) -> None:
    """Read the request, train, and show how it goes."""
    request = Request.of("train", words)
    parser = request.parser
    parser.add_argument("--out", metavar="DIR", help="where the run goes (default: a new directory under runs)")
    parser.add_argument("--tensorboard", action="store_true", help="write TensorBoard event files too")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out, if one has begun there")
    add_flags(parser, "checkpoints", Saving())
    found = request.read()
    if found.out == "":
        raise Refused("out must be a directory, got ''")
    run = train(
        request.team(found),
        request.environment,
        algorithm=request.given(found, "algorithm"),
        environment=request.given(found, "environment"),
        training=request.given(found, "training"),
        out=found.out,
        tensorboard=found.tensorboard,
        checkpoints=overrides(found, "checkpoints", Saving),
        resume=found.resume,
    )
    exit_if_diverged(run)
