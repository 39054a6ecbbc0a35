"""`decentral check-env`: what is right and what is wrong with an environment, in plain words."""

from decentral.cli.playing import asked_to_play
from decentral.cli.tables import print_findings
from decentral.environments.registry import ENVIRONMENTS, FORMS
from decentral.screen import Screen
from decentral.verification.environment_check.check import examine


def check_env_command(words: list[str]) -> None:
    """Examine an environment and print what was found; exit with 1 where something is wrong."""
    asked = asked_to_play("check-env", words, [*ENVIRONMENTS, *FORMS], 8, "random episodes to play")
    findings = examine(asked.environment, asked.episodes, asked.seed)
    print_findings(Screen(), asked.name, asked.environment, findings)
    if any(finding.verdict == "wrong" for finding in findings):
        raise SystemExit(1)
