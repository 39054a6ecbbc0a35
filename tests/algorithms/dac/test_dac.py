"""The equations of Section 4, on networks whose values are tables written by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.dac import DAC, FullDAC
from decentral.algorithms.dac.context_model import Contexts, kl_to_uniform, mean_weights, sum_weights
from decentral.algorithms.dac.dac import at_every_percept, of_next_step
from decentral.algorithms.q_learning import Dice, Scene, last_steps
from decentral.networks.dynamics import contexts_used
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))
TABLE = jnp.asarray([[1.0, 2.0], [5.0, 3.0]])  # Q(., a, c), one row per context
TARGET = jnp.asarray([[10.0, 20.0], [50.0, 30.0]])  # the same of the target network


def tabular(table, learner=DAC, **settings):
    """A DAC agent's networks whose values are the table in every state."""
    models = jax.tree.map(jnp.zeros_like, learner(hidden=2, contexts=2, **settings).build(SPEC))
    return eqx.tree_at(lambda m: m.value.head.bias, models, table)


def lived(terminated=False, happened=(True, True, True)):
    """Three steps with rewards 1, 2, 4 and actions 0, 1, 0."""
    percepts = Percept(jnp.arange(4.0)[:, None], jnp.ones((4, 2), bool))
    ends = jnp.asarray([False, False, terminated])
    return Episode(percepts, jnp.asarray([0, 1, 0]), jnp.asarray([1.0, 2.0, 4.0]), ends, jnp.asarray(happened))


def one_hot(*contexts):
    return jax.nn.one_hot(jnp.asarray(contexts), 2)


@jax.jit
def td_terms(agent, online, target, episode, contexts):
    return agent.td_terms(online, target, episode, contexts)


def td_errors(episode, contexts, **settings):
    agent = DAC(hidden=2, contexts=2, discount=0.5, **settings)
    terms = td_terms(agent, tabular(TABLE), tabular(TARGET), episode, Contexts(contexts, contexts))
    return terms["taken"], terms["error"]


def test_the_value_of_a_step_is_read_at_its_own_context():
    taken, _ = td_errors(lived(), one_hot(0, 1, 1))
    np.testing.assert_allclose(taken, [1.0, 3.0, 5.0])


def test_the_target_is_read_at_the_next_steps_context_with_the_online_networks_action():
    _, error = td_errors(lived(terminated=True), one_hot(0, 1, 0))
    # t=0: c'=1, online's best is a=0, target 50: 1 - (1 + 25); t=1: c'=0, best a=1, target 20: 3 - (2 + 10);
    # t=2 ends the task: 1 - 4
    np.testing.assert_allclose(error, [-25.0, -9.0, -3.0])


def test_without_double_q_the_target_network_chooses_for_itself():
    _, error = td_errors(lived(terminated=True), one_hot(1, 0, 0), double_q=False)
    np.testing.assert_allclose(error[0], 5.0 - (1.0 + 0.5 * 20.0))


def test_what_each_step_promises_is_recorded_under_its_context_and_under_the_best():
    base = lived()
    late_choice = eqx.tree_at(lambda e: e.percepts.available, base, base.percepts.available.at[2, 0].set(False))
    contexts = one_hot(0, 1, 0)
    terms = DAC(hidden=2, contexts=2).td_terms(
        tabular(TABLE), tabular(TARGET), late_choice, Contexts(contexts, contexts)
    )
    np.testing.assert_allclose(terms["greedy"], [2.0, 5.0, 2.0])
    phi = DAC(hidden=2, contexts=2).best_phi(tabular(TABLE), terms["hidden"], late_choice.percepts.available[:-1])
    np.testing.assert_allclose(phi, [5.0, 5.0, 3.0])  # phi is (5, 3); the last step has action 1 alone


@pytest.mark.parametrize(
    ("rule", "context", "error"),
    [
        ("previous", 0, 1.0 - (4.0 + 0.5 * 20.0)),  # c_t = 0 again: online's best a=1, target 20
        ("previous", 1, 5.0 - (4.0 + 0.5 * 50.0)),
        ("optimistic", 0, 1.0 - (4.0 + 0.5 * 50.0)),  # max over contexts: (5, 3) online, (50, 30) target
    ],
)
def test_the_last_step_of_an_episode_cut_off_by_time_is_bootstrapped_by_a_stated_rule(rule, context, error):
    _, errors = td_errors(lived(), one_hot(0, 1, context), last_context=rule)
    np.testing.assert_allclose(errors[-1], error)


def test_the_rule_for_the_last_step_holds_where_an_episode_is_padded():
    _, errors = td_errors(lived(happened=(True, True, False)), one_hot(0, 1, 0), last_context="previous")
    # t=1 is now the last step: c_1 = 1 again, online's best a=0, target 50
    np.testing.assert_allclose(errors[1], 3.0 - (2.0 + 25.0))


