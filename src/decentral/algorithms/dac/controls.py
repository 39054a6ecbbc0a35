"""Controls: contexts without an encoder, to separate what contexts contribute from what many heads do."""

from functools import partial
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from decentral.algorithms.dac.attainable import ModelsWithPrior
from decentral.algorithms.dac.context_model import ContextModel, Contexts, step_numbers
from decentral.algorithms.dac.dac import DACModels, Terms
from decentral.algorithms.dac.extensions import ExtendedDAC
from decentral.algorithms.q_learning import draw_by_step
from decentral.algorithms.rac import interval
from decentral.networks.dynamics import contexts_used, steps_of_windows
from decentral.settings import Refused, setting
from decentral.types import AgentSpec, Episode, Metrics, time_first


class ModelsWithoutEncoder(ModelsWithPrior):
    """What an agent learns without a context model."""

    context: None = None  # type: ignore[assignment]


class FullDAC(ExtendedDAC):
    """Dynamics-Aware Context: values given an inferred context, and the best context at the time of acting.

    Offers all extensions and controls; where none is set, every step is that of `DAC`.
    """

    heading: ClassVar[str] = "Controls"

    context_source: Literal["encoder", "noise", "reward-bins", "ensemble"] = setting(
        "encoder",
        "c in learning: by the encoder, random, by the interval of the window's mean reward, or all for every step",
    )
    reward_low: float = setting(-1.0, "where the first of the reward's intervals starts (reward-bins)")
    reward_high: float = setting(1.0, "where the last of the reward's intervals ends (reward-bins)")

    def check_together(self) -> None:
        ExtendedDAC.check_together(self)
        if self.context_source != "encoder" and self.needs_encoder():
            raise Refused(f"context_source must be encoder if {self.needs_encoder()}, got {self.context_source}")
        if self.reward_low >= self.reward_high:
            raise Refused(f"reward_low must be below reward_high, {self.reward_high}, got {self.reward_low}")
        if self.prioritised > 0 and self.context_source == "ensemble":
            raise Refused(f"prioritised must be 0 if context_source is ensemble, got {self.prioritised}")
        if self.context_prior == "learned" and self.context_source == "ensemble":
            raise Refused("context_prior must be none if context_source is ensemble, got learned")

    def needs_encoder(self) -> str:
        """The first setting, with its value, that needs an encoder; empty if there is none."""
        off: dict[str, Any] = {"value_context": "sample", "value_trains_encoder": False, "target_encoder": False}
        off |= {"window_choice": "fixed", "explore_bonus": "none"}
        return next((f"{name} is {getattr(self, name)}" for name in off if getattr(self, name) != off[name]), "")

    def build(self, spec: AgentSpec) -> ModelsWithPrior:
        models = ExtendedDAC.build(self, spec)
        if self.context_source == "encoder":
            return models
        return ModelsWithoutEncoder(models.value, None, models.prior)

    def parts(self) -> list[str]:
        return [part for part in ExtendedDAC.parts(self) if part != "context" or self.context_source == "encoder"]

    def find_contexts(
        self, model: ContextModel | None, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Contexts, Float[Array, ""], Metrics]:
        """As in the paper, or contexts that need no learning."""
        rewards, no_loss = episodes.rewards, jnp.zeros(())
        if self.context_source == "ensemble":
            return ensemble(rewards, self.contexts), no_loss, {}
        if self.context_source == "reward-bins":
            bins = self.reward_bins(episodes)
            return bins, no_loss, {"contexts_used": contexts_used(bins.chosen, self.has_window(episodes))}
        if model is None:
            gumbel = time_first(draw_by_step(jax.random.gumbel, key, (*rewards.T.shape, self.contexts)))
            return noise(gumbel), no_loss, {}
        return ExtendedDAC.find_contexts(self, model, episodes, key)

    def reward_bins(self, episode: Episode) -> Contexts:
        """Contexts by the mean reward of the window."""
        return reward_bins(episode.rewards, self.window, self.reward_low, self.reward_high, self.contexts)

    def td_terms(self, online: DACModels, target: DACModels, episode: Episode, contexts: Contexts) -> Terms:
        """As in the paper; for an ensemble, once for each context [contexts, T, B]."""
        terms_of = partial(ExtendedDAC.td_terms, self, online, target, episode)
        return jax.vmap(terms_of)(contexts) if self.context_source == "ensemble" else terms_of(contexts)

    def contexts_in(self, models: DACModels, episode: Episode) -> Float[Array, "T contexts"] | None:
        if self.context_source == "encoder":
            return ExtendedDAC.contexts_in(self, models, episode)
        if self.context_source != "reward-bins":
            return None
        return jnp.where(self.has_window(episode)[:, None], self.reward_bins(episode).chosen, 0.0)


def noise(gumbel: Float[Array, "T B contexts"]) -> Contexts:
    """Uninformative contexts: uniform at each step, from the given Gumbel noise."""
    drawn = jax.nn.one_hot(jnp.argmax(gumbel, axis=-1), gumbel.shape[-1])
    return Contexts(drawn, jnp.full_like(drawn, 1 / gumbel.shape[-1]))


def ensemble(rewards: Float[Array, "T B"], count: int) -> Contexts:
    """Every context for every step [contexts, T, B, contexts], so that each head learns from all steps."""
    each = jnp.broadcast_to(jnp.eye(count)[:, None, None], (count, *rewards.shape, count))
    return Contexts(each, jnp.full_like(each, 1 / count))


def reward_bins(
    rewards: Float[Array, "T *B"],
    window: int,
    low: Float[Array, ""] | float,
    high: Float[Array, ""] | float,
    count: int,
) -> Contexts:
    """Contexts by the interval that the mean reward of a step's window is in."""
    held = jnp.minimum(1 + step_numbers(rewards), window)
    sums = sum(steps_of_windows(rewards, window))
    bins = interval(sums / held, low, high, count)
    return Contexts(bins, bins)
