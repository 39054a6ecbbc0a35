"""Several stages of a host environment: in this process, or dealt out to processes that step theirs in parallel."""

import json
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial

from decentral.environments.host.checks import CheckedStage
from decentral.environments.host.filmed import FilmedStage
from decentral.environments.host.interface import BrokenOff, HostEnvironment, Stage
from decentral.environments.host.process import Process
from decentral.environments.host.trusted_import import was_trusted
from decentral.environments.host.wire import CLOSE, Answer, AnswerTimeout, Pipes, Question, Wire, read, write
from decentral.errors import Failed, Refused
from decentral.settings import as_data

PATIENCE = 10.0  # seconds that an environment may take to close
NAMED, TRUSTED = "named", "trusted"  # how the code of an environment came to be run
LONGEST_WAIT = 600.0  # seconds that an environment in another process may take to answer, unless told otherwise


class Stages:
    """The stages of a run, by number. They are opened when they are first needed.

    They are dealt out to `processes`, each of which may take `seconds` to answer, or all are in this one if there are
    none. `filming`: in this process, and with pictures.
    """

    def __init__(
        self,
        environment: HostEnvironment,
        count: int,
        processes: int = 0,
        seconds: float = LONGEST_WAIT,
        filming: bool = False,
    ):
        self.environment = environment
        self.filming = filming
        self.count = count
        self.seconds = seconds
        self.apart = processes > 0 and not filming
        self.lines: list[StageLine] = []
        self.most_lines = min(processes, count) if self.apart else count
        self.broken = False  # has one failed? Then no more questions are sent

    def ask(self, questions: Mapping[int, Question]) -> dict[int, Answer | BrokenOff]:
        """The answer of each stage to its question; processes work in parallel.

        Where an episode broke off, that is the answer. A stage that failed is replaced by a new one if its environment
        says that it may be.
        """
        self.broken = True
        while len(self.lines) < self.most_lines:
            self.lines.append(self._open())
        asked: dict[int, dict[int, Question]] = {}
        for place, question in questions.items():
            asked.setdefault(place % self.most_lines, {})[place] = question
        for line, of_line in asked.items():
            self.lines[line].ask(of_line)
        answers = {place: answer for line in asked for place, answer in self._answers(line, asked[line]).items()}
        self.broken = False
        return {place: answers[place] for place in questions}

    def filmed(self) -> FilmedStage:
        """The first stage, with the pictures of its last episode."""
        first = self.lines[0]
        if not isinstance(first, LocalStageLine) or not isinstance(first.stage, FilmedStage):
            raise TypeError("nothing is filmed")
        return first.stage

    def close(self) -> list[str]:
        """Close all of them, even if some fail. Returns their errors, unless there was another one before."""
        troubles = []
        for line in self.lines:
            line.dismiss()
        while self.lines:
            try:
                self.lines.pop().close()
            except (Failed, Refused, BrokenOff) as trouble:
                troubles.append(str(trouble))
        return [] if self.broken else list(dict.fromkeys(troubles))

    def _open(self) -> "StageLine":
        if self.apart:
            return WorkerStageLine(self.environment, self.seconds)
        return LocalStageLine(self.environment, self.filming)

    def _answers(self, line: int, places: Iterable[int]) -> dict[int, Answer | BrokenOff]:
        try:
            return self.lines[line].answers()
        except BrokenOff as broken:
            return dict.fromkeys(places, broken)
        except Failed as failure:
            if not self.environment.may_restart:
                raise
            with suppress(Failed, Refused, BrokenOff):
                self.lines[line].close()
            self.lines[line] = self._open()
            return {place: BrokenOff(str(failure)) for place in places}


class StageLine(ABC):
    """The connection to a stage, or to several of one process: send questions, then wait for the answers."""

    @abstractmethod
    def ask(self, questions: Mapping[int, Question]) -> None:
        """Send a question to each of these stages."""

    @abstractmethod
    def answers(self) -> dict[int, Answer | BrokenOff]:
        """Wait for their answers."""

    @abstractmethod
    def dismiss(self) -> None:
        """Announce to the stages that they will be closed."""

    @abstractmethod
    def close(self) -> None:
        """Close the stages, and wait for them."""


