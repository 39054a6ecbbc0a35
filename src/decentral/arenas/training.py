"""The training of one seed of an arena: tested, saved and reported between episodes."""

import time
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from decentral.arenas.arena import Arena
from decentral.arenas.arena_state import ArenaState
from decentral.arenas.episode import Played
from decentral.arenas.saving import ArenaCheckpoints
from decentral.errors import Interrupted, shell_words
from decentral.runs.listeners.base import Listener
from decentral.runs.metric_rows import exploration
from decentral.runs.planned import PlannedRun
from decentral.runs.runner import evaluation_steps
from decentral.runs.signals import Signals


class ArenaTraining:
    """Trains one seed of an arena, records its tests and saves it when due."""

    def __init__(
        self,
        arena: Arena,
        state: ArenaState,
        checkpoints: ArenaCheckpoints,
        listeners: list[Listener],
        seconds: float,
    ):
        self.arena, self.state, self.checkpoints, self.listeners = arena, state, checkpoints, listeners
        self.deaths = [len(seat.deaths) for seat in arena.seats]
        self.returns = list(state.returns)  # of episodes since the last test
        self.tested = state.tested  # a seed is saved only after the tests that are due
        self.begun, self.seconds_before = time.perf_counter(), seconds
        self.saved_turn = state.turn if state.seats else None

    @property
    def seconds(self) -> float:
        return self.seconds_before + time.perf_counter() - self.begun

    def finish(self, signals: Signals) -> None:
        """Train to the end, unless a signal asks to stop."""
        if signals.asked:
            raise self.interrupted  # while its agents were starting: nothing has changed since the last checkpoint
        self._note(", ".join(f"{seat.name}: {seat.line.name}" for seat in self.arena.seats))
        if self.state.logged and self.saved_turn is None:
            self._save()  # so that its logs can be continued from here, whatever happens
        for step in evaluation_steps(self.arena.config.setup.plan):
            if self.tested and self.arena.steps >= step:
                continue  # tested already, or an episode is longer than the interval
            while self.arena.steps < step:
                self.returns.append(self.arena.play().total)
                self._report()
                if self.arena.steps < step:
                    self._save_if_due(signals)
            self._test()
            self._save_if_due(signals)

    def _report(self) -> None:
        """Report the progress, and the agents that have died."""
        for listener in self.listeners:
            listener.advanced(self.arena.steps)
        for seat in self.arena.seats:
            for death in seat.deaths[self.deaths[seat.place] :]:
                self._note(f"{seat.name} is gone ({death}) and is started again; the others go on")
            self.deaths[seat.place] = len(seat.deaths)

    def _test(self) -> None:
        row = _record(self.arena, self.arena.test(), self.returns)
        self.returns, self.tested = [], True
        self.checkpoints.directory.append_metrics([row])
        self.checkpoints.directory.append_time(row["step"], self.seconds)
        for listener in self.listeners:
            listener.tested([[row]])

    def _save_if_due(self, signals: Signals) -> None:
        if signals.asked:
            while not self._save():
                self.arena.gather()  # agents that are away must come back first: all are saved at the same turn
                self._report()
            raise self.interrupted
        if self.checkpoints.due.now:
            self._save()

    @property
    def interrupted(self) -> Interrupted:
        messages = self.checkpoints.places.messages
        logged = "" if messages is None else f" {shell_words(['--log-messages', str(messages)])}"
        run = PlannedRun(self.arena.config, self.checkpoints.directory.path)
        return Interrupted(self.arena.steps, f"{run.resume_command}{logged}")

    def _save(self) -> bool:
        """Save this turn if all agents are present; returns whether it is saved now."""
        turn = self.state.before + self.arena.episodes
        if turn == self.saved_turn:
            return True
        seats = self.arena.save(turn)
        if seats is None:
            return False
        state = replace(
            self.state,
            steps=self.arena.steps,
            episodes=self.arena.episodes,
            tested=self.tested,
            stream=np.asarray(jax.random.key_data(self.arena.stream)),
            returns=self.returns,
            seats=seats,
        )
        self.checkpoints.save(state, self.seconds)
        self.saved_turn = turn
        return True

    def _note(self, line: str) -> None:
        for listener in self.listeners:
            listener.noted(line)


def _record(arena: Arena, tests: list[Played], returns: list[float]) -> dict[str, Any]:
    """The record of a test and of training since the last one. Metrics of updates stay with the agents."""
    scores = np.asarray([played.total for played in tests], np.float32)
    environment = arena.environment
    names = (*environment.reports, *environment.own_return_names)
    row = {
        "seed": arena.seed,
        "step": arena.steps,
        "episode": arena.episodes,
        "test_return_mean": float(scores.mean()),
        "test_return_std": float(scores.std()),
        **{f"test_{name}": float(np.mean([played.reports[name] for played in tests])) for name in names},
        **exploration(arena.config.setup, arena.steps),
        "missed_episodes": [seat.missed for seat in arena.seats],
    }
    return row | ({"train_return_mean": float(np.mean(returns))} if returns else {})
