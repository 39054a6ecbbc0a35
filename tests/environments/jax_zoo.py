"""A small world as JaxMARL's are, made without it."""

import jax
import jax.numpy as jnp

from tests.environments.zoo import Box, Discrete, MultiDiscrete


class Zoo:
    """A tall agent and a small one count steps; their rewards are their actions. All is over after `length` steps."""

    agents = ("tall", "small")
    max_steps = 4
    length = 3

    def action_space(self, agent):
        return {"tall": Discrete(3), "small": Discrete(2)}[agent]

    def reset(self, key):
        state = {"taken": jnp.zeros((), jnp.int32), "noise": jax.random.uniform(key)}
        return self.observe(state), state

    def observe(self, state):
        taken = state["taken"]
        everything = jnp.full(7, taken)  # for nobody
        return {"tall": jnp.full((2, 2), taken), "small": jnp.full(1, taken), "world_state": everything}

    def step_env(self, key, state, actions):
        state = {"taken": state["taken"] + 1, "noise": jax.random.uniform(key)}
        rewards = {name: actions[name] for name in self.agents}
        return self.observe(state), state, rewards, {"__all__": state["taken"] >= self.length}, {}


class Masked(Zoo):
    """The tall one may take its first action only after the first step."""

    def get_avail_actions(self, state):
        return {"tall": jnp.asarray([1, 0, 1]) * (state["taken"] > 0) + jnp.asarray([0, 1, 0]), "small": jnp.ones(2)}


class Long(Zoo):
    """It ends at its own time limit."""

    length = 4


class Numbered(Zoo):
    """Its agents have numbers for names, and what they do, see and earn comes in their order, as in STORM."""

    agents = (0, 1)

    def action_space(self, agent):
        return Discrete(3 - agent)

    def observe(self, state):
        return jnp.full((2, 2), state["taken"]), jnp.full(1, state["taken"])

    def step_env(self, key, state, actions):
        first, second = actions
        seen, state, rewards, over, facts = super().step_env(key, state, {0: first, 1: second})
        return seen, state, tuple(rewards.values()), over, facts


class Named(Zoo):
    """What the tall one sees has names, and it turns two wheels at once."""

    def action_space(self, agent):
        return {"tall": MultiDiscrete(2, 3), "small": Discrete(2)}[agent]

    def observe(self, state):
        taken = state["taken"]
        return {"tall": {"clock": taken, "walls": jnp.full(2, 7)}, "small": jnp.full(1, taken)}

    def step_env(self, key, state, actions):
        wheels = actions["tall"]
        return super().step_env(key, state, actions | {"tall": 10.0 * wheels[0] + wheels[1]})


class Smooth(Zoo):
    """Actions that are not discrete."""

    def action_space(self, agent):
        return Box(1)


def broken():
    raise KeyError("no such thing")


def nothing():
    return 3


NUMBER = 3
