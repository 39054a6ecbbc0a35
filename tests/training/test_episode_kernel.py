"""Episodes in one kernel, run by Pallas' interpreter, against the loop; and which episodes are played in one."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractDevice, AbstractMesh, AxisType, use_abstract_mesh

from decentral.algorithms.base import Algorithm
from decentral.algorithms.iql import IQL
from decentral.centralised.sharing import Sharing
from decentral.environments.base import Environment, Outcome, begin
from decentral.environments.registry import PredatorPrey
from decentral.networks import acting_kernel, backend
from decentral.training import rollout
from decentral.training.episode_kernel import for_kernel, play_in_kernel
from decentral.training.rollout import play, team_player
from decentral.training.scalars import numbers_of
from decentral.training.squads.separate import Separate
from decentral.training.team import Team
from decentral.types import AgentSpec, Discrete, Percept
from tests.small import small
from tests.worlds import EarlyEnd

WIDTH = 16
NEW_EVERYTHING = {
    "observe_teammate": True,
    "coordinates": "centred",
    "respawn": "everyone",
    "penalty_at": "approach",
    "time_limit_ends": True,
}


def player_of(team, world, epsilon, key):
    """The team as a player, with networks and dice from a key."""
    keys_init, keys_roll = jax.random.split(key, (2, world.num_agents))
    agents = team.each(lambda squad, keys: squad.init_agents(world.spec, keys), team.split_by_squad(keys_init))
    dice = team.each(lambda squad, keys: squad.roll(keys, world.time_limit), team.split_by_squad(keys_roll))
    models = team.each(lambda squad, agents: squad.acting_models(agents), agents)
    statistics = team.each(lambda squad, agents: squad.statistics(agents), agents)
    return team_player(team, models, statistics, (epsilon,) * len(team.squads), dice)


def episode_for_kernel(algorithm, world, team=None):
    """What the kernel would play of an episode, or None."""
    team = team or Team.alike(algorithm, world.num_agents)
    chosen = []

    def prepare(key):
        player = player_of(team, world, jnp.zeros(()), key)
        chosen.append(for_kernel(world, player.policy, *begin(world, key)))

    jax.eval_shape(prepare, jax.random.key(0))
    return chosen[0]


@pytest.fixture
def on_gpu(monkeypatch):
    """As on a GPU, for networks of the tests' width too."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(backend, "WIDTHS", (WIDTH, 64))


def mixed_team():
    return Team((Separate(small("dac", hidden=WIDTH), (1,), 2), Separate(small("iql", hidden=WIDTH), (0,), 2)))


class Corridor(Environment):
    """One agent whose way is open on some sides only, by where it is: a small world with numbers and a mask."""

    plays_in_kernel = True

    @property
    def num_agents(self):
        return 1

    @property
    def spec(self):
        return AgentSpec(2, Discrete(3))

    @property
    def time_limit(self):
        return 9

    @property
    def may_end_early(self):
        return False

    def reset(self, key):
        return jnp.asarray(1), jnp.asarray(0.5)

    def draw(self, key):
        return jax.random.uniform(key)

    def perceive(self, state):
        place, wind = state
        open_ways = jnp.stack([place > 0, jnp.asarray(True), place < 2])
        return Percept(jnp.stack([place.astype(float), wind])[None], open_ways[None])

    def step(self, state, actions, key):
        return self.step_with(state, actions, self.draw(key))

    def step_with(self, state, actions, randomness):
        place, wind = state
        after = place + actions[0] - 1 + 5 // jnp.maximum(place - 9, 0), 0.5 * wind + randomness
        return after, Outcome(after[1], jnp.zeros((), bool), {})


@pytest.mark.parametrize(
    ("team", "world"),
    [
        (Team.alike(small("dac", hidden=WIDTH, contexts=3), 1), Corridor()),
        (Team.alike(small("iql", hidden=WIDTH), 2), PredatorPrey(length=20)),
        (Team.alike(small("dac", hidden=WIDTH), 2), PredatorPrey(length=20, **NEW_EVERYTHING)),
        (mixed_team(), PredatorPrey(length=20, size=3, penalty=2.0)),
    ],
    ids=["corridor", "iql", "dac", "mixed"],
)
def test_the_kernel_plays_the_episodes_of_the_loop(team, world, monkeypatch):
    """Two lanes explore and two do not."""
    played_by = []
    monkeypatch.setattr(acting_kernel, "has_acting_kernel", lambda width: True)
    monkeypatch.setattr(
        rollout, "play_in_kernel", lambda episode: played_by.append("kernel") or play_in_kernel(episode, interpret=True)
    )

    def both(world, epsilon, key):
        player = player_of(team, world, epsilon, key)
        by_kernel = play(world, player, key)
        assert played_by == ["kernel"]
        with monkeypatch.context() as patched:
            patched.setattr(rollout, "for_kernel", lambda *episode: None)
            return by_kernel, play(world, player, key)

    lanes = jnp.asarray([0.0, 0.0, 0.6, 0.6]), jax.random.split(jax.random.key(0), 4)
    worlds = jax.tree.map(lambda number: number * jnp.arange(1.0, 5.0), world)  # a penalty for each lane
    by_kernel, by_loop = jax.jit(jax.vmap(both))(worlds, *lanes)
    assert len(np.unique(by_loop.actions)) > 1
    for kernel, loop in zip(jax.tree.leaves(by_kernel), jax.tree.leaves(by_loop), strict=True):
        np.testing.assert_allclose(kernel, loop, atol=1e-6)


