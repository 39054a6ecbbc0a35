"""How DAC finds contexts (Section 4.2): what they are inferred from, and the loss of the model that infers them."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from decentral.algorithms.adaptive_window import infer_by_fit, lengths
from decentral.algorithms.context_sources import ensemble, noise, reward_bins
from decentral.algorithms.contexts import (
    ContextModel,
    Contexts,
    averaged,
    kl_to_uniform,
    numbers_of_steps,
    summed,
    transition_size,
)
from decentral.algorithms.dac_settings import DACSettings
from decentral.algorithms.q_learning import draw_by_step, masked_mean
from decentral.networks.dynamics import Decoder, Encoder, straight_through_sample
from decentral.networks.layers import sum_of_rows
from decentral.types import AgentSpec, Episode, Metrics, time_first


class ContextLearner(DACSettings):
    """A learner whose contexts come from its own windows, or from a control in their place."""

    def build_context_model(self, spec: AgentSpec) -> ContextModel:
        """The encoder and the two decoders, described."""
        state, action = spec.observation_size, spec.actions.count
        window_size = self.window * transition_size(state, action)
        return ContextModel(
            Encoder(window_size, self.encoder_width, self.contexts),
            Decoder(state + action, self.contexts, self.decoder_width, state),
            Decoder(state + action, self.contexts, self.decoder_width, 1),
            self.window,
        )

    def find_contexts(
        self, model: ContextModel | None, episodes: Episode, modelled: Bool[Array, "T B"], key: Key[Array, ""]
    ) -> tuple[Contexts, Float[Array, ""], Metrics]:
        """The contexts that values learn with, and the loss of the model that infers them, where there is one.

        The episodes lie side by side with time first [T, B], here and in what is found.
        """
        rewards = episodes.rewards
        if self.context_source == "ensemble":
            return ensemble(rewards, self.contexts), jnp.zeros(()), {}
        if self.context_source == "reward-bins":
            bins = reward_bins(rewards, self.window, self.reward_low, self.reward_high, self.contexts)
            return bins, jnp.zeros(()), {"contexts_used": contexts_used(bins.chosen, modelled)}
        gumbel = time_first(draw_by_step(jax.random.gumbel, key, (*rewards.T.shape, self.contexts)))
        if model is None:
            return noise(gumbel), jnp.zeros(()), {}
        if self.window_choice == "fixed":
            logits, of_length = model.infer(episodes), {self.window: modelled}
        else:
            logits, best = infer_by_fit(model, episodes, self.predict == "change")
            of_length = {length: modelled & (best == place) for place, length in enumerate(lengths(self.window))}
        sample = straight_through_sample(logits, gumbel, self.temperature, self.hard)
        contexts = Contexts(self.contexts_for_values(logits, sample), jax.nn.softmax(logits, axis=-1))
        return contexts, *self.context_losses(model, episodes, logits, sample, modelled, of_length)

    def context_losses(
        self,
        model: ContextModel,
        episodes: Episode,
        logits: Float[Array, "T B contexts"],
        sample: Float[Array, "T B contexts"],
        modelled: Bool[Array, "T B"],
        of_length: dict[int, Bool[Array, "T B"]],
    ) -> tuple[Float[Array, ""], Metrics]:
        """L_V = L_REC + beta L_KL, over the steps whose window counts; `of_length` tells which windows are how long."""
        gather = averaged if self.reconstruction == "averaged" else summed
        features = episodes.percepts.observation.shape[-1]
        state = reward = used = jnp.zeros(())
        for length, own in of_length.items():
            of_state, of_reward = (own * gather(modelled, length, count) for count in (features, 1))
            state += model.state_loss(episodes, sample, of_state, length, self.predict == "change")
            reward += model.reward_loss(episodes, sample, of_reward, length)
            used += length * masked_mean(jnp.where(own, 1.0, 0.0), modelled)
        divergence = masked_mean(kl_to_uniform(logits), modelled)
        metrics = {"state_error": state, "reward_error": reward, "kl": divergence}
        metrics["contexts_used"] = contexts_used(sample, modelled)
        if self.window_choice == "adaptive":
            metrics["window_mean"] = used
        return state + self.reward_weight * reward + self.kl_weight * divergence, metrics

    def contexts_for_values(
        self, logits: Float[Array, "*batch contexts"], sample: Float[Array, "*batch contexts"]
    ) -> Float[Array, "*batch contexts"]:
        """c_t as the value function sees it."""
        mode = jax.nn.one_hot(jnp.argmax(logits, axis=-1), self.contexts)
        contexts = {"sample": sample, "mode": mode, "probabilities": jax.nn.softmax(logits, axis=-1)}[
            self.value_context
        ]
        return contexts if self.value_trains_encoder else jax.lax.stop_gradient(contexts)

    def likeliest_contexts(self, model: ContextModel | None, episode: Episode) -> Float[Array, "T contexts"] | None:
        """The most likely context of every step that has a window, one-hot; none where contexts are not inferred."""
        if self.context_source == "reward-bins":
            bins = reward_bins(episode.rewards, self.window, self.reward_low, self.reward_high, self.contexts)
            logits = bins.chosen
        elif model is None:
            return None
        elif self.window_choice == "fixed":
            logits = model.infer(episode)
        else:
            logits, _ = infer_by_fit(model, episode, self.predict == "change")
        named = jax.nn.one_hot(jnp.argmax(logits, axis=-1), self.contexts)
        return jnp.where(self.has_window(episode)[:, None], named, 0.0)

    def has_window(self, episode: Episode) -> Bool[Array, "T *B"]:
        """The steps that have a window to learn from."""
        if self.window_start == "padded":
            return episode.happened
        return episode.happened & (numbers_of_steps(episode.happened) >= self.window - 1)


def contexts_used(contexts: Float[Array, "*batch contexts"], counted: Bool[Array, "*batch"]) -> Float[Array, ""]:
    """How many contexts are in use: the exponential of the entropy of their shares."""
    shares = sum_of_rows(jnp.where(counted[..., None], contexts, 0.0)) / jnp.maximum(jnp.sum(counted), 1)
    return jnp.exp(-jnp.sum(shares * jnp.log(jnp.maximum(shares, 1e-9))))
