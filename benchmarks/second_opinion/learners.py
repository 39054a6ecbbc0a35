"""IQL and DAC in plain PyTorch, one network for all agents as in PyMARL. Nothing of the library's learners is used.

Batches are [T, rows, ...]: a row is one agent's episode. Every episode lasts to its limit and is bootstrapped there.
"""

import copy
from dataclasses import dataclass

import torch
from hunts import ACTIONS, FEATURES
from torch import Tensor, nn
from torch.nn import functional

HIDDEN = 64
DISCOUNT = 0.99
CLIP = 10.0
KL_WEIGHT = 0.001


@dataclass(frozen=True)
class Batch:
    """Episodes of all agents: observations [T + 1, rows, features], actions and rewards [T, rows]."""

    observations: Tensor
    actions: Tensor
    rewards: Tensor

    @property
    def inputs(self) -> Tensor:
        """Observation and last action, one-hot; zeros before the first."""
        last = functional.pad(self.one_hot, (0, 0, 0, 0, 1, 0))
        return torch.cat([self.observations, last], dim=-1)

    @property
    def one_hot(self) -> Tensor:
        return functional.one_hot(self.actions, ACTIONS).float()


class Trunk(nn.Module):
    """A hidden layer and a GRU."""

    def __init__(self) -> None:
        super().__init__()
        self.entry = nn.Linear(FEATURES + ACTIONS, HIDDEN)
        self.gru = nn.GRU(HIDDEN, HIDDEN)

    def forward(self, inputs: Tensor, memory: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return self.gru(functional.relu(self.entry(inputs)), memory)


class HyperHead(nn.Module):
    """A linear layer for each context, made by two linear hyper-networks; it starts as wide as an ordinary layer."""

    def __init__(self, contexts: int):
        super().__init__()
        self.weight, self.bias = nn.Linear(contexts, ACTIONS * HIDDEN), nn.Linear(contexts, ACTIONS)
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(HIDDEN**-0.5), HIDDEN**-0.5)

    def forward(self, hidden: Tensor, context: Tensor) -> Tensor:
        weight = self.weight(context).unflatten(-1, (ACTIONS, HIDDEN))
        return (weight @ hidden.unsqueeze(-1)).squeeze(-1) + self.bias(context)

    def every(self, hidden: Tensor) -> Tensor:
        """The values under each context [..., contexts, actions]."""
        each = torch.eye(self.bias.in_features, device=hidden.device)
        weight = self.weight(each).unflatten(-1, (ACTIONS, HIDDEN))
        return torch.einsum("...h,mah->...ma", hidden, weight) + self.bias(each)


class Decoder(nn.Module):
    """Predicts what a step led to, from the step and a context."""

    def __init__(self, contexts: int, outputs: int):
        super().__init__()
        self.from_step = nn.Linear(FEATURES + ACTIONS, HIDDEN)
        self.from_context = nn.Linear(contexts, HIDDEN)
        self.second = nn.Linear(HIDDEN, outputs)


class IQLNetworks(nn.Module):
    """All that IQL learns."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.head = Trunk(), nn.Linear(HIDDEN, ACTIONS)


class DACNetworks(nn.Module):
    """All that DAC learns."""

    def __init__(self, window: int, contexts: int):
        super().__init__()
        self.trunk, self.head = Trunk(), HyperHead(contexts)
        self.first = nn.Linear(window * (2 * FEATURES + ACTIONS + 2), HIDDEN)
        self.second = nn.Linear(HIDDEN, contexts)
        self.state, self.reward = Decoder(contexts, FEATURES), Decoder(contexts, 1)


class IQL:
    """Recurrent double Q-learning, PyMARL's settings."""

    def __init__(self) -> None:
        self.networks: nn.Module = IQLNetworks()
        self.finish()

    def finish(self) -> None:
        """The target network and the optimiser."""
        self.target = copy.deepcopy(self.networks)
        self.optimiser = torch.optim.RMSprop(self.networks.parameters(), lr=5e-4, alpha=0.99, eps=1e-5)

    def act(self, networks: nn.Module, hidden: Tensor, epsilon: float) -> Tensor:
        """The values that an agent acts on, given its memory [rows, hidden]."""
        return networks.head(hidden)

    def loss(self, batch: Batch, noise: Tensor | None = None) -> Tensor:
        """The mean squared TD error over episodes, steps and agents."""
        values, later = (networks.head(networks.trunk(batch.inputs)[0]) for networks in (self.networks, self.target))
        return td_loss(batch, values, later)

    def learn(self, batch: Batch, noise: Tensor | None = None) -> Tensor:
        """One clipped step of RMSprop."""
        loss = self.loss(batch, noise)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.networks.parameters(), CLIP)
        self.optimiser.step()
        return loss.detach()

    def copy_target(self) -> None:
        self.target.load_state_dict(self.networks.state_dict())


