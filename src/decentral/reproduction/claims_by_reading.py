"""The table of the paper's claims by readings of it: numbers and verdict in each cell, made from the data alone."""

from pathlib import Path

from decentral.configs.presets import PENALTIES
from decentral.reproduction import ablation, smac
from decentral.reproduction.claims import CLAIMS
from decentral.reproduction.matrix_game import finding_of_finals
from decentral.reproduction.predator_prey import CLAIMED, OVERESTIMATION, PredatorPreyCurves, promises_in
from decentral.reproduction.reading_measures import MEASURED, final_mean, overestimation_in
from decentral.reproduction.reading_pieces import METHODS, SHARED_GAMES
from decentral.reproduction.reading_results import (
    NOT_RUN,
    RULES,
    Evidence,
    cell_of,
    gap_words,
    in_cell,
    parts_of,
    table_1_cell,
    verdict_under,
)
from decentral.reproduction.readings import (
    READINGS,
    SEPARATE_HIDDEN,
    SEPARATE_VISIBLE,
    SHARED_HIDDEN,
    SHARED_VISIBLE,
    PaperReading,
)
from decentral.reproduction.reproduce import sense_of
from decentral.reproduction.table_1 import TOLERANCE, compared_with_payoff, untrained_gaps
from decentral.reproduction.target import ClaimFinding, Results, markdown_table, verdict_of

VIEWS = {SEPARATE_HIDDEN.name: "hidden", SEPARATE_VISIBLE.name: "visible"}  # of separate learners
SHARED = (SHARED_HIDDEN.name, SHARED_VISIBLE.name)
OTHER_RULES = (
    "C1, C2, C7 to C14, C19 and C20 are not about predator-prey, so that it makes no difference to them whether its"
    " teammate is hidden. C7 to C13: battles won at the end; C15 to C18: final returns of DAC; in brackets how many of"
    " the orderings hold. C17 under the readings whose DAC was screened: final returns with each KL weight on two"
    " seeds, which are few. C21: the return that agents promise themselves less what they get; in brackets at how many"
    " penalties Hysteretic overestimates and DAC does not."
)

# What the paper probably did, by claim.
ONE_READING = "the data do not tell: run under one reading"
NO_SHARED_BATTLES = "the data do not tell: not run with shared parameters, and the battles are simulated"
NO_POLICY = "the data do not tell: no policy is learned there"
PROBABLY = {
    "C1": "the data do not tell: with shared parameters or without, all four methods end the same",
    "C2": "its agents shared parameters: in its table, entries that nothing trains are the same for both",
    "C3": "any of these: without a penalty all four methods learn under every reading",
    "C4": "its agents did not see each other: IQL and I2Q fail at P = 0.3 only then",
    "C5": "the same: where they see each other, IQL and I2Q learn at P = 0.5",
    "C6": (
        "unclear: DAC learns with shared parameters where agents see each other, best with the target of Appendix A,"
        " but then Hysteretic learns too"
    ),
    "C7": (
        "perhaps its agents shared parameters: DAC is above Hysteretic and I2Q only then; but it is above IQL not even"
        " then, and the battles are simulated"
    ),
    "C11": (
        "the data do not tell: with shared parameters or without, DAC ends above I2Q alone, and the battles are"
        " simulated"
    ),
    "C13": (
        "the data do not tell: two methods struggle with shared parameters, one without, DAC under neither, and the"
        " battles are simulated"
    ),
    **dict.fromkeys(("C8", "C9", "C10", "C12", "C14"), NO_SHARED_BATTLES),
    **dict.fromkeys(("C15", "C16", "C18", "C22"), ONE_READING),
    "C17": "the data do not tell: under no reading do all nine orderings hold, and two seeds are few",
    **dict.fromkeys(("C19", "C20"), NO_POLICY),
    "C21": (
        "perhaps its agents did not see each other: on ten fresh seeds Hysteretic overestimates only then, and DAC"
        " never; but the weight of Hysteretic matters too"
    ),
}


def readings_table(found: dict[str, Results], findings: dict[str, ClaimFinding], directory: Path) -> str:
    """One row per claim and one column per reading that anything was run under, as Markdown; the others by name."""
    with sense_of(directory / "readings.json"):
        columns = {
            reading.name: [_cell(found, findings, reading, claim.name) for claim in CLAIMS] for reading in READINGS
        }
    run = {name: cells for name, cells in columns.items() if any(cell != NOT_RUN for cell in cells)}
    heads = ["claim", "the paper", *run, "what the paper probably did"]
    told = zip(((claim.name, claim.words) for claim in CLAIMS), *run.values(), strict=True)
    table = markdown_table(heads, [[*claim, *cells, PROBABLY[claim[0]]] for claim, *cells in told])
    left = ", ".join(name for name in columns if name not in run)
    none = f"\n\nUnder these readings nothing was run: {left}." if left else ""
    return f"{RULES}\n\n{OTHER_RULES}\n\n{table}{none}"


