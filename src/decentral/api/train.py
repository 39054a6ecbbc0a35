"""Train a run, or load one that was trained earlier, and look at it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from decentral.analysis.results import Curves, load_curves
from decentral.api.arguments import EnvironmentRequest, TeamRequest, file_settings_of, listeners_of, plan_of, resolved
from decentral.api.audit import SilentAudit, audit_all_messages, audit_logs
from decentral.api.callbacks import Callback, CallbackListener
from decentral.api.evaluate import evaluate
from decentral.api.live_report import Live
from decentral.api.metrics import MetricsTable
from decentral.api.places import PathLike, place_for
from decentral.api.plot import plot
from decentral.api.rollout import Rollout, rollout
from decentral.api.verify import verify
from decentral.arenas.audit import MessageAudit
from decentral.configs.config import Config
from decentral.notebook import Drawing, escaped, table_html
from decentral.plain_files import as_path
from decentral.records import RunDirectory
from decentral.runs.checkpointing.schedule import Saving
from decentral.runs.resume import resume_in_place
from decentral.runs.runner import run as run_config
from decentral.runs.trained import EPISODES
from decentral.settings import Refused, build
from decentral.verification.audit.audit import Audit, Audited


class Run:
    """A run on disk: its curves, its trained agents, its plot."""

    def __init__(self, path: PathLike):
        self.directory = RunDirectory.open(as_path("run", path))

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    def _repr_html_(self) -> str:
        """The last test of every seed; or, in a line, why there is none."""
        try:
            curves, finished, diverged = self.curves, self.directory.is_finished, self.diverged
        except Refused as refusal:
            return f"<div><b>{escaped(self.path)}</b>: {escaped(refusal)}</div>"
        reports = {name.replace("_", " "): values for name, values in curves.reports.items()}
        rows = [
            (seed, *(f"{values[lane, -1]:.2f}" for values in (curves.returns, *reports.values())))
            for lane, seed in enumerate(curves.seeds)
        ]
        planned = curves.config["training"].get("steps", 0)
        step = f"{curves.steps[-1]:,.0f}"
        state = f"finished after {step} steps" if finished else f"at step {step} of {planned:,}"
        lost = f", diverged: {', '.join(str(entry.get('seed')) for entry in diverged)}" if diverged else ""
        caption = f"{curves.algorithm} on {curves.environment}: {state}{lost}"
        return table_html(caption, ("seed", "return", *reports), rows, str(self.path))

    def __fspath__(self) -> str:
        """Verbs that take the directory of a run take the run itself too."""
        return str(self.path)

    @property
    def path(self) -> Path:
        return self.directory.path

    @property
    def config(self) -> dict[str, Any]:
        """The resolved configuration."""
        return self.directory.read_json("config.json")

    @property
    def metrics(self) -> MetricsTable:
        """Every record, one per test and seed: `metrics[-1]`; by name as arrays: `metrics["loss"]`."""
        return MetricsTable(self.directory.read_metrics())

    @property
    def curves(self) -> Curves:
        return load_curves(self.directory)

    @property
    def steps(self) -> np.ndarray:
        """The environment steps that every seed had reached at each test [tests]."""
        return self.curves.steps

    @property
    def returns(self) -> np.ndarray:
        """The mean return of every test, at these steps [seeds, tests]."""
        return self.curves.returns

    def evaluate(
        self,
        episodes: int = EPISODES,
        seed: int = 0,
        environment: EnvironmentRequest = None,
        algorithm: str | None = None,
    ) -> np.ndarray:
        """The returns of fresh greedy episodes of the trained teams [seeds, episodes].

        `environment`: other settings of it. Where it or the algorithm is code of yours, name it again: what a file
        names is never run.
        """
        return evaluate(self.path, episodes=episodes, seed=seed, environment=environment, algorithm=algorithm).returns

    def rollout(
        self,
        episodes: int = 8,
        seed: int | None = None,
        environment_seed: int = 0,
        environment: str | None = None,
        algorithm: str | None = None,
    ) -> Rollout:
        """Fresh greedy episodes of one seed's team as NumPy arrays: percepts, actions, rewards, values and more."""
        return rollout(
            self.path,
            episodes=episodes,
            seed=seed,
            environment_seed=environment_seed,
            environment=environment,
            algorithm=algorithm,
        )

    @property
    def diverged(self) -> list[dict[str, Any]]:
        """The seeds that diverged, by the end of the run: each with step, agent and tensor."""
        return self.directory.diverged

    def verify(self) -> list[str]:
        """What is not as it was written, a line each; nothing where all is well."""
        return verify(self.path).broken

    def audit(self, agent: int | str | None = None, seed: int | None = None) -> Audit:
        """Train agents again from their own logs alone, and compare their parameters and every action.

        All agents that learn, or the one with this name or number, of the first seed.
        """
        return audit_logs(Audited.all_of(self.directory, seed, agent), SilentAudit())

    def audit_messages(
        self, messages: PathLike, agent: int | str | None = None, seed: int | None = None
    ) -> MessageAudit:
        """The same of a run of an arena, from the directory in which its messages were logged."""
        return audit_all_messages(Audited.all_of(self.directory, seed, agent), Path(messages), SilentAudit())

    def plot(self, out: PathLike | None = None) -> Drawing:
        """Draw the learning curves, into the run's own directory unless told otherwise. Notebooks show the picture."""
        return Drawing(plot(self.path, out=self.path / "returns.png" if out is None else out))


