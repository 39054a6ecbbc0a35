"""A compiled environment as a parallel one of PettingZoo, for other people's learners and tools."""

from typing import Any

import jax
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space
from pettingzoo import ParallelEnv

from decentral.environments.base import Environment
from decentral.environments.host.compiled import LARGEST_SEED, SteppedStage
from decentral.environments.host.interface import Percepts
from decentral.errors import Refused
from decentral.types import AgentSpec, Continuous

PICTURE = "rgb_array"  # what PettingZoo calls a picture made of numbers
LONGEST_SIDE = 400  # of a picture, in pixels


class Parallel(ParallelEnv):
    """An environment whose agents act at the same time and share one reward.

    Where an action may be unavailable, observations are a Dict of `observation` and `action_mask`.
    """

    def __init__(self, name: str, environment: Environment, render_mode: str | None):
        self.environment = environment
        self.stage = SteppedStage(environment)
        self.possible_agents = [agent.replace(" ", "_") for agent in environment.agent_names]
        self.agents: list[str] = []
        self.facts: dict[str, float] = {}  # of the last step, for analysis only: no agent sees them
        self.specs = dict(zip(self.possible_agents, environment.agent_specs, strict=True))
        self.observation_spaces: dict[str, Space] = {
            agent: self._observations(spec) for agent, spec in self.specs.items()
        }
        self.action_spaces: dict[str, Space] = {agent: _actions(spec) for agent, spec in self.specs.items()}
        self._seeds = np.random.default_rng()
        self.stage.reset(0)
        modes = [PICTURE] if self._picture() is not None else []
        if render_mode not in (None, *modes):
            allowed = " or ".join(["None", *map(repr, modes)])
            raise Refused(f"render_mode must be {allowed} for {name}, got {render_mode!r:.40}")
        self.render_mode = render_mode
        self.metadata = {"name": name, "render_modes": modes, "render_fps": 3, "is_parallelizable": True}

    def observation_space(self, agent: str) -> Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Start an episode. Without a seed, it is derived from the last one given, or random if there was none."""
        if seed is not None:
            self._seeds = np.random.default_rng(_whole(seed))
        self.agents = list(self.possible_agents)
        self.facts = {}
        chosen = int(self._seeds.integers(LARGEST_SEED, dtype=np.uint64)) if seed is None else _whole(seed)
        return self._observed(self.stage.reset(chosen)), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """The outcome of one action per agent."""
        present = self.agents
        if not present:
            raise Refused("a step must follow a reset: no episode is going on")
        outcome = self.stage.step(np.stack([self._chosen(agent, actions) for agent in present]))
        observed, self.facts = self._observed(outcome.percepts), outcome.facts
        if outcome.terminated or outcome.truncated:
            self.agents = []
        rewards, terminated, truncated = (
            dict.fromkeys(present, shared) for shared in (outcome.reward, outcome.terminated, outcome.truncated)
        )
        if outcome.own_rewards is not None:
            rewards = dict(zip(self.possible_agents, outcome.own_rewards.tolist(), strict=True))
        return observed, rewards, terminated, truncated, {agent: {} for agent in present}

    def render(self) -> np.ndarray | None:
        """A picture of the current state, [height, width, 3]; None unless the render mode asks for pictures."""
        from decentral.analysis.animation.canvas import drawn

        picture = self._picture() if self.render_mode == PICTURE else None
        return None if picture is None else np.array(drawn(picture, LONGEST_SIDE).convert("RGB"))

    def close(self) -> None:
        self.agents = []
        self.stage.close()

    def _picture(self) -> Any:
        return self.environment.depict(jax.tree.map(np.asarray, self.stage.state), None)

    def _observations(self, spec: AgentSpec) -> Space:
        numbers = Box(-np.inf, np.inf, (spec.observation_size,), np.float32)
        if not self.environment.has_action_mask:
            return numbers
        return Dict({"observation": numbers, "action_mask": Box(0, 1, (spec.actions.count,), np.int8)})

    def _observed(self, percepts: Percepts) -> dict[str, Any]:
        """What each agent perceives, in its own sizes."""
        observed: dict[str, Any] = {}
        for (agent, spec), row, mask in zip(self.specs.items(), percepts.observation, percepts.available, strict=True):
            numbers, options = row[: spec.observation_size], mask[: spec.actions.count].astype(np.int8)
            has_mask = self.environment.has_action_mask
            observed[agent] = {"observation": numbers, "action_mask": options} if has_mask else numbers
        return observed

    def _chosen(self, agent: str, actions: dict[str, Any]) -> np.ndarray:
        """The action of one agent, as the environment takes it."""
        space = self.action_spaces[agent]
        if agent not in actions or not space.contains(actions[agent]):
            raise Refused(f"the action of {agent} must be one of {space}, got {actions.get(agent)!r:.80}")
        return np.asarray(actions[agent]).reshape(self.specs[agent].actions.shape)


def _actions(spec: AgentSpec) -> Space:
    kind = spec.actions
    return Box(-1.0, 1.0, kind.shape, np.float32) if isinstance(kind, Continuous) else Discrete(kind.count)


def _whole(seed: Any) -> int:
    if not (isinstance(seed, int | np.integer) and 0 <= seed <= LARGEST_SEED):
        raise Refused(f"seed must be a whole number at least 0 and at most {LARGEST_SEED}, got {seed!r:.40}")
    return int(seed)
