"""How fast battles are: environment steps per second of random legal play, beside SMAX where it is installed.

    python benchmarks/battles.py --map 5m_vs_6m --environments 1,64,1024

One compiled loop per size, in which every world draws actions, perceives, steps and starts again when it is over. SMAX
is of `pip install jaxmarl`; it has units and rules of its own. Beside the time on the clock stands the processor's,
which says more on a machine that is busy.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from decentral.environments.battles import BATTLES

STEPS = 4000  # of all environments together, in one call, at the least
CALLS = 5

Step = Callable[[Any, Key[Array, ""]], Any]


def battle(name: str) -> tuple[Callable[[Key[Array, ""]], Any], Step]:
    """How our simulation of a map starts and goes on."""
    world = BATTLES[name]()

    def step(state: Any, key: Key[Array, ""]) -> Any:
        key_act, key_world, key_reset = jax.random.split(key, 3)
        available = world.perceive(state).available
        actions = jnp.argmax(jnp.where(available, jax.random.uniform(key_act, available.shape), -1.0), axis=1)
        after, outcome = world.step(state, actions.astype(jnp.int32), key_world)
        fresh = world.reset(key_reset)
        return jax.tree.map(lambda new, old: jnp.where(outcome.terminated, new, old), fresh, after)

    return world.reset, step


def smax(name: str) -> tuple[Callable[[Key[Array, ""]], Any], Step] | None:
    """The same of SMAX with its scripted enemy; nothing where it is not installed or has no such map."""
    try:
        from jaxmarl import make
        from jaxmarl.environments.smax import map_name_to_scenario

        world = make("HeuristicEnemySMAX", scenario=map_name_to_scenario(name))
    except (ImportError, KeyError):
        return None

    def step(now: Any, key: Key[Array, ""]) -> Any:
        key_act, key_world = jax.random.split(key)
        available = jnp.stack(list(world.get_avail_actions(now[1]).values()))
        actions = jnp.argmax(jnp.where(available > 0, jax.random.uniform(key_act, available.shape), -1.0), axis=1)
        return world.step(key_world, now[1], dict(zip(world.agents, actions, strict=True)))[:2]

    return world.reset, step


def measure(reset: Callable[[Key[Array, ""]], Any], step: Step, environments: int) -> tuple[float, float]:
    """Steps per second of all environments together, by the clock and by the processor's time; the best of calls."""
    length = max(10, STEPS // environments)

    def run(states: Any, key: Key[Array, ""]) -> Any:
        def all_step(states: Any, key: Key[Array, ""]) -> tuple[Any, None]:
            return jax.vmap(step)(states, jax.random.split(key, environments)), None

        return jax.lax.scan(all_step, states, jax.random.split(key, length))[0]

    compiled = jax.jit(run)
    states = jax.vmap(reset)(jax.random.split(jax.random.key(0), environments))
    states = jax.block_until_ready(compiled(states, jax.random.key(0)))
    by_clock, by_processor = [], []
    for call in range(CALLS):
        clock, processor = time.perf_counter(), time.process_time()
        states = jax.block_until_ready(compiled(states, jax.random.key(call)))
        by_clock.append(time.perf_counter() - clock)
        by_processor.append(time.process_time() - processor)
    done = environments * length
    return done / min(by_clock), done / min(by_processor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--map", default="5m_vs_6m", choices=BATTLES)
    parser.add_argument("--environments", default="1,64,1024")
    asked = parser.parse_args()
    rivals = {"decentral": battle(asked.map), "SMAX": smax(asked.map)}
    print(f"{asked.map} on {jax.default_backend()}: steps per second (per second of processor time)")
    for environments in map(int, asked.environments.split(",")):
        for name, rival in rivals.items():
            if rival is not None:
                by_clock, by_processor = measure(*rival, environments)
                print(f"{environments:5} environments  {name:<10} {by_clock:9,.0f}  ({by_processor:9,.0f})", flush=True)


if __name__ == "__main__":
    main()
