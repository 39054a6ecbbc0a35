"""What a turn must cost, counted by hand."""

import jax
import jax.numpy as jnp

from decentral.benchmarking.cases import Case
from decentral.benchmarking.floor import floor_of, moved_bytes, product_flops
from decentral.environments.registry import MatrixGame
from decentral.training.loop import begin, turn
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from tests.small import small


def flops(function, *shapes):
    return product_flops(jax.make_jaxpr(function)(*(jnp.ones(shape) for shape in shapes)))


def test_a_product_is_a_multiplication_and_an_addition_for_each_entry_and_each_summand():
    assert flops(jnp.matmul, (3, 4), (4, 5)) == 2 * 3 * 4 * 5
    assert flops(jax.vmap(jnp.matmul), (7, 3, 4), (7, 4, 5)) == 7 * 2 * 3 * 4 * 5
    assert flops(lambda a, b: jnp.tanh(a + b) * a, (3, 4), (3, 4)) == 0


def test_loops_count_every_round_where_their_length_is_known():
    def scanned(x, weight):
        return jax.lax.scan(lambda x, _: (x @ weight, None), x, length=7)[0]

    def until_large(x, weight):
        return jax.lax.while_loop(lambda x: jnp.sum(x) < 100, lambda x: x @ weight, x)

    assert flops(scanned, (3, 4), (4, 4)) == 7 * 2 * 3 * 4 * 4
    assert flops(until_large, (3, 4), (4, 4)) == 2 * 3 * 4 * 4
    assert flops(jax.vmap(scanned, (0, None)), (5, 3, 4), (4, 4)) == 5 * 7 * 2 * 3 * 4 * 4


def test_the_dearer_branch_counts_and_calls_are_looked_into():
    def branched(x, weight):
        return jax.lax.cond(x[0, 0] > 0, lambda: x @ weight @ weight, lambda: x @ weight)

    @jax.custom_jvp
    def own_derivative(x, weight):
        return x @ weight

    own_derivative.defjvps(None, None)
    assert flops(branched, (3, 4), (4, 4)) == 2 * (2 * 3 * 4 * 4)
    assert flops(jax.jit(jax.checkpoint(jnp.matmul)), (3, 4), (4, 5)) == 2 * 3 * 4 * 5
    assert flops(own_derivative, (3, 4), (4, 5)) == 2 * 3 * 4 * 5


def test_the_gradient_of_a_linear_layer_is_one_product_more_or_two_with_the_inputs():
    def loss(weight, x):
        return jnp.sum(jnp.square(x @ weight))

    product = 2 * 3 * 4 * 5
    assert flops(jax.grad(loss), (4, 5), (3, 4)) == 2 * product
    assert flops(jax.grad(loss, argnums=(0, 1)), (4, 5), (3, 4)) == 3 * product


def test_a_turn_of_iql_is_what_its_layers_say():
    """Sums per step: entry 11 x 64, gates twice 64 x 192, head 64 x 5; the entry's inputs need no gradient.

    The gradient of the entry's bias is that of a twelfth input.
    """
    setup = Case("iql", "predator-prey", 1, 2, None, None).config.setup
    lane = jax.eval_shape(lambda: begin(setup, 0))
    played = product_flops(jax.make_jaxpr(lambda own: turn(setup, own, False))(lane))
    learned = floor_of(setup).flops
    entry, rest = 11 * 64, 2 * 64 * 192 + 64 * 5
    assert played == 2 * 2 * 100 * (entry + rest)  # two agents, a hundred steps
    online, target, gradient = entry + rest, entry + rest, entry + 64 + 2 * rest
    assert learned - played == 2 * 2 * 32 * 101 * (online + target + gradient)


def test_bytes_are_the_batch_the_new_episode_and_what_the_networks_know():
    """An episode of a matrix game: 2 percepts of 4 + 3 bytes, an action, a reward and two truths of a step."""
    episode = 2 * (4 + 3) + 1 + 4 + 1 + 1
    plan = Plan(batch_episodes=3, replay_episodes=10)
    setup = TrainingSetup.alike(small("iql"), MatrixGame(), plan)
    lane = jax.eval_shape(lambda: begin(setup, 0))
    numbers = (4 * 4 + 4) + 2 * (12 * 4 + 12) + (3 * 4 + 3)  # entry, gates from input and memory, head
    known = 4 * (2 * numbers + 2 * numbers + numbers)  # online and squares, read and written; the target, read
    counters = 2 * 2 * 4  # RMSprop's count of steps, if it has one
    told = moved_bytes(setup, lane)
    assert 0 <= told - 2 * ((3 + 1) * episode + known) <= counters


def test_tables_of_which_a_turn_touches_little_do_not_count():
    setup = TrainingSetup.alike(small("i2q-tabular"), MatrixGame(), Plan(batch_episodes=3, replay_episodes=10))
    lane = jax.eval_shape(lambda: begin(setup, 0))
    assert moved_bytes(setup, lane) < 1000


def test_a_turn_has_its_share_in_an_update_from_several():
    def setup_of(batch):
        return TrainingSetup.alike(small("ippo"), MatrixGame(), Plan(batch_episodes=batch, replay_episodes=10))

    lane = jax.eval_shape(lambda: begin(setup_of(1), 0))
    played = product_flops(jax.make_jaxpr(lambda own: turn(setup_of(1), own, False))(lane))
    alone, together = (floor_of(setup_of(batch)) for batch in (1, 4))
    assert [setup_of(batch).turns_per_update for batch in (1, 4)] == [1, 4]
    assert alone.flops - played == together.flops - played > 0  # four times as many episodes, every fourth turn
    assert alone.bytes > together.bytes  # and networks are read and written every fourth turn
