"""The paper's claims, and a table with the finding for each: one row per claim, made from the data alone."""

from dataclasses import dataclass
from pathlib import Path

from decentral.configs.presets import PENALTIES
from decentral.reproduction.ablation import Ablation
from decentral.reproduction.predator_prey import CLAIMED, PredatorPreyCurves
from decentral.reproduction.reading_results import (
    NOT_RUN,
    RULES,
    cell_of,
    gap_words,
    matrix_game_cell,
    table_1_cell,
    view_cell,
)
from decentral.reproduction.readings import (
    PROBABLY,
    READINGS,
    SEPARATE_HIDDEN,
    SEPARATE_VISIBLE,
    SHARED_HIDDEN,
    SHARED_VISIBLE,
    PaperReading,
)
from decentral.reproduction.reproduce import read_finished, sense_of
from decentral.reproduction.table_1 import TOLERANCE, compared_with_payoff, untrained_gaps
from decentral.reproduction.target import ClaimFinding, Results, markdown_table, verdict_of
from decentral.reproduction.targets import TARGETS
from decentral.settings import Refused


@dataclass(frozen=True)
class Claim:
    """A claim of the paper in short, and the table, figure or section that makes it."""

    name: str
    where: str
    words: str


CLAIMS = (
    Claim("C1", "comparison (a)", "matrix game: IQL ends at 6; DAC, Hysteretic (0.01) and I2Q (quoted) at 8"),
    Claim("C2", "Table 1", "Q(s,a,c) is every attainable reward and phi the best of each action, for both agents"),
    Claim("C3", "comparison (b)", "predator-prey, P = 0: all four methods learn"),
    Claim("C4", "comparison (c)", "P = 0.3: DAC and Hysteretic learn, Hysteretic ends lower; IQL and I2Q fail"),
    Claim("C5", "comparison (d)", "P = 0.5: the same"),
    Claim("C6", "comparison (e)", "P = 1.0: DAC alone learns"),
    Claim("C7", "comparison", "5m_vs_6m: DAC above IQL, Hysteretic and I2Q"),
    Claim("C8", "comparison", "8m_vs_9m: the same"),
    Claim("C9", "comparison", "10m_vs_11m: the same"),
    Claim("C10", "comparison", "3s_vs_4z: the same"),
    Claim("C11", "comparison", "3s_vs_5z: the same"),
    Claim("C12", "comparison", "2s_vs_1sc: DAC about as good as IQL"),
    Claim("C13", "comparison", "3s5z: all methods struggle, DAC too"),
    Claim("C14", "comparison", "SMAC: Hysteretic poor, IQL degraded on most maps, I2Q poor on all"),
    Claim("C15", "ablation", "m = 20 is worse at P = 1.0, m = 5 is poor at P = 0.5"),
    Claim("C16", "ablation", "k = 10 is best at P = 0.3 and 0.5; k = 5 is strong at P = 1.0"),
    Claim("C17", "ablation", "KL weight 0.001 is above 0; 0.01 and 0.1 are worse"),
    Claim("C18", "ablation", "DAC is above DAC_phi on hard tasks and equal on easy ones"),
    Claim("C19", "Switching Wind", "k = 1, m = 3: one context for each mode"),
    Claim(
        "C20", "Switching Wind", "k = 5, m = 6: labels of their own near the switches; later than k = 1, but steadier"
    ),
    Claim("C21", "Section 5", "Hysteretic overestimates values, DAC does not"),
    Claim("C22", "Section 6", "more contexts cost more time in phi; the best k and m depend on the task"),
)


OF_VISIBLE = (SEPARATE_VISIBLE.name,)  # which readings a finding without one stands for
OF_SEPARATE = (SEPARATE_HIDDEN.name, SEPARATE_VISIBLE.name)


def results_in(directory: Path) -> dict[str, Results]:
    """The results of all targets in a directory, by target; those at the quick scale are left out."""
    if not directory.is_dir():
        raise Refused(f"claims must be a directory of reproductions, got {directory}")
    found: dict[str, Results] = {}
    files = {name: directory / f"{name}.json" for name in TARGETS}
    if not any(file.is_file() for file in files.values()):
        raise Refused(f"claims must be a directory of reproductions, got {directory}, which has no TARGET.json")
    for name, file in files.items():
        if not file.is_file():
            continue
        record = read_finished(file)
        if record.target != name:
            raise Refused(f"data must be of the target that the file is named after, got {file} of {record.target}")
        if record.scale.is_full:
            found[name] = record.results
    return found


