"""Actor-critics: a recurrent policy and a recurrent value per agent, learned on policy. What IPPO and others share.

They differ in their surrogate: the loss of a step, given the policy that played it and the policy as it is now.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.algorithms.base import AgentState, Models, Statistics
from decentral.algorithms.gradient import NetworkLearner
from decentral.algorithms.optimisers import gradient_norm, one_optimiser_per_part
from decentral.algorithms.policies import Outputs, Policy, PolicyNetwork, policy_from, policy_of
from decentral.algorithms.policy_gradient import advantages, normalised
from decentral.algorithms.q_learning import Scene, masked_mean
from decentral.algorithms.targets import error_loss
from decentral.algorithms.value_learner import Hidden, ValueNetwork
from decentral.networks.backend import gathered
from decentral.networks.heads import LEAST_LOG_STD, MOST_LOG_STD
from decentral.networks.images import trunk_for
from decentral.networks.layers import Linear, draw
from decentral.settings import setting
from decentral.types import Action, AgentSpec, Episode, Metrics, Percept, time_first


class ActorCriticModels(eqx.Module):
    """Both networks of one agent."""

    actor: PolicyNetwork  # pi(. | h), which acts
    critic: ValueNetwork  # V(h), with a single output


class OptimiserState(eqx.Module):
    """How an agent steps: what its optimiser keeps, and the weights of its penalties."""

    steps: Any
    penalties: Any = ()


class UpdateTargets(eqx.Module):
    """What is computed once from the episodes of an update, with the networks that played them [T, B]."""

    policy: Policy
    advantages: Float[Array, "T B"]
    returns: Float[Array, "T B"]  # what the critic is to foresee


class PolicyStep(eqx.Module):
    """The policy at every step of an update, as it was and as it is now [T, B]."""

    old: Any  # a `Policy`, and so is the new one, of the same kind
    new: Any
    actions: Int[Array, "T B"] | Float[Array, "T B actions"]
    advantages: Float[Array, "T B"]

    @property
    def ratio(self) -> Float[Array, "T B"]:
        """pi(a_t | h_t) now, relative to when it was taken."""
        return jnp.exp(self.new.log_probability(self.actions) - self.old.log_probability(self.actions))


class ActorCritic(NetworkLearner):
    """On-policy learning of a policy, with a value as its baseline. Each agent has its own of both."""

    heading: ClassVar[str] = "Actor and critic"
    on_policy: ClassVar[bool] = True
    takes_continuous: ClassVar[bool] = True
    own_critic: ClassVar[bool] = True
    parts: ClassVar[tuple[str, ...]] = ("actor", "critic")  # of its models, each with an optimiser

    optimiser: Literal["rmsprop", "adam", "adamw"] = setting("adam", "how gradients become steps")
    clip: float = setting(10.0, "largest norm of a network's gradient; longer ones are scaled down to it", above=0)
    huber: float = setting(
        0.0,
        "errors of the critic beyond this count linearly, not squared (0: all are squared)",
        at_least=0,
        static=True,
    )
    epochs: int = setting(10, "gradient steps on the episodes of an update", at_least=1, at_most=1000)
    trace: float = setting(0.95, "lambda of the generalised advantage estimates", at_least=0, at_most=1)
    entropy_weight: float = setting(0.01, "weight of the policy's entropy, a bonus", at_least=0)
    normalise: bool = setting(True, "scale the advantages of an update to mean 0 and deviation 1")
    initial_log_std: float = setting(
        0.0,
        "log-deviation of continuous actions, before tanh, in a new policy; learned, the same in every state",
        at_least=LEAST_LOG_STD,
        at_most=MOST_LOG_STD,
        static=True,
    )

    @abstractmethod
    def surrogate(
        self, step: PolicyStep, penalties: Any, happened: Bool[Array, "T B"]
    ) -> tuple[Float[Array, ""], Metrics]:
        """The loss of the policy on the steps that happened, and its metrics."""

    def initial_penalties(self) -> Any:
        """The weights of penalties before the first update."""
        return ()

    def adapt(self, penalties: Any, metrics: Metrics) -> Any:
        """The weights after an update, given what its last epoch measured."""
        return penalties

    def build(self, spec: AgentSpec) -> Models:
        trunk = trunk_for(spec.observation_size + spec.actions.count, self.trunk_design, spec.image)
        return ActorCriticModels(self.build_actor(spec), ValueNetwork(trunk, Linear(self.hidden, 1)))

    def build_actor(self, spec: AgentSpec) -> PolicyNetwork:
        """A description of the policy's network."""
        return PolicyNetwork.described(spec, self.trunk_design, self.initial_log_std)

    def init_agent(self, spec: AgentSpec, key: Key[Array, ""]) -> AgentState:
        key_build, key_agent = jax.random.split(key)
        models = draw(self.build(spec), key_build)
        return AgentState(
            online=models,
            target=(),
            optimiser=OptimiserState(self.build_optimiser().init(models), self.initial_penalties()),
            target_age=jnp.zeros((), jnp.int32),
            statistics=(),
            key=key_agent,
        )

    def acting(self, models: Models) -> PolicyNetwork:
        """The network that acts."""
        return models.actor

    def start(self, models: Models) -> Hidden:
        return self.acting(models).trunk.start()

    def values(self, models: Models, memory: Hidden, scene: Scene) -> tuple[Outputs, Hidden]:
        """What describes the policy: logits, or means and log-deviations of continuous actions."""
        return self.acting(models).step(memory, scene)

    def explore(self, statistics: Statistics, percept: Percept, epsilon: Float[Array, ""]) -> Float[Array, ""]:
        """Always: the policy itself explores, and no schedule does."""
        return jnp.ones_like(epsilon)

    def choose(self, values: Outputs, scene: Scene, epsilon: Float[Array, ""]) -> Action:
        """In training an action drawn from the policy, in a test (epsilon 0) its best one."""
        policy = policy_from(values, scene.percept.available)
        return jnp.where(epsilon > 0, policy.drawn(scene.dice), policy.best())

    def gap(
        self, values: Outputs, scene: Scene, epsilon: Float[Array, ""], action: Action
    ) -> tuple[Float[Array, ""], Bool[Array, ""]]:
        """In probability, or in units of a continuous action. The dice choose by the policy, so values explain all."""
        policy = policy_from(values, scene.percept.available)
        distance = jnp.where(epsilon > 0, policy.distance(scene.dice, action), policy.distance(None, action))
        return distance, jnp.zeros((), bool)

    def state_values(self, models: ActorCriticModels, episode: Episode) -> Float[Array, "P *B"]:
        """V(h) at every percept of an episode, or of a batch of episodes."""
        return models.critic.unroll(episode)[..., 0]

    def learn(self, agent: AgentState, episodes: Episode, key: Key[Array, ""]) -> tuple[AgentState, Metrics]:
        """All epochs of an update. The networks have not changed since they played the episodes [B, T]."""
        batch = self.arranged(episodes)
        targets = self.look_back(agent.online, batch)
        optimiser, penalties = self.build_optimiser(), agent.optimiser.penalties

        def epoch(carry: tuple, _: None) -> tuple[tuple, Metrics]:
            online, state = carry
            gradient, metrics = jax.grad(self.losses, has_aux=True)(online, batch, targets, penalties)
            updates, state = optimiser.update(gradient, state, online)
            metrics["gradient_norm"] = gradient_norm(gradient)
            return (optax.apply_updates(online, updates), state), metrics

        (online, state), metrics = jax.lax.scan(epoch, (agent.online, agent.optimiser.steps), None, self.epochs)
        last = {name: by_epoch[-1] for name, by_epoch in metrics.items()}
        kept = OptimiserState(state, self.adapt(penalties, last))
        agent = eqx.tree_at(lambda a: (a.online, a.optimiser), agent, (online, kept))
        return agent, {name: jnp.mean(by_epoch) for name, by_epoch in metrics.items()}

    def arranged(self, episodes: Episode) -> Episode:
        """Episodes [B, T] as [T, B]."""
        return gathered(time_first(episodes))

    def look_back(self, models: Models, batch: Episode) -> UpdateTargets:
        """The policy, the advantages and the returns of episodes [T, B], by the networks that played them."""
        values = self.state_values(models, batch)
        estimates = advantages(values, batch, self.discount, self.trace)
        scaled = normalised(estimates, batch.happened) if self.normalise else estimates
        policy = policy_of(models.actor, batch)
        return jax.lax.stop_gradient(UpdateTargets(policy, scaled, estimates + values[:-1]))

    def losses(
        self, online: Models, batch: Episode, targets: UpdateTargets, penalties: Any
    ) -> tuple[Float[Array, ""], Metrics]:
        """The loss of both networks on episodes [T, B], and its metrics. They share no parameter, so it is a sum."""
        step = PolicyStep(targets.policy, policy_of(online.actor, batch), batch.actions, targets.advantages)
        policy_loss, measured = self.surrogate(step, penalties, batch.happened)
        measured = step_metrics(step, batch.happened) | measured
        values = self.state_values(online, batch)[:-1]
        value_loss = masked_mean(error_loss(values - targets.returns, self.huber), batch.happened)
        return policy_loss - self.entropy_weight * measured["entropy"] + value_loss, {
            "loss": policy_loss,
            "value_loss": value_loss,
            "value_mean": masked_mean(values, batch.happened),
            **measured,
        }

    def build_optimiser(self) -> optax.GradientTransformation:
        """Clipping and an optimiser for each part of the models."""
        return one_optimiser_per_part(self, *self.parts)


def step_metrics(step: PolicyStep, happened: Bool[Array, "T B"]) -> Metrics:
    """How random the policy is, and how far it has moved."""
    return {
        "entropy": masked_mean(step.new.entropy(), happened),
        "kl": masked_mean(step.old.divergence(step.new), happened),
    }
