"""Go on with a run where it was saved."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from decentral.api.arguments import listeners_of, open_run
from decentral.api.callbacks import Callback, CallbackListener
from decentral.api.live_report import Live
from decentral.api.places import PathLike
from decentral.api.train import Run
from decentral.arenas.run import resume_arena
from decentral.runs.checkpointing.schedule import Saving
from decentral.runs.resume import resume_run
from decentral.settings import Refused, build


def resume(
    path: PathLike,
    /,
    *,
    steps: int | None = None,
    progress: bool = True,
    track: Sequence[str] = (),
    live: bool = False,
    checkpoints: dict[str, Any] | None = None,
    environment: str | None = None,
    algorithm: str | None = None,
    log_messages: PathLike | None = None,
    callbacks: Sequence[Callback] = (),
) -> Run:
    """Go on with a run where it was saved, and end as if it had never been interrupted.

    With more `steps` a finished run goes on too: its schedules, such as that of epsilon, stay as they are. Where the
    environment or the algorithm is code of yours, name it again; where messages of an arena are logged, `log_messages`.
    """
    opened = open_run(path, environment, algorithm)
    listeners = [*listeners_of(progress, track), *([Live()] if live else []), CallbackListener(callbacks, Run)]
    saving = build(Saving, checkpoints or {}, "checkpoints")
    directory, messages = opened, None if log_messages is None else Path(log_messages)
    if "arena" not in directory.read_json("config.json"):
        if messages is not None:
            raise Refused(f"log-messages must be left out unless RUN is a run of an arena, got {messages}")
        return Run(resume_run(directory, listeners, saving, steps).path)
    if steps is not None:
        raise Refused(f"steps must be left out for a run of an arena, which resumes to its planned steps, got {steps}")
    if callbacks:
        raise Refused(f"callbacks must be left out for a run of an arena, got {len(callbacks)}")
    return Run(resume_arena(directory, messages, listeners, saving).path)
