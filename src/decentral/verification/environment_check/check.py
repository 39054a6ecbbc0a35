"""The check of an environment: it is played at random, and each rule says in plain words what it found."""

import time
from collections.abc import Callable

import numpy as np

from decentral.environments.adapters.jaxmarl import JaxMARL
from decentral.environments.adapters.pettingzoo import PettingZoo
from decentral.environments.base import Environment, World
from decentral.environments.host.interface import BrokenOff, HostEnvironment, Stage
from decentral.environments.host.user_code import told_in_one_line
from decentral.errors import Failed, Refused
from decentral.runs.trained import check_worlds
from decentral.verification.environment_check.episodes import Lived, play, stage_of
from decentral.verification.environment_check.findings import Finding
from decentral.verification.environment_check.pettingzoo import Overheard, overheard_stage, zoo_findings
from decentral.verification.environment_check.repeats import compiled, repeats
from decentral.verification.environment_check.rules import actions, ends, finite, reward, shapes, sharing
from decentral.verification.environment_check.secrets import secrets

TROUBLE = (Refused, Failed, BrokenOff)  # how a world may end its examination


def examine(world: World, episodes: int, seed: int) -> list[Finding]:
    """Play so many random episodes, of the seeds from `seed` on, and say what is right and what is wrong."""
    check_worlds(episodes, seed)
    if isinstance(world, HostEnvironment):
        world.check_ready()
    try:
        with told_in_one_line("the world", "when opened"):
            stage, heard = overheard_stage(world) if isinstance(world, PettingZoo) else (stage_of(world), None)
    except TROUBLE as trouble:
        return [Finding("play", "wrong", str(trouble))]
    found: list[Finding] = []
    played = _trouble(lambda: _examine(world, stage, heard, range(seed, seed + episodes), found))
    closed = _trouble(lambda: _close(stage))
    broke = played or closed
    whole = f"random episodes that were played without trouble: {episodes}"
    return [Finding("play", "wrong", broke) if broke else Finding("play", "right", whole), *found]


def _trouble(act: Callable[[], None]) -> str | None:
    """What goes wrong with a world, if anything does."""
    try:
        act()
    except BrokenOff as reason:
        return f"an episode broke off: {reason}"
    except (Refused, Failed) as failure:
        return str(failure)
    return None


def _close(stage: Stage) -> None:
    with told_in_one_line("the world", "when closed"):
        stage.close()


def _examine(world: World, stage: Stage, heard: Overheard | None, seeds: range, found: list[Finding]) -> None:
    """Add to what was found, also where the world breaks on the way."""
    chance = np.random.default_rng(seeds[0])
    episodes, times, trouble = _played(world, stage, seeds, chance)
    with told_in_one_line("the world", "when judged"):
        found += _judged(world, heard, [lived for lived in episodes if lived.start is not None])
    if trouble is not None:
        raise trouble
    if any(finding.verdict == "wrong" and finding.rule in ("compiled", "shapes", "spaces") for finding in found):
        return
    with told_in_one_line("the world", "when played again"):
        found.append(again := repeats(world, stage, episodes))
        if again.verdict == "right":
            found.append(secrets(world, stage, chance))
        else:
            found.append(Finding("secrets", "unclear", "only a world that repeats itself can be looked through"))
    found.append(_speed(episodes, np.diff(times)))


def _played(
    world: World, stage: Stage, seeds: range, chance: np.random.Generator
) -> tuple[list[Lived], list[float], Exception | None]:
    """Random episodes, the time at which each was over, and what broke the last one, if anything did."""
    episodes: list[Lived] = []
    times = [time.perf_counter()]
    for seed in seeds:
        episodes.append(Lived(seed))
        try:
            with told_in_one_line(f"seed {seed}", "in play"):
                play(world, stage, episodes[-1], chance, world.time_limit)
        except TROUBLE as trouble:
            return episodes, times, trouble
        times.append(time.perf_counter())
    return episodes, times, None


def _judged(world: World, heard: Overheard | None, told: list[Lived]) -> list[Finding]:
    """What the episodes say, rule by rule."""
    found = [compiled(world)] if isinstance(world, Environment) else []
    found += [shapes(world, told), finite(world, told), actions(world, told), reward(told)] if told else []
    if whole := [lived for lived in told if lived.over or len(lived.steps) == world.time_limit]:
        found.append(ends(world, whole))
    if heard is not None and isinstance(world, PettingZoo):
        found += zoo_findings(world, heard)
    if isinstance(world, JaxMARL):
        found.append(sharing(world, told))
    return found


def _speed(episodes: list[Lived], seconds: np.ndarray) -> Finding:
    """Steps per second; what a world compiles in its first episode is left out where there are others."""
    counted = slice(1, None) if len(episodes) > 1 else slice(None)
    steps, spent = sum(len(lived.steps) for lived in episodes[counted]), float(seconds[counted].sum())
    return Finding("speed", "note", f"{steps / max(spent, 1e-9):,.0f} steps per second, one after another, from Python")


__all__ = ["Finding", "examine"]
