"""How long a turn takes: one 100-step predator-prey episode and one update, for some lanes side by side.

python benchmarks/turn.py --algorithm dac --lanes 1 5 20 --turns 200
"""

import argparse
import json
import platform
import time

import jax
import jax.numpy as jnp

from decentral.algorithms import ALGORITHMS
from decentral.environments import PredatorPrey
from decentral.training.loop import Trainee, begin, turns
from decentral.training.plan import Plan


def milliseconds_per_turn(trainee: Trainee, lanes: int, count: int, repeats: int) -> dict:
    start = time.perf_counter()
    state = jax.jit(jax.vmap(begin, (None, 0)))(trainee, jnp.arange(lanes))
    run = jax.jit(jax.vmap(turns, (None, 0, None, None)), static_argnums=3, donate_argnums=1)
    state = run(trainee, state, trainee.plan.idle_turns, False)
    state = jax.block_until_ready(run(trainee, state, 1, True))
    compiled = time.perf_counter() - start
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        state = jax.block_until_ready(run(trainee, state, count, True))
        times.append((time.perf_counter() - start) / count * 1000)
    return {
        "lanes": lanes,
        "ms": round(sorted(times)[repeats // 2], 3),
        "all_ms": times,
        "compile_s": round(compiled, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithm", default="dac")
    parser.add_argument("--lanes", type=int, nargs="+", default=[1])
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    trainee = Trainee.alike(ALGORITHMS[chosen.algorithm](), PredatorPrey(penalty=0.5), Plan())
    where = {"device": str(jax.devices()[0]), "machine": platform.machine(), "jax": jax.__version__}
    print(json.dumps({"algorithm": chosen.algorithm, **where}))
    for lanes in chosen.lanes:
        print(json.dumps(milliseconds_per_turn(trainee, lanes, chosen.turns, chosen.repeats)), flush=True)


if __name__ == "__main__":
    main()
