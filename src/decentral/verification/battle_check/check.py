"""The simulator against a recording: readings, errors of single steps, and variants of the rules."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args, get_origin

import jax
import numpy as np

from decentral.environments.battles.actions import available_actions
from decentral.environments.battles.battle import EARLIEST, LATEST, Battle
from decentral.environments.battles.fight import LOOPS_PER_STEP
from decentral.environments.battles.reward import WIN, reward_scale
from decentral.verification.battle_check.episodes import RecordedEpisodes, Visible
from decentral.verification.battle_check.errors import (
    REWARD,
    STATES,
    Errors,
    better_by,
    errors_of,
    nothing_changes,
    parting,
)
from decentral.verification.battle_check.readings import headings, paces, periods, shifted
from decentral.verification.battle_check.replay import (
    SimulatedSteps,
    drawn_jitter,
    shown,
    simulate_episodes,
    simulate_steps,
    start_of,
    usual_jitter,
)
from decentral.verification.battle_check.starts import FITS, start_in

AGREES, DIFFERS, UNCLEAR = "agrees", "differs", "can't be told"
ASKED = "as asked"
TRIED = ("prefer", "keep_target", "scan_to", "anchored", "turning", "overkill", "profile")
CLEAR = 2.0  # standard errors at which one variant fits better than another
ENOUGH = 30  # the fewest walks or shots for a meaningful share or mean
PARTED = 1.0  # cells between the courses of an episode, on average over units, at which they have parted


@dataclass(frozen=True)
class Reading:
    """One measurement, of the recording and of the simulator."""

    what: str
    recorded: str
    ours: str
    verdict: str


@dataclass(frozen=True)
class StepError:
    """The error of a single step: of the simulator, of randomness alone, and of predicting no change."""

    what: str
    ours: float
    chance: float
    still: float


@dataclass(frozen=True)
class TriedVariant:
    """A variant of one setting: how much worse it fits than the requested settings."""

    setting: str
    value: Any
    error: float
    worse: float
    uncertainty: float

    @property
    def verdict(self) -> str:
        if abs(self.worse) <= CLEAR * self.uncertainty:
            return "no difference"
        return "fits worse" if self.worse > 0 else "fits better"


@dataclass(frozen=True)
class Check:
    """A recording and a simulator, compared."""

    environment: Battle
    episodes: RecordedEpisodes
    seed: int

    def summary(self) -> str:
        """What was recorded."""
        episodes, scale = self.episodes, reward_scale(self.environment.roster)
        final = episodes.rewards[np.arange(len(episodes.lengths)), episodes.lengths - 1]
        won = (final >= WIN / scale).mean()
        line = f"{len(episodes.lengths)} episodes, {episodes.lengths.sum():,} steps"
        line += (
            f", return {episodes.rewards.sum(axis=1).mean():.2f}, won {won:.1%}, length {episodes.lengths.mean():.1f}"
        )
        return line + (f"; {episodes.left_out} left out, which begin in mid-battle" if episodes.left_out else "")

    def readings(self) -> Iterator[Reading]:
        """What can be measured without trying variants."""
        yield from self._start()
        yield from self._numbers_of_units()
        if self.episodes.available is not None:
            yield self._availability()

    def steps(self) -> tuple[list[StepError], list[Reading]]:
        """The errors of single steps, and further readings of the replay."""
        environment, episodes = self.environment, self.episodes
        jitter = usual_jitter(environment, episodes)
        foreseen, still = (
            simulate_steps(environment, episodes, jitter),
            errors_of(environment, episodes, nothing_changes(episodes)),
        )
        keys = jax.random.split(jax.random.key(self.seed))
        played, again = (
            simulate_episodes(environment, episodes, drawn_jitter(environment, episodes, key)) for key in keys
        )
        simulated = as_recorded(environment, episodes, played)
        chance = errors_of(environment, simulated, simulate_steps(environment, simulated, jitter))
        ours = errors_of(environment, episodes, foreseen)
        errors = [StepError(what, *(one.mean(what) for one in (ours, chance, still))) for what in (*STATES, REWARD)]
        return errors, [*self._headings(foreseen.after), self._parting(played.before, again.before)]

    def trials(self) -> Iterator[TriedVariant]:
        """Every other value of the open settings, one at a time."""
        jitter = usual_jitter(self.environment, self.episodes)
        still = errors_of(self.environment, self.episodes, nothing_changes(self.episodes))

        def tried(environment: Battle) -> Errors:
            return errors_of(environment, self.episodes, simulate_steps(environment, self.episodes, jitter))

        base = tried(self.environment)
        yield TriedVariant(ASKED, None, float(base.shares(still).mean()), 0.0, 0.0)
        for name, value in variants(self.environment):
            other = tried(replace(self.environment, **{name: value}))
            yield TriedVariant(name, value, float(other.shares(still).mean()), *better_by(base, other, still))

    def _start(self) -> Iterator[Reading]:
        start, environment = start_in(self.environment, self.episodes), self.environment
        fits = " or ".join(start.packings) or f"none of ours (more than {FITS} cells off)"
        misfits = ", ".join(f"{name} {misfit:.2f}" for name, misfit in start.misfits.items())
        yield Reading(
            "packing (cells off)",
            f"{fits} ({misfits})",
            environment.packing,
            _same(environment.packing in start.packings),
        )
        turned = environment.packing == "rings"
        verdict = AGREES if (start.spread > FITS) == turned else DIFFERS
        yield Reading("places vary by, cells", f"{start.spread:.2f}", "by chance" if turned else "0.00", verdict)
        verdict = UNCLEAR
        if start.enemy_ids in ("fixed", "shuffled", "shuffled_by_kind"):
            one_kind = len(set(environment.roster.kind[environment.roster.their_side].tolist())) == 1
            same = (
                {start.enemy_ids, "shuffled_by_kind"}
                if one_kind and start.enemy_ids == "shuffled"
                else {start.enemy_ids}
            )
            verdict = _same(environment.enemy_ids in same)
        yield Reading("enemy ids", start.enemy_ids, environment.enemy_ids, verdict)

    def _numbers_of_units(self) -> Iterator[Reading]:
        roster = self.environment.roster
        for kind, pace in paces(self.environment, self.episodes).items():
            unit = roster.kind.tolist().index(roster.kinds.index(kind))
            speed = float(roster.speed[unit]) * LOOPS_PER_STEP
            yield Reading(f"{kind}: cells per step", f"{pace:.3f}", f"{speed:.3f}", _same(abs(pace / speed - 1) < 0.02))
        for kind, sample in periods(self.environment, self.episodes).items():
            unit = roster.kind.tolist().index(roster.kinds.index(kind))
            period = float(roster.period[unit])
            low, mean, high = (period + EARLIEST + part * (LATEST - EARLIEST) for part in (0.05, 0.5, 0.95))
            recorded = f"{sample.low:.1f} to {sample.high:.1f}, mean {sample.mean:.2f} ({sample.count})"
            off = max(abs(sample.mean - mean), abs(sample.low - low) / 2, abs(sample.high - high) / 2)
            yield Reading(
                f"{kind}: loops between shots",
                recorded,
                f"{low:.1f} to {high:.1f}, mean {mean:.2f}",
                _same(off < 0.25) if sample.count >= ENOUGH else UNCLEAR,
            )

    def _availability(self) -> Reading:
        """How often the simulator allows an agent the same actions in the recorded state."""
        environment, episodes = self.environment, self.episodes

        def allowed(visible: Visible, enemy_of_id: np.ndarray) -> Any:
            field = shown(environment.roster, start_of(environment.roster, visible, enemy_of_id), visible)
            return available_actions(environment.roster, environment.battle_map.ground, field)

        ours = jax.jit(jax.vmap(jax.vmap(allowed, (0, None))))(episodes.visible, episodes.enemy_of_id)
        same = (np.asarray(ours) == episodes.available).all(axis=-1)[episodes.happened].mean()
        return Reading("actions available", "all", f"{same:.2%} alike", _same(same > 0.999))

    def _headings(self, foreseen: Visible) -> Iterator[Reading]:
        recorded = headings(self.environment, self.episodes, shifted(self.episodes.visible))
        ours = headings(self.environment, self.episodes, foreseen)
        for what, place in (("nearest ally", 0), ("allies' start", 1)):
            both = (f"{recorded[place]:.0%} of {recorded[2]}", f"{ours[place]:.0%} of {ours[2]}")
            enough = min(recorded[2], ours[2]) >= ENOUGH
            verdict = _same(abs(recorded[place] - ours[place]) < 0.05) if enough else UNCLEAR
            yield Reading(f"enemies that walk to the {what}", both[0], both[1], verdict)

    def _parting(self, played: Visible, again: Visible) -> Reading:
        """When do episodes diverge that are played without correction by the recording?"""
        step, share = parting(self.episodes, self.episodes.visible, played, PARTED)
        own_step, own_share = parting(self.episodes, played, again, PARTED)
        recorded = f"step {step:.0f} ({share:.0%} of episodes)"
        return Reading(
            f"actions alone replayed: {PARTED:g} cell off at",
            recorded,
            f"step {own_step:.0f} ({own_share:.0%} of episodes)",
            "",
        )


def fitting_values(environment: Battle, trials: list[TriedVariant]) -> dict[str, list[Any]]:
    """By setting, the values that fit the recording; all of them if it shows no difference."""
    fitting = {}
    for name in dict.fromkeys(trial.setting for trial in trials if trial.setting != ASKED):
        tried = {trial.value: (trial.worse, trial.uncertainty) for trial in trials if trial.setting == name}
        tried[getattr(environment, name)] = (0.0, 0.0)
        best, doubt = min(tried.values())
        fitting[name] = [
            value for value, (more, uncertainty) in tried.items() if more - best <= CLEAR * max(uncertainty, doubt)
        ]
    return fitting


def variants(environment: Battle) -> Iterator[tuple[str, Any]]:
    """The other values of each setting that is tried."""
    kinds = {field.name: field.type for field in fields(environment)}
    for name in TRIED:
        known = get_args(kinds[name]) if get_origin(kinds[name]) is Literal else (False, True)
        yield from ((name, value) for value in known if value != getattr(environment, name))


def _same(agrees: bool) -> str:
    return AGREES if agrees else DIFFERS


def as_recorded(environment: Battle, episodes: RecordedEpisodes, played: SimulatedSteps) -> RecordedEpisodes:
    """The simulator's episodes in the form of a recording, up to the end of each battle."""
    alive = played.before.alive
    goes_on = alive[..., environment.roster.our_side].any(axis=-1) & alive[..., environment.roster.their_side].any(
        axis=-1
    )
    lengths = np.minimum(episodes.lengths, goes_on.sum(axis=1))
    return replace(episodes, visible=played.before, rewards=played.rewards, lengths=lengths)
