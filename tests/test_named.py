"""Every name of code that pages, docstrings and comments mention is the name of something that exists."""

import ast
import builtins
import keyword
import re

import pytest

import decentral
from decentral.cli.commands import COMMANDS
from tests.inventory import GROUPS, ROOT, SOURCES, beside_the_package, extras, files, flags, inventory, make_targets
from tests.pages import BLOCK, SAVED, blocks

PAGES = [*(ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING")), *(ROOT / "docs").rglob("*.md")]
SPAN = re.compile(r"(?<![`\w])`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
WORD = re.compile(r"--[a-z][\w.-]*|[\w.*<>-]*/[\w.*/<>-]*|\w+(?:[.-]\w+)*")
FILE = re.compile(r"\.(py|md|json|jsonl|toml|csv|html|png|svg|gif|safetensors|onnx|npz|ipynb|sh|log|js)$")
# To be replaced by the reader.
LATER = {*"NXSEI", "ID", "NAME", "SETTING", "TARGET", "DIR", "RUN", "SEED", "AGENT", "MODULE", "CLASS", "Class"}
PYTHON = {*dir(builtins), *keyword.kwlist}
# What others have named: Python, NumPy, JAX and XLA; PettingZoo, JaxMARL, SMAC and the game; trackers; the shell.
FOREIGN = {
    *("ddof", "os", "sys", "time", "pickle", "yaml", "null", "allow_pickle", "pip", "pytest", "https", "numpy.py"),
    *(
        "jax",
        "vmap",
        "switch",
        "optax",
        "JAX_PLATFORMS",
        "JAX_COMPILATION_CACHE_DIR",
        "JAX_DEFAULT_MATMUL_PRECISION",
        "BF16_BF16_F32",
        "--xla_gpu_enable_command_buffer",
        "xla_gpu_enable_llvm_module_compilation_parallelism",
        "WHILE",
    ),
    *(
        "parallel_api_test",
        "parallel_seed_test",
        "jaxnav",
        "storm",
        "storm_2p",
        "storm_np",
        "SMAC_Maps",
        "StarCraft2Env",
    ),
    *("MPE_simple_spread_v3", "MPE_simple_facmac_v1", "MPE_simple_speaker_listener_v4", "MPE_simple_world_comm_v3"),
    *("Colossus", "ThermalLances", "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "PYTHONDONTWRITEBYTECODE"),
    *("--backend-store-uri", "--logdir", "sqlite", "TRACKIO_DIR", "wandb/", "Text", "markup"),
    *("nohup", "ulimit", "SBATCH_PARTITION", "SBATCH_TIMELIMIT", "venv", "github", "python3.13"),
}
# Names that the program puts together, one of many.
COMPOSED = {
    *("observation_0", "available_0", "test_success", "success_rate", "success"),
    *("loss/agent-0", "loss/agent-1", "5m_vs_6m-hysteretic-weights", "5m_vs_6m-iql-shared", "seed-0-episode-0.html"),
    *("--group.field", "--field", "dist/docs", "dirty", "package.module", "weight.T", "venv-3.13"),
    "decentral.__version__",
}
KNOWN = PYTHON | FOREIGN | COMPOSED
pytestmark = pytest.mark.xdist_group("names")  # the sources are read once


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES])
def test_a_page_names_what_exists(page):
    assert list(wrong_names(page.read_text(), page)) == []


@pytest.mark.parametrize("page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES])
def test_what_a_page_imports_can_be_imported(page):
    for block in blocks(page, "python"):
        for line in ast.walk(ast.parse(block)):
            if isinstance(line, ast.ImportFrom) and line.module and line.module.split(".")[0] == "decentral":
                exec(compile(ast.Module([line], []), str(page), "exec"), {})


def test_no_two_classes_have_the_same_name():
    defined = re.findall(r"^class (\w+)", "\n".join(file.read_text() for file in SOURCES.rglob("*.py")), re.MULTILINE)
    assert {name for name in defined if [other.lower() for other in defined].count(name.lower()) > 1} == set()


def test_docstrings_and_comments_name_what_exists():
    assert [(file, *wrong) for file, said in inventory().prose for wrong in wrong_names(said)] == []


@pytest.mark.parametrize(
    "wrong",
    [
        "`dynamics.no_such_windows`",
        "`ContextModel.no_such_method`",
        "`decentral.no_such_function(...)`",
        "`no_such_function`",
        "`NoSuchClass`",
        "`NO_SUCH_TABLE`",
        "`training.no_such_setting`",
        "`--training.no_such_setting`",
        "`decentral train dac 3m --no-such-flag 3`",
        "`decentral no-such-command`",
        "`make no-such-target`",
        "`training/no_such_module.py`",
        "`no_such_results.json`",
        "`test_that_there_is_no_such_test`",
        "`hidden = 3, no_such_setting = 4`",
    ],
)
def test_a_name_of_nothing_is_found(wrong):
    right = "`dynamics`, `DAC.phi`, `--training.steps`, `decentral train dac 3m --seeds 5`, `make test`, `vmap(f)`"
    assert list(wrong_names(right)) == []
    assert len(list(wrong_names(f"{right} and {wrong}"))) == 1


def test_links_lead_to_pages_and_headings_that_exist():
    broken = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", BLOCK.sub("", page.read_text())):
            place, _, heading = target.partition("#")
            linked = page.parent / place if place else page
            if not target.startswith("http") and not (linked.exists() and (not heading or heading in anchors(linked))):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def anchors(page):
    titles = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


def wrong_names(text, page=None):
    """The spans of code in which a name is that of nothing, with the name; pages know what their blocks define."""
    shown = {name for block in BLOCK.finditer(text) for name in re.findall(r"\w+", block["content"])} if page else set()
    saved = {file for before in BLOCK.split(text) for file in SAVED.findall(before)} if page else set()
    for span in SPAN.findall(BLOCK.sub("", text)):
        span = " ".join(span.split())
        for name in names_in(span):
            first, *rest = re.findall(r"\w+", name)
            of_the_page = first in shown and all(part in shown or part in inventory().members for part in rest)
            known = name in KNOWN or name in saved or not LATER.isdisjoint(re.split(r"[\W_]", name))
            if not known and not of_the_page and not exists(name, page):
                yield span, name


def names_in(span):
    """Flags, paths, dotted names and names; of a command or of words in a row only what can be nothing else."""
    if asked := re.match(r"(decentral|make) ([a-z][\w-]*)", span):
        yield asked[0]
    for word in WORD.findall(re.sub(r"\"[^\"]*\"|'[^']*'", "", span)):
        word = word.rstrip(".-")
        like_code = re.search(r"_|[./]|--|[a-z][A-Z]", word)
        if re.search(r"[a-zA-Z]{2}", word) and (like_code or " " not in span):
            yield word


def exists(name, page):
    """Whether anything has a name, by what kind of name it is."""
    if " " in name:
        program, command = name.split()
        return command in (COMMANDS if program == "decentral" else make_targets())
    if name.startswith("--"):
        return flag_exists(name[2:].replace("-", "_"))
    if "/" in name:
        return path_exists(name, page)
    if FILE.search(name):
        return name in files()
    named = inventory().everything, beside_the_package(), extras(), files()
    return any(name in names for names in named) or ("." in name and dotted_exists(name))


def flag_exists(flag):
    known, (group, _, key) = inventory(), flag.partition(".")
    if group in GROUPS and key:
        return key.split(".")[-1] in known.settings_of(group)
    return flag in flags() or any(flag in known.settings_of(group) for group in GROUPS)


def path_exists(name, page):
    """In the repository; or, where it begins with no folder of it, as a file that the program knows."""
    if re.search(r"[*<>]|^runs/|^/", name):
        return True
    name = name.rstrip("/")
    places = (ROOT, ROOT / "src", SOURCES, SOURCES / "environments", ROOT / "docs", *([page.parent] if page else []))
    if any((place / f"{name}{end}").exists() for place in places for end in ("", ".py")):
        return True
    return not any((place / name.split("/")[0]).exists() for place in places) and name.split("/")[-1] in files()


def dotted_exists(name):
    """A setting of a group, a member of a module or a class, or of an object that is named like its class."""
    first, *rest = parts = name.removeprefix("decentral.").split(".")
    known = inventory()
    if first in FOREIGN or (first in GROUPS and rest and rest[-1] in known.settings_of(first)):
        return True
    if not rest:
        return first in {*decentral.__all__, *known.modules}
    if first in known.classes:
        return rest[0] in known.classes[first]
    if "".join(part.capitalize() for part in first.split("_")) in known.classes and rest[0] in known.members:
        return True
    in_modules = [left for length in range(1, len(parts)) for left in found_in_modules(parts, length)]
    if any(len(left) < 2 or left[1] in known.classes.get(left[0], ()) for left in in_modules):
        return True
    is_module = any(module.split("/")[-1] == first for module in known.modules)
    return not is_module and first in known.everything and rest[-1] in known.members


def found_in_modules(parts, length):
    """What is left of a dotted name when its first parts name a module in which the next one is defined."""
    ending = "/" + "/".join(parts[:length])
    for module, names in inventory().modules.items():
        if f"/{module}".endswith(ending) and parts[length] in names:
            yield parts[length:]
