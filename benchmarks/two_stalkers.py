"""Can the two stalkers of 2s_vs_1sc win? Scripts that shoot, and step back once when one more hit would be the last.

    python benchmarks/two_stalkers.py results/two-stalkers.jsonl

Every line of the file is one script under one rule of whom the crawler prefers. Scripts that never step back are also
played with noise: actions that are drawn at random, as learners explore.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from decentral.environments.base import Environment
from decentral.environments.battles import BATTLES
from decentral.environments.battles.actions import ATTACK, NO_OP, NORTH, SOUTH, STOP
from decentral.environments.battles.battlefield import Battlefield

EPISODES = 128
STEPS = 120
STALKERS = slice(0, 2)
NEARLY_DEAD = 22  # of the 160 points of health and shield: the next hit takes 29 or 30
RULES = ("nearest", "attackers")
# The first stalker starts a little nearer to the crawler, and is hit first.
WHO = {"nobody": (False, False), "first": (True, False), "second": (False, True), "both": (True, True)}
HOW_FAR = (1, 2)  # steps
NOISE = (0.05, 0.1, 0.2)  # probability of a random action


def scripted(environment: Environment, who: tuple[bool, bool], how_far: int) -> Callable[[Array, float], Any]:
    """An episode of the script as a function of a random key and its noise: its return, and whether it was won."""

    def choose(
        field: Battlefield, back: Int[Array, " 2"], noise: float, key: Key[Array, ""]
    ) -> tuple[Int[Array, " 2"], Int[Array, " 2"]]:  # the crawler is in the north, and both come from the south
        points = field.health[STALKERS] + field.shield[STALKERS]
        retreats = jnp.asarray(who) & (points <= NEARLY_DEAD) & (back < how_far)
        available = environment.perceive(field).available
        wanted = jnp.where(retreats, SOUTH, jnp.where(available[:, ATTACK], ATTACK, NORTH))
        allowed = jnp.take_along_axis(available, wanted[:, None], axis=1)[:, 0]
        otherwise = jnp.where(field.alive[STALKERS], STOP, NO_OP)
        key_whether, key_what = jax.random.split(key)
        drawn = jax.random.categorical(key_what, jnp.where(available, 0.0, -jnp.inf))
        explores = jax.random.uniform(key_whether, (2,)) < noise
        actions = jnp.where(explores, drawn, jnp.where(allowed, wanted, otherwise))
        return actions.astype(jnp.int32), back + retreats

    def step(noise: float, carry: Any, key: Key[Array, ""]) -> tuple[Any, Float[Array, ""]]:
        field, back, over, won = carry
        actions, back = choose(field, back, noise, jax.random.fold_in(key, 1))
        after, outcome = environment.step(field, actions, key)
        reward = jnp.where(over, 0.0, outcome.reward)
        won = jnp.where(over, won, outcome.facts["won"])
        return (after, back, over | outcome.terminated, won), reward

    def episode(key: Key[Array, ""], noise: float) -> tuple[Float[Array, ""], Array]:
        start = (environment.reset(key), jnp.zeros(2, jnp.int32), jnp.asarray(False), jnp.asarray(False))
        (_, _, _, won), rewards = jax.lax.scan(partial(step, noise), start, jax.random.split(key, STEPS))
        return rewards.sum(), won

    return episode


def play(prefer: str, who: str, how_far: int, noises: Sequence[float]) -> list[dict[str, Any]]:
    """Mean return and share of battles won, with each noise."""
    environment = BATTLES["2s_vs_1sc"](prefer=prefer)
    keys = jax.random.split(jax.random.key(0), EPISODES)
    episodes = jax.jit(jax.vmap(scripted(environment, WHO[who], how_far), (0, None)))

    def row(noise: float) -> dict[str, Any]:
        returns, won = episodes(keys, noise)
        script = {"prefer": prefer, "who": who, "how_far": how_far, "noise": noise, "episodes": EPISODES}
        return script | {"return": round(float(returns.mean()), 2), "won": round(float(won.mean()), 4)}

    return [row(noise) for noise in noises]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    lines = []
    for prefer, who, how_far in product(RULES, WHO, HOW_FAR):
        if who == "nobody" and how_far > 1:
            continue
        for row in play(prefer, who, how_far, (0.0, *NOISE) if who == "nobody" else (0.0,)):
            lines.append(json.dumps(row))
            print(lines[-1], flush=True)
    file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