def _cell(found: dict[str, Results], findings: dict[str, ClaimFinding], reading: PaperReading, claim: str) -> str:
    """Numbers and verdict of a claim under a reading, or that it was not run."""
    screened = found.get("readings", {})
    if claim in CLAIMED:
        return _hunting_cell(found, reading, claim)
    if claim in MEASURED:
        finding = MEASURED[claim](screened, reading) or _measured_elsewhere(found, reading, claim)
        return NOT_RUN if finding is None else in_cell(finding)
    if reading.name in SHARED:
        if claim == "C1":
            return _shared_game_cell(screened, found.get("matrix-game", {}))
        if claim == "C2":
            return table_1_cell(screened)
    elif claim == "C2":
        return _separate_table_1_cell(found, reading)
    return _cell_of_four(found, findings, reading, claim)


def _cell_of_four(
    found: dict[str, Results], findings: dict[str, ClaimFinding], reading: PaperReading, claim: str
) -> str:
    """A claim that was run for separate learners or for shared parameters, whatever agents see: in four columns."""
    finding = None
    if claim in smac.PLACES and reading.name in (*VIEWS, *SHARED):
        finding = smac.finding_on_a_map(found.get("smac", {}), claim, reading.is_shared)
    elif claim in ablation.Ablation.claims and reading.name == SEPARATE_VISIBLE.name:
        finding = _short_ablation(found, claim) or findings.get(claim)
    elif claim not in ablation.Ablation.claims and reading.name in VIEWS:
        finding = findings.get(claim)
    return NOT_RUN if finding is None else in_cell(finding)


def _short_ablation(found: dict[str, Results], claim: str) -> ClaimFinding | None:
    """A claim about one setting of DAC, in few digits."""
    if claim not in ablation.CLAIMED or "ablation" not in found:
        return None
    said = ablation.CLAIMED[claim]
    return ablation.finding_of_setting(ablation.grid_of(found["ablation"])[said.setting], said, final_mean)


def _measured_elsewhere(found: dict[str, Results], reading: PaperReading, claim: str) -> ClaimFinding | None:
    """A claim about KL weights or overestimation from the targets that the first table rests on."""
    if claim == OVERESTIMATION:
        has_view = reading.name in VIEWS and "predator-prey" in found
        return overestimation_in(promises_in(found["predator-prey"], VIEWS[reading.name])) if has_view else None
    return _short_ablation(found, claim) if reading.name == SEPARATE_VISIBLE.name else None


def _hunting_cell(found: dict[str, Results], reading: PaperReading, claim: str) -> str:
    """A claim about returns in predator-prey: if not from this comparison, from that of separate learners."""
    cell = cell_of(found.get("readings", {}), reading, claim)
    is_settled = cell != NOT_RUN and not cell.startswith("open")
    if is_settled or reading.name not in VIEWS or "predator-prey" not in found:
        return cell
    row = PredatorPreyCurves().row(found["predator-prey"], VIEWS[reading.name])
    panel = row[PENALTIES.index(CLAIMED[claim][0])]
    runs = {method: panel[label] for method, label in METHODS.items()}
    parts = parts_of(runs, reading, claim)
    held = f"{sum(parts)} of {len(parts)} parts, one setting each, Hysteretic's best on these seeds"
    return f"{verdict_under(parts, runs)}: {Evidence(runs).words} ({held})"


def _shared_game_cell(results: Results, separate: Results) -> str:
    """Claim C1 with shared parameters; I2Q, which never shares, is that of the `separate` learners."""
    if not separate or any(piece not in results for piece in SHARED_GAMES.values()):
        return NOT_RUN
    shared = {method: results[piece] for method, piece in SHARED_GAMES.items()}
    return in_cell(finding_of_finals(shared | {"i2q": separate["i2q"]}))


def _separate_table_1_cell(found: dict[str, Results], reading: PaperReading) -> str:
    if reading.is_shared or "table-1" not in found:
        return NOT_RUN
    _, every = compared_with_payoff(found["table-1"])
    verdict = verdict_of(max(agent.entry_error, agent.phi_error) < TOLERANCE for agent in every)
    return f"{verdict}: {gap_words(untrained_gaps(every).values())}"
