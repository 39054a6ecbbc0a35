"""Callbacks: your own code, called while a run is trained. Where it raises, the run is saved and stops in one line."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decentral.environments.host.user_code import errors_as_failures
from decentral.errors import Failed, Refused
from decentral.runs.metric_rows import Rows
from decentral.runs.planned import PlannedRun

if TYPE_CHECKING:
    from decentral.api.train import Run


class Callback:
    """Subclass it and define what you need. Whatever a method raises stops the run, of which nothing is lost."""

    def on_test(self, run: "Run", records: list[dict[str, Any]]) -> None:
        """A test was recorded: its records, one per seed, which `run.metrics` now ends with."""

    def on_save(self, run: "Run", step: int) -> None:
        """A checkpoint was written, from which the run can be resumed."""

    def on_end(self, run: "Run") -> None:
        """The run is finished, and all its files are written. Not called for a run that was interrupted."""


class CallbackListener:
    """A listener that calls callbacks in the order given."""

    def __init__(self, callbacks: Sequence[Callback], open_run: Callable[[Path], "Run"]):
        if isinstance(callbacks, Callback):
            raise Refused("callbacks must be a list, as several can be given, got one callback")
        for callback in callbacks:
            if not isinstance(callback, Callback):
                raise Refused(f"callbacks must be objects of subclasses of decentral.Callback, got {callback!r:.80}")
        self._callbacks, self._open_run = tuple(callbacks), open_run
        self._place, self._resume_command = Path(), ""

    def started(self, runs: Sequence[PlannedRun], memory: str) -> None:
        self._place, self._resume_command = runs[0].out, runs[0].resume_command

    def noted(self, line: str) -> None:
        pass

    def advanced(self, steps: int) -> None:
        pass

    def tested(self, rows: list[Rows]) -> None:
        for callback in self._callbacks:
            with self._called(callback, f"on_test at step {rows[0][0]['step']:,}"):
                callback.on_test(self._open_run(self._place), rows[0])

    def saved(self, step: int) -> None:
        for callback in self._callbacks:
            with self._called(callback, f"on_save at step {step:,}"):
                callback.on_save(self._open_run(self._place), step)

    def finished(self, rows: list[Rows], seconds: float) -> None:
        for callback in self._callbacks:
            with self._called(callback, "on_end"):
                callback.on_end(self._open_run(self._place))

    def closed(self) -> None:
        pass

    @contextmanager
    def _called(self, callback: Callback, when: str) -> Iterator[None]:
        """Turn whatever a callback raises into one line that says which it was, and what has become of the run."""
        name = f"callback {type(callback).__name__}"
        state = "the run is finished" if when == "on_end" else f"to resume: {self._resume_command}"
        try:
            with errors_as_failures(name, f"in {when}"):
                yield
        except Failed as failure:
            raise Failed(f"{failure}; {state}") from failure.__cause__
        except Refused as refusal:  # by a function of this library that the callback has called
            raise Failed(f"{name} in {when}: {refusal}; {state}") from refusal
