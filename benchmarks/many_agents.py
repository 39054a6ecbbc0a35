"""How compile time and the cost of a turn grow with the number of agents, on `porters`, in processor seconds.

    DECENTRAL_CACHE_DIR=off JAX_NUM_CPU_DEVICES=1 python benchmarks/many_agents.py --agents 2,8,32,100 --out FILE

`decentral bench iql porters --agents 2,8,32,100` measures the same on the clock. The processor's time says more on a
machine that is busy: it counts what the program does, not what it waits for.
"""

import argparse
import json
import time
from pathlib import Path

import jax

from decentral.configs.config import resolve
from decentral.runs.lanes import LaneBatch
from decentral.runs.memory import needs


def measured(algorithm: str, agents: int, turns: int) -> dict[str, float]:
    """Seconds of the processor: to compile, and for a turn that plays, or plays and learns."""
    setup = resolve(algorithm, "porters", environment_settings={"num_porters": agents}).setup
    idle = setup.plan.warmup_turns
    begun = time.process_time()
    lane_batch = LaneBatch.start(setup)
    jax.block_until_ready(lane_batch.lanes)
    started = time.process_time() - begun
    first_play, play = advance(lane_batch, 1), advance(lane_batch, idle - 1) / (idle - 1)
    first_learn, learn = advance(lane_batch, 1), advance(lane_batch, turns) / turns
    compiling = started + (first_play - play) + (first_learn - learn)
    held = needs(LaneBatch.describe(setup))
    return {
        "agents": agents,
        "compile_seconds": compiling,
        "play_seconds": play,
        "turn_seconds": learn,
        "replay_bytes": held.replays,
        "agents_bytes": held.agents,
    }


def advance(lane_batch: LaneBatch, turns: int) -> float:
    """Processor seconds of some turns."""
    begun = time.process_time()
    lane_batch.advance(turns)
    jax.block_until_ready(lane_batch.lanes)
    return time.process_time() - begun


def main() -> None:
    """Measure every number of agents, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--algorithm", default="iql")
    parser.add_argument("--agents", default="2,8,32,100")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows = []
    for agents in map(int, args.agents.split(",")):
        rows.append(measured(args.algorithm, agents, args.turns))
        print(", ".join(f"{name} {value:,.3f}" for name, value in rows[-1].items()), flush=True)
    if args.out is not None:
        versions = {"jax": jax.__version__, "device": jax.devices()[0].platform}
        args.out.write_text(json.dumps({"algorithm": args.algorithm, **versions, "cases": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
