"""Agents that share their parameters: one update from all of them, told apart by their ids alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.q_learning import Scene
from decentral.centralised.base import Joint
from decentral.centralised.sharing import NOTHING_OWN, Sharing
from decentral.configs.config import resolve
from decentral.configs.members import Member, Source, team_of
from decentral.environments.registry import MatrixGame, PredatorPrey, environment_class
from decentral.settings import Refused
from decentral.training.batches import Batch
from decentral.training.loop import begin, turns
from decentral.training.plan import Plan
from decentral.training.replay import sample
from decentral.training.setup import TrainingSetup, sharing_in
from decentral.training.squads.base import TrainingClock
from decentral.training.squads.joined import Joined
from decentral.training.squads.separate import LearningSchedule
from decentral.training.squads.shared import Shared
from decentral.types import Episode, Percept
from tests.host_worlds import Counting
from tests.small import small
from tests.worlds import Aim, Fuse

PLAN = Plan(batch_episodes=4, replay_episodes=8, sharing=True)
WORLD = Fuse(limit=4)  # episodes of one to three steps: the mean must leave out the rest
BATCH = Batch(4, (4,))
NOW = TrainingClock(jnp.asarray(9), jnp.asarray(5), jnp.asarray(0.5))
KEYS = jax.random.split(jax.random.key(5))


@pytest.fixture(scope="module")
def young():
    """A squad that has played, but not yet learned."""
    setup = TrainingSetup.alike(small("hysteretic", clip=0.01), WORLD, PLAN)
    lane = jax.jit(lambda: turns(setup, begin(setup, 0), 5, False))()
    return setup.team.squads[0], lane.agents[0], lane.replays[0]


@pytest.fixture(scope="module")
def learn(young):
    squad, agents, _ = young
    return jax.jit(lambda replays: squad.learn(agents, replays, BATCH, KEYS, NOW))


def with_ids(episodes, agent):
    """One agent's episodes [B, ...] with its id, put there by hand."""
    seen = np.asarray(episodes.percepts.observation)
    own = np.broadcast_to(np.eye(2, dtype=np.float32)[agent], (*seen.shape[:-1], 2))
    observed = jnp.asarray(np.concatenate([seen, own], axis=-1))
    fields = (episodes.actions, episodes.rewards, episodes.terminated, episodes.happened)
    return Episode(Percept(observed, episodes.percepts.available), *fields)


def test_an_update_follows_the_gradient_of_the_loss_averaged_over_the_agents(young, learn):
    squad, agents, replays = young
    together = sample(replays, 4, jax.random.split(KEYS[0])[0])  # the same episodes for both
    apart = [with_ids(jax.tree.map(lambda leaf, at=at: leaf[:, at], together), at) for at in (0, 1)]
    assert 4 <= int(apart[0].happened.sum()) < 16

    def mean_loss(models):
        each = [squad.algorithm.losses(models, agents.target, own, KEYS[1])[0] for own in apart]
        return sum(each) / 2

    loss, gradient = jax.jit(jax.value_and_grad(mean_loss))(agents.online)
    norm = np.sqrt(sum(np.square(leaf).sum() for leaf in jax.tree.leaves(gradient)))
    scale = min(1.0, 0.01 / norm)
    assert scale < 1  # the one clip of the averaged gradient is seen
    taught, metrics = learn(replays)
    assert metrics["loss"].shape == ()
    np.testing.assert_allclose(metrics["loss"], loss, rtol=1e-5)
    np.testing.assert_allclose(metrics["gradient_norm"], norm, rtol=1e-5)
    for new, old, slope in zip(*map(jax.tree.leaves, (taught.online, agents.online, gradient)), strict=True):
        clipped = scale * slope
        step = squad.algorithm.learning_rate * clipped / (np.sqrt(0.01 * clipped**2) + squad.algorithm.rms_epsilon)
        np.testing.assert_allclose(new, old - step, rtol=1e-4, atol=2e-6)


def test_agents_that_share_are_found_out_not_to_be_decentralised(young, learn):
    """What the second agent remembers changes the network of the first."""
    _, _, replays = young
    other = jax.tree.map(
        lambda leaf: leaf.at[:, 1].set(0.3 * (1 + leaf[:, 1])) if leaf.dtype == jnp.float32 else leaf, replays
    )
    pairs = zip(*(jax.tree.leaves(learn(own)[0].online) for own in (replays, other)), strict=True)
    assert any(bool((one != two).any()) for one, two in pairs)
    plain = resolve("iql", "matrix-game")
    shared = resolve("iql", "matrix-game", training_settings={"sharing": True})
    assert plain.strictness.decentralised and shared.strictness == NOTHING_OWN
    assert shared.as_data()["strictness"]["decentralised"] is False


def test_an_id_tells_agents_apart_that_perceive_the_same_and_chance_is_their_own(young):
    squad, agents, replays = young
    percepts = Percept(jnp.ones((2, 2)), jnp.ones((2, 2), bool))
    dice = jax.tree.map(lambda rolled: rolled[0], squad.roll(KEYS, 1))
    scene = Scene(squad.read(percepts), jnp.zeros((2, 2)), jnp.zeros(2), dice)
    ask = jax.jit(lambda models: squad.of_each(squad.algorithm.values, models, squad.start(models), scene))
    values, memories = ask(agents.online)
    assert not np.allclose(values[0], values[1]) and not np.allclose(memories[0], memories[1])
    actions = np.asarray(replays.episodes.actions)[:5]  # of newborns, who explore
    assert not (actions[:, 0] == actions[:, 1]).all()
    nameless = Shared(squad.algorithm, (0, 1), 2, Sharing(append_ids=False))
    assert nameless.read(percepts) is percepts and nameless.spec(WORLD.spec) == WORLD.spec