@pytest.mark.parametrize("name", ["iql", "hysteretic", "patient", "ma2ql", "rac", "dac"])
def test_agents_that_act_by_a_network_alone_are_played_in_the_kernel(name, on_gpu):
    assert episode_for_kernel(small(name, hidden=WIDTH), PredatorPrey()) is not None


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("lenient", {}),  # explores by its statistics
        ("bql", {}),
        ("ia2c", {}),
        ("iql", {"hidden": 8}),  # a width without kernels
        ("iql", {"duelling": True}),
        ("dac", {"head": "normal-net"}),
        ("dac", {"contexts": 17}),
        ("dac", {"max_over": "sampled"}),
        ("dac", {"context_prior": "learned"}),
    ],
)
def test_agents_that_act_in_another_way_are_played_by_the_loop(name, settings, on_gpu):
    assert episode_for_kernel(small(name, **({"hidden": WIDTH} | settings)), PredatorPrey()) is None


class Contrary(IQL):
    """Chooses what it values least."""

    def values(self, models, memory, scene):
        values, memory = IQL.values(self, models, memory, scene)
        return -values, memory


class Curious(Algorithm):
    """Explores in its own way."""

    def explore(self, statistics, percept, epsilon):
        return jnp.maximum(epsilon, 0.9)


class CuriousIQL(IQL, Curious):
    """Has two parents, of which the second explores."""


@pytest.mark.parametrize("kind", [Contrary, CuriousIQL])
def test_an_algorithm_made_from_another_is_not_played_as_that_one(kind, on_gpu):
    assert episode_for_kernel(kind(hidden=WIDTH), PredatorPrey()) is None


def test_a_parameter_sharing_team_is_played_by_the_loop(on_gpu):
    team = Team.alike(small("iql", hidden=WIDTH), 2, Sharing(append_ids=False))
    assert episode_for_kernel(None, PredatorPrey(), team) is None


@pytest.mark.parametrize("world", [PredatorPrey(num_predators=3), PredatorPrey(prey="avoiding"), EarlyEnd()])
def test_larger_worlds_and_those_that_end_early_are_played_by_the_loop(world, on_gpu):
    assert episode_for_kernel(small("iql", hidden=WIDTH), world) is None


class Crowded(Corridor):
    """Has more numbers in its state than a kernel holds."""

    plays_in_kernel = True

    def reset(self, key):
        return *Corridor.reset(self, key), jnp.zeros(100)

    def perceive(self, state):
        return Corridor.perceive(self, state[:2])

    def step_with(self, state, actions, randomness):
        after, outcome = Corridor.step_with(self, state[:2], actions, randomness)
        return (*after, state[2]), outcome


class Laborious(Corridor):
    """Takes more operations than every thread should."""

    plays_in_kernel = True

    def step_with(self, state, actions, randomness):
        (place, wind), outcome = Corridor.step_with(self, state, actions, randomness)
        return (place, wind + sum(jnp.sin(wind * number) for number in range(600))), outcome


class Blinking(Corridor):
    """Keeps a truth in its state, which a kernel does not."""

    plays_in_kernel = True

    def reset(self, key):
        return jnp.asarray(1), jnp.asarray(True)

    def step_with(self, state, actions, randomness):
        (place, _), outcome = Corridor.step_with(self, state, actions, randomness)
        return (place, ~state[1]), outcome


class Shifting(Corridor):
    """Changes the type of its state, which the loop refuses."""

    plays_in_kernel = True

    def step_with(self, state, actions, randomness):
        (place, wind), outcome = Corridor.step_with(self, state, actions, randomness)
        return (place * 1.0, wind), outcome


@pytest.mark.parametrize("world", [Crowded, Laborious, Blinking, Shifting])
def test_a_world_that_says_so_is_played_in_the_kernel_only_if_it_fits(world, on_gpu):
    iql = small("iql", hidden=WIDTH)
    assert episode_for_kernel(iql, Corridor()) is not None and episode_for_kernel(iql, world()) is None


class Still(PredatorPrey):
    """Nobody moves."""

    plays_in_kernel = True

    def advance(self, cells, moves):
        return list(cells)


class Unsaid(PredatorPrey):
    """Says nothing of kernels for itself."""


class Ranked(PredatorPrey):
    """Sorts, which the kernel can't."""

    plays_in_kernel = True

    def perceive(self, state):
        percept = PredatorPrey.perceive(self, state)
        return eqx.tree_at(lambda old: old.observation, percept, jnp.sort(percept.observation, axis=-1))


def test_a_changed_rule_holds_in_the_kernel_too_or_the_loop_is_taken(on_gpu):
    iql = small("iql", hidden=WIDTH)
    assert episode_for_kernel(iql, Ranked()) is None and episode_for_kernel(iql, Unsaid()) is None
    cells = jnp.asarray([3, 7, 12])
    step = episode_for_kernel(iql, Still()).step
    (after,) = step(
        *(numbers_of(array.ravel(), (-1,)) for array in (cells, jnp.asarray([1, 3]), jnp.asarray(4), jnp.asarray(0)))
    )
    assert list(map(int, after)) == [3, 7, 12]


@pytest.mark.parametrize("name", ["iql", "dac"])
def test_the_kernel_can_be_written_for_a_gpu(name, monkeypatch):
    """Nothing is run: Pallas refuses what a GPU's kernel can't hold already when it is lowered."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    world = PredatorPrey()
    team = Team.alike(small(name, hidden=64), 2)

    def live(key):
        return play(world, player_of(team, world, jnp.zeros(()), key), key)

    h200 = AbstractMesh((1,), ("x",), (AxisType.Auto,), abstract_device=AbstractDevice("NVIDIA H200", None, "gpu"))
    with use_abstract_mesh(h200):  # from JAX 0.11 on it must be known which GPU that is
        lowered = jax.jit(live).trace(jax.random.key(0)).lower(lowering_platforms=("cuda",))
    assert "__gpu$xla.gpu.triton" in lowered.as_text()