def test_masked_leaves_the_cut_off_step_out_but_not_a_true_end():
    agent = DAC(last_context="masked")
    np.testing.assert_array_equal(agent.lacks_next_context(lived()), [False, False, True])
    np.testing.assert_array_equal(agent.lacks_next_context(lived(terminated=True)), [False, False, False])
    np.testing.assert_array_equal(last_steps(lived(happened=(True, False, False))), [True, False, False])


def values(dice, epsilon, **settings):
    agent = DAC(hidden=2, contexts=2, **settings)
    models = tabular(TABLE)
    percept = Percept(jnp.zeros(1), jnp.ones(2, bool))
    numbers = Dice(*(jnp.asarray(number) for number in dice))
    scene = Scene(percept, jnp.zeros(2), jnp.asarray(epsilon), numbers)
    return agent.values(models, agent.start(models), scene)[0]


def test_at_test_time_the_agent_acts_on_the_best_context_of_each_action():
    np.testing.assert_allclose(values((0.0, 0.0, 0.0, 0.0), 0.0), [5.0, 3.0])
    table = jnp.asarray([[1.0, 9.0], [5.0, 3.0]])
    np.testing.assert_allclose(DAC(contexts=2).phi(tabular(table), jnp.zeros(2), table), [5.0, 9.0])


def test_in_training_a_context_is_drawn_with_probability_epsilon():
    np.testing.assert_allclose(values((0.9, 0.0, 0.29, 0.1), 0.3), [1.0, 2.0])
    np.testing.assert_allclose(values((0.9, 0.0, 0.29, 0.6), 0.3), [5.0, 3.0])
    np.testing.assert_allclose(values((0.9, 0.0, 0.31, 0.1), 0.3), [5.0, 3.0])


def test_dac_phi_never_draws_a_context():
    np.testing.assert_allclose(values((0.9, 0.0, 0.0, 0.1), 1.0, explore_contexts=False), [5.0, 3.0])


def test_the_coin_of_an_episode_is_tossed_once():
    per_step, per_episode = (DAC(context_coin=coin).roll(jax.random.key(0), 5) for coin in ("step", "episode"))
    assert len(set(np.asarray(per_step.context).tolist())) == 5
    assert len(set(np.asarray(per_episode.context).tolist())) == 1
    np.testing.assert_array_equal(per_step.action, per_episode.action)


def test_reconstruction_errors_are_averaged_or_summed_over_the_steps_a_window_really_holds():
    counts = jnp.asarray([[True, True, True, False], [True, False, False, False]]).T  # four windows count
    np.testing.assert_allclose(sum_weights(counts, 2, 3), counts / 4)
    held = [1, 2, 2, 2]  # the first window holds its last step alone
    np.testing.assert_allclose(mean_weights(counts, 2, 3), counts / 4 / 3 / np.asarray([held]).T)


def test_the_divergence_from_the_uniform_prior_is_the_one_worked_by_hand():
    assert kl_to_uniform(jnp.zeros(4)) == pytest.approx(0.0, abs=1e-6)
    q = np.asarray([0.5, 0.25, 0.25])
    np.testing.assert_allclose(kl_to_uniform(jnp.log(jnp.asarray(q))), (q * np.log(3 * q)).sum(), rtol=1e-5)
    assert kl_to_uniform(jnp.asarray([50.0, 0.0, 0.0, 0.0])) == pytest.approx(np.log(4), rel=1e-5)


def test_the_context_of_a_step_depends_on_its_window_alone():
    agent = DAC(hidden=2, contexts=3, window=2)
    model = agent.init_agent(SPEC, jax.random.key(0)).online.context
    base = lived()
    late = eqx.tree_at(lambda e: e.rewards, base, base.rewards.at[2].set(-9.0))
    early = eqx.tree_at(lambda e: e.rewards, base, base.rewards.at[0].set(-9.0))
    np.testing.assert_array_equal(model.infer(base)[:2], model.infer(late)[:2])
    np.testing.assert_array_equal(model.infer(base)[2], model.infer(early)[2])
    assert not np.allclose(model.infer(base)[1], model.infer(early)[1])


def test_full_windows_leave_the_first_steps_out():
    np.testing.assert_array_equal(DAC(window=2, window_start="full").has_window(lived()), [False, True, True])
    np.testing.assert_array_equal(DAC(window=2).has_window(lived()), [True, True, True])


@pytest.mark.parametrize("kind", ["sample", "mode", "probabilities"])
def test_the_context_of_the_value_is_the_one_asked_for(kind):
    logits, sample = jnp.log(jnp.asarray([[0.7, 0.3]])), jnp.asarray([[0.0, 1.0]])
    wanted = {"sample": [[0.0, 1.0]], "mode": [[1.0, 0.0]], "probabilities": [[0.7, 0.3]]}[kind]
    agent = DAC(contexts=2, value_context=kind)
    np.testing.assert_allclose(agent.contexts_for_values(logits, sample).chosen, wanted, rtol=1e-6)


