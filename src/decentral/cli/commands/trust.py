"""`decentral trust`: code that runs may name, so that later commands find it again."""

from collections.abc import Sequence

from decentral.api import trust, trusted, untrust
from decentral.api.trust import Trusted
from decentral.cli.parser import parser_for
from decentral.errors import Refused
from decentral.screen import Screen


def trust_command(words: list[str]) -> None:
    """Trust code, list what is trusted, or remove it; and say which files that concerns."""
    parser = parser_for("trust")
    parser.add_argument(
        "target", metavar="TARGET", nargs="?", help="the directory of a run, or a name such as pettingzoo:yard:make_env"
    )
    parser.add_argument("--list", action="store_true", help="list all that is trusted")
    parser.add_argument("--remove", action="store_true", help="no longer trust TARGET, or the code in the file TARGET")
    args = parser.parse_all(words)
    if args.list:
        if args.target is not None or args.remove:
            raise Refused("list must stand alone")
        _print("", trusted())
        return
    if args.target is None:
        raise Refused("TARGET must be the directory of a run, or the name of code, got none")
    if args.remove:
        _print("no longer trusted: ", untrust(args.target))
    else:
        _print("trusted: ", trust(args.target))


def _print(before: str, found: Sequence[Trusted]) -> None:
    screen = Screen()
    for one in found:
        screen.say(f"{before}{one.name}")
        changed = one.changed
        for source in one.sources.values():
            said = "changed since" if source.path in changed else f"SHA-256 {source.sha256[:16]}"
            screen.say(f"  {source.path} ({said})")
    if not found:
        screen.say("nothing is trusted")
