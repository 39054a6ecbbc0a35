"""One run: train it, load it, look at it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from decentral.analysis.results import Curves, load_curves
from decentral.api.live import Live
from decentral.api.requests import Place, listeners_of, place_for, plan_of
from decentral.arenas.audit import MessageAudit, audit_messages
from decentral.arenas.run import resume_arena
from decentral.configs.config import Config, MemberRequest, resolve
from decentral.configs.registry import take_names
from decentral.records import RunDirectory
from decentral.runs.checkpointing.schedule import Saving
from decentral.runs.resume import resume_in_place, resume_run
from decentral.runs.runner import Listener
from decentral.runs.runner import run as run_config
from decentral.runs.trained import EPISODES, Trained
from decentral.settings import Refused, build
from decentral.verification.audit.audit import Audit, Audited, audit_all
from decentral.verification.files import verify


class Run:
    """A run on disk: its curves, its trained agents, its plot."""

    def __init__(self, path: Place):
        self.directory = RunDirectory.open(Path(path))

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    @property
    def path(self) -> Path:
        return self.directory.path

    @property
    def config(self) -> dict[str, Any]:
        """The resolved configuration."""
        return self.directory.read_json("config.json")

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """Every record: one per test and seed."""
        return self.directory.read_metrics()

    @property
    def curves(self) -> Curves:
        return load_curves(self.directory)

    @property
    def steps(self) -> np.ndarray:
        """The environment steps of the tests [tests]."""
        return self.curves.steps

    @property
    def returns(self) -> np.ndarray:
        """The mean return of every test [seeds, tests]."""
        return self.curves.returns

    def evaluate(
        self,
        episodes: int = EPISODES,
        seed: int = 0,
        environment: str | None = None,
        algorithm: str | None = None,
    ) -> np.ndarray:
        """The returns of fresh greedy episodes of the trained teams [seeds, episodes].

        Where the environment or the algorithm is code of yours, name it again: what a file names is never run.
        """
        take_names(environment, algorithm)
        return Trained.load(self.directory).evaluate(episodes, seed)

    @property
    def diverged(self) -> list[dict[str, Any]]:
        """The seeds that diverged, by the end of the run: each with step, agent and tensor."""
        return self.directory.diverged

    def verify(self) -> list[str]:
        """What is not as it was written, a line each; nothing where all is well."""
        return verify(self.directory).broken

    def audit(self, agent: int | None = None, seed: int | None = None) -> Audit:
        """Train agents again from their own logs alone, and compare their parameters and every action.

        All agents that learn unless told otherwise, of the first seed.
        """
        return Audit(tuple(audit_all(Audited.all_of(self.directory, seed, agent))))

    def audit_messages(self, messages: Place, agent: int | None = None, seed: int | None = None) -> MessageAudit:
        """The same of a run of an arena, from the directory in which its messages were logged."""
        audited = Audited.all_of(self.directory, seed, agent)
        return MessageAudit(tuple(audit_messages(own, Path(messages)) for own in audited))

    def plot(self, out: Place | None = None) -> Path:
        """Draw the learning curves; into the run's own directory unless told otherwise."""
        from decentral.analysis.plots.curves import plot_curves

        file = Path(out) if out is not None else self.path / "returns.png"
        plot_curves([self.curves], file)
        return file


def train(
    algorithm_name: str | Sequence[MemberRequest],
    environment_name: str,
    /,
    *,
    algorithm: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    seed: int | None = None,
    out: Place | None = None,
    progress: bool = True,
    track: Sequence[str] = (),
    live: bool = False,
    checkpoints: dict[str, Any] | None = None,
    resume: bool = False,
) -> Run:
    """Train an algorithm on an environment. What is not said comes from the paper's table, then from defaults.

    Instead of one algorithm, a list with one entry per agent: a name, `frozen:RUN[:SEED[:AGENT]]` for a partner from
    an earlier run, or an object such as `{"name": "iql", "hidden": 32, "joins_at": 20000}`.

    `seeds`, `steps` and `seed` are short for entries of `training`. Without `out`, a new directory under `runs`.
    `checkpoints` says how often the training is saved: `interval` in seconds, `keep`, `final`. With `resume` a run of
    the same configuration that lies in `out` goes on, if need be with more steps.
    `track` names trackers that are told of every test besides (tensorboard, wandb, mlflow, trackio); `live` keeps a
    report page in the run's directory up to date meanwhile.
    """
    plan = plan_of(training, seeds, steps, seed)
    config = resolve(algorithm_name, environment_name, algorithm, environment, plan)
    if resume and out is None:
        raise Refused("out must be given with resume: it is the run to go on with")
    place = place_for(out, name_of(config))
    listeners, saving = _listeners(progress, track, live), build(Saving, checkpoints or {}, "checkpoints")
    if resume and RunDirectory(place).has_begun:
        return Run(resume_in_place(RunDirectory(place), config, listeners, saving).path)
    return Run(run_config(config, place, listeners, saving).path)


def resume(
    path: Place,
    /,
    *,
    steps: int | None = None,
    progress: bool = True,
    track: Sequence[str] = (),
    live: bool = False,
    checkpoints: dict[str, Any] | None = None,
    environment: str | None = None,
    algorithm: str | None = None,
    log_messages: Place | None = None,
) -> Run:
    """Go on with a run where it was saved, and end as if it had never been interrupted.

    With more `steps` a finished run goes on too: its schedules, such as that of epsilon, stay as they are. Where the
    environment or the algorithm is code of yours, name it again; where messages of an arena are logged, `log_messages`.
    """
    take_names(environment, algorithm)
    listeners, saving = _listeners(progress, track, live), build(Saving, checkpoints or {}, "checkpoints")
    directory, messages = Run(path).directory, None if log_messages is None else Path(log_messages)
    if "arena" not in directory.read_json("config.json"):
        if messages is not None:
            raise Refused(f"log-messages must be left out but for a run of an arena, got {messages}")
        return Run(resume_run(directory, listeners, saving, steps).path)
    if steps is not None:
        raise Refused(f"steps must be left out: an arena goes on to the steps that it was to take, got {steps}")
    return Run(resume_arena(directory, messages, listeners, saving).path)


def _listeners(progress: bool, track: Sequence[str], live: bool) -> list[Listener]:
    return [*listeners_of(progress, track), *([Live()] if live else [])]


def name_of(config: Config) -> str:
    """What a run's directory is called."""
    return f"{config.algorithm_name.replace(' ', '-')}-{config.environment_name}"


def load(path: Place) -> Run:
    """A run that was trained earlier."""
    return Run(path)