@pytest.mark.parametrize("trains", [False, True])
def test_the_value_loss_trains_the_encoder_only_if_asked_to(trains):
    agent = DAC(hidden=4, contexts=3, window=2, value_trains_encoder=trains)
    born = jax.jit(agent.init_agent, static_argnums=0)(SPEC, jax.random.key(0))
    batch = jax.tree.map(lambda leaf: leaf[None], lived())

    def value_loss(models):
        return agent.losses(models, born.target, batch, jax.random.key(1))[1]["loss"]

    gradient = jax.jit(jax.grad(value_loss))(born.online)
    moved = any(bool(jnp.any(leaf != 0)) for leaf in jax.tree.leaves(gradient.context.encoder))
    assert moved == trains


def test_the_losses_are_the_means_of_the_parts_weighted_as_the_paper_says():
    agent = DAC(hidden=4, contexts=3, window=2, kl_weight=0.5, reward_weight=3.0)
    born = jax.jit(agent.init_agent, static_argnums=0)(SPEC, jax.random.key(0))
    batch = jax.tree.map(lambda leaf: leaf[None], lived())
    loss, metrics = jax.jit(agent.losses)(born.online, born.target, batch, jax.random.key(1))
    expected = metrics["loss"] + metrics["state_error"] + 3 * metrics["reward_error"] + 0.5 * metrics["kl"]
    np.testing.assert_allclose(loss, expected, rtol=1e-6)


def test_predicting_the_change_asks_the_decoder_for_the_difference():
    agent = DAC(hidden=4, contexts=3, window=1)
    model = jax.tree.map(jnp.zeros_like, agent.build(SPEC)).context
    batch, contexts = jax.tree.map(lambda leaf: leaf[:, None], lived()), jnp.eye(3)[:, None]
    for step, (square, square_of_change) in enumerate([(1.0, 1.0), (4.0, 1.0), (9.0, 1.0)]):
        weights = jax.nn.one_hot(step, 3)[:, None]
        assert float(model.state_loss(batch, contexts, weights, 1, False)) == pytest.approx(square)
        assert float(model.state_loss(batch, contexts, weights, 1, True)) == pytest.approx(square_of_change)


def test_contexts_in_use_are_counted_by_their_entropy():
    assert contexts_used(jnp.eye(4), jnp.ones(4, bool)) == pytest.approx(4.0, rel=1e-5)
    assert contexts_used(jnp.eye(4)[jnp.zeros(4, int)], jnp.ones(4, bool)) == pytest.approx(1.0, rel=1e-4)
    assert contexts_used(jnp.eye(4), jnp.asarray([True, True, False, False])) == pytest.approx(2.0, rel=1e-4)


@pytest.mark.parametrize(("start", "half_width"), [("layer", 4**-0.5), ("context", 9**-0.5)])
def test_a_hyper_net_starts_as_wide_as_asked_for(start, half_width):
    head = DAC(hidden=4, contexts=9, hyper_start=start).build(SPEC).value.head
    for described in jax.tree.leaves(head):
        np.testing.assert_allclose(described, half_width, rtol=1e-6)


def test_one_step_on_the_last_step_keeps_its_own():
    last = jnp.asarray([False, True, False])
    np.testing.assert_array_equal(of_next_step(jnp.asarray([[1.0], [2.0], [3.0]]), last), [[2.0], [2.0], [3.0]])


def test_at_every_percept_stands_what_belongs_to_the_step_from_there_on():
    """The episode ends with its second step: the third percept has what that step had, what follows is padding."""
    last = jnp.asarray([False, True, False])
    here = at_every_percept(jnp.asarray([[1.0], [2.0], [3.0]]), last)
    np.testing.assert_array_equal(here[:3], [[1.0], [2.0], [2.0]])
    assert here.shape == (4, 1)


@pytest.mark.parametrize("head", ["hyper-net", "normal-net-hidden"])
def test_with_extensions_and_controls_off_the_program_is_the_papers(head):
    plain, full = (kind(hidden=4, contexts=3, window=2, head=head) for kind in (DAC, FullDAC))
    batch, key = jax.tree.map(lambda leaf: leaf[None], lived()), jax.random.key(0)
    scene = Scene(
        jax.tree.map(lambda leaf: leaf[0], lived().percepts), jnp.zeros(2), jnp.asarray(0.5), Dice(*jnp.ones(4))
    )

    def program(learner):
        models = learner.build(SPEC)
        losses = jax.make_jaxpr(lambda online, target: learner.losses(online, target, batch, key))(models, models)
        return str(losses) + str(jax.make_jaxpr(lambda models: learner.values(models, jnp.zeros(4), scene))(models))

    assert program(plain) == program(full)