def train(
    algorithm_name: TeamRequest | None = None,
    environment_name: str | None = None,
    /,
    *,
    config: PathLike | None = None,
    algorithm: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    devices: int | None = None,
    out: PathLike | None = None,
    progress: bool = True,
    track: Sequence[str] = (),
    live: bool = False,
    checkpoints: dict[str, Any] | None = None,
    resume: bool = False,
    callbacks: Sequence[Callback] = (),
) -> Run:
    """Train an algorithm on an environment. Unspecified settings come from the paper's table, then from defaults.

    Instead of one algorithm, a list with one entry per agent: a name, `frozen:RUN[:SEED[:AGENT]]` for a partner from
    an earlier run, or an object such as `{"name": "iql", "hidden": 32, "joins_at": 20000}`.

    `seeds`, `steps`, `seed`, `workers` and `devices` are short for entries of `training`. `config` is a TOML or JSON
    file of settings, which may also name algorithm and environment; arguments override it. Without `out`, a new
    directory under `runs`. `checkpoints` says how often the run is saved: `interval` in seconds, `keep`, `final`.
    `resume` continues a run of the same configuration in `out`, if need be with more steps. `track` names trackers that
    log every test too (tensorboard, wandb, mlflow, trackio); `live` keeps a report page in the run's directory up to
    date. `callbacks` are told of every test, every checkpoint and the end.
    """
    plan = plan_of(training, seeds=seeds, steps=steps, seed=seed, workers=workers, devices=devices)
    groups = {"algorithm": algorithm, "environment": environment, "training": plan}
    resolved_config = resolved(algorithm_name, environment_name, groups, file_settings_of(config, "train"))
    if resume and out is None:
        raise Refused("out must be given with resume: it is the run to resume")
    place = place_for(out, name_of(resolved_config))
    listeners = [*listeners_of(progress, track), *([Live()] if live else []), CallbackListener(callbacks, Run)]
    saving = build(Saving, checkpoints or {}, "checkpoints")
    if resume and RunDirectory(place).has_begun:
        return Run(resume_in_place(RunDirectory(place), resolved_config, listeners, saving).path)
    return Run(run_config(resolved_config, place, listeners, saving).path)


def name_of(config: Config) -> str:
    """What a run's directory is called."""
    return f"{config.algorithm_name.replace(' ', '-')}-{config.environment_name}"


def load(path: PathLike) -> Run:
    """A run that was trained earlier."""
    return Run(path)
