"""The paper's claims, and a table with the finding for each: one row per claim, made from the data alone."""

from dataclasses import dataclass
from pathlib import Path

from decentral.reproduction.reproduce import read_finished, sense_of
from decentral.reproduction.target import ClaimFinding, Results, markdown_table
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
