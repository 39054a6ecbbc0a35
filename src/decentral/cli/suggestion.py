"""What an unknown flag may have meant: one of another library, of another algorithm, or one that was misspelt."""

import difflib
from collections.abc import Iterable

from decentral.synonyms import SYNONYMS, meanings

MOST_OWNERS = 4  # algorithms that are named
DEVICE = " the device is chosen by the environment variable JAX_PLATFORMS (cpu or cuda)"
NAMES = " ALGORITHM and ENVIRONMENT are the first words, without a flag"
TEAM = " a team is named as ENVIRONMENT --agents A,B, without an ALGORITHM before it"
ELSEWHERE = {
    "env": NAMES,
    "algo": NAMES,
    "alg": NAMES,
    "wandb": " trackers are given as --track wandb",
    "device": DEVICE,
    "cuda": DEVICE,
    "use_cuda": DEVICE,
}


def suggestion(flag: str, known: Iterable[str]) -> str:
    """What an unknown flag may have meant, as part of a refusal; empty if nothing comes near.

    A setting may be named as in PyMARL, Stable-Baselines3 or CleanRL, or without its group where several have it.
    """
    if not flag.startswith("-"):
        return ""
    if groups := in_groups(flag, known):
        return f" say which: {' or '.join(groups)}"
    by_name: dict[str, str] = {}
    for other in sorted(known, key=len):
        by_name.setdefault(_own_name(other), other)
    name, own = _plain(flag), _own_name(flag)
    known_groups = {_plain(other).partition(".")[0] for other in known if "." in other}
    if name in ("rewards", "environment.rewards") and "environment" in known_groups:
        return " the agents of this environment share one reward"
    if name.partition(".")[0] == "agents" and "agents" not in map(_plain, known):
        return TEAM
    for key in (name, own):
        if key in ELSEWHERE:
            return ELSEWHERE[key]
    for meant in meanings(own):
        if meant in by_name:
            return f" did you mean {by_name[meant]}?"
    if own in SYNONYMS:
        return f" it is called {' or '.join(meanings(own))} here, and belongs to other algorithms or commands"
    without_group = {} if "." in name else {each: other for each, other in by_name.items() if "." not in other}
    return _owners(name, known_groups) or _nearest(own, without_group) or _nearest(own, by_name)


def in_groups(flag: str, known: Iterable[str]) -> list[str]:
    """The flags of the settings that are called so, where their group was left out."""
    if not flag.startswith("--") or "." in flag:
        return []
    plain = {_plain(other): other for other in known if _own_name(other) == _plain(flag) and "." in other}
    return sorted(plain.values())


def _owners(name: str, groups: set[str]) -> str:
    """Which algorithms or environments have this setting; without a group it may be of any that are known."""
    group, _, setting = name.rpartition(".")
    asked = {group.partition(".")[0]} if group else groups
    if not asked & {"algorithm", "agents", "environment"}:
        return ""
    from decentral.api.choices import algorithms_with, environments_with  # only where it is used: it takes long

    having = algorithms_with(setting) if asked & {"algorithm", "agents"} else []
    having += environments_with(setting) if "environment" in asked else []
    more = f" and {len(having) - MOST_OWNERS} more" if len(having) > MOST_OWNERS else ""
    return f" it is a setting of {', '.join(having[:MOST_OWNERS])}{more}" if having else ""


def _nearest(own: str, by_name: dict[str, str]) -> str:
    """The flag whose own name is nearest."""
    near = difflib.get_close_matches(own, list(by_name), n=1)
    return f" did you mean {by_name[near[0]]}?" if near else ""


def _own_name(flag: str) -> str:
    """A flag without its group."""
    return _plain(flag).rpartition(".")[2]


def _plain(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_").lower()
