"""Makes data/smac_fixtures.npz: what the real SMAC class says of the situations of smac_situations.py.

The game is not needed, the package is (docs/environments/host.md). With the commit of SMAC that is installed:

    PYTHONPATH=src python -m tests.environments.make_smac_fixtures COMMIT

Equal versions write equal bytes.
"""

import argparse
import hashlib
import json
import platform
import random
from importlib.metadata import version
from pathlib import Path
from unittest import mock

import numpy as np

from decentral.environments.battles.maps import MAPS
from tests.environments.smac_game import ALLY, ENEMY, SIZE, Game, as_told
from tests.environments.smac_situations import columns_of, stories

FILE = Path(__file__).parent / "data" / "smac_fixtures.npz"
TYPES = {
    **dict.fromkeys(("available", "follows", "terminated", "won"), bool),
    **dict.fromkeys(("actions", "dead_allies", "dead_enemies"), np.int8),
    "steps": np.int16,
}
BEGINNING = 0.0, False, {"battle_won": False, "dead_allies": 0, "dead_enemies": 0}  # no outcome yet


class Puppets:
    """A battle in which what happens is written down, whatever is ordered."""

    def __init__(self, scenes):
        self.scenes, self.number = scenes, 0

    @property
    def units(self):
        """The living. Allies are listed backwards, later enemies too: who is who must be found out, as in the game."""
        scene = self.scenes[self.number]
        allies = [as_told(1 + tag, ALLY, unit) for tag, unit in enumerate(scene.allies) if unit.lives][::-1]
        enemies = [as_told(101 + tag, ENEMY, unit) for tag, unit in enumerate(scene.enemies) if unit.lives]
        return allies + enemies if self.number == 0 else enemies[::-1] + allies

    def order(self, commands):
        pass

    def step(self):
        self.number += 1

    def kill(self, tags):
        pass


def answers(package, name, story, randomness):
    """What the real class says of each scene of a story that is told."""
    walkable = np.zeros((SIZE, SIZE), bool)
    walkable[tuple(zip(*story.scenes[0].walkable, strict=True))] = True
    game = Game(lambda: Puppets(story.scenes), walkable)
    with mock.patch.object(package.run_configs, "get", lambda **_: game):
        environment = package.StarCraft2Env(map_name=name)
        environment.reset()
        rows = [answer(environment, story.scenes[0], [-1] * environment.n_agents, BEGINNING)]
        for scene in story.scenes[1:]:
            assert not rows[-1]["terminated"], "a story must not go on after the end of its episode"
            actions = [randomness.choice(np.flatnonzero(available)) for available in environment.get_avail_actions()]
            rows.append(answer(environment, scene, actions, environment.step(actions)))
        environment.close()
    told = range(story.told_from, len(rows))
    return [rows[number] | {"steps": number, "follows": number > story.told_from} for number in told]


def answer(environment, scene, actions, outcome):
    """One scene as told to the class, and all that the class says of it."""
    reward, terminated, info = outcome
    return columns_of(scene) | {
        "actions": actions,
        "observation": environment.get_obs(),
        "state": environment.get_state(),
        "available": environment.get_avail_actions(),
        "reward": reward,
        "terminated": terminated,
        "won": info["battle_won"],
        "dead_allies": info["dead_allies"],
        "dead_enemies": info["dead_enemies"],
    }


def stacked(rows):
    """One array for each thing that was said, with a row for each scene."""
    return {key: np.asarray([row[key] for row in rows]).astype(TYPES.get(key, np.float32)) for key in rows[0]}


def provenance(package, commit):
    """Where the answers come from. Git names the file of the class by the same hash."""
    source = Path(package.__file__).read_bytes()
    parts = ("numpy", "protobuf", "pysc2", "s2clientprotocol")
    return {
        "class": "StarCraft2Env of https://github.com/oxwhirl/smac, smac/env/starcraft2/starcraft2.py",
        "commit": commit,
        "blob": hashlib.sha1(b"blob %d\0" % len(source) + source).hexdigest(),
        "versions": {"python": platform.python_version()} | {part: version(part) for part in parts},
        "command": f"PYTHONPATH=src python -m tests.environments.make_smac_fixtures {commit}",
    }


def main(commit):
    from smac.env.starcraft2 import starcraft2 as package

    arrays = {"provenance": np.asarray(json.dumps(provenance(package, commit)))}
    for name in MAPS:
        randomness = random.Random(name)
        rows = [row for story in stories(name) for row in answers(package, name, story, randomness)]
        arrays |= {f"{name}/{key}": array for key, array in stacked(rows).items()}
        print(f"{name}: {len(rows)} situations, {sum(row['follows'] for row in rows)} steps")
    np.savez_compressed(FILE, **arrays)
    print(f"{FILE.name}: {FILE.stat().st_size} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write down what the real SMAC class says of generated situations.")
    parser.add_argument("commit", help="of https://github.com/oxwhirl/smac, as it is installed")
    main(parser.parse_args().commit)
