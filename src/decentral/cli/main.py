"""`decentral COMMAND ...`: one function per command. A request that can't be met is one line and exit code 2."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import jax
from rich.console import Console

from decentral.algorithms import ALGORITHMS
from decentral.analysis.plots import plot_curves
from decentral.api import crossplay, load, train
from decentral.centralised import CENTRALISED
from decentral.cli.compare import compare_command
from decentral.cli.flags import Parser, parser_for, whole_number
from decentral.cli.request import Request
from decentral.cli.tables import print_crossplay, print_evaluation, print_names, print_values
from decentral.environments import ENVIRONMENTS, PredatorPrey
from decentral.experiments.config import resolve
from decentral.experiments.presets import PENALTIES
from decentral.experiments.trained import Trained
from decentral.experiments.values import value_tables
from decentral.settings import Refused, build


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit."""
    words = sys.argv[1:] if arguments is None else arguments
    parser = parser_for("", "Fully decentralised cooperative multi-agent reinforcement learning.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for name, command in COMMANDS.items():
        commands.add_parser(name, help=(command.__doc__ or "").splitlines()[0], add_help=False)
    chosen, rest = parser.parse_known_args(words[:1]), words[1:]
    name = chosen[0].command
    try:
        COMMANDS[name](rest)
    except Refused as refusal:
        print(f"decentral {name}: {' '.join(str(refusal).split())}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:  # the reader of a pipe has gone
        sys.stderr.close()
        raise SystemExit(1) from None
    except (OSError, jax.errors.JaxRuntimeError) as failure:  # a full disk, too little memory
        print(f"decentral {name}: failed: {str(failure).strip().splitlines()[0]}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        print(f"decentral {name}: interrupted; what was written so far stays", file=sys.stderr)
        raise SystemExit(130) from None


def train_command(words: list[str]) -> None:
    """Train an algorithm, or a team of several, on an environment."""
    request = Request.of("train", train_command.__doc__, words)
    parser = request.parser
    parser.add_argument("--out", metavar="DIR", help="where the run goes (default: a new directory under runs)")
    parser.add_argument("--tensorboard", action="store_true", help="write TensorBoard event files too")
    found = request.read()
    if found.out == "":
        raise Refused("out must be a directory, got ''")
    train(
        request.team(found),
        request.environment,
        algorithm=request.given(found, "algorithm"),
        environment=request.given(found, "environment"),
        training=request.given(found, "training"),
        out=found.out,
        tensorboard=found.tensorboard,
    )


def show_command(words: list[str]) -> None:
    """Print the resolved configuration of an algorithm or a team on an environment, as JSON."""
    request = Request.of("show", show_command.__doc__, words)
    found = request.read()
    groups = (request.given(found, group) for group in ("algorithm", "environment", "training"))
    print(json.dumps(resolve(request.team(found), request.environment, *groups).as_data(), indent=2))


def list_command(words: list[str]) -> None:
    """List the algorithms and environments."""
    parser_for("list", list_command.__doc__).parse_all(words)
    console = Console()
    print_names(console, "algorithms, fully decentralised", ALGORITHMS)
    print_names(console, "references, not decentralised (they train on all agents' data)", CENTRALISED)
    print_names(console, "environments", ENVIRONMENTS)


def evaluate_command(words: list[str]) -> None:
    """Play fresh greedy episodes with the trained agents of a run."""
    parser = parser_for("evaluate", evaluate_command.__doc__)
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a finished run")
    parser.add_argument("--episodes", default="32", metavar="N", help="episodes per seed (default: 32)")
    parser.add_argument("--seed", default="0", metavar="N", help="seed of the worlds they meet (default: 0)")
    found = parser.parse_all(words)
    run = load(found.run)
    trained = Trained.load(run.directory)
    returns = trained.evaluate(_whole("episodes", found.episodes), _whole("seed", found.seed))
    print_evaluation(Console(), trained.seeds, returns, run.curves.references)


def plot_command(words: list[str]) -> None:
    """Plot the learning curves of one or several runs: mean and spread over seeds."""
    parser = parser_for("plot", plot_command.__doc__)
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="directories of runs")
    parser.add_argument(
        "--out", metavar="FILE", type=Path, default=Path("returns.png"), help="PNG, SVG or PDF (default: returns.png)"
    )
    found = parser.parse_all(words)
    plot_curves([load(run).curves for run in found.runs], found.out)
    print(f"written to {found.out}")


def crossplay_command(words: list[str]) -> None:
    """Let agents of different runs and seeds play together, and show the matrix of returns."""
    parser = parser_for("crossplay", crossplay_command.__doc__)
    parser.add_argument("runs", metavar="RUN", nargs="+", help="directories of finished runs on one environment")
    parser.add_argument("--episodes", default="32", metavar="N", help="episodes per pair of teams (default: 32)")
    parser.add_argument("--seed", default="0", metavar="N", help="seed of the worlds they meet (default: 0)")
    parser.add_argument(
        "--out", metavar="DIR", help="where crossplay.json and crossplay.png go (default: new, under runs)"
    )
    found = parser.parse_all(words)
    if found.out == "":
        raise Refused("out must be a directory, got ''")
    episodes, seed = _whole("episodes", found.episodes), _whole("seed", found.seed)
    met = crossplay(found.runs, episodes=episodes, seed=seed, out=found.out)
    console = Console()
    print_crossplay(console, met.labels, met.result)
    console.print(f"written to {met.data} and {met.plot.name}", highlight=False, soft_wrap=True)


def values_command(words: list[str]) -> None:
    """Print what the agents of a matrix game have learned: Q(s,a,c) and phi, as in the paper's Table 1."""
    parser = parser_for("values", values_command.__doc__)
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a finished run on matrix-game")
    parser.add_argument("--seed", metavar="N", help="one seed only (default: all)")
    found = parser.parse_all(words)
    trained = Trained.load(load(found.run).directory)
    wanted = trained.seeds if found.seed is None else [_whole("seed", found.seed)]
    if not set(wanted) <= set(trained.seeds):
        raise Refused(f"seed must be one of {', '.join(map(str, trained.seeds))}, got {found.seed}")
    tables = [table for table in value_tables(trained) if table.seed in wanted]
    console = Console()
    for table in tables:
        print_values(console, table)
    if any(table.by_context is not None for table in tables):
        console.print("(in brackets, struck out: the context never occurs after the action)", highlight=False)


def oracle_command(words: list[str]) -> None:
    """Print the exact returns of predator-prey: the best joint policy's and uniformly random play's."""
    parser = parser_for("oracle", oracle_command.__doc__)
    parser.add_argument("--penalty", metavar="P", nargs="+", default=PENALTIES, help="default: the paper's four")
    found = parser.parse_all(words)
    print("penalty  optimal  random")
    for penalty in found.penalty:
        hunt = build(PredatorPrey, {"penalty": _number("penalty", penalty)}, "environment")
        known = hunt.references()
        print(f"{hunt.penalty:7g}  {known['optimal']:7.2f}  {known['random']:6.2f}", flush=True)


COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "train": train_command,
    "evaluate": evaluate_command,
    "plot": plot_command,
    "crossplay": crossplay_command,
    "compare": compare_command,
    "values": values_command,
    "list": list_command,
    "show": show_command,
    "oracle": oracle_command,
}


def _whole(key: str, text: str) -> int:
    try:
        return whole_number(text)
    except (ValueError, OverflowError):
        raise Refused(f"{key} must be a whole number, got {text!r}") from None


def _number(key: str, text: str | float) -> float:
    try:
        return float(text)
    except ValueError:
        raise Refused(f"{key} must be a number, got {text!r}") from None
