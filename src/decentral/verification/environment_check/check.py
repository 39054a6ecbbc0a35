"""The check of an environment: it is played at random, and every rule reports a finding in plain words."""

import time
from collections.abc import Callable

import numpy as np

from decentral.environments.adapters.jaxmarl import JaxMARL
from decentral.environments.adapters.pettingzoo import PettingZoo
from decentral.environments.base import BaseEnvironment, Environment
from decentral.environments.host.interface import BrokenOff, HostEnvironment, Stage
from decentral.environments.host.user_code import errors_in_one_line
from decentral.errors import Failed, Refused
from decentral.runs.trained import check_environments
from decentral.verification.environment_check.branches import NotRepeated
from decentral.verification.environment_check.episodes import PlayedEpisode, play, stage_of
from decentral.verification.environment_check.findings import Finding
from decentral.verification.environment_check.pettingzoo import RecordingWrapper, recording_stage, zoo_findings
from decentral.verification.environment_check.repeats import compiled, not_repeated, repeats
from decentral.verification.environment_check.rules import actions, ends, finite, reward, shapes, sharing
from decentral.verification.environment_check.secrets import secrets

TROUBLE = (Refused, Failed, BrokenOff)  # how an environment may end its check


def examine(environment: BaseEnvironment, episodes: int, seed: int) -> list[Finding]:
    """Play random episodes with the seeds from `seed` on, and report what is right and what is wrong."""
    check_environments(episodes, seed)
    if isinstance(environment, HostEnvironment):
        environment.check_ready()
    try:
        with errors_in_one_line("the environment", "when opened"):
            stage, recorded = (
                recording_stage(environment) if isinstance(environment, PettingZoo) else (stage_of(environment), None)
            )
    except TROUBLE as trouble:
        return [Finding("play", "wrong", str(trouble))]
    findings: list[Finding] = []
    played = _trouble(lambda: _examine(environment, stage, recorded, range(seed, seed + episodes), findings))
    closed = _trouble(lambda: _close(stage))
    broke = played or closed
    whole = f"random episodes that were played without trouble: {episodes}"
    return [Finding("play", "wrong", broke) if broke else Finding("play", "right", whole), *findings]


def _trouble(act: Callable[[], None]) -> str | None:
    """What goes wrong with an environment, if anything does."""
    try:
        act()
    except BrokenOff as reason:
        return f"an episode broke off: {reason}"
    except (Refused, Failed) as failure:
        return str(failure)
    return None


def _close(stage: Stage) -> None:
    with errors_in_one_line("the environment", "when closed"):
        stage.close()


def _examine(
    environment: BaseEnvironment, stage: Stage, recorded: RecordingWrapper | None, seeds: range, findings: list[Finding]
) -> None:
    """Add to the findings; those made so far stay even if the environment fails."""
    rng = np.random.default_rng(seeds[0])
    episodes, times, trouble = _played(environment, stage, seeds, rng)
    with errors_in_one_line("the environment", "when judged"):
        findings += _findings(environment, recorded, [episode for episode in episodes if episode.start is not None])
    if trouble is not None:
        raise trouble
    if any(finding.verdict == "wrong" and finding.rule in ("compiled", "shapes", "spaces") for finding in findings):
        return
    with errors_in_one_line("the environment", "when played again"):
        findings += _repeats_and_secrets(environment, stage, episodes, rng)
    findings.append(_speed(episodes, np.diff(times)))


def _repeats_and_secrets(
    environment: BaseEnvironment, stage: Stage, episodes: list[PlayedEpisode], rng: np.random.Generator
) -> list[Finding]:
    """Does it repeat itself? If so, are actions told? Looking for that may find an episode that does not repeat."""
    again = repeats(environment, stage, episodes)
    if again.verdict == "right":
        try:
            return [again, secrets(environment, stage, rng)]
        except NotRepeated as fault:
            again = not_repeated(str(fault))
    return [again, Finding("secrets", "unclear", "only an environment that repeats itself can be looked through")]


def _played(
    environment: BaseEnvironment, stage: Stage, seeds: range, rng: np.random.Generator
) -> tuple[list[PlayedEpisode], list[float], Exception | None]:
    """Random episodes, the time at which each was over, and the error of the last one, if any."""
    episodes: list[PlayedEpisode] = []
    times = [time.perf_counter()]
    for seed in seeds:
        episodes.append(PlayedEpisode(seed))
        try:
            with errors_in_one_line(f"seed {seed}", "in play"):
                play(environment, stage, episodes[-1], rng, environment.time_limit)
        except TROUBLE as trouble:
            return episodes, times, trouble
        times.append(time.perf_counter())
    return episodes, times, None


def _findings(
    environment: BaseEnvironment, recorded: RecordingWrapper | None, episodes: list[PlayedEpisode]
) -> list[Finding]:
    """The findings from the episodes, rule by rule."""
    findings = [compiled(environment)] if isinstance(environment, Environment) else []
    findings += (
        [shapes(environment, episodes), finite(environment, episodes), actions(environment, episodes), reward(episodes)]
        if episodes
        else []
    )
    if whole := [episode for episode in episodes if episode.over or len(episode.steps) == environment.time_limit]:
        findings.append(ends(environment, whole))
    if recorded is not None and isinstance(environment, PettingZoo):
        findings += zoo_findings(environment, recorded)
    if isinstance(environment, JaxMARL):
        findings.append(sharing(environment, episodes))
    return findings


def _speed(episodes: list[PlayedEpisode], seconds: np.ndarray) -> Finding:
    """Steps per second; the first episode, which may compile, is left out if there are others."""
    counted = slice(1, None) if len(episodes) > 1 else slice(None)
    steps, spent = sum(len(episode.steps) for episode in episodes[counted]), float(seconds[counted].sum())
    return Finding("speed", "note", f"{steps / max(spent, 1e-9):,.0f} steps per second, one after another, from Python")


__all__ = ["Finding", "examine"]
