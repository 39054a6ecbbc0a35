"""How large a bundle is, how long it takes to start and to take a step: `python benchmarks/bundle.py DIR...`."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from decentral.runtime import load

STEPS, STARTS = 5000, 5
START = "import sys; from decentral.runtime import load; agent = load(sys.argv[1]); agent.start()"


def seconds_to_start(bundle: str) -> tuple[float, float]:
    """What a fresh Python takes to import the runtime and load the bundle, its own start included: in all, and busy."""
    times = []
    for _ in range(STARTS):
        before, busy = time.perf_counter(), os.times()
        subprocess.run([sys.executable, "-c", START, bundle], check=True)
        after = os.times()
        own = after.children_user + after.children_system - busy.children_user - busy.children_system
        times.append((time.perf_counter() - before, own))
    whole, busy_alone = np.median(times, axis=0)
    return float(whole), float(busy_alone)


def seconds_of_steps(bundle: str) -> np.ndarray:
    """The time of each of many steps of one long episode, with checks of what is perceived."""
    agent = load(bundle)
    percepts = np.random.default_rng(0).normal(size=(STEPS, agent.spec.observation_size)).astype(np.float32)
    available, state, times = np.ones(agent.spec.actions, bool), agent.start(), []
    for observation in percepts:
        before = time.perf_counter()
        _, state = agent.act(observation, available, state)
        times.append(time.perf_counter() - before)
    return np.asarray(times)


def main() -> None:
    print("bundle  KiB  start s (processor s)  step median ms  step 99 % ms")
    for bundle in sys.argv[1:]:
        size = sum(file.stat().st_size for file in Path(bundle).iterdir()) / 1024
        steps = 1e3 * seconds_of_steps(bundle)
        start, busy = seconds_to_start(bundle)
        print(f"{bundle}  {size:.0f}  {start:.2f} ({busy:.2f})  {np.median(steps):.3f}  {np.quantile(steps, 0.99):.3f}")


if __name__ == "__main__":
    main()
