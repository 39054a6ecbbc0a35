"""Predator-prey with several penalties and seeds side by side, in one compiled program.

    python benchmarks/penalties.py --penalties 0 0.3 0.5 1.0 --seeds 5 --out penalties.json

Prints the mean test return of each penalty as training goes on and writes every test of every seed, with the
time per turn and what it ran on.
"""

import argparse
import json
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from decentral.experiments.config import Config, resolve
from decentral.experiments.provenance import provenance
from decentral.training.loop import Trainee, begin, examine, turns


def side_by_side(configs: list[Config]) -> Trainee:
    """One trainee whose numbers have a lane axis: one lane per configuration."""
    trainees = [config.trainee for config in configs]
    return jax.tree.map(lambda *numbers: jnp.asarray(numbers, jnp.float32), *trainees)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithm", default="dac")
    parser.add_argument("--penalties", type=float, nargs="+", default=[0.0, 0.3, 0.5, 1.0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=3_050_000)
    parser.add_argument("--tests", type=int, default=20)
    parser.add_argument("--hide-teammate", action="store_true")
    parser.add_argument("--settings", type=json.loads, default={}, help="of the algorithm, as JSON")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    lanes = [(penalty, seed) for penalty in asked.penalties for seed in range(asked.seeds)]
    configs = [
        resolve(
            asked.algorithm,
            "predator-prey",
            asked.settings,
            {"penalty": penalty, "observe_teammate": not asked.hide_teammate},
            {"steps": asked.steps},
        )
        for penalty, _ in lanes
    ]
    trainee, seeds = side_by_side(configs), jnp.asarray([seed for _, seed in lanes])
    plan = configs[0].trainee.plan
    state = jax.jit(jax.vmap(begin))(trainee, seeds)
    run = jax.jit(jax.vmap(turns, (0, 0, None, None)), static_argnums=3, donate_argnums=1)
    test = jax.jit(jax.vmap(examine))
    state = run(trainee, state, plan.idle_turns, False)
    state = jax.block_until_ready(run(trainee, state, 1, True))
    count = asked.steps // configs[0].trainee.environment.time_limit // asked.tests
    result: dict = {"configs": [config.as_data() for config in configs[:: asked.seeds]], "provenance": provenance()}
    result |= {"penalties": asked.penalties, "steps": [], "returns": []}  # returns: [tests, penalties, seeds]
    training = 0.0
    for _ in range(asked.tests):
        begun = time.perf_counter()
        state = jax.block_until_ready(run(trainee, state, count, True))
        training += time.perf_counter() - begun
        returns, _, state = test(trainee, state, seeds)
        by_penalty = np.asarray(returns).mean(axis=1).reshape(len(asked.penalties), asked.seeds)
        result["steps"].append(int(state.steps[0]))
        result["returns"].append(by_penalty.round(3).tolist())
        result["ms_per_turn"] = round(1000 * training / (count * len(result["steps"])), 3)
        spread = [f"{own.mean():.1f}±{own.std():.1f}" for own in by_penalty]
        print(result["steps"][-1], result["ms_per_turn"], "ms", *spread, flush=True)
        asked.out.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
