"""`decentral audit`: the evidence that the agents of a run learned and acted on their own data alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from decentral.api import audit
from decentral.api.audit import AgentAudit, AgentMessageAudit, Audited, Play
from decentral.cli.parser import parser_for, whole
from decentral.cli.plain_flags import add_naming, naming
from decentral.screen import Screen
from decentral.terminal import complain


def audit_command(words: list[str]) -> None:
    """Train the agents of a run again, each from its own log; exit code 1 where that is no evidence."""
    parser = parser_for("audit")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a finished run")
    parser.add_argument("--seed", metavar="S", help="of the run (default: its first)")
    parser.add_argument("--agent", metavar="NAME", help="its name or number, counted from 0 (default: all that learn)")
    parser.add_argument("--messages", metavar="DIR", type=Path, help="of a run of an arena: the DIR of --log-messages")
    add_naming(parser)
    args = parser.parse_all(words)
    audit(
        args.run,
        seed=None if args.seed is None else whole("seed", args.seed),
        agent=args.agent,
        messages=args.messages,
        listener=ShownAudit(args.run),
        **naming(args),
    )
    if args.messages is None:
        learned = "each agent learned from and acted on its own percepts, actions, chance and rewards alone"
        say(f"identical: {learned}")


class ShownAudit:
    """Prints the findings of each agent, and fails at the first one that is no evidence."""

    def __init__(self, run: Path):
        self.run = run
        self.audited: Audited

    def started(self, audited: Sequence[Audited]) -> None:
        self.audited = audited[0]
        say(_statement(audited))
        if not audited[0].strictness.decentralised:
            _fail(f"{self.run} is not decentralised: there is nothing to audit")

    def repeating(self) -> None:
        say("training the team again to log what each agent experienced, then each agent alone from its own log")

    def begun(self, audited: Audited) -> None:
        say(f"{audited.name}: training it again from the messages of its log alone")

    def found(self, audit: AgentAudit | AgentMessageAudit) -> None:
        if isinstance(audit, AgentMessageAudit):
            _print_messages(audit)
        else:
            _print(audit)
            _judge(audit, self.run, self.audited)


def say(line: str) -> None:
    """Show a line of any length."""
    Screen().say(line)


def _judge(audit: AgentAudit, run: Path, audited: Audited) -> None:
    """Fail with the first thing that is no evidence."""
    if not audit.repeats:
        _fail(f"{run} does not repeat here bit for bit (versions.json says where it was trained): no evidence")
    if not audit.learned_alone:
        what = "another state" if audit.alone == audit.stored else "other parameters"
        _fail(f"{audit.name} alone comes to {what}: it learned from more than its own log")
    if audit.training is None:
        kept = audited.config.setup.plan.replay_type
        _fail(f"training.replay_type must be float32 for play to be audited, got {kept}, which rounds percepts")
    for play in (audit.training, audit.testing):
        if not play.agrees:
            first = f"first in seed {audited.seed}, {play.first}"
            said = f"{audit.name} alone chooses other actions, {first}"
            _fail(f"{said}: it acted on more than its own percepts and chance")


def _print_messages(audit: AgentMessageAudit) -> None:
    counts = ", ".join(f"{count:,} {kind}" for kind, count in audit.messages.items())
    say(f"messages: {counts}; {audit.size:,} bytes in all")
    say("learning: SHA-256 of the agent's parameters")
    say(f"as the run left them      {audit.stored}")
    say(f"from its messages alone   {audit.alone}")
    say(f"play: {audit.other_actions:,} of its actions differ from those that it chooses alone")
    if not audit.agrees:
        _fail(f"{audit.name} reaches other actions or parameters: the log does not hold all that it received")
    say("identical: the agent learned from nothing but these messages, and acted on nothing else")


def _statement(audited: Sequence[Audited]) -> str:
    """Who is audited, and what the agents of the run declare not to share."""
    config, declared = audited[0].config, audited[0].strictness
    owned = {"networks": declared.own_networks, "replays": declared.own_replays}
    owned["optimisers"] = declared.own_optimisers
    said = ", ".join(f"own {what} {'yes' if is_own else 'no'}" for what, is_own in owned.items())
    algorithms = ", ".join(dict.fromkeys(config.members[one.agent].name for one in audited))
    which = f"{', '.join(one.name for one in audited)}: {len(audited)} of {len(config.members)} agents"
    where = f"{algorithms} on {config.environment_name}, seed {audited[0].seed}"
    return f"{which}, {where}\nstrictness, as declared: {said}"


def _print(audit: AgentAudit) -> None:
    say(f"{audit.name}, learning: {audit.turns:,} turns; SHA-256 of its parameters")
    say(f"as the run left them      {audit.stored}")
    say(f"in the team, once more    {audit.in_team}")
    say(f"alone with its own log    {audit.alone}")
    if not audit.learned_alone:
        say(f"{audit.name}, play: not checked, since its parameters differ")
        return
    say(f"{audit.name}, play in training: {_play(audit.training)}")
    say(f"{audit.name}, play in tests: {_play(audit.testing)}")


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