def findings_in(directory: Path) -> dict[str, ClaimFinding]:
    """The findings of all targets in a directory for their claims; runs at the quick scale give none."""
    return findings_from(results_in(directory), directory)


def findings_from(found: dict[str, Results], directory: Path) -> dict[str, ClaimFinding]:
    """The same from results that were read before."""
    findings: dict[str, ClaimFinding] = {}
    for name, results in found.items():
        with sense_of(directory / f"{name}.json"):
            findings |= TARGETS[name].findings(results)
    return findings


def readings_table(found: dict[str, Results], findings: dict[str, ClaimFinding], directory: Path) -> str:
    """One row per claim and one column per reading that anything was run under, as Markdown; the others by name."""
    with sense_of(directory / "readings.json"):
        columns = {
            reading.name: [_reading_cell(found, findings, reading, claim.name) for claim in CLAIMS]
            for reading in READINGS
        }
    run = {name: cells for name, cells in columns.items() if any(cell != NOT_RUN for cell in cells)}
    guesses = [PROBABLY.get(claim.name, "") for claim in CLAIMS]
    heads = ["claim", "the paper", *run, "what the paper probably did"]
    told = zip(((claim.name, claim.words) for claim in CLAIMS), *run.values(), guesses, strict=True)
    table = markdown_table(heads, [[*claim, *cells] for claim, *cells in told])
    left = ", ".join(name for name in columns if name not in run)
    return f"{RULES}\n\n{table}" + (f"\n\nUnder these readings nothing was run: {left}." if left else "")


def _reading_cell(
    found: dict[str, Results], findings: dict[str, ClaimFinding], reading: PaperReading, claim: str
) -> str:
    """Numbers and verdict of a claim under a reading."""
    if reading.name in (SHARED_HIDDEN.name, SHARED_VISIBLE.name):  # the matrix game has no view
        if claim == "C1":
            return matrix_game_cell(found.get("readings", {}), found.get("matrix-game", {}))
        if claim == "C2":
            return table_1_cell(found.get("readings", {}))
    if claim == "C2" and not reading.is_shared and "table-1" in found:
        _, every = compared_with_payoff(found["table-1"])
        verdict = verdict_of(max(agent.entry_error, agent.phi_error) < TOLERANCE for agent in every)
        return f"{verdict}: {gap_words(untrained_gaps(every).values())}"
    if claim not in CLAIMED:
        told = claim in findings and reading.name in (OF_VISIBLE if claim in Ablation.claims else OF_SEPARATE)
        return f"{findings[claim].verdict} (the table above)" if told else NOT_RUN
    cell = cell_of(found.get("readings", {}), reading, claim)
    views = {SEPARATE_HIDDEN.name: "hidden", SEPARATE_VISIBLE.name: "visible"}
    is_settled = cell != NOT_RUN and not cell.startswith("open")
    if is_settled or reading.name not in views or "predator-prey" not in found:
        return cell
    row = PredatorPreyCurves().row(found["predator-prey"], views[reading.name])
    return view_cell(row[PENALTIES.index(CLAIMED[claim][0])], reading, claim)


def claims_table(findings: dict[str, ClaimFinding]) -> str:
    """One row per claim, as Markdown, and below how each was read."""
    heads = ["claim", "where", "the paper", "here", "verdict"]
    table = markdown_table(heads, [_row(claim, findings.get(claim.name)) for claim in CLAIMS])
    return f"{table}\n\nHow the claims were read:\n\n{_ways_of_reading(findings)}" if findings else table


def _row(claim: Claim, finding: ClaimFinding | None) -> list[str]:
    here = ("", "not yet run") if finding is None else (finding.numbers, finding.verdict)
    return [claim.name, claim.where, claim.words, *here]


def _ways_of_reading(findings: dict[str, ClaimFinding]) -> str:
    """A line for each way in which claims were read, with those that were read so."""
    read: dict[str, list[str]] = {}
    for claim in CLAIMS:
        if claim.name in findings:
            read.setdefault(findings[claim.name].reading, []).append(claim.name)
    return "\n".join(f"- {', '.join(names)}: {reading}." for reading, names in read.items())
