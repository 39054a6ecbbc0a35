"""Claims about KL weights and about overestimation under each reading, from its screening and from its finals."""

from decentral.analysis.results import Curves, Panel
from decentral.reproduction.ablation import CLAIMED, finding_of_setting
from decentral.reproduction.hunts import penalty_of
from decentral.reproduction.predator_prey import (
    OVERESTIMATION,
    OVERESTIMATION_READING,
    Promise,
    Promises,
    only_hysteretic_overestimates,
)
from decentral.reproduction.reading_pieces import PROGRAM_OF, method_of, piece_name, runs_of
from decentral.reproduction.readings import PaperReading
from decentral.reproduction.target import ClaimFinding, Results, verdict_of

KL_WEIGHT = "C17"


def kl_weights_under(results: Results, reading: PaperReading) -> ClaimFinding | None:
    """What DAC's screening says of its KL weights, of which it tries five; None without it."""
    done = results.get(piece_name("screen", reading, PROGRAM_OF["dac"]))
    if done is None:
        return None
    row: dict[float, Panel] = {}
    for run in runs_of(done):
        row.setdefault(penalty_of(run), {})[f"beta={run.config['algorithm']['kl_weight']:g}"] = run
    finding = finding_of_setting(row, CLAIMED[KL_WEIGHT], final_mean)
    seeds = len(runs_of(done)[0].seeds)
    return ClaimFinding(f"{finding.numbers}; screened, {seeds} seeds", finding.verdict, finding.reading)


def final_mean(run: Curves) -> str:
    """The final return, mean over seeds."""
    return f"{run.returns[:, -1].mean():.1f}"


def overestimation_under(results: Results, reading: PaperReading) -> ClaimFinding | None:
    """What the finals say of overestimation, which screening does not measure; None without those of DAC."""
    theirs, ours = (promises_of(results, reading, method) for method in ("hysteretic", "dac"))
    return overestimation_in({penalty: (theirs[penalty], ours[penalty]) for penalty in theirs if penalty in ours})


def overestimation_in(promises: Promises) -> ClaimFinding | None:
    """The finding for a promise of Hysteretic and of DAC at each penalty, in few digits."""
    if not promises:
        return None
    each = [
        f"P = {penalty:g}: Hysteretic {theirs.gap.mean():+.1f}, DAC {ours.gap.mean():+.1f}"
        for penalty, (theirs, ours) in sorted(promises.items())
    ]
    met = [only_hysteretic_overestimates(*both) for both in promises.values()]
    seeds = min(len(ours.gap) for _, ours in promises.values())
    numbers = f"{'; '.join(each)} ({sum(met)} of {len(met)}, {seeds} seeds)"
    return ClaimFinding(numbers, verdict_of(met), OVERESTIMATION_READING)


def promises_of(results: Results, reading: PaperReading, method: str) -> dict[float, Promise]:
    """What a method promised itself in the finals of a reading, by penalty."""
    done = results.get(piece_name("final", reading, PROGRAM_OF[method]))
    if done is None or reading.one_weight:
        return {}
    return {
        penalty_of(run): Promise.of(kept)
        for run, kept in zip(runs_of(done), done.result["runs"], strict=True)
        if method_of(run.config["algorithm"]) == method and kept["measures"]
    }


MEASURED = {KL_WEIGHT: kl_weights_under, OVERESTIMATION: overestimation_under}  # what judges a claim under a reading
