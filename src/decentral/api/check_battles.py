"""The simulated battles beside recorded ones, and recordings to compare with."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.api.arguments import check_whole
from decentral.api.places import PathLike
from decentral.environments.battles import BATTLES
from decentral.errors import Refused
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.trained import check_environments
from decentral.settings import build
from decentral.verification.battle_check import (
    Check,
    GameRecording,
    check_new,
    episodes_of,
    fitting_values,
    read_recording,
    write_recording,
)
from decentral.verification.battle_check import record as record_game
from decentral.verification.battle_check import variants as variants_of
from decentral.verification.battle_check.check import Reading, StepError, TriedVariant


@dataclass(frozen=True)
class BattleCheck:
    """What agrees and what differs between a recording and the simulator."""

    map_name: str
    origin: str  # of the recording, in the words of its maker
    summary: str  # of what was recorded
    readings: list[Reading]
    errors: list[StepError]  # of one step from every recorded state
    trials: list[TriedVariant]  # the settings as they are, then others; none where no variants were asked for
    spoken_for: dict[str, list[Any]]  # of the tried settings, the values that fit best, where some fit worse
    undecided: list[str]  # the tried settings of which the recording tells nothing


def check_battles(
    file: PathLike,
    /,
    *,
    episodes: int = 256,
    variants: bool = False,
    seed: int = 0,
    environment: dict[str, Any] | None = None,
) -> BattleCheck:
    """Compare the simulator with recorded battles, such as games of the real SMAC: `episodes` of them at the most.

    With `variants`, every other value of the settings that are open is tried too. `environment` holds settings of the
    simulator, and `seed` is that of all chance.
    """
    check_whole(episodes=episodes, seed=seed)
    check_environments(episodes, seed)
    keep_compiled_programs()
    recording = read_recording(Path(file))
    battle = build(BATTLES[recording.map_name], environment or {}, "environment")
    check = Check(battle, episodes_of(battle, recording, episodes), seed)
    summary, (errors, more) = check.summary(), check.steps()
    readings = [*check.readings(), *more]
    trials = list(check.trials()) if variants else []
    fitting = fitting_values(battle, trials)
    tried = [name for name, _ in variants_of(battle)]
    decided = {name: values for name, values in fitting.items() if len(values) < 1 + tried.count(name)}
    undecided = [name for name in fitting if name not in decided]
    return BattleCheck(recording.map_name, recording.origin, summary, readings, errors, trials, decided, undecided)


def record_battles(
    file: PathLike,
    map_name: str,
    /,
    *,
    episodes: int = 256,
    random: float = 0.3,
    seed: int = 0,
    environment: dict[str, Any] | None = None,
) -> GameRecording:
    """Play a map, or `smac/MAP` in the game itself, by script and a share of `random` actions, and write `file`."""
    check_whole(episodes=episodes, seed=seed)
    check_environments(episodes, seed)
    keep_compiled_programs()
    check_new(Path(file))
    if not 0 <= random <= 1:
        raise Refused(f"random must be a number from 0 to 1, got {random:g}")
    made = record_game(map_name, environment or {}, episodes, random, seed)
    write_recording(Path(file), made)
    return made
