"""`decentral audit`: the evidence that the agents of a run learned and acted on their own data alone."""

from pathlib import Path
from typing import NoReturn

from decentral.api import load
from decentral.arenas.audit import audit_messages
from decentral.cli.naming import add_naming, take_name
from decentral.cli.numbers import whole
from decentral.cli.parser import parser_for
from decentral.runs.listeners.progress import announce
from decentral.terminal import complain
from decentral.verification.audit.audit import AgentAudit, Audited, audit_all
from decentral.verification.audit.play import Play


def audit_command(words: list[str]) -> None:
    """Train the agents of a run again, each from its own log; exit code 1 where that is no evidence."""
    parser = parser_for("audit")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a finished run")
    parser.add_argument("--seed", metavar="S", help="of the run (default: its first)")
    parser.add_argument("--agent", metavar="I", help="counted from 0 (default: all that learn)")
    parser.add_argument("--messages", metavar="DIR", type=Path, help="of a run of an arena: the DIR of --log-messages")
    add_naming(parser)
    found = parser.parse_all(words)
    take_name(found)
    seed = None if found.seed is None else whole("seed", found.seed)
    agent = None if found.agent is None else whole("agent", found.agent)
    audited = Audited.all_of(load(found.run).directory, seed, agent)
    announce(_statement(audited[0], [own.agent for own in audited]))
    if not audited[0].strictness.decentralised:
        _fail(f"{found.run} is not decentralised: there is nothing to audit")
    if found.messages is not None:
        for own in audited:
            _audit_messages(own, found.messages)
        return
    announce("training the team again to write down what each agent lived through, then each alone with its own log")
    for audit in audit_all(audited):
        _print(audit)
        _judge(audit, found.run, audited[0])
    announce(
        "identical: each agent learned from and acted on its own percepts, actions, chance and the shared reward alone"
    )


def _judge(audit: AgentAudit, run: Path, audited: Audited) -> None:
    """Fail with the first thing that is no evidence."""
    if not audit.repeats:
        _fail(f"{run} does not repeat here bit for bit (versions.json says where it was trained): no evidence")
    if not audit.learned_alone:
        what = "state" if audit.alone == audit.stored else "parameters"
        _fail(f"agent {audit.agent} alone comes to another {what}: it learned from more than its own log")
    if audit.training is None:
        kept = audited.config.setup.plan.replay_type
        _fail(f"training.replay_type must be float32 for play to be audited, got {kept}, which rounds percepts")
    for play in (audit.training, audit.testing):
        if not play.agrees:
            first = f"first in seed {audited.seed}, {play.first}"
            said = f"agent {audit.agent} alone chooses other actions, {first}"
            _fail(f"{said}: it acted on more than its own percepts and chance")


def _audit_messages(audited: Audited, messages: Path) -> None:
    announce(f"agent {audited.agent}: training it again from the messages of its log alone")
    audit = audit_messages(audited, messages)
    counts = ", ".join(f"{count:,} {kind}" for kind, count in audit.messages.items())
    announce(f"messages: {counts}; {audit.size:,} bytes in all")
    announce("learning: SHA-256 of the agent's parameters")
    announce(f"as the run left them      {audit.stored}")
    announce(f"from its messages alone   {audit.alone}")
    announce(f"play: {audit.other_actions:,} of its actions differ from those that it chooses alone")
    if not audit.agrees:
        _fail(f"agent {audited.agent} comes to other actions or parameters: this is not all that it was told")
    announce("identical: the agent learned from nothing but these messages, and acted on nothing else")


def _statement(audited: Audited, agents: list[int]) -> str:
    """Who is audited, and what the agents of the run are said to have to themselves."""
    owned = {"networks": audited.strictness.own_networks, "replays": audited.strictness.own_replays}
    owned["optimisers"] = audited.strictness.own_optimisers
    said = ", ".join(f"own {what} {'yes' if own else 'no'}" for what, own in owned.items())
    config = audited.config
    names = ", ".join(dict.fromkeys(config.members[agent].name for agent in agents))
    which = f"agent{'s' * (len(agents) > 1)} {', '.join(map(str, agents))} of {len(config.members)}"
    return f"{which}, {names} on {config.environment_name}, seed {audited.seed}\nstrictness, as declared: {said}"


def _print(audit: AgentAudit) -> None:
    announce(f"agent {audit.agent}, learning: {audit.turns:,} turns; SHA-256 of its parameters")
    announce(f"as the run left them      {audit.stored}")
    announce(f"in the team, once more    {audit.lived_again}")
    announce(f"alone with its own log    {audit.alone}")
    if not audit.learned_alone:
        announce(f"agent {audit.agent}, play: not checked, for it would act with other parameters")
        return
    announce(f"agent {audit.agent}, play in training: {_play(audit.training)}")
    announce(f"agent {audit.agent}, play in tests: {_play(audit.testing)}")


def _play(play: Play | None) -> str:
    """What was found of an agent's actions, in words."""
    if play is None:
        return "not checked"
    same = play.actions - play.ties - play.others
    said = f"{same:,} of {play.actions:,} actions are those that it chooses alone"
    said += f", {play.ties:,} differ by rounding (ties)" if play.ties else ""
    said += f", {play.others:,} differ" if play.others else ""
    return said if play.first is None else f"{said}; first in {play.first}"


def _fail(reason: str) -> NoReturn:
    complain(f"decentral audit: {reason}")
    raise SystemExit(1)
