"""IQL in PyTorch (extra `torch`) as PyMARL writes it: one environment, one step of the GRU at a time, driven by Python.

It does what PyMARL's runner, controller and learner do in every turn, gradients kept where PyMARL keeps them, but
neither logs nor evaluates.
"""

import copy

import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn import functional

from decentral.benchmarking.pymarl.episodes import Episodes, PyMARLReplay, empty_episodes
from decentral.benchmarking.pymarl.predator_prey import ACTIONS, LENGTH, OBSERVATION_SIZE, PREDATORS, PlainHunt

HIDDEN = 64
REPLAY_EPISODES = 5000
BATCH_EPISODES = 32
TARGET_PERIOD = 200  # episodes
DISCOUNT = 0.99
EPSILON_FIRST, EPSILON_LAST, EPSILON_STEPS = 1.0, 0.05, 50_000
CLIP = 10.0
UNAVAILABLE = -9999999.0


class Network(nn.Module):
    """A hidden layer, a GRU cell and a value for each action, for one step of many agents."""

    def __init__(self) -> None:
        super().__init__()
        self.entry = nn.Linear(OBSERVATION_SIZE + ACTIONS + PREDATORS, HIDDEN)
        self.memory = nn.GRUCell(HIDDEN, HIDDEN)
        self.head = nn.Linear(HIDDEN, ACTIONS)

    def forward(self, inputs: torch.Tensor, memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        memory = self.memory(functional.relu(self.entry(inputs)), memory.reshape(-1, HIDDEN))
        return self.head(memory), memory


class Controller:
    """The network that all agents share, and their memories."""

    def __init__(self, device: torch.device):
        self.network = Network().to(device)
        self.forget(1)

    def forget(self, episodes: int) -> None:
        """Begin some episodes side by side."""
        blank = self.network.entry.weight.new_zeros(1, HIDDEN)
        self.memory = blank.unsqueeze(0).expand(episodes, PREDATORS, -1)

    def values(self, episodes: Episodes, step: int) -> torch.Tensor:
        """The actions' values at one step [episodes, agents, actions]; steps come in order."""
        values, self.memory = self.network(_inputs(episodes, step), self.memory)
        return values.view(episodes.count, PREDATORS, -1)

    def unroll(self, episodes: Episodes) -> list[torch.Tensor]:
        """The actions' values at each step."""
        self.forget(episodes.count)
        return [self.values(episodes, step) for step in range(episodes.steps)]


class PyMARLTraining:
    """An environment, a network with its target network, and the replay."""

    def __init__(self, device: str):
        self.device = torch.device(device)
        self.environment, self.replay = PlainHunt(), PyMARLReplay(REPLAY_EPISODES)
        self.online = Controller(self.device)
        self.target = copy.deepcopy(self.online)
        self.parameters = list(self.online.network.parameters())
        self.optimiser = torch.optim.RMSprop(self.parameters, lr=5e-4, alpha=0.99, eps=1e-5)
        self.episodes = 0

    def play(self) -> None:
        """One episode, remembered."""
        episode = empty_episodes(1, self.device)
        self.environment.reset()
        self.online.forget(1)
        for step in range(LENGTH):
            episode.write_step(self._percept(), step)
            actions = self._choose(episode, step)
            reward = self.environment.step(actions[0].tolist())
            # The time limit ends the last step, not the task: nothing terminates.
            episode.write_step({"action": actions, "reward": [(reward,)], "terminated": [(False,)]}, step)
        episode.write_step(self._percept(), LENGTH)
        episode.write_step({"action": self._choose(episode, LENGTH)}, LENGTH)
        self.replay.add(episode)
        self.episodes += 1

    def learn(self) -> None:
        """One update from a batch of episodes."""
        batch = self.replay.sample(BATCH_EPISODES).to(self.device)
        errors, happened = self._errors(batch)
        loss = ((errors * happened) ** 2).sum() / happened.sum()
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters, CLIP)
        self.optimiser.step()
        if self.episodes % TARGET_PERIOD == 0:
            self.target.network.load_state_dict(self.online.network.state_dict())

    def _percept(self) -> dict[str, list]:
        """The environment's state, observations and masks before a step, in lists of one episode."""
        available = [[1] * ACTIONS for _ in range(PREDATORS)]
        return {
            "state": [self.environment.state()],
            "available": [available],
            "observation": [list(self.environment.observe())],
        }

    def _choose(self, episode: Episodes, step: int) -> torch.Tensor:
        """An epsilon-greedy action for each agent [1, agents]."""
        available = episode["available"][:, step]
        values = self.online.values(episode, step)
        masked = values.clone()
        masked[available == 0] = -torch.inf
        exploring = (torch.rand_like(values[:, :, 0]) < epsilon_after(LENGTH * self.episodes)).long()
        explored = Categorical(available.float()).sample().long()
        return exploring * explored + (1 - exploring) * masked.max(dim=2)[1]

    def _errors(self, batch: Episodes) -> tuple[torch.Tensor, torch.Tensor]:
        """The temporal-difference error of each agent at each step, and whether that step happened: 1 or 0."""
        terminated = batch["terminated"][:, :-1].float()
        happened = batch["happened"][:, :-1].float()
        happened[:, 1:] = happened[:, 1:] * (1 - terminated[:, :-1])
        values = torch.stack(self.online.unroll(batch), dim=1)
        taken = values[:, :-1].gather(3, batch["action"][:, :-1]).squeeze(3)
        later = torch.stack(self.target.unroll(batch)[1:], dim=1)
        later[batch["available"][:, 1:] == 0] = UNAVAILABLE
        compared = values.clone().detach()
        compared[batch["available"] == 0] = UNAVAILABLE
        best = compared[:, 1:].max(dim=3, keepdim=True)[1]
        targets = batch["reward"][:, :-1] + DISCOUNT * (1 - terminated) * later.gather(3, best).squeeze(3)
        errors = taken - targets.detach()
        return errors, happened.expand_as(errors)


def epsilon_after(steps: int) -> float:
    """Epsilon after some environment steps."""
    return max(EPSILON_LAST, EPSILON_FIRST - (EPSILON_FIRST - EPSILON_LAST) * steps / EPSILON_STEPS)


def _inputs(episodes: Episodes, step: int) -> torch.Tensor:
    """The network's inputs at one step [episodes * agents, inputs]: observation, last action and agent id."""
    one_hot = episodes["action_one_hot"]
    last = torch.zeros_like(one_hot[:, step]) if step == 0 else one_hot[:, step - 1]
    identity = torch.eye(PREDATORS, device=episodes.device).unsqueeze(0).expand(episodes.count, -1, -1)
    parts = (episodes["observation"][:, step], last, identity)
    return torch.cat([part.reshape(episodes.count * PREDATORS, -1) for part in parts], dim=1)
