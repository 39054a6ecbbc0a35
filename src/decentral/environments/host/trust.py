"""Code that the user trusts, by name: written down once, with the hashes of its files, in the user's configuration.

A file, such as that of a run, may then name that code. What it may not do is decide which code a name stands for.
"""

import json
import os
import shlex
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.environments.host.sources import SourceFile, file_of, is_installed, module_of, sources_of
from decentral.errors import Refused
from decentral.plain_files import read_json
from decentral.records.durable import replace_file

FORMAT, LARGEST_STORE = 1, 2**24
FILE = "trusted.json"


@dataclass(frozen=True)
class Trusted:
    """A name that files may use, and the files that it stands for, by module."""

    name: str  # such as pettingzoo:yard:make_env
    sources: dict[str, SourceFile]

    @property
    def path(self) -> str:
        """The file of the module that is named."""
        return self.sources[module_of(self.name) or ""].path

    @property
    def changed(self) -> list[str]:
        """The files that are no longer as they were."""
        return [source.path for source in self.sources.values() if not source.is_unchanged]

    @property
    def own(self) -> dict[str, SourceFile]:
        """Those that are not part of an installed package."""
        return {module: source for module, source in self.sources.items() if not is_installed(source.path)}


def trust_name(name: str) -> Trusted:
    """Write down that a name may be used by files, for the code that it stands for here and now. Nothing is run."""
    module = module_of(name)
    if module is None:
        raise Refused(f"NAME must be one of code, such as pettingzoo:module:factory, to be trusted, got {name!r:.120}")
    sources = sources_of(module)
    if module not in sources:
        raise Refused(f"{name:.120} must name a module that can be found here to be trusted: there is no {module:.80}")
    trusted = Trusted(name, sources)
    others = [other for other in read_trusted() if (other.name, other.path) != (name, trusted.path)]
    write_trusted([*others, trusted])
    return trusted


def find_trusted(what: str, name: str) -> Trusted:
    """What the user trusts by a name; refused if that is nothing, something else than here, or has changed since."""
    module = module_of(name)
    here = None if module is None else file_of(module)
    known = [trusted for trusted in read_trusted() if trusted.name == name]
    fitting = [trusted for trusted in known if here in (trusted.path, None)]
    if len(fitting) != 1:
        raise Refused(_untrusted(what, name, here, known))
    if changed := fitting[0].changed:
        again = f"look at it, then decentral trust {shlex.quote(name)}"
        raise Refused(f"{what} {name} has changed since you trusted it ({changed[0]}): {again}")
    return fitting[0]


def _untrusted(what: str, name: str, here: str | None, known: Sequence[Trusted]) -> str:
    short, quoted = f"{name:.120}", shlex.quote(f"{name:.120}")
    said = f"{what} {short} is code, and no file decides what is run: name it, --{what} {quoted}"
    if here is not None:
        said += f", or trust {here} once: decentral trust {quoted}"
    elsewhere = [trusted.path for trusted in known]
    return f"{said} (trusted is {', '.join(elsewhere)})" if elsewhere else said


def store_file() -> Path:
    """The file in the user's own configuration."""
    common = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    if not common.is_absolute():  # as the XDG specification says: one would lie wherever a command is called
        try:
            common = Path.home() / ".config"
        except RuntimeError:
            raise Refused("XDG_CONFIG_HOME or HOME must say where your configuration is, got neither") from None
    return common / "decentral" / FILE


def read_trusted() -> list[Trusted]:
    """All that the user trusts."""
    file = store_file()
    if not os.path.lexists(file):
        return []
    status = os.stat(file)
    if status.st_uid not in (os.geteuid(), 0) or status.st_mode & stat.S_IWOTH:
        raise Refused(f"{file} must be yours, and no other user may write it, to be believed")
    content = read_json(file, LARGEST_STORE, follow=True)
    try:
        if content["format"] != FORMAT:
            raise ValueError(content["format"])
        return [_from_data(entry) for entry in content["trusted"]]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Refused(f"{file} must hold what decentral trust wrote: mend or remove it") from None


def write_trusted(every: Sequence[Trusted]) -> None:
    """Replace the file, so that a crash leaves the old one or the new one."""
    file = Path(os.path.realpath(store_file()))
    content = {"format": FORMAT, "trusted": [_as_data(trusted) for trusted in every]}
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(file, (json.dumps(content, indent=1) + "\n").encode(), 0o600)
    except OSError as error:
        raise Refused(f"{file} must be a file that can be written ({error.strerror})") from None


def _as_data(trusted: Trusted) -> dict[str, Any]:
    files = {module: {"path": source.path, "sha256": source.sha256} for module, source in trusted.sources.items()}
    return {"name": trusted.name, "files": files}


def _from_data(data: dict[str, Any]) -> Trusted:
    sources = {module: SourceFile(str(file["path"]), str(file["sha256"])) for module, file in data["files"].items()}
    trusted = Trusted(str(data["name"]), sources)
    if not os.path.isabs(trusted.path):
        raise ValueError(trusted.path)
    return trusted
