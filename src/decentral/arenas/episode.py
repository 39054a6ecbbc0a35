"""One episode of an arena: the environment is stepped here, and every agent acts in its own process."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from decentral.arenas.seat import Seat
from decentral.environments.base import BaseEnvironment
from decentral.environments.host.interface import BrokenOff, Stage
from decentral.errors import Failed


@dataclass(frozen=True)
class Played:
    """The result of an episode."""

    steps: int
    total: float  # sum of the rewards, as the environment gave them
    reports: dict[str, float]


def play(environment: BaseEnvironment, stage: Stage, seats: Sequence[Seat], seed: int, shown: bool = False) -> Played:
    """Play an episode to its end; if it is only `shown`, it is greedy and nobody learns from it.

    This is the only function of an arena that holds the joint action. It goes to the environment and to no agent.
    """
    try:
        percepts, total, over, taken, own = stage.reset(seed), 0.0, False, 0, np.zeros(len(seats))
        for seat in seats:
            seat.begin(percepts, shown)
        while not over:
            step = stage.step(np.stack([seat.act() for seat in seats]))
            total, taken = total + step.reward, taken + 1
            own += 0.0 if step.own_rewards is None else step.own_rewards
            cut_off = step.truncated or taken == environment.time_limit
            over = step.terminated or cut_off
            for seat in seats:
                seat.send_step(step, cut_off)
    except BrokenOff as broken:
        raise Failed(
            f"an episode broke off, and agents in processes of their own can't play it again: {broken}"
        ) from None
    reports = {name: step.facts[fact] for name, fact in environment.reports.items()}
    return Played(taken, total, reports | dict(zip(environment.own_return_names, own.tolist(), strict=False)))
