"""What the runs say of the paper's claims under each reading, and the table of claims by readings."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from decentral.analysis.results import Curves, Panel, late_returns
from decentral.analysis.statistics import clearly_above, summarise
from decentral.reproduction.hunts import columns_of, penalty_of
from decentral.reproduction.predator_prey import CLAIMED, HYSTERETIC_IS_LOWER
from decentral.reproduction.reading_measures import MEASURED
from decentral.reproduction.reading_pieces import (
    METHODS,
    PENALTIES,
    PROGRAM_OF,
    TABLE_1,
    best_choices,
    choice_of,
    has_own_piece,
    is_screened,
    method_of,
    piece_name,
    reading_pieces,
    runs_of,
)
from decentral.reproduction.readings import READINGS, PaperReading
from decentral.reproduction.table_1 import TOLERANCE, compared_with_payoff, untrained_gaps
from decentral.reproduction.target import (
    ClaimFinding,
    Piece,
    Results,
    Scale,
    Target,
    Verdict,
    markdown_table,
    verdict_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOT_RUN = "not run"
COMPARED = frozenset({"dac", "hysteretic"})  # whose returns a claim sets side by side, so that both have fresh seeds
SHARE = 0.5  # of the best known return, from which on a method has learned
# Where the teammate is hidden, a planner's return (`results/hidden-planner.json`): above the mean over seeds of every
# method that was trained. No optimum is known there.
BEST_KNOWN_HIDDEN = {0.0: 31.66, 0.3: 26.77, 0.5: 24.05, 1.0: 17.26}
RULES = (
    "Mean over the tests in the last tenth of training, then mean and standard deviation over seeds; with 10 seeds also"
    " the 95 % bootstrap interval of the mean. Every method has the best of five settings, chosen for each penalty on"
    " the screening seeds; screened results are those of that very choice, and flatter all alike. Fresh seeds replace"
    " them as soon as DAC and Hysteretic, which a claim compares, were both run on them; a method that was not is then"
    " named as screened. Learned: at least half of the optimal return, or where the teammate is hidden of the best"
    " return known. Parts of a claim: who learns and who does not, method by method (if DAC does not, the claim is not"
    " reproduced); at P = 0.3 and 0.5 also that Hysteretic ends below DAC by more than the standard error of the"
    " difference. Open: DAC is not run, or it learns and some of the other methods are not run yet."
)

ELSEWHERE = (
    "Of separate learners that see each other only I2Q is run here: the other methods, with one setting each, are those"
    " of `predator-prey`."
)


@dataclass(frozen=True)
class Evidence:
    """The run of every method under a reading at one penalty, as far as it is stored, by method."""

    runs: Panel
    screened: frozenset[str] = frozenset()  # the methods whose run is the choice among settings itself

    @property
    def words(self) -> str:
        """The return of every method; of many seeds with its interval."""
        return ", ".join(
            f"{label} {_words(late_returns(self.runs[method]))}" if method in self.runs else f"{label} {NOT_RUN}"
            for method, label in METHODS.items()
        )

    @property
    def screened_words(self) -> str:
        """Which runs were screened, to go on after a number: nothing if none was."""
        if self.screened == self.runs.keys():
            return ", screened"
        return "".join(f", {METHODS[method]} screened" for method in sorted(self.screened))


def evidence_of(results: Results, reading: PaperReading, penalty: float) -> Evidence:
    """The finals of a reading once they can be compared, and the best of what was screened.

    Without DAC only if a method was run for this very reading: pieces that serve it too say nothing of what it changes.
    """
    finals = _runs(results, "final", reading, penalty)
    if not finals.keys() >= COMPARED:
        finals = {}
    runs = _runs(results, "screen", reading, penalty) | finals
    if "dac" not in runs and not any(has_own_piece(reading, PROGRAM_OF[method]) for method in runs):
        return Evidence({})
    return Evidence({own: runs[own] for own in METHODS if own in runs}, frozenset(runs.keys() - finals.keys()))


def _runs(results: Results, stage: str, reading: PaperReading, penalty: float) -> Panel:
    found: dict[str, Curves] = {}
    for method in METHODS:
        done = results.get(piece_name(stage, reading, PROGRAM_OF[method]))
        if done is None or (stage == "final" and reading.one_weight):
            continue
        best = best_choices(done, reading.one_weight)
        for run in runs_of(done):
            algorithm = run.config["algorithm"]
            is_best = best.get((method, penalty)) == choice_of(algorithm)
            if method_of(algorithm) == method and penalty_of(run) == penalty and is_best:
                found[method] = run
    return found


def cell_of(results: Results, reading: PaperReading, claim: str) -> str:
    """Numbers and verdict of a claim about predator-prey under a reading, or that it was not run."""
    finding = finding_of(results, reading, claim)
    return NOT_RUN if finding is None else in_cell(finding)


def in_cell(finding: ClaimFinding) -> str:
    """Verdict and numbers of a finding, as a cell of a table."""
    return f"{finding.verdict}: {finding.numbers}"


def finding_of(results: Results, reading: PaperReading, claim: str) -> ClaimFinding | None:
    """What the stored pieces say of a claim about predator-prey; None without any."""
    evidence = evidence_of(results, reading, CLAIMED[claim][0])
    if not evidence.runs:
        return None
    parts = parts_of(evidence.runs, reading, claim)
    verdict = verdict_under(parts, evidence.runs)
    if verdict != "not reproduced" and any(method not in evidence.runs for method in screened_methods(reading)):
        verdict = "open"
    held = f"{sum(parts)} of {len(parts)} parts{evidence.screened_words}"
    return ClaimFinding(f"{evidence.words} ({held})", verdict, reading.words)


def screened_methods(reading: PaperReading) -> list[str]:
    """The methods that screening runs under a reading: a claim is open until all of them were."""
    return [method for method in METHODS if is_screened(reading, PROGRAM_OF[method])]


def verdict_under(parts: list[bool], runs: Panel) -> Verdict:
    """The verdict on a claim, all of which say that DAC learns: where it does not, nothing else can save them."""
    if "dac" not in runs:
        return "open"
    return verdict_of(parts) if parts[list(runs).index("dac")] else "not reproduced"


def parts_of(runs: Panel, reading: PaperReading, claim: str) -> list[bool]:
    """Which parts of a claim hold, of those whose methods were run."""
    penalty, said = CLAIMED[claim]
    parts = [has_learned(run, reading, penalty) == (method in said) for method, run in runs.items()]
    if claim in HYSTERETIC_IS_LOWER and runs.keys() >= COMPARED:
        parts.append(clearly_above(late_returns(runs["dac"]), late_returns(runs["hysteretic"])))
    return parts


def has_learned(run: Curves, reading: PaperReading, penalty: float) -> bool:
    """Whether a run ends with at least half of the best return that is known for what its agents see."""
    known = BEST_KNOWN_HIDDEN[penalty] if reading.is_hidden else run.references["optimal"]
    return bool(late_returns(run).mean() >= SHARE * known)


def ranking(results: Results) -> list[tuple[str, int, int]]:
    """Readings by parts of claims C4 to C6: name, how many held, of how many; best first, where DAC was run."""
    counted = []
    for reading in READINGS:
        parts: list[bool] = []
        for claim in ("C4", "C5", "C6"):
            runs = evidence_of(results, reading, CLAIMED[claim][0]).runs
            parts += parts_of(runs, reading, claim) if "dac" in runs else []
        if parts:
            counted.append((reading.name, sum(parts), len(parts)))
    return sorted(counted, key=lambda row: -row[1] / row[2])


def table_1_cell(results: Results) -> str:
    """Claim C2 with shared parameters, and how far agents lie apart where nothing is trained."""
    if TABLE_1 not in results:
        return NOT_RUN
    _, every = compared_with_payoff(results, TABLE_1)
    verdict = verdict_of(max(agent.entry_error, agent.phi_error) < TOLERANCE for agent in every)
    return f"{verdict}: {gap_words(untrained_gaps(every).values())}"


def gap_words(gaps: Iterable[float]) -> str:
    """How far agents lie apart in entries that neither attains."""
    each = list(gaps)
    if not each:
        return "every entry is attained"
    ends = dict.fromkeys(f"{end(each):.2f}" for end in (min, max))
    seeds = "1 seed" if len(each) == 1 else f"{len(each)} seeds"
    return f"entries that neither agent attains lie {' to '.join(ends)} apart ({seeds})"


def _words(returns: np.ndarray) -> str:
    summary = summarise(returns)
    mean = f"{summary.mean:.1f}" + (f" ± {summary.spread:.1f}" if summary.spread is not None else "")
    return mean if summary.seeds < 10 else f"{mean} [{summary.mean_low:.1f}, {summary.mean_high:.1f}]"


class ReadingsComparison(Target):
    """Every reading on screening seeds, some on fresh ones. It grows piece by piece."""

    title = "Readings of the paper in predator-prey"
    claims = ()  # its findings are the second table of `decentral reproduce --claims`
    grows = True

    def pieces(self, scale: Scale) -> list[Piece]:
        return reading_pieces(scale)

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.plots.grid import grid_figure

        drawn = sorted(_drawn(results), key=lambda told: any(each.screened for each in told[1]))
        places = [place for place, _ in enumerate(PENALTIES) if any(own[place].runs for _, own in drawn)]
        rows = {_title(reading, own): [_panel(own[place]) for place in places] for reading, own in drawn}
        if not rows:  # Table 1 alone, or I2Q
            return grid_figure({"": [{}]}, [""], self.title)
        return grid_figure(rows, columns_of(PENALTIES[place] for place in places), self.title)

    def tabulate(self, results: Results) -> str:
        rows = [
            [reading.name, reading.words, *(cell_of(results, reading, claim) for claim in CLAIMED)]
            for reading in READINGS
        ]
        ranked = [[name, f"{held} of {parts}"] for name, held, parts in ranking(results)]
        parts = [
            RULES,
            markdown_table(["reading", "what it is", *CLAIMED], rows),
            "Parts of C4 to C6 that hold, of those that were run:\n\n" + markdown_table(["reading", "parts"], ranked),
            *_measured_tables(results),
            f"Table 1 with shared parameters: {table_1_cell(results)}.",
            ELSEWHERE,
        ]
        return "\n\n".join(parts)

    def findings(self, results: Results) -> dict[str, ClaimFinding]:
        return {}


def _measured_tables(results: Results) -> list[str]:
    """What else was measured, by claim: one row per reading that has it."""
    tables = []
    for claim, finding_under in MEASURED.items():
        found = {reading.name: finding_under(results, reading) for reading in READINGS}
        rows = [[name, finding.verdict, finding.numbers] for name, finding in found.items() if finding is not None]
        if rows:
            [how, *_] = {finding.reading for finding in found.values() if finding is not None}
            tables.append(f"{claim} ({how}):\n\n{markdown_table(['reading', 'verdict', 'numbers'], rows)}")
    return tables


def _drawn(results: Results) -> list[tuple[PaperReading, list[Evidence]]]:
    """The readings in the figure with their evidence at every penalty: those with a method whose returns are compared.

    One weight for all penalties is a choice among the runs of another reading, and is not drawn.
    """
    every = [
        (reading, [evidence_of(results, reading, penalty) for penalty in PENALTIES])
        for reading in READINGS
        if not reading.one_weight
    ]
    return [(reading, own) for reading, own in every if any(COMPARED & each.runs.keys() for each in own)]


def _panel(evidence: Evidence) -> Panel:
    return {METHODS[method]: run for method, run in evidence.runs.items()}


def _title(reading: PaperReading, evidence: list[Evidence]) -> str:
    """The name of a reading and, below it, what its curves must be marked with."""
    [*words] = dict.fromkeys(each.screened_words.removeprefix(", ") for each in evidence if each.screened)
    return "\n".join([reading.name, *["(not decentralised)"] * reading.is_shared, *words])