class LocalStageLine(StageLine):
    """The connection to a stage in this process, which is opened when it is first asked."""

    def __init__(self, environment: HostEnvironment, filming: bool = False):
        self.open = partial(FilmedStage if filming else CheckedStage, environment)
        self.stage: Stage | None = None

    def ask(self, questions: Mapping[int, Question]) -> None:
        [(self.place, self.question)] = questions.items()

    def answers(self) -> dict[int, Answer | BrokenOff]:
        try:
            return {self.place: self._answer()}
        except BrokenOff as broken:
            return {self.place: broken}

    def _answer(self) -> Answer:
        self.stage = self.stage or self.open()
        if isinstance(self.question, int):
            return self.stage.reset(self.question)
        return self.stage.step(self.question)

    def dismiss(self) -> None:
        pass

    def close(self) -> None:
        if self.stage is not None:
            self.stage.close()


class WorkerStageLine(StageLine):
    """The connection to the stages of another process."""

    def __init__(self, environment: HostEnvironment, seconds: float = LONGEST_WAIT):
        self.wire = Wire(environment)
        self.seconds = seconds
        how = TRUSTED if was_trusted(environment.address) else NAMED
        what = (environment.address, json.dumps(as_data(environment)), how)
        self.worker = Process("decentral.environments.host.worker", *what)
        self.pipes = Pipes(self.worker.questions, self.worker.answers, self._lives)
        self.asked: set[int] = set()  # the stages that the last message was for
        self.used: set[int] = set()  # those that were ever asked

    def _lives(self) -> bool:
        return self.worker.process.poll() is None

    def ask(self, questions: Mapping[int, Question]) -> None:
        self.asked = set(questions)
        self.used |= self.asked
        self.pipes.left = self.seconds
        try:
            self.wire.ask(self.pipes, questions)
        except BrokenPipeError:  # it has died: there will be no answer
            pass
        except AnswerTimeout:
            raise self._late() from None

    def answers(self) -> dict[int, Answer | BrokenOff]:
        try:
            return self._read()
        except EOFError:
            raise Failed(f"{self.wire.environment.address}: its {self._end()}") from None
        except AnswerTimeout:
            raise self._late() from None

    def _late(self) -> Failed:
        """End a process that does not answer; and what to say of it."""
        self._kill()
        self.worker.end(PATIENCE)
        late = f"did not answer within {self.seconds:g} s (training.worker_timeout) and was ended"
        return Failed(f"{self.wire.environment.address}: its process {self.worker.number} {late}")

    def _read(self) -> dict[int, Answer | BrokenOff]:
        return self.wire.answers(*read(self.pipes, max(1, len(self.asked)) * self.wire.longest), self.asked)

    def dismiss(self) -> None:
        if not self.worker.questions.closed:
            self.pipes.left = PATIENCE
            with suppress(BrokenPipeError, AnswerTimeout):
                write(self.pipes, CLOSE)

    def close(self) -> None:
        if self.worker.answers.closed:  # it has ended
            return
        self.pipes.left = patience = PATIENCE * max(1, len(self.used))
        try:
            self._read()  # answers that nobody waited for, or an error
        except EOFError:
            how = self._end()
            if self.worker.process.returncode:
                raise Failed(f"{self.wire.environment.address} when closed: its {how}") from None
        except AnswerTimeout:
            how = self._end(min(PATIENCE, 1.0))
            raise Failed(f"{self.wire.environment.address} did not close within {patience:g} s: its {how}") from None
        finally:
            self._end()

    def _end(self, patience: float = PATIENCE) -> str:
        """Wait for the process to end; returns how, in words. Unless all is well, its own child processes end too."""
        how = self.worker.end(patience)
        if self.worker.process.returncode:
            self._kill()
        return how

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.worker.number, signal.SIGKILL)
