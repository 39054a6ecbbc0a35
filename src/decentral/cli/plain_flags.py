"""Flags without a setting behind them: names of code, where units run, how much is printed. They import no JAX."""

import argparse
from typing import Any

from decentral.api.sweep_file import BACKENDS
from decentral.cli.parser import number, whole
from decentral.cli.run_tables import MOST_ROWS
from decentral.errors import Refused


def add_naming(parser: argparse.ArgumentParser) -> None:
    """Flags that name a run's environment and algorithm again if they are user code: no file decides what code runs."""
    parser.add_argument("--environment", metavar="NAME", help="the run's environment, needed if it is your own code")
    parser.add_argument("--algorithm", metavar="A,B", help="the run's algorithms, needed if they are your own code")
    add_trust_flag(parser)


def add_trust_flag(parser: argparse.ArgumentParser) -> None:
    """A flag to trust the code that is named."""
    parser.add_argument(
        "--trust", action="store_true", help="trust the code that is named here: later commands find it by themselves"
    )


def trust_named(args: argparse.Namespace, *names: str | None) -> None:
    """Trust those of the names that are of code, if the flag asks for it."""
    if not args.trust:
        return
    from decentral.api.trust import is_code, trust  # with JAX, which these flags do not need

    code = [name for name in names if name is not None and is_code(name)]
    if not code:
        raise Refused("trust must come with the name of code, such as --environment pettingzoo:yard:make_env")
    for name in code:
        trust(name)


def naming(args: argparse.Namespace) -> dict[str, Any]:
    """The names given by those flags, as arguments of a verb; trusted, if that is asked for."""
    trust_named(args, args.environment, *(args.algorithm or "").split(","))
    return {"environment": args.environment, "algorithm": args.algorithm}


def add_where(parser: argparse.ArgumentParser) -> None:
    """The flags that say where units are run and with what, and where their runs go."""
    parser.add_argument("--out", metavar="DIR", help="where the runs go (default: under runs, named after the file)")
    parser.add_argument("--processes", default="1", metavar="N", help="runs at the same time (default: 1)")
    parser.add_argument(
        "--backend", default="processes", metavar="NAME", help=f"{', '.join(BACKENDS)} (default: processes)"
    )
    parser.add_argument("--cpus-per-unit", metavar="N", help="cores that slurm or ray give each run (default: one)")
    parser.add_argument(
        "--gpus-per-unit", metavar="X", help="GPUs that slurm or ray give each run; 0.25: four runs share one"
    )


def where(args: argparse.Namespace) -> dict[str, Any]:
    """What those flags say, as arguments of a verb."""
    cpus, gpus = args.cpus_per_unit, args.gpus_per_unit
    return {
        "out": args.out,
        "processes": whole("processes", args.processes),
        "backend": args.backend,
        "cpus_per_unit": None if cpus is None else whole("cpus_per_unit", cpus),
        "gpus_per_unit": None if gpus is None else number("gpus_per_unit", gpus),
    }


def add_rows(parser: argparse.ArgumentParser) -> None:
    """The flag for how much of a long table is printed."""
    parser.add_argument("--rows", metavar="N", help=f"lines of the table; 0: all (default: {MOST_ROWS})")


def rows(args: argparse.Namespace) -> int:
    """How many lines are printed at most."""
    most = MOST_ROWS if args.rows is None else whole("rows", args.rows)
    if most < 0:
        raise Refused(f"rows must be a whole number at least 0, got {most}")
    return most or 10**9
