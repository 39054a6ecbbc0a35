"""The curves of the library and of the second opinion side by side, with intervals: table, figure and JSON file.

    python benchmarks/second_opinion/compare.py --pair torch-iql.json runs/iql --pair torch-dac.json runs/dac --out both
    python benchmarks/second_opinion/compare.py --redraw both.json --out both

Several files of the second opinion, with other seeds of the same case, are separated by commas. A run of the library to
compare with has the same sizes and shares parameters (--training.sharing true).
"""

import argparse
import json
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from decentral.analysis.results import load_curves
from decentral.deviation import mean_and_spread, sample_variance
from decentral.records import RunDirectory
from decentral.reproduction.target import markdown_table

CONFIDENCE = 0.95
SIDES = {"torch": "PyTorch", "library": "library"}
SAME = ("steps", "epsilon_steps", "test_interval", "test_episodes")
PER_FILE = ("seed", "seeds", "threads")


def pair_of(torch_files: str, run: str) -> dict:
    """Both curves of one case; runs of other sizes are refused."""
    theirs = [json.loads(Path(file).read_text()) for file in torch_files.split(",")]
    ours, made_by = load_curves(RunDirectory(Path(run))), RunDirectory(Path(run)).read_json("versions.json")
    told, *others = [{k: v for k, v in part["settings"].items() if k not in PER_FILE} for part in theirs]
    if any(other != told for other in others):
        raise SystemExit(f"all files must have the same settings but seeds, got {torch_files}")
    training, curves = ours.config["training"], [curve for part in theirs for curve in part["curves"]]
    ours_told = {name: training[name] for name in SAME} | {"penalty": ours.config["environment"]["penalty"]}
    ours_told |= {"method": ours.algorithm}
    for name, value in ours_told.items():
        if told[name] != value:
            raise SystemExit(f"both must have the same {name}, got {told[name]} and {value}")
    if not training["sharing"] or not ours.config["environment"]["observe_teammate"]:
        raise SystemExit(f"the library's run must share parameters and show the teammate, got {run}")
    return {
        "method": told["method"],
        "penalty": told["penalty"],
        "steps": curves[0]["steps"],
        "torch": [curve["returns"] for curve in curves],
        "library": ours.returns.tolist(),
        "settings": told,
        "torch_made_by": [
            {name: part["settings"][name] for name in PER_FILE} | {"torch": part["torch"], "seconds": part["seconds"]}
            for part in theirs
        ],
        "library_made_by": {
            name: made_by[name] if name != "command" else made_by[name].split(" --out")[0]
            for name in ("commit", "command", "packages", "device")
        },
    }


def difference(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Welch's interval of the difference of two means over seeds."""
    errors = [sample_variance(scores) / len(scores) for scores in (one, other)]
    spread = float(np.sqrt(sum(errors)))
    freedom = sum(errors) ** 2 / sum(error**2 / (len(s) - 1) for error, s in zip(errors, (one, other), strict=True))
    reach = float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) * spread
    apart = float(one.mean() - other.mean())
    return apart - reach, apart + reach


def scores_of(pair: dict) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """One number per seed, the second opinion's and the library's: at the end, and over the whole curve."""
    both = [np.asarray(pair[whose]) for whose in ("torch", "library")]
    return {
        "at the end": (both[0][:, -1], both[1][:, -1]),
        "mean of the curve": (both[0].mean(axis=1), both[1].mean(axis=1)),
    }


def table_of(pairs: list[dict]) -> str:
    """Means over seeds, and the interval of their difference."""
    heads = ["method", "P", "greedy return", "PyTorch", "library", "difference, 95 % interval", "agree"]
    rows = []
    for pair in pairs:
        for what, (theirs, ours) in scores_of(pair).items():
            low, high = difference(theirs, ours)
            numbers = [f"{mean_and_spread(scores)} ({len(scores)} seeds)" for scores in (theirs, ours)]
            agree = "yes" if low <= 0 <= high else "no"
            rows.append([pair["method"], f"{pair['penalty']:g}", what, *numbers, f"{low:+.2f} to {high:+.2f}", agree])
    return markdown_table(heads, rows)


def draw(pairs: list[dict], file: Path) -> None:
    """A panel for each case: means and their 95 % intervals over seeds."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import EngFormatter

    from decentral.analysis.plots.curves import draw_values, look

    figure, panels = plt.subplots(1, len(pairs), figsize=(3.6 * len(pairs), 3.6), layout="constrained", squeeze=False)
    for axes, pair in zip(panels[0], pairs, strict=True):
        for number, (name, label) in enumerate(SIDES.items()):
            returns = np.asarray(pair[name])
            middle = returns.mean(axis=0)
            reach = stdtrit(len(returns) - 1, (1 + CONFIDENCE) / 2) * np.sqrt(
                sample_variance(returns, axis=0) / len(returns)
            )
            draw_values(axes, pair["steps"], label, returns, (middle - reach, middle + reach), look(number))
        seeds = " and ".join(dict.fromkeys(str(len(pair[name])) for name in SIDES))
        axes.set_title(f"{pair['method'].upper()}, P = {pair['penalty']:g} ({seeds} seeds)")
        axes.set_xlabel("environment steps")
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.spines[["top", "right"]].set_visible(False)
    entries, title = axes.get_legend_handles_labels(), f"mean over seeds, {100 * CONFIDENCE:.0f} % interval"
    figure.legend(*entries, loc="outside lower center", ncols=len(SIDES), title=title, frameon=False)
    panels[0, 0].set_ylabel("greedy return")
    figure.savefig(file, dpi=130)


def main() -> None:
    """Read both sides, write OUT.json, OUT.md and OUT.png."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", nargs=2, action="append", metavar=("TORCH", "RUN"), default=[])
    parser.add_argument("--redraw", type=Path, metavar="FILE")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    if bool(args.pair) == (args.redraw is not None):
        parser.error("--pair or --redraw: exactly one of them")
    pairs = json.loads(args.redraw.read_text()) if args.redraw else [pair_of(*files) for files in args.pair]
    if args.pair:
        args.out.with_suffix(".json").write_text(json.dumps(pairs) + "\n")
    args.out.with_suffix(".md").write_text(table_of(pairs) + "\n")
    draw(pairs, args.out.with_suffix(".png"))
    print(table_of(pairs))


if __name__ == "__main__":
    main()
