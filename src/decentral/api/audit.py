"""The evidence that the agents of a run learned and acted on their own data alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from decentral.api.arguments import check_whole, open_run
from decentral.api.places import PathLike
from decentral.arenas.audit import AgentMessageAudit, MessageAudit, audit_messages
from decentral.verification.audit.audit import AgentAudit, Audit, Audited, audit_all
from decentral.verification.audit.play import Play

__all__ = ["AgentAudit", "AgentMessageAudit", "Audit", "AuditListener", "Audited", "MessageAudit", "Play", "audit"]


class AuditListener(Protocol):
    """Is notified of the progress of an audit."""

    def started(self, audited: Sequence[Audited]) -> None: ...

    def repeating(self) -> None: ...

    def begun(self, audited: Audited) -> None: ...

    def found(self, audit: AgentAudit | AgentMessageAudit) -> None: ...


class SilentAudit:
    """A listener that prints nothing."""

    def started(self, audited: Sequence[Audited]) -> None:
        pass

    def repeating(self) -> None:
        pass

    def begun(self, audited: Audited) -> None:
        pass

    def found(self, audit: AgentAudit | AgentMessageAudit) -> None:
        pass


def audit(
    run: PathLike,
    /,
    *,
    seed: int | None = None,
    agent: int | str | None = None,
    messages: PathLike | None = None,
    environment: str | None = None,
    algorithm: str | None = None,
    listener: AuditListener | None = None,
) -> Audit | MessageAudit:
    """Train agents of a run again from their own logs alone, and compare their parameters and every action.

    All agents that learn, or the one with the name or number `agent`, of the run's first `seed`. Of a run of an arena,
    `messages` is the directory in which its messages were logged. Where the run's environment or algorithm is code of
    yours, name it again. What was found `agrees` or does not.
    """
    check_whole(seed=seed)
    audited = Audited.all_of(open_run(run, environment, algorithm), seed, agent)
    listener = listener or SilentAudit()
    listener.started(audited)
    if messages is None:
        return audit_logs(audited, listener)
    return audit_all_messages(audited, Path(messages), listener)


def audit_logs(audited: Sequence[Audited], listener: AuditListener) -> Audit:
    """Train the team again to write down what each agent perceived and did, then each agent alone with its own log."""
    for one in audited:
        one.check()
    listener.repeating()
    audits = []
    for result in audit_all(audited):
        listener.found(result)
        audits.append(result)
    return Audit(tuple(audits))


def audit_all_messages(audited: Sequence[Audited], messages: Path, listener: AuditListener) -> MessageAudit:
    """Train each agent of an arena again from the messages that were logged for it."""
    audits = []
    for one in audited:
        listener.begun(one)
        audits.append(audit_messages(one, messages))
        listener.found(audits[-1])
    return MessageAudit(tuple(audits))
