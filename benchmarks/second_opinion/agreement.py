"""Do the library and the second opinion make the same update? From copied parameters, on the same batch.

    python benchmarks/second_opinion/agreement.py --out agreement.json

For IQL and DAC: the loss, the gradient and all parameters after one update must agree; later updates are printed.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import learners
import numpy as np
import torch
from hunts import ACTIONS, FEATURES, LENGTH, PREDATORS, VisibleHunt

from decentral.algorithms import ALGORITHMS
from decentral.algorithms.base import AgentState
from decentral.algorithms.q_learning import draw_by_step
from decentral.types import AgentSpec, Discrete, Episode, Percept

ROWS = 16  # episodes of single agents
UPDATES = 10
REPORTED = (1, 2, 5, 10)
WINDOW, CONTEXTS = 10, 10
ALLOWED = 1e-5  # after one update
Arrays = dict[str, np.ndarray]


def lived(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Episodes of random play: observations [B, T + 1, F], actions and rewards [B, T]; a row for each agent."""
    rng = np.random.default_rng(seed)
    seen, done, paid = [], [], []
    for _ in range(ROWS // PREDATORS):
        hunt = VisibleHunt(0.5, rng)
        observed, rewards = [hunt.reset()], []
        actions = rng.integers(ACTIONS, size=(LENGTH, PREDATORS))
        for chosen in actions.tolist():
            observation, reward = hunt.step(chosen)
            observed.append(observation)
            rewards.append(reward)
        seen += list(np.stack(observed, axis=1))
        done += list(actions.T)
        paid += [rewards] * PREDATORS
    return np.asarray(seen, np.float32), np.asarray(done), np.asarray(paid, np.float32)


def as_episodes(seen: np.ndarray, done: np.ndarray, paid: np.ndarray) -> Episode:
    """The batch as the library has it."""
    percepts = Percept(jnp.asarray(seen), jnp.ones((*seen.shape[:2], ACTIONS), bool))
    never = jnp.zeros(done.shape, bool)
    return Episode(percepts, jnp.asarray(done), jnp.asarray(paid), never, ~never)


def as_batch(seen: np.ndarray, done: np.ndarray, paid: np.ndarray) -> learners.Batch:
    """The batch as the second opinion has it."""
    return learners.Batch(*(torch.as_tensor(np.swapaxes(part, 0, 1).copy()) for part in (seen, done, paid)))


def by_torch_name(models: object, method: str) -> Arrays:
    """The library's parameters (or their gradient) under the names that they have in the second opinion."""
    value = models if method == "iql" else models.value
    trunk = {"trunk.entry": value.trunk.entry}
    gru = {"ih": value.trunk.from_input, "hh": value.trunk.from_memory}
    found = {f"trunk.gru.{kind}_{side}_l0": getattr(layer, kind) for side, layer in gru.items() for kind in KINDS}
    if method == "iql":
        return arrays(found | of_layers(trunk | {"head": value.head}))
    head, context = value.head, models.context
    found |= {
        "head.weight.weight": head.weight.reshape(CONTEXTS, -1).T,
        "head.weight.bias": head.weight_bias.reshape(-1),
        "head.bias.weight": head.bias.T,
        "head.bias.bias": head.bias_bias,
    }
    layers = trunk | {"first": context.encoder.first, "second": context.encoder.second}
    for name, decoder in (("state", context.state_decoder), ("reward", context.reward_decoder)):
        layers |= {f"{name}.{part}": getattr(decoder, part) for part in ("from_step", "from_context", "second")}
    return arrays(found | of_layers(layers))


KINDS = ("weight", "bias")


def of_layers(layers: dict) -> dict:
    return {f"{name}.{kind}": getattr(layer, kind) for name, layer in layers.items() for kind in KINDS}


def arrays(found: dict) -> Arrays:
    return {name: np.asarray(array) for name, array in found.items()}


def copied(agent: AgentState, method: str) -> learners.IQL:
    """The second opinion's learner with the library's parameters, online and target."""
    learner = learners.IQL() if method == "iql" else learners.DAC(WINDOW, CONTEXTS)
    for networks, models in ((learner.networks, agent.online), (learner.target, agent.target)):
        networks.load_state_dict({name: torch.tensor(array) for name, array in by_torch_name(models, method).items()})
    return learner


def largest(ours: Arrays, theirs: Arrays) -> float:
    """The largest difference of two sets of parameters."""
    assert ours.keys() == theirs.keys()
    return max(float(np.abs(ours[name] - theirs[name]).max()) for name in ours)


def agreement(method: str) -> dict[str, float]:
    """The largest differences of loss, gradient and parameters."""
    extra = {} if method == "iql" else {"window": WINDOW, "contexts": CONTEXTS}
    algorithm, spec = ALGORITHMS[method](**extra), AgentSpec(FEATURES, Discrete(ACTIONS))
    agent = algorithm.init_agent(spec, jax.random.key(0))
    elsewhere = algorithm.init_agent(spec, jax.random.key(1))  # a target network that is not the online one
    agent = replace(agent, target=elsewhere.online)
    theirs, found = copied(agent, method), {}
    update, value = jax.jit(algorithm.learn), jax.jit(jax.value_and_grad(algorithm.losses, has_aux=True))
    for number in range(UPDATES):
        data, key = lived(number), jax.random.key(100 + number)
        noise = np.asarray(draw_by_step(jax.random.gumbel, key, (ROWS, LENGTH, CONTEXTS)))
        if number == 0:
            (loss, _), gradient = value(agent.online, agent.target, as_episodes(*data), key)
            their_loss = theirs.loss(as_batch(*data), torch.tensor(noise.swapaxes(0, 1).copy()))
            their_loss.backward()
            theirs_named = {name: part.grad.numpy() for name, part in theirs.networks.named_parameters()}
            found |= {"loss": float(loss), "loss, difference": abs(float(loss) - their_loss.item())}
            found["gradient, largest"] = max(float(np.abs(part).max()) for part in theirs_named.values())
            found["gradient, difference"] = largest(by_torch_name(gradient, method), theirs_named)
        agent, _ = update(agent, as_episodes(*data), key)
        theirs.learn(as_batch(*data), torch.tensor(noise.swapaxes(0, 1).copy()))
        now = {name: part.detach().numpy() for name, part in theirs.networks.named_parameters()}
        if number + 1 in REPORTED:
            found[f"parameters after {number + 1}, difference"] = largest(by_torch_name(agent.online, method), now)
    return found


def main() -> None:
    """Print and write all differences; exit code 1 if one update differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    found = {method: agreement(method) for method in ("iql", "dac")}
    print(json.dumps(found, indent=1))
    if args.out is not None:
        args.out.write_text(json.dumps(found, indent=1) + "\n")
    names = ("loss, difference", "gradient, difference", "parameters after 1, difference")
    if any(differences[name] > ALLOWED for differences in found.values() for name in names):
        raise SystemExit(f"an update differs by more than {ALLOWED}")


if __name__ == "__main__":
    main()
