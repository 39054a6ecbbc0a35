"""`decentral show`: what a run would do, without doing it, or what can be set about an algorithm."""

import json

from decentral.api import show
from decentral.api.choices import EVERY_ALGORITHM
from decentral.cli.request import Request
from decentral.settings import Settings, allowed, as_data, headed_fields
from decentral.terminal import say


def show_command(words: list[str]) -> None:
    """Print the configuration that a run of the same words would have; of an algorithm alone, its settings."""
    if len(words) == 1 and words[0] in EVERY_ALGORITHM:
        show_settings(words[0], EVERY_ALGORITHM[words[0]])
        return
    request = Request.of("show", words)
    args = request.read()
    config = show(
        request.team(args),
        request.environment,
        config=args.config,
        algorithm=request.given(args, "algorithm"),
        environment=request.given(args, "environment"),
        training=request.given(args, "training"),
    )
    say(json.dumps(config, indent=2))


def show_settings(name: str, kind: type[Settings]) -> None:
    """Print every setting with its default and its meaning, under its heading."""
    defaults = {key: json.dumps(value) for key, value in as_data(kind()).items()}
    wide, wider = (max(map(len, texts)) for texts in (defaults, defaults.values()))
    say(f"{name}: {(kind.__doc__ or '').strip().splitlines()[0]}")
    for heading, fields in headed_fields(kind).items():
        say(f"\n{heading or 'General'}")
        for field in fields:
            meaning = "; ".join(filter(None, [field.metadata["meaning"], allowed(field)]))
            say(f"  {field.name:<{wide}}  {defaults[field.name]:<{wider}}  {meaning}")