class DAC(IQL):
    """Dynamics-Aware Context: IQL's loss with a context inferred from the last k transitions, and a model of them."""

    def __init__(self, window: int = 10, contexts: int = 10):
        self.window, self.contexts = window, contexts
        self.networks = DACNetworks(window, contexts)
        self.finish()

    def act(self, networks: nn.Module, hidden: Tensor, epsilon: float) -> Tensor:
        """phi, or with probability epsilon the values of a drawn context."""
        every = networks.head.every(hidden)
        drawn = every[torch.arange(len(every)), torch.randint(self.contexts, (len(every),))]
        return torch.where(torch.rand(len(every), 1) < epsilon, drawn, every.amax(dim=1))

    def loss(self, batch: Batch, noise: Tensor | None = None) -> Tensor:
        """L_C + L_REC + beta L_KL; `noise` is Gumbel's [T, rows, contexts]."""
        logits = self.logits(batch)
        noise = -torch.log(-torch.log(torch.rand_like(logits))) if noise is None else noise
        soft = functional.softmax(logits + noise, dim=-1)
        sample = functional.one_hot(soft.argmax(dim=-1), self.contexts) + soft - soft.detach()
        shares = functional.softmax(logits, dim=-1)
        divergence = (shares * (self.contexts * shares).log()).sum(dim=-1).mean()
        return self.value_loss(batch, sample.detach()) + self.model_loss(batch, sample) + KL_WEIGHT * divergence

    def logits(self, batch: Batch) -> Tensor:
        """The contexts' logits from the windows of (s, a, r, s', 1), oldest first, zeros before the first step."""
        before, after = batch.observations[:-1], batch.observations[1:]
        steps = torch.cat([before, batch.one_hot, batch.rewards[..., None], after, torch.ones_like(after[..., :1])], -1)
        padded = functional.pad(steps, (0, 0, 0, 0, self.window - 1, 0))
        windows = padded.unfold(0, self.window, 1).movedim(-1, -2).flatten(-2)
        return self.networks.second(functional.relu(self.networks.first(windows)))

    def model_loss(self, batch: Batch, context: Tensor) -> Tensor:
        """Errors of next observation and reward in each window under its context, averaged over all of it."""
        steps = torch.cat([batch.observations[:-1], batch.one_hot], dim=-1)
        wanted = (batch.observations[1:], batch.rewards[..., None])
        length = len(steps)
        held = torch.arange(1, length + 1, device=steps.device).clamp(max=self.window)
        loss = steps.new_zeros(())
        for decoder, targets in zip((self.networks.state, self.networks.reward), wanted, strict=True):
            by_step, by_context = decoder.from_step(steps), decoder.from_context(context)
            for back in range(self.window):
                hidden = functional.relu(by_step[: length - back] + by_context[back:])
                errors = (decoder.second(hidden) - targets[: length - back]).square().mean(dim=(1, 2))
                loss = loss + (errors / held[back:]).sum() / length
        return loss

    def value_loss(self, batch: Batch, context: Tensor) -> Tensor:
        """The TD error with the context of each step, the last one's again after the end."""
        contexts = torch.cat([context, context[-1:]])
        both = (networks.head(networks.trunk(batch.inputs)[0], contexts) for networks in (self.networks, self.target))
        return td_loss(batch, *both)


def td_loss(batch: Batch, values: Tensor, later: Tensor) -> Tensor:
    """The mean of (Q(a_t) - r - gamma Q'(argmax Q))^2, from the online and the target network's values [T + 1, ...]."""
    taken = values[:-1].gather(-1, batch.actions[..., None]).squeeze(-1)
    best = values[1:].argmax(dim=-1, keepdim=True)
    wanted = batch.rewards + DISCOUNT * later[1:].gather(-1, best).squeeze(-1)
    return (taken - wanted.detach()).square().mean()
