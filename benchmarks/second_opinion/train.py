"""Train the second opinion and write its curves.

    python benchmarks/second_opinion/train.py dac --penalty 0.5 --seeds 3 --steps 100000 --out dac.json

One environment, one update of 32 episodes after each episode, as PyMARL; acting is on the CPU, learning on --device.
"""

import argparse
import copy
import json
import time
from pathlib import Path

import numpy as np
import torch
from hunts import ACTIONS, FEATURES, LENGTH, PREDATORS, VisibleHunt
from learners import DAC, IQL, Batch
from torch.nn import functional

REPLAY, EPISODES, PERIOD = 5000, 32, 200
FIRST, LAST = 1.0, 0.05  # of epsilon


class Memory:
    """The latest episodes of both agents."""

    def __init__(self, capacity: int, device: torch.device):
        self.observations = torch.zeros(capacity, LENGTH + 1, PREDATORS, FEATURES, device=device)
        self.actions = torch.zeros(capacity, LENGTH, PREDATORS, dtype=torch.int64, device=device)
        self.rewards = torch.zeros(capacity, LENGTH, device=device)
        self.capacity, self.written = capacity, 0

    def add(self, observations: np.ndarray, actions: np.ndarray, rewards: np.ndarray) -> None:
        """Keep one more, in place of the oldest once all places are taken."""
        place = self.written % self.capacity
        self.observations[place] = torch.as_tensor(observations)
        self.actions[place] = torch.as_tensor(actions)
        self.rewards[place] = torch.as_tensor(rewards)
        self.written += 1

    def sample(self, rng: np.random.Generator) -> Batch:
        """Different episodes of the team; the rows of both agents are samples."""
        chosen = rng.choice(min(self.written, self.capacity), EPISODES, replace=False)
        observations, actions = (
            kept[chosen].transpose(0, 1).flatten(1, 2) for kept in (self.observations, self.actions)
        )
        rewards = self.rewards[chosen].T.repeat_interleave(PREDATORS, dim=1)
        return Batch(observations, actions, rewards)


@torch.no_grad()
def play(learner: IQL, networks: torch.nn.Module, hunts: list[VisibleHunt], epsilon: float) -> tuple[np.ndarray, ...]:
    """One episode in each environment: observations [E, T + 1, N, F], actions [E, T, N], rewards [E, T]."""
    seen, done, paid = [np.stack([hunt.reset() for hunt in hunts])], [], []
    last, memory = torch.zeros(len(hunts) * PREDATORS, ACTIONS), None
    for _ in range(LENGTH):
        observed = torch.as_tensor(seen[-1], dtype=torch.float32).flatten(0, 1)
        hidden, memory = networks.trunk(torch.cat([observed, last], dim=-1)[None], memory)
        greedy = learner.act(networks, hidden[0], epsilon).argmax(dim=-1)
        actions = torch.where(torch.rand(len(greedy)) < epsilon, torch.randint(ACTIONS, greedy.shape), greedy)
        last = functional.one_hot(actions, ACTIONS).float()
        done.append(actions.view(len(hunts), PREDATORS).numpy())
        outcomes = [hunt.step(chosen) for hunt, chosen in zip(hunts, done[-1].tolist(), strict=True)]
        seen.append(np.stack([observation for observation, _ in outcomes]))
        paid.append(np.asarray([reward for _, reward in outcomes]))
    return np.stack(seen, axis=1), np.stack(done, axis=1), np.stack(paid, axis=1)


def train(args: argparse.Namespace, seed: int) -> dict[str, list]:
    """One seed's curves: the greedy return at every test, and the mean loss since the one before."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    device = torch.device(args.device)
    learner = IQL() if args.method == "iql" else DAC(args.window, args.contexts)
    learner.networks.to(device)
    learner.finish()
    acting = copy.deepcopy(learner.networks).cpu()
    memory, hunt = Memory(REPLAY, device), VisibleHunt(args.penalty, rng)
    streams = [np.random.default_rng([1000 + seed, place]) for place in range(args.test_episodes)]
    tests = [VisibleHunt(args.penalty, stream) for stream in streams]
    curve: dict[str, list] = {"steps": [], "returns": [], "losses": []}
    losses: list[float] = []
    for episode in range(args.steps // LENGTH + 1):
        acting.load_state_dict(learner.networks.state_dict())
        if episode * LENGTH % args.test_interval == 0:
            curve["steps"].append(episode * LENGTH)
            curve["returns"].append(float(play(learner, acting, tests, 0.0)[2].sum(axis=1).mean()))
            curve["losses"].append(float(np.mean(losses)) if losses else None)  # none before the first update
            losses = []
        epsilon = max(LAST, FIRST - (FIRST - LAST) * episode * LENGTH / args.epsilon_steps)
        memory.add(*(part[0] for part in play(learner, acting, [hunt], epsilon)))
        if memory.written >= EPISODES:
            losses.append(float(learner.learn(memory.sample(rng))))
        if memory.written % PERIOD == 0:
            learner.copy_target()
    return curve


def main() -> None:
    """Read the command line, train every seed and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=("iql", "dac"))
    parser.add_argument("--penalty", type=float, default=0.5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--epsilon-steps", type=int, default=50_000)
    parser.add_argument("--test-interval", type=int, default=10_000)
    parser.add_argument("--test-episodes", type=int, default=32)
    parser.add_argument("--window", type=int, default=10)
    parser.add_argument("--contexts", type=int, default=10)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    begun = time.perf_counter()
    curves = [train(args, seed) for seed in range(args.seed, args.seed + args.seeds)]
    settings = {name: value for name, value in vars(args).items() if name != "out"}
    written = {"settings": settings, "torch": torch.__version__, "seconds": round(time.perf_counter() - begun, 1)}
    args.out.write_text(json.dumps(written | {"curves": curves}) + "\n")
    for curve in curves:
        print(" ".join(f"{value:.2f}" for value in curve["returns"]))


if __name__ == "__main__":
    main()
