"""`decentral show`: what a run would do, without doing it."""

import json

from decentral.cli.request import Request
from decentral.configs.config import resolve
from decentral.terminal import say


def show_command(words: list[str]) -> None:
    """Print the configuration that a run of the same words would have."""
    request = Request.of("show", words)
    found = request.read()
    groups = (request.given(found, group) for group in ("algorithm", "environment", "training"))
    say(json.dumps(resolve(request.team(found), request.environment, *groups).as_data(), indent=2))
