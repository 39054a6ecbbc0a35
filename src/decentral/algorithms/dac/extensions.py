"""Extensions of DAC, all off by default: each replaces or extends single steps of the paper's method."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.base import AgentState, Values
from decentral.algorithms.dac.adaptive_window import infer_by_fit, lengths, step_errors
from decentral.algorithms.dac.attainable import (
    ContextPrior,
    ModelsWithPrior,
    cross_entropy,
    likely_enough,
    prior_of,
    restricted_to,
)
from decentral.algorithms.dac.context_model import ContextModel, Contexts
from decentral.algorithms.dac.dac import (
    DAC,
    DACModels,
    EveryContext,
    NextStep,
    StepValues,
    Terms,
    of_next_step,
)
from decentral.algorithms.dac.few_contexts import few_contexts
from decentral.algorithms.dac.settings import OpenChoices
from decentral.algorithms.gradient import GradientLearner
from decentral.algorithms.optimisers import clipped_optimiser, one_optimiser_per_part
from decentral.algorithms.q_learning import Scene, last_steps, linear_ramp, masked_mean, one_hot_actions, scene_inputs
from decentral.algorithms.value_learner import ContextValue, Hidden
from decentral.settings import Refused, setting
from decentral.types import AgentSpec, Episode, Metrics


class ExtendedDAC(DAC):
    """DAC with extensions that can be switched on."""

    heading: ClassVar[str] = "Extensions"

    next_context: Literal["inferred", "optimistic", "expected", "same"] = setting(
        "inferred",
        "c in the target: inferred after the next step, the best attainable, all by their probabilities, or c_t again",
    )
    target_encoder: bool = setting(
        False, "infer the next step's context in the target with a target copy of the encoder"
    )
    context_prior: Literal["none", "learned"] = setting(
        "none", "learn p(c | h, a), which contexts follow an action, from those that did"
    )
    prior_trains_trunk: bool = setting(False, "let the loss of a learned prior train the value's trunk too")
    attainable: float = setting(
        0.0, "delta, phi's maximum is over contexts with p >= delta max p (0: over all)", at_least=0, at_most=1
    )
    attainable_start: float = setting(0.0, "episodes before delta rises from 0", at_least=0)
    attainable_ramp: float = setting(0.0, "episodes over which delta then rises (0: at once)", at_least=0)
    window_choice: Literal["fixed", "adaptive"] = setting(
        "fixed", "the encoder sees the last k transitions, or as many of them as have predicted the last steps best"
    )
    explore_bonus: Literal["none", "prediction-error"] = setting(
        "none", "added to the reward in the target: nothing, or the decoders' prediction error of the step"
    )
    bonus_weight: float = setting(0.01, "weight of that bonus", at_least=0)
    max_over: Literal["all", "sampled"] = setting("all", "phi's maximum in acting: over all contexts, or over a few")
    sampled_contexts: int = setting(4, "contexts of a sampled maximum, drawn anew at each step", at_least=1)
    forgive_contexts: bool = setting(
        True, "what `forgive` forgives is forgiven to contexts and decoders too (false: they see the true reward)"
    )
    optimisers: Literal["one", "two"] = setting(
        "one", "one optimiser and clip for all, or one each for value and context (and for a learned prior)"
    )

    def check_together(self) -> None:
        OpenChoices.check_together(self)
        if self.max_over == "sampled" and self.sampled_contexts > self.contexts:
            raise Refused(f"sampled_contexts must be at most contexts, {self.contexts}, got {self.sampled_contexts}")
        if self.target_encoder and (self.next_context != "inferred" or self.window_choice != "fixed"):
            raise Refused(
                "target_encoder must be false unless next_context is inferred and window_choice fixed, got true"
            )
        if self.explore_bonus != "none" and (self.n_step > 1 or self.td_lambda > 0):
            raise Refused(f"explore_bonus must be none if targets span several steps, got {self.explore_bonus}")
        if self.attainable > 0 and self.context_prior == "none":
            raise Refused("context_prior must be learned if attainable is above 0, got none")

    # Attainable contexts: those that a learned prior finds likely enough

    def build(self, spec: AgentSpec) -> ModelsWithPrior:
        models = DAC.build(self, spec)
        learned = self.context_prior == "learned"
        prior = ContextPrior(self.hidden, self.contexts, spec.actions.count) if learned else None
        return ModelsWithPrior(models.value, models.context, prior)

    def candidate_values(
        self, models: DACModels, hidden: Float[Array, "*rows hidden"], every: EveryContext
    ) -> EveryContext:
        prior = prior_of(models)
        return every if prior is None else restricted_to(likely_enough(prior(hidden), self.delta(prior)), every)

    def delta(self, prior: ContextPrior) -> Float[Array, ""]:
        """The share of the likeliest context's probability that a context needs at this time to be attainable."""
        return self.attainable * linear_ramp(self.attainable_start, self.attainable_ramp, prior.episodes)

    def prior_terms(self, prior: ContextPrior, hidden: Array, contexts: Array, actions: Array) -> Terms:
        """The prior's cross-entropy at each step, and how many contexts were attainable by the action taken."""
        log_p = prior(hidden if self.prior_trains_trunk else jax.lax.stop_gradient(hidden))
        attainable = likely_enough(log_p, self.delta(prior))
        return {
            "prior_error": cross_entropy(log_p, jax.lax.stop_gradient(contexts), actions),
            "attainable": jnp.sum(attainable * actions[..., None, :], axis=(-2, -1)),
        }

    def after_episodes(self, agent: AgentState, episodes: int) -> AgentState:
        """As for other learners; a learned prior counts the episodes, by which delta rises."""
        if prior_of(agent.online) is not None:
            so_far = agent.online.prior.episodes + episodes
            agent = eqx.tree_at(lambda a: a.online.prior.episodes, agent, so_far)
        return GradientLearner.after_episodes(self, agent, episodes)

    # The context of the target

    def next_action_values(
        self, following: NextStep, online: DACModels, episode: Episode, contexts: Contexts
    ) -> tuple[StepValues, StepValues]:
        """Q(h', ., c') of the next step as in the paper, phi(h', .), sum_c p(c) Q(h', ., c), or Q(h', ., c_t)."""
        if contexts.of_target is not None:
            c = of_next_step(contexts.of_target, last_steps(episode))
            return following.head(following.hidden, c), following.target_head(following.target_hidden, c)
        if self.next_context == "inferred":
            return DAC.next_action_values(self, following, online, episode, contexts)
        if self.next_context == "optimistic":
            return self.next_phi(following, online)
        if self.next_context == "same":
            c = contexts.chosen
            return following.head(following.hidden, c), following.target_head(following.target_hidden, c)
        prior = prior_of(online)
        inferred = of_next_step(contexts.probabilities, last_steps(episode))[..., None]
        shares = inferred if prior is None else jnp.exp(prior(following.hidden))
        every, target_every = following.every()
        return jnp.sum(shares * every, axis=-2), jnp.sum(shares * target_every, axis=-2)

    # A target copy of the encoder

    def contexts_to_learn_with(
        self, online: DACModels, target: DACModels, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Contexts, Float[Array, ""], Metrics]:
        """The same, with the contexts that the target network's encoder infers, if it is asked for."""
        contexts, loss, metrics = DAC.contexts_to_learn_with(self, online, target, episodes, key)
        if self.target_encoder:
            contexts = replace(contexts, of_target=self.target_contexts(target.context, episodes, key))
        return contexts, loss, metrics

    def target_contexts(
        self, model: ContextModel, episodes: Episode, key: Key[Array, ""]
    ) -> Float[Array, "T B contexts"]:
        """The contexts that another encoder infers, drawn by the same noise."""
        logits = self.infer(model, episodes)
        return jax.lax.stop_gradient(self.contexts_for_values(logits, self.sample_contexts(logits, key)).chosen)

    # Adaptive windows

    def infer(self, model: ContextModel, episode: Episode) -> Float[Array, "T *B contexts"]:
        if self.window_choice == "fixed":
            return DAC.infer(self, model, episode)
        return infer_by_fit(model, episode, self.predict == "change")[0]

    def find_contexts(
        self, model: ContextModel, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Contexts, Float[Array, ""], Metrics]:
        """As in the paper; adaptive windows are reconstructed at the length that the encoder saw."""
        if self.window_choice == "fixed":
            return DAC.find_contexts(self, model, episodes, key)
        counted = self.has_window(episodes)
        logits, best = infer_by_fit(model, episodes, self.predict == "change")
        sample = self.sample_contexts(logits, key)
        state_error, reward_error, used = self.errors_by_length(model, episodes, sample, best)
        loss, metrics = self.context_loss(logits, sample, state_error, reward_error, counted)
        return self.contexts_for_values(logits, sample), loss, metrics | {"window_mean": used}

    def errors_by_length(
        self, model: ContextModel, episodes: Episode, sample: Float[Array, "T B contexts"], best: Int[Array, "T B"]
    ) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, ""]]:
        """Both parts of L_REC, where `best` is the index of each window's length, and the mean length."""
        counted, features = self.has_window(episodes), episodes.percepts.observation.shape[-1]
        state_error = reward_error = used = jnp.zeros(())
        for place, length in enumerate(lengths(self.window)):
            so_long = counted & (best == place)
            of_state, of_reward = (so_long * self.window_weights(counted, length, size) for size in (features, 1))
            state_error += model.state_loss(episodes, sample, of_state, length, self.predict == "change")
            reward_error += model.reward_loss(episodes, sample, of_reward, length)
            used += length * masked_mean(jnp.where(so_long, 1.0, 0.0), counted)
        return state_error, reward_error, used

    # A maximum over a few contexts

    def values(self, models: DACModels, memory: Hidden, scene: Scene) -> tuple[Values, Hidden]:
        """As in the paper, or with a maximum over a few sampled contexts: no others are computed."""
        if self.max_over == "all":
            return DAC.values(self, models, memory, scene)
        memory = models.value.trunk.step(memory, scene_inputs(scene))
        hidden = models.value.trunk.output(memory)
        some = partial(models.value.head.some, hidden)
        phi = self.sampled_phi(models, hidden, some)
        if not self.explore_contexts:
            return phi, memory
        drawn = jnp.floor(scene.dice.context * self.contexts).astype(jnp.int32)
        return jnp.where(scene.dice.explore_context < scene.epsilon, some(drawn[None])[0], phi), memory

    def acts_by(self, models: DACModels) -> ContextValue | None:
        restricted = self.max_over == "sampled" or prior_of(models) is not None
        return None if restricted else models.value

    def sampled_phi(
        self, models: DACModels, memory: Hidden, some: Callable[[Int[Array, " few"]], EveryContext]
    ) -> Values:
        """phi over those of a few contexts that are attainable; `some` computes the values under them."""
        prior = prior_of(models)
        if prior is None:
            return jnp.max(some(few_contexts(memory, None, self.contexts, self.sampled_contexts)), axis=-2)
        log_p = prior(memory)
        few = few_contexts(memory, log_p, self.contexts, self.sampled_contexts)
        return jnp.max(restricted_to(likely_enough(log_p[few], self.delta(prior)), some(few)), axis=-2)

    def phi_gap(self, models: DACModels, hidden: Float[Array, "*T hidden"]) -> Float[Array, "*T"]:
        """|phi over all contexts - phi over a few|, averaged over actions."""
        every = models.value.head.every(hidden)
        of_few = jnp.vectorize(
            lambda memory, values: self.sampled_phi(models, memory, lambda few: values[few]),
            signature="(h),(c,a)->(a)",
        )
        return jnp.mean(jnp.abs(self.phi(models, hidden, every) - of_few(hidden, every)), axis=-1)

    # Forgiving the values alone

    def learning_rewards(self, episodes: Episode, episodes_so_far: Int[Array, ""]) -> Episode:
        """As for other learners; if only values forgive, the episodes keep their rewards beside what values count."""
        forgiven = GradientLearner.learning_rewards(self, episodes, episodes_so_far)
        return forgiven if self.forgive_contexts else replace(episodes, annotations=forgiven.rewards)

    def as_values_count(self, episode: Episode) -> Episode:
        """An episode with the rewards that values learn from."""
        return episode if self.forgive_contexts else replace(episode, rewards=episode.annotations)

    # What the extensions add to the terms, the loss and the optimiser

    def td_terms(self, online: DACModels, target: DACModels, episode: Episode, contexts: Contexts) -> Terms:
        """As in the paper; a bonus raises the target."""
        terms = DAC.td_terms(self, online, target, self.as_values_count(episode), contexts)
        prior = prior_of(online)
        if self.explore_bonus != "none":
            errors = step_errors(online.context, episode, contexts.chosen, self.predict == "change")
            bonus = self.bonus_weight * jax.lax.stop_gradient(errors)
            terms |= {"bonus": bonus, "error": terms["error"] - bonus}
        if self.max_over == "sampled":
            terms["phi_gap"] = self.phi_gap(online, terms["hidden"])
        if prior is not None:
            terms |= self.prior_terms(prior, terms["hidden"], contexts.chosen, one_hot_actions(episode))
            terms["has_window"] = self.has_window(episode)
        return terms

    def value_loss(self, online: DACModels, terms: Terms) -> tuple[Float[Array, ""], Metrics]:
        """As in the paper, plus the loss of a learned prior."""
        loss, metrics = DAC.value_loss(self, online, terms)
        metrics |= {name: masked_mean(terms[name], terms["counted"]) for name in ("phi_gap", "bonus") if name in terms}
        if prior_of(online) is None:
            return loss, metrics
        prior_loss, attainable = (
            masked_mean(terms[name], terms["has_window"]) for name in ("prior_error", "attainable")
        )
        return loss + prior_loss, metrics | {"prior_loss": prior_loss, "contexts_attainable": attainable}

    def build_optimiser(self) -> optax.GradientTransformation:
        return clipped_optimiser(self) if self.optimisers == "one" else one_optimiser_per_part(self, *self.parts())

    def parts(self) -> list[str]:
        """The parts of the models that get an optimiser each."""
        return ["value", "context", *(["prior"] if self.context_prior == "learned" else [])]
