"""`decentral probe`: how hard an environment is for policies that need no training."""

from decentral.api import probe
from decentral.api.choices import COMPILED_FORMS, ENVIRONMENTS
from decentral.cli.request import asked_to_play
from decentral.cli.tables import print_probe
from decentral.screen import Screen


def probe_command(words: list[str]) -> None:
    """Play an environment at random and by the policies written for it, and print a table."""
    options = asked_to_play("probe", words, [*ENVIRONMENTS, *COMPILED_FORMS], 128, "episodes of each policy")
    print_probe(Screen(), probe(words[0], **options))
