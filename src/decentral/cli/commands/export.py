"""`decentral export`: one trained agent, to take away."""

from pathlib import Path

from decentral.api import export
from decentral.cli.parser import parser_for, whole
from decentral.cli.plain_flags import add_naming, naming
from decentral.terminal import say


def export_command(words: list[str]) -> None:
    """Write a bundle, and say where it lies and how close it is."""
    parser = parser_for("export")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a finished run")
    parser.add_argument("--seed", metavar="N", help="seed of the run (default: its first)")
    parser.add_argument("--agent", default="0", metavar="NAME", help="its name or number, counted from 0 (default: 0)")
    parser.add_argument("--out", metavar="DIR", type=Path, help="a new directory (default: under bundles)")
    parser.add_argument("--episodes", default="8", metavar="N", help="greedy episodes to compare on (default: 8)")
    parser.add_argument("--format", default="numpy", help="numpy, or onnx for a graph of one step too (default: numpy)")
    add_naming(parser)
    args = parser.parse_all(words)
    bundle = export(
        args.run,
        seed=None if args.seed is None else whole("seed", args.seed),
        agent=args.agent,
        out=args.out,
        episodes=whole("episodes", args.episodes),
        format=args.format,
        **naming(args),
    )
    size = sum(file.stat().st_size for file in bundle.path.iterdir())
    say(f"compared over {bundle.parity.steps} steps: values at most {bundle.parity.difference:.1e} apart")
    say(f"written to {bundle.path} ({size / 1024:.0f} KiB)")
