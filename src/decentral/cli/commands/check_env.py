"""`decentral check-env`: what is right and what is wrong with an environment, in plain words."""

from decentral.api import check_env
from decentral.api.choices import ENVIRONMENT_FORMS, ENVIRONMENTS
from decentral.cli.request import asked_to_play
from decentral.cli.tables import print_findings
from decentral.screen import Screen


def check_env_command(words: list[str]) -> None:
    """Examine an environment and print the findings; exit with 1 if something is wrong."""
    options = asked_to_play("check-env", words, [*ENVIRONMENTS, *ENVIRONMENT_FORMS], 8, "random episodes to play", True)
    check = check_env(words[0], **options)
    print_findings(Screen(), check)
    if check.wrong:
        raise SystemExit(1)
