"""Several stages of a world that lives in Python, stepped at once: one in this process, or each in one of its own."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress

from decentral.environments.checked import CheckedStage
from decentral.environments.host import BrokenOff, HostEnvironment
from decentral.environments.host_wire import CLOSE, Answer, Question, Wire, read, write
from decentral.environments.process import Process
from decentral.refusal import Failed
from decentral.settings import as_data

PATIENCE = 10.0  # seconds that a world may take to close


class Stages:
    """The stages of a training, by number. They are opened when they are first needed."""

    def __init__(self, environment: HostEnvironment, count: int):
        self.environment = environment
        self.count = count
        self.lines: list[Line] = []

    def ask(self, questions: Mapping[int, Question]) -> dict[int, Answer | BrokenOff]:
        """What each stage answers to its question; all of them work at the same time.

        Where an episode broke off, that is the answer. A stage that failed is replaced by a new one if its world says
        that it may be.
        """
        while len(self.lines) < self.count:
            self.lines.append(self._open())
        for place, question in questions.items():
            self.lines[place].ask(question)
        return {place: self._answer(place) for place in questions}

    def close(self) -> None:
        """Close all of them, whatever happens to some."""
        for line in self.lines:
            line.dismiss()
        while self.lines:
            with suppress(Failed):
                self.lines.pop().close()

    def _open(self) -> "Line":
        return Here(self.environment) if self.count == 1 else Elsewhere(self.environment)

    def _answer(self, place: int) -> Answer | BrokenOff:
        try:
            return self.lines[place].answer()
        except BrokenOff as broken:
            return broken
        except Failed as failure:
            if not self.environment.may_restart:
                raise
            with suppress(Failed):
                self.lines[place].close()
            self.lines[place] = self._open()
            return BrokenOff(str(failure))


class Line(ABC):
    """A line to one stage: ask, then listen."""

    @abstractmethod
    def ask(self, question: Question) -> None:
        """Send a question."""

    @abstractmethod
    def answer(self) -> Answer:
        """Wait for its answer."""

    @abstractmethod
    def dismiss(self) -> None:
        """Tell the stage that it will be closed."""

    @abstractmethod
    def close(self) -> None:
        """Close the stage, and wait for it."""


class Here(Line):
    """To a stage in this process."""

    def __init__(self, environment: HostEnvironment):
        self.stage = CheckedStage(environment)

    def ask(self, question: Question) -> None:
        self.question = question

    def answer(self) -> Answer:
        if isinstance(self.question, int):
            return self.stage.reset(self.question)
        return self.stage.step(self.question)

    def dismiss(self) -> None:
        pass

    def close(self) -> None:
        self.stage.close()


class Elsewhere(Line):
    """To a stage in a process of its own."""

    def __init__(self, environment: HostEnvironment):
        self.wire = Wire(environment)
        what = (environment.address, json.dumps(as_data(environment)))
        self.worker = Process("decentral.environments.host_worker", *what)

    def ask(self, question: Question) -> None:
        with suppress(BrokenPipeError):  # it has died: there will be no answer
            self.wire.ask(self.worker.questions, question)

    def answer(self) -> Answer:
        try:
            return self.wire.answer(*read(self.worker.answers, self.wire.longest))
        except EOFError:
            raise Failed(f"{self.wire.environment.address}: its {self.worker.end(PATIENCE)}") from None

    def dismiss(self) -> None:
        if not self.worker.questions.closed:
            with suppress(BrokenPipeError):
                write(self.worker.questions, CLOSE)

    def close(self) -> None:
        self.worker.end(PATIENCE)
