"""IPPO here beside that of JaxMARL and of BenchMARL on simple spread: milliseconds per update, and steps per second.

    pip install jaxmarl distrax hydra-core omegaconf wandb benchmarl vmas
    python benchmarks/beside_others.py CHECKOUT/baselines/IPPO/ippo_rnn_mpe.py --agents 10 --out FILE

All play one episode of 25 steps in each of 16 environments and take four gradient steps on all of it, with a layer and
a recurrence of 64. JaxMARL has one network for all agents, with actor and critic on one trunk; here and in BenchMARL
every agent has an actor and a critic of its own, as decentralised learners must. BenchMARL plays the task as VMAS
implements it.
"""

import argparse
import importlib.util
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import benchmarl
import jax
import jaxmarl
import torch
from benchmarl.algorithms import IppoConfig
from benchmarl.environments import VmasTask
from benchmarl.experiment import Callback, Experiment, ExperimentConfig
from benchmarl.models import GruConfig

from decentral.configs.config import resolve
from decentral.runs.lanes import LaneBatch

TASK, STEPS, EPOCHS, WIDTH = "MPE_simple_spread_v3", 25, 4, 64
OF_JAXMARL = {
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
OF_BENCHMARL = {
    "share_policy_params": False,
    "prefer_continuous_actions": False,
    "lr": 5e-4,
    "on_policy_n_minibatch_iters": EPOCHS,
    "max_n_frames": None,
    "evaluation": False,
    "render": False,
    "loggers": [],
    "create_json": False,
}
WARM_UP = 2  # updates before the clock starts
AGENTS = "SPREAD_AGENTS"  # in the process's environment: libraries make the task by themselves

Timer = Callable[[int], float]  # seconds that a number of updates takes, without compiling

make = jaxmarl.make


def spread() -> Any:
    """The task with as many agents as are being measured: what `jaxmarl:beside_others:spread` names."""
    agents = int(os.environ[AGENTS])
    return make(TASK, num_agents=agents, num_landmarks=agents)


def decentral_timer(environments: int) -> Timer:
    """Training here."""
    setup = resolve(
        "ippo",
        "jaxmarl:beside_others:spread",
        {"epochs": EPOCHS, "hidden": WIDTH},
        {"may_end_early": False},
        {"num_environments": environments, "batch_episodes": environments},
    ).setup
    lane_batch = LaneBatch.start(setup)
    lane_batch.advance(WARM_UP)

    def seconds(updates: int) -> float:
        jax.block_until_ready(lane_batch.lanes)
        begun = time.perf_counter()
        lane_batch.advance(updates)
        jax.block_until_ready(lane_batch.lanes)
        return time.perf_counter() - begun

    return seconds


def jaxmarl_timer(script: Path, environments: int) -> Timer:
    """JaxMARL's script, whose runs begin with networks and environments: a longer one less a shorter one."""
    spec = importlib.util.spec_from_file_location("their_ippo", script)
    theirs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(theirs)
    theirs.jaxmarl.make = lambda name: spread()
    theirs.wandb.log = lambda values: None

    @cache
    def compiled(updates: int) -> Callable[[Any], Any]:
        plan = {"NUM_ENVS": environments, "TOTAL_TIMESTEPS": updates * STEPS * environments}
        return jax.jit(theirs.make_train(OF_JAXMARL | plan)).lower(jax.random.PRNGKey(0)).compile()

    def whole_run(updates: int) -> float:
        train = compiled(updates)
        begun = time.perf_counter()
        jax.block_until_ready(train(jax.random.PRNGKey(0)))
        return time.perf_counter() - begun

    return lambda updates: whole_run(2 * updates) - whole_run(updates)


class UpdateClock(Callback):
    """Notes when BenchMARL ends an update, and how many gradient steps it has taken."""

    def __init__(self):
        super().__init__()
        self.ends: list[float] = []
        self.gradient_steps = 0

    def on_train_step(self, batch: Any, group: str) -> None:
        self.gradient_steps += 1

    def on_train_end(self, training_td: Any, group: str) -> None:
        self.ends.append(time.perf_counter())


def benchmarl_timer(agents: int, environments: int) -> Timer:
    """BenchMARL's experiment, from one update's end to a later one's."""

    def seconds(updates: int) -> float:
        plan = ExperimentConfig.get_from_yaml()
        frames = STEPS * environments
        own = {"on_policy_n_envs_per_worker": environments, "max_n_iters": updates + WARM_UP}
        own |= {"on_policy_collected_frames_per_batch": frames, "on_policy_minibatch_size": frames}
        with tempfile.TemporaryDirectory() as place:
            for name, value in (OF_BENCHMARL | own | {"save_folder": place}).items():
                setattr(plan, name, value)
            task = VmasTask.SIMPLE_SPREAD.get_from_yaml()
            task.config.update(max_steps=STEPS, n_agents=agents)
            ippo = IppoConfig.get_from_yaml()
            ippo.share_param_critic = False
            clock = UpdateClock()
            Experiment(task, ippo, recurrent(), 0, plan, recurrent(), [clock]).run()
        if clock.gradient_steps != EPOCHS * len(clock.ends):
            raise SystemExit(f"BenchMARL took {clock.gradient_steps} gradient steps in {len(clock.ends)} updates")
        return clock.ends[-1] - clock.ends[WARM_UP - 1]

    return seconds


def recurrent() -> GruConfig:
    """A layer and a recurrence, as here."""
    return GruConfig(
        hidden_size=WIDTH,
        n_layers=1,
        bias=True,
        dropout=0.0,
        compile=False,
        mlp_num_cells=[WIDTH],
        mlp_layer_class=torch.nn.Linear,
        mlp_activation_class=torch.nn.ReLU,
    )


def measured(agents: int, script: Path, environments: int, turns: int, repeats: int) -> dict[str, float]:
    """Milliseconds of an update: the median of a few, the libraries by turns."""
    os.environ[AGENTS] = str(agents)
    timers = {
        "decentral": decentral_timer(environments),
        "jaxmarl": jaxmarl_timer(script, environments),
        "benchmarl": benchmarl_timer(agents, environments),
    }
    rounds = [{name: seconds(turns) for name, seconds in timers.items()} for _ in range(repeats)]
    found = {f"{name}_ms": 1000 * statistics.median(one[name] for one in rounds) / turns for name in timers}
    steps = 1000 * STEPS * environments
    return {"agents": agents, **found, **{f"{name}_steps_per_second": steps / found[f"{name}_ms"] for name in timers}}


def main() -> None:
    """Measure one number of agents, and append what was found."""
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
        made_with = {"jax": jax.__version__, "jaxmarl": jaxmarl.__version__, "benchmarl": benchmarl.__version__}
        made_with |= {"torch": torch.__version__, "device": jax.devices()[0].device_kind}
        plan = {"environments": args.environments, "turns": args.turns, "repeats": args.repeats}
        with args.out.open("a") as rows:
            rows.write(json.dumps(made_with | plan | found) + "\n")


if __name__ == "__main__":
    main()
