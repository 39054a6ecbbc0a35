"""What exists under which name: read from the sources without running them, to hold documentation against."""

import ast
import re
import tomllib
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "decentral"
# Whose settings a group's are: the prefix of a flag, or of a key in a file, and where the fields are defined.
GROUPS = {
    "training": ["training/plan.py"],
    "algorithm": ["algorithms", "centralised", "training/squads/separate.py"],
    "agents": ["algorithms", "centralised", "training/squads/separate.py", "agents"],
    "environment": ["environments"],
    "arena": ["arenas"],
    "checkpoints": ["runs/checkpointing/schedule.py"],
    "search": ["sweeps/search_space.py"],
    "sweep": ["sweeps/search_space.py", "sweeps/units.py"],
}
KEPT = ("src", "docs", "tests", "results", "benchmarks", "website", "examples")
BUILT = {"dist"}  # by make
COMMENT = re.compile(r"(?:^|\s)# (.*`.*)$", re.MULTILINE)
BESIDE = re.compile(r"(?:(?:def|class) |\"(?=[A-Z]+_))(\w+)")


@dataclass
class Inventory:
    """Names by where they are defined."""

    modules: dict[str, set[str]] = field(default_factory=dict)  # by path without .py: functions, classes, constants
    arguments: set[str] = field(default_factory=set)  # of functions, and functions within functions
    classes: dict[str, set[str]] = field(default_factory=dict)  # by name: fields and methods, inherited ones too
    settings: dict[str, set[str]] = field(default_factory=dict)  # by path without .py
    texts: set[str] = field(default_factory=set)  # what strings of the code say, such as names of metrics and files
    prose: list[tuple[str, str]] = field(default_factory=list)  # docstrings and comments: in which file, what is said

    @cached_property
    def everything(self) -> set[str]:
        """All names, of modules too, and all texts."""
        parts = {part for module in self.modules for part in module.split("/")}
        return set.union(parts, self.texts, self.arguments, *self.modules.values(), *self.classes.values())

    @cached_property
    def members(self) -> set[str]:
        """Fields and methods of any class."""
        return set().union(*self.classes.values())

    def settings_of(self, group: str) -> set[str]:
        places = tuple(place.removesuffix(".py") for place in GROUPS[group])
        return set().union(*(names for module, names in self.settings.items() if module.startswith(places)))


@cache
def inventory() -> Inventory:
    found, bases = Inventory(), {}
    for file in sorted(SOURCES.rglob("*.py")):
        _read(file, found, bases)
    for name in bases:
        found.classes[name] |= set().union(*(found.classes.get(base, set()) for base in _ancestors(name, bases)))
    for module in list(found.modules):
        package, _, name = module.rpartition("/")
        found.modules.setdefault(package, set()).add(name)
    return found


def _read(file: Path, found: Inventory, bases: dict[str, set[str]]) -> None:
    """Note all names of a file, in one walk: most of the time that it takes to check documentation is spent here."""
    text, module = file.read_text(), file.relative_to(SOURCES).with_suffix("").as_posix().removesuffix("/__init__")
    found.prose += [(f"{module}.py", comment) for comment in COMMENT.findall(text)]
    names, settings = found.modules.setdefault(module, set()), found.settings.setdefault(module, set())
    left: list[tuple[ast.AST, set[str], set[str]]] = [(ast.parse(text), names, names)]
    while left:
        node, holder, owner = left.pop()  # with the names of what it stands in, and those of the class around it
        match node:
            case ast.Expr(value=ast.Constant(value=str(said))):
                found.prose.append((f"{module}.py", said))
                continue
            case ast.Constant(value=str(said)):
                found.texts.add(said)
            case ast.ClassDef(name=name):
                holder.add(name)
                holder = owner = found.classes.setdefault(name, set())
                above = (ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases)
                bases.setdefault(name, set()).update(above)
            case ast.FunctionDef(name=name):
                holder.add(name)
                holder = found.arguments
            case ast.arg(arg=name):
                found.arguments.add(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                owner.add(name)
            case ast.Name(id=name, ctx=ast.Store()) if holder is not found.arguments:
                holder.add(name)
            case ast.alias(name=name, asname=other) if file.name == "__init__.py":
                holder.add(other or name.split(".")[-1])
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call(func=ast.Name(id="setting"))):
                settings.add(name)
        left += [(child, holder, owner) for child in ast.iter_child_nodes(node)]


def _ancestors(name: str, bases: dict[str, set[str]]) -> set[str]:
    above = bases.get(name, set()) - {name}
    return above.union(*(_ancestors(base, bases) for base in above))


@cache
def flags() -> set[str]:
    """The flags that are no settings, with underscores."""
    found = {flag for text in inventory().texts for flag in re.findall(r"--([a-z][\w-]*)", text)}
    return {flag.replace("-", "_") for flag in found}


@cache
def make_targets() -> set[str]:
    return set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@cache
def extras() -> set[str]:
    """What may be installed besides: `pip install 'decentral[NAME]'`."""
    return set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])


@cache
def beside_the_package() -> set[str]:
    """Names of tests and of what else lies beside the package, and of variables that steer them."""
    places = (file for place in ("tests", "benchmarks", "website") for file in (ROOT / place).rglob("*.py"))
    return {name for file in places for name in BESIDE.findall(file.read_text())}


@cache
def files() -> set[str]:
    """Names of files and folders: of the repository, and of those that the program writes or reads."""
    beside = {file.name for file in ROOT.iterdir() if file.is_file()}  # and no folder: any may lie there by chance
    kept = {file.name for place in KEPT for file in (ROOT / place).rglob("*")} | set(KEPT) | beside
    return kept | BUILT | {text.split("/")[-1] for text in inventory().texts}
