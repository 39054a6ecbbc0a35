"""`decentral probe`: how hard an environment is for policies that need no training."""

from decentral.cli.playing import asked_to_play
from decentral.cli.tables import print_probe
from decentral.environments.base import Environment
from decentral.environments.registry import ENVIRONMENTS
from decentral.screen import Screen
from decentral.settings import Refused
from decentral.verification.probe import probe


def probe_command(words: list[str]) -> None:
    """Play an environment at random and by the policies written for it, and print a table."""
    asked = asked_to_play("probe", words, list(ENVIRONMENTS), 128, "episodes of each policy")
    if not isinstance(asked.environment, Environment):
        raise Refused(f"environment must be a compiled one to be probed, got {asked.name}")
    print_probe(Screen(), asked.name, asked.episodes, probe(asked.environment, asked.episodes, asked.seed))
