"""IPPO here beside JaxMARL's own on one of its tasks, simple spread: milliseconds per update, and steps per second.

    pip install jaxmarl distrax hydra-core omegaconf wandb
    python benchmarks/beside_jaxmarl.py CHECKOUT/baselines/IPPO/ippo_rnn_mpe.py --agents 10 --out FILE

Both play one episode of 25 steps in each of 16 environments and take four gradient steps on all of it, with layers of
64. JaxMARL has one network for all agents, with actor and critic on one trunk; here every agent has an actor and a
critic of its own, as decentralised learners must.
"""

import argparse
import importlib.util
import json
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jaxmarl

from decentral.configs.config import resolve
from decentral.runs.lanes import LaneBatch

TASK, STEPS, EPOCHS, WIDTH = "MPE_simple_spread_v3", 25, 4, 64
THEIRS = {
    "ENV_NAME": TASK,
    "LR": 5e-4,
    "NUM_STEPS": STEPS,
    "FC_DIM_SIZE": WIDTH,
    "GRU_HIDDEN_DIM": WIDTH,
    "UPDATE_EPOCHS": EPOCHS,
    "NUM_MINIBATCHES": 1,
    "GAMMA": 0.99,
    "GAE_LAMBDA": 0.95,
    "CLIP_EPS": 0.2,
    "SCALE_CLIP_EPS": False,
    "ENT_COEF": 0.01,
    "VF_COEF": 1.0,
    "MAX_GRAD_NORM": 10.0,
    "ANNEAL_LR": False,
}
AGENTS = "SPREAD_AGENTS"  # in the process's environment: both libraries make the task by themselves


def spread() -> Any:
    """The task with as many agents as are being measured: what `jaxmarl:beside_jaxmarl:spread` names."""
    agents = int(os.environ[AGENTS])
    return make(TASK, num_agents=agents, num_landmarks=agents)


make = jaxmarl.make


def their_updates(script: Path, environments: int) -> Callable[[int], float]:
    """Seconds that JaxMARL takes for a number of updates, compiling not counted."""
    spec = importlib.util.spec_from_file_location("their_ippo", script)
    theirs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(theirs)
    theirs.jaxmarl.make = lambda name: spread()
    theirs.wandb.log = lambda values: None

    def whole_run(updates: int) -> float:
        plan = {"NUM_ENVS": environments, "TOTAL_TIMESTEPS": updates * STEPS * environments}
        train = jax.jit(theirs.make_train(THEIRS | plan)).lower(jax.random.PRNGKey(0)).compile()
        begun = time.perf_counter()
        jax.block_until_ready(train(jax.random.PRNGKey(0)))
        return time.perf_counter() - begun

    def seconds(updates: int) -> float:
        return whole_run(2 * updates) - whole_run(updates)  # a run begins with networks and environments

    return seconds


def our_updates(environments: int) -> Callable[[int], float]:
    """Seconds that training here takes for a number of updates, compiling not counted."""
    setup = resolve(
        "ippo",
        "jaxmarl:beside_jaxmarl:spread",
        {"epochs": EPOCHS, "hidden": WIDTH},
        {"may_end_early": False},
        {"num_environments": environments, "batch_episodes": environments},
    ).setup
    lane_batch = LaneBatch.start(setup)
    lane_batch.advance(2)

    def seconds(updates: int) -> float:
        jax.block_until_ready(lane_batch.lanes)
        begun = time.perf_counter()
        lane_batch.advance(updates)
        jax.block_until_ready(lane_batch.lanes)
        return time.perf_counter() - begun

    return seconds


def measured(agents: int, script: Path, environments: int, turns: int, repeats: int) -> dict[str, float]:
    """Milliseconds of an update: the median of a few, the two libraries by turns."""
    os.environ[AGENTS] = str(agents)
    ours, theirs = our_updates(environments), their_updates(script, environments)
    pairs = [(ours(turns), theirs(turns)) for _ in range(repeats)]
    own, other = (1000 * statistics.median(times) / turns for times in zip(*pairs, strict=True))
    steps = 1000 * STEPS * environments
    return {
        "agents": agents,
        "decentral_ms": own,
        "jaxmarl_ms": other,
        "decentral_steps_per_second": steps / own,
        "jaxmarl_steps_per_second": steps / other,
    }


def main() -> None:
    """Measure one number of agents, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("script", type=Path, help="baselines/IPPO/ippo_rnn_mpe.py of a checkout of JaxMARL")
    parser.add_argument("--agents", type=int, default=10)
    parser.add_argument("--environments", type=int, default=16)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    found = measured(args.agents, args.script, args.environments, args.turns, args.repeats)
    print(", ".join(f"{name} {value:,.1f}" for name, value in found.items()))
    if args.out is not None:
        made_with = {"jax": jax.__version__, "jaxmarl": jaxmarl.__version__, "device": jax.devices()[0].device_kind}
        plan = {"environments": args.environments, "turns": args.turns, "repeats": args.repeats}
        args.out.write_text(json.dumps(made_with | plan | found) + "\n")


if __name__ == "__main__":
    main()