def test_agents_choose_the_same_with_a_copy_each_as_an_accelerator_gives_them(young, monkeypatch):
    squad, agents, _ = young
    percepts = Percept(jnp.asarray([[0.3, -1.0], [2.0, 0.5]]), jnp.ones((2, 2), bool))
    dice = jax.tree.map(lambda rolled: rolled[0], squad.roll(KEYS, 1))
    scene = Scene(percepts, jnp.eye(2), jnp.zeros(2), dice)
    memories = jnp.linspace(-1.0, 1.0, squad.start(agents.online).size).reshape(2, -1)

    def chosen():
        return jax.jit(lambda models: squad.act(models, None, memories, scene))(agents.online)

    of_one_network = chosen()
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    for own, other in zip(chosen(), of_one_network, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-5)


@pytest.mark.parametrize(
    ("environment", "plan", "appended"),
    [
        (MatrixGame(), Plan(sharing=True), True),
        (MatrixGame(), Plan(sharing=True, agent_ids=False), False),
        (PredatorPrey(), Plan(sharing=True), False),
        (PredatorPrey(), Plan(), None),
        (Counting(), Plan(sharing=True), True),
    ],
)
def test_ids_are_appended_where_an_environment_does_not_tell_them(environment, plan, appended):
    sharing = sharing_in(environment, plan)
    assert (sharing if appended is None else sharing.append_ids) is appended


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ("pettingzoo:tests.environments.zoo:Trio", "scout sees 4 numbers, lifter 7"),
        ("pettingzoo:tests.box_worlds:Reach", "arm sees 2 numbers, gripper 1"),
        ("jaxmarl:tests.environments.jax_zoo:Zoo", "tall sees 4 numbers, small 1"),
        ("gymnasium:tests.environments.registered:Foragers-v0", "agent_0 sees 2 numbers, agent_1 3"),
    ],
)
def test_agents_that_see_unequally_much_can_not_share(environment, told):
    built = environment_class(environment)()
    with pytest.raises(
        Refused, match=f"^training.sharing must be false where agents differ in size, got true: {told}$"
    ):
        sharing_in(built, Plan(sharing=True))
    assert sharing_in(built, Plan()) is None


def test_agents_with_unequally_many_actions_can_not_share():
    with pytest.raises(Refused, match=r"differ in size, got true: agent 0 has 2 actions, agent 1 3$"):
        resolve("iql", "matrix-game", None, {"payoff": [[1, 2, 3], [4, 5, 6]]}, {"sharing": True})
    with pytest.raises(Refused, match=r"differ in size, got true: agent 0 acts with 2 numbers, agent 1 1$"):
        TrainingSetup.alike(small("ippo"), Aim(), PLAN)


def test_a_factorisation_shares_one_network_under_its_mixer(young):
    """As if every body had a copy of it and were shown its id; the mixer's state stays what it was."""
    _, _, replays = young
    episodes, vdn = sample(replays, 4, jax.random.key(0)), small("vdn")
    squad = TrainingSetup.alike(vdn, WORLD, PLAN).team.squads[0]
    assert isinstance(squad, Joined) and squad.one_network
    body = jax.jit(lambda: squad.init_agents(WORLD.spec, KEYS).online)()
    told = [with_ids(jax.tree.map(lambda leaf, at=at: leaf[:, at], episodes), at) for at in (0, 1)]
    by_hand = jax.tree.map(lambda *leaves: jnp.stack(leaves, axis=1), *told)
    copies = Joint(jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), body.acting_models), ())
    losses = jax.jit(lambda models, episodes: vdn.losses(models, models, episodes, KEYS[0])[0])
    np.testing.assert_allclose(losses(body, episodes), losses(copies, by_hand), rtol=1e-5)
    mixing = TrainingSetup.alike(small("qmix"), WORLD, PLAN).team.squads[0]
    qmix = jax.eval_shape(lambda: mixing.init_agents(WORLD.spec, KEYS).online)
    assert qmix.acting_models.trunk.entry.weight.shape == (4, 2 + 2 + 2)  # what is seen, the id, the last action
    assert qmix.common.first_bias.weight.shape == (4, 2 * 2)  # what both agents see


def member(name, **clock):
    return Member(name, small(name), LearningSchedule(**clock))


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ([member("iql"), member("dac")], "where agents are not all alike learners, got true with iql,dac"),
        ([member("iql"), Member("iql", small("iql", hidden=5))], "not all alike learners, got true with iql,iql"),
        ([Member("iql", small("iql"), source=Source("runs/x", 0, 0))] * 2, "got true with frozen iql,frozen iql"),
        ([member("iql", update_period=2)] * 2, "where joins_at or update_period is set"),
        ([member("i2q-tabular")] * 2, "for i2q-tabular, got true: only networks are shared, and it keeps tables"),
        ([member("ma2ql")] * 2, "for ma2ql, got true: its agents learn in turns"),
        ([member("fingerprints")] * 2, "for fingerprints, got true"),
    ],
)
def test_agents_that_can_not_share_are_refused(members, complaint):
    with pytest.raises(Refused, match=f"training.sharing must be false.*{complaint}"):
        team_of(members, Sharing(append_ids=True))


def test_ids_without_sharing_are_refused():
    with pytest.raises(Refused, match=r"training\.agent_ids must be true unless sharing is, got false"):
        resolve("iql", "matrix-game", training_settings={"agent_ids": False})
