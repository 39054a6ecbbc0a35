"""IQL in PyTorch (extra `torch`) as PyMARL writes it: one world and one step of the GRU at a time, driven by Python.

The agents share their parameters, and all that costs time in PyMARL but not in the method is left out: no masks, no
logging, no gradients through the target.
"""

import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from decentral.benchmarking.plain_hunt import ACTIONS, LENGTH, OBSERVATION_SIZE, PREDATORS, PlainHunt

HIDDEN = 64
REPLAY_EPISODES = 5000
BATCH_EPISODES = 32
TARGET_PERIOD = 200  # episodes
DISCOUNT = 0.99
EPSILON = 0.5
CLIP = 10.0


class Network(nn.Module):
    """A hidden layer, a GRU cell and a value for each action, for one step of many agents."""

    def __init__(self) -> None:
        super().__init__()
        self.entry = nn.Linear(OBSERVATION_SIZE + ACTIONS, HIDDEN)
        self.memory = nn.GRUCell(HIDDEN, HIDDEN)
        self.head = nn.Linear(HIDDEN, ACTIONS)

    def forward(self, inputs: torch.Tensor, memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        memory = self.memory(functional.relu(self.entry(inputs)), memory)
        return self.head(memory), memory


class Training:
    """A world, a network with its slow copy, and what was lived through."""

    def __init__(self, device: str):
        self.device = torch.device(device)
        self.world, self.chance = PlainHunt(), np.random.default_rng(0)
        self.online, self.target = Network().to(self.device), Network().to(self.device)
        self.optimiser = torch.optim.RMSprop(self.online.parameters(), lr=5e-4, alpha=0.99, eps=1e-5)
        self.observations = torch.zeros(REPLAY_EPISODES, LENGTH + 1, PREDATORS, OBSERVATION_SIZE)
        self.actions = torch.zeros(REPLAY_EPISODES, LENGTH, PREDATORS, dtype=torch.int64)
        self.rewards = torch.zeros(REPLAY_EPISODES, LENGTH)
        self.episodes = 0

    @torch.no_grad()
    def play(self) -> None:
        """One episode, remembered."""
        slot = self.episodes % REPLAY_EPISODES
        memory = torch.zeros(PREDATORS, HIDDEN, device=self.device)
        last = torch.zeros(PREDATORS, ACTIONS)
        self.world.reset()
        for step in range(LENGTH):
            observation = torch.from_numpy(self.world.observe())
            values, memory = self.online(torch.cat([observation, last], 1).to(self.device), memory)
            actions = values.argmax(1).cpu()
            explored = torch.from_numpy(self.chance.integers(ACTIONS, size=PREDATORS))
            actions = torch.where(torch.from_numpy(self.chance.random(PREDATORS) < EPSILON), explored, actions)
            self.observations[slot, step], self.actions[slot, step] = observation, actions
            self.rewards[slot, step] = self.world.step(actions.tolist())
            last = functional.one_hot(actions, ACTIONS).float()
        self.observations[slot, LENGTH] = torch.from_numpy(self.world.observe())
        self.episodes += 1

    def learn(self) -> None:
        """One update from a batch of episodes."""
        held = min(self.episodes, REPLAY_EPISODES)
        chosen = torch.from_numpy(self.chance.choice(held, BATCH_EPISODES, replace=False))
        actions = self.actions[chosen].to(self.device)
        rewards = self.rewards[chosen].to(self.device)[:, :, None]
        last = functional.pad(functional.one_hot(actions, ACTIONS).float(), (0, 0, 0, 0, 1, 0))
        inputs = torch.cat([self.observations[chosen].to(self.device), last], 3)
        values = self._unroll(self.online, inputs)
        with torch.no_grad():
            best = values[:, 1:].argmax(3, keepdim=True)
            wanted = rewards + DISCOUNT * self._unroll(self.target, inputs)[:, 1:].gather(3, best)[..., 0]
        taken = values[:, :-1].gather(3, actions[..., None])[..., 0]
        self.optimiser.zero_grad()
        functional.mse_loss(taken, wanted).backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), CLIP)
        self.optimiser.step()
        if self.episodes % TARGET_PERIOD == 0:
            self.target.load_state_dict(self.online.state_dict())

    def _unroll(self, network: Network, inputs: torch.Tensor) -> torch.Tensor:
        """The values at every percept [B, P, N, actions], step by step."""
        memory = torch.zeros(BATCH_EPISODES * PREDATORS, HIDDEN, device=self.device)
        values = []
        for step in range(LENGTH + 1):
            now, memory = network(inputs[:, step].flatten(0, 1), memory)
            values.append(now.unflatten(0, (BATCH_EPISODES, PREDATORS)))
        return torch.stack(values, 1)


def time_turns(device: str, threads: int, one_dnn: bool, turns: int, repeats: int) -> tuple[list[float], list[float]]:
    """Milliseconds per turn of playing and of learning, once for each repeat, after one chunk that does not count."""
    torch.set_num_threads(threads)
    torch.backends.mkldnn.set_flags(one_dnn)
    training = Training(device)
    for _ in range(BATCH_EPISODES):
        training.play()
    chunks = [_time_chunk(training, turns) for _ in range(repeats + 1)][1:]
    return [play for play, _ in chunks], [learn for _, learn in chunks]


def _time_chunk(training: Training, turns: int) -> tuple[float, float]:
    playing = learning = 0.0
    for _ in range(turns):
        begun = time.perf_counter()
        training.play()
        played = time.perf_counter()
        training.learn()
        if training.device.type == "cuda":
            torch.cuda.synchronize()
        playing += played - begun
        learning += time.perf_counter() - played
    return 1000 * playing / turns, 1000 * learning / turns
