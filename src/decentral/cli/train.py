"""`decentral train`: an algorithm, or a team of several, on an environment."""

from decentral.api import train
from decentral.cli.flags import add_track_flag
from decentral.cli.request import Request
from decentral.settings import Refused


def train_command(words: list[str]) -> None:
    """Read the request, train, and show how it goes."""
    request = Request.of("train", words)
    parser = request.parser
    parser.add_argument("--out", metavar="DIR", help="where the run goes (default: a new directory under runs)")
    parser.add_argument(
        "--live", action="store_true", help="keep a page that shows the run so far, report.html in its directory"
    )
    add_track_flag(parser)
    found = request.read()
    if found.out == "":
        raise Refused("out must be a directory, got ''")
    train(
        request.team(found),
        request.environment,
        algorithm=request.given(found, "algorithm"),
        environment=request.given(found, "environment"),
        training=request.given(found, "training"),
        out=found.out,
        track=found.track,
        live=found.live,
    )
