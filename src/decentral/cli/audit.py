"""`decentral audit`: the evidence that an agent of a run learned from its own data alone."""

from pathlib import Path

from decentral.api import load
from decentral.arenas.audit import audit_messages
from decentral.cli.naming import add_naming, take_name
from decentral.cli.numbers import whole
from decentral.cli.parser import parser_for
from decentral.experiments.audit import Audit, Audited
from decentral.experiments.progress import announce
from decentral.terminal import complain


def audit_command(words: list[str]) -> None:
    """Say what a run's agents share, and train one again from its own log; exit code 1 where that is no evidence."""
    parser = parser_for("audit")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a finished run")
    parser.add_argument("--seed", metavar="S", help="of the run (default: its first)")
    parser.add_argument("--agent", metavar="I", default="0", help="counted from 0 (default: 0)")
    parser.add_argument("--messages", metavar="DIR", type=Path, help="of a run of an arena: the DIR of --log-messages")
    add_naming(parser)
    found = parser.parse_all(words)
    take_name(found)
    seed = None if found.seed is None else whole("seed", found.seed)
    audited = Audited.of(load(found.run).directory, seed, whole("agent", found.agent))
    announce(_statement(audited))
    if not audited.strictness.decentralised:
        _fail(f"{found.run} is not decentralised: there is nothing to audit")
    if found.messages is not None:
        _audit_messages(audited, found.messages)
        return
    announce("training the team again to write down what the agent lived through, then the agent alone with its log")
    audit = audited.audit()
    _print(audit)
    if not audit.repeats:
        _fail(f"{found.run} does not repeat here to the bit (versions.json says where it was trained): no evidence")
    if not audit.agrees:
        _fail(f"agent {audited.agent} alone comes to other parameters: it learned from more than its own log")
    announce("identical: the agent learned from nothing but its own percepts, actions and the shared reward")


def _audit_messages(audited: Audited, messages: Path) -> None:
    announce("training the agent again from the messages of its log alone")
    audit = audit_messages(audited, messages)
    counts = ", ".join(f"{count:,} {kind}" for kind, count in audit.messages.items())
    announce(f"messages: {counts}; {audit.size:,} bytes in all; {audit.other_actions:,} actions differ")
    announce("SHA-256 of the agent's parameters")
    announce(f"as the run left them      {audit.stored}")
    announce(f"from its messages alone   {audit.alone}")
    if not audit.agrees:
        _fail(f"agent {audited.agent} comes to other actions or parameters: this is not all that it was told")
    announce("identical: the agent learned from nothing but these messages")


def _statement(audited: Audited) -> str:
    """Who is audited, and what the agents of the run have to themselves."""
    owned = {"networks": audited.strictness.own_networks, "replays": audited.strictness.own_replays}
    owned["optimisers"] = audited.strictness.own_optimisers
    said = ", ".join(f"own {what} {'yes' if own else 'no'}" for what, own in owned.items())
    config = audited.config
    who = f"{config.members[audited.agent].name} on {config.environment_name}, seed {audited.seed}"
    return f"agent {audited.agent} of {len(config.members)}, {who}\nstrictness: {said}"


def _print(audit: Audit) -> None:
    announce(f"{audit.turns:,} turns; SHA-256 of the agent's parameters")
    announce(f"as the run left them      {audit.stored}")
    announce(f"in the team, once more    {audit.lived_again}")
    announce(f"alone with its own log    {audit.alone}")


def _fail(reason: str) -> None:
    complain(f"decentral audit: {reason}")
    raise SystemExit(1)
