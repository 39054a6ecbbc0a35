"""What agents of environments from elsewhere learn from, and what the team's return is then."""

from typing import Literal

from decentral.errors import Refused

Rewards = Literal["shared", "sum", "mean", "own"]
TeamReturn = Literal["mean", "sum"]


def team_return_in_words(rewards: str, result: TeamReturn) -> str:
    """What the team's return is made of; empty where all agents share one reward."""
    return f"the {result} of the agents' own" if rewards == "own" else ""


def check_result(rewards: str, result: TeamReturn) -> None:
    """Refuse a way to combine returns where there is one reward for all."""
    if result != "mean" and rewards != "own":
        raise Refused(f"result must be mean unless rewards is own, got {result}: set rewards to {result}")
