"""The table of claims by readings, and the claims that it measures besides returns, on pieces written by hand."""

from pathlib import Path

import pytest

from decentral.reproduction.claims import CLAIMS
from decentral.reproduction.claims_by_reading import PROBABLY
from decentral.reproduction.reading_measures import kl_weights_under, overestimation_in, overestimation_under
from decentral.reproduction.reading_results import NOT_RUN, ReadingsComparison
from decentral.reproduction.readings import READINGS, reading_of
from decentral.reproduction.smac import finding_on_a_map
from decentral.reproduction.target import Done
from tests.cli.test_cli import outcome
from tests.reproduction.test_readings import done, pieces, run
from tests.reproduction.test_smac import results_of

DATA = Path(__file__).parents[2] / "results" / "reproduction"
HEAD = "what the paper probably did"


@pytest.fixture(scope="module")
def table():
    """What is said by claim and by column, and the readings under which nothing was run."""
    from decentral import claims

    *lines, left = claims(DATA).by_reading.splitlines()
    heads = next(line for line in lines if line.startswith("| claim")).strip("| ").split(" | ")
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| C")]
    assert {len(row) for row in rows} == {len(heads)}
    cells = {row[0]: dict(zip(heads, row, strict=True)) for row in rows}
    return cells, left.removeprefix("Under these readings nothing was run: ").rstrip(".").split(", ")


def test_claims_are_printed_by_reading(capsys):
    code, out, _ = outcome(capsys, "reproduce", "--claims", str(DATA))
    assert code == 0 and "By reading of the paper:\n\n" in out


def test_every_reading_has_a_column_or_is_named_as_not_run(table):
    cells, left = table
    assert len(cells) == len(CLAIMS) == len(PROBABLY) == 22 and all(row[HEAD] for row in cells.values())
    columns = list(cells["C1"])[2:-1]
    assert {*columns, *left} == {reading.name for reading in READINGS} and not {*columns} & {*left}
    assert all(any(row[name] != NOT_RUN for row in cells.values()) for name in columns)


def test_cells_have_numbers_and_are_short(table):
    said = [cell for row in table[0].values() for cell in list(row.values())[2:-1] if cell != NOT_RUN]
    assert len(said) > 70 and max(map(len, said)) < 300
    assert all(any(sign.isdigit() for sign in cell.split(": ", 1)[1]) for cell in said)


@pytest.mark.parametrize(
    ("claim", "reading", "start"),
    [
        ("C1", "separate-hidden", "partly reproduced: DAC 8.00 ± 0.00, Hysteretic 8.00 ± 0.00, I2Q 6.00"),
        ("C2", "shared-hidden", "reproduced: entries that neither agent attains lie 0.01 apart"),
        ("C4", "separate-hidden", "partly reproduced: DAC 18.0 ± 1.0 [17.4, 18.6]"),
        ("C4", "time-limit-ends", "open: DAC not run, Hysteretic 27.5 ± 0.1, I2Q not run"),
        ("C7", "separate-visible", "not reproduced: DAC 13.8 ± 7.4 %"),
        ("C7", "shared-hidden", "partly reproduced: DAC 74.3 ± 27.4 %, Hysteretic 48.4 ± 9.9 %, I2Q 54.0 ± 15.3 %"),
        ("C11", "shared-hidden", "partly reproduced: DAC 60.4 ± 8.0 %, Hysteretic 58.1 ± 12.6 %, I2Q 47.5 ± 20.4 %"),
        ("C13", "shared-visible", "partly reproduced: DAC 27.3 ± 7.1 %, Hysteretic 24.3 ± 4.0 %, I2Q 14.4 ± 9.2 %"),
        ("C8", "shared-hidden", NOT_RUN),
        ("C15", "separate-hidden", NOT_RUN),
        ("C15", "separate-visible", "not reproduced: P = 0.5: m=10 24.7, m=5 26.6 (0 of 1)"),
        ("C17", "separate-hidden", "partly reproduced: P = 0.3: beta=0.001 18.8, beta=0 17.0"),
        ("C17", "separate-visible", "partly reproduced: P = 0.3: beta=0.001 26.6"),
        ("C21", "shared-hidden", "partly reproduced: P = 0: Hysteretic -0.7, DAC -7.3"),
        ("C21", "separate-visible", "not reproduced: P = 0: Hysteretic -2.9, DAC -9.2"),
        ("C21", "centred", NOT_RUN),
    ],
)
def test_a_claim_is_told_under_a_reading(table, claim, reading, start):
    assert table[0][claim][reading].startswith(start)


def test_which_claims_are_measured_under_which_readings(table):
    cells = table[0]
    columns = list(cells["C1"])[2:-1]
    measured = {claim: {name for name in columns if cells[claim][name] != NOT_RUN} for claim in ("C17", "C21")}
    assert measured["C21"] == {"separate-hidden", "separate-visible", "shared-hidden", "shared-visible", "appendix-a"}
    assert measured["C17"] == {*columns} - {"time-limit-ends"}
    ten_seeds = {name for name in measured["C21"] if "10 seeds" in cells["C21"][name]}
    assert ten_seeds == measured["C21"] - {"separate-visible"}


def test_kl_weights_are_compared_with_the_papers_own_on_the_screening_seeds():
    level = {0: 20.0, 1: 25.0, 2: 99.0, 3: 24.9, 4: 10.0}  # 0.01 is less than a standard error (0.7) below 0.001
    results = {"screen-centred-dac": done("screen-centred-dac", lambda method, choice, penalty: level[choice])}
    found = kl_weights_under(results, reading_of("centred"))
    each = "beta=0.001 25.0, beta=0 20.0, beta=0.01 24.9, beta=0.1 10.0 (2 of 3)"
    assert found.numbers == f"P = 0.3: {each}; P = 0.5: {each}; P = 1: {each}; screened, 2 seeds"
    assert found.verdict == "partly reproduced" and kl_weights_under(results, reading_of("shared-visible")) is None
    assert f"| centred | partly reproduced | {found.numbers} |" in ReadingsComparison().tabulate(results)


def promised(name, gaps):
    """Finals in which two agents on each of two seeds promise themselves so much more than the 10 that they get."""
    settings = pieces()[name].settings
    runs = []
    for config in settings["configs"]:
        by_agent = [gaps[config["environment"]["penalty"]]] * 2
        measures = {"value_gap": [by_agent] * 2, "value_achieved": [[10.0, 10.0]] * 2}
        runs.append(run(0.0) | {"measures": measures})
    return Done(settings, {"runs": runs})


def test_hysteretic_overestimates_where_it_promises_itself_a_tenth_more_and_dac_does_not():
    dac, others = "final-shared-visible-dac", "final-shared-visible-q-learning"
    results = {
        dac: promised(dac, {0.0: -1.0, 0.3: -1.0, 0.5: 2.0, 1.0: 0.9}),
        others: promised(others, {0.0: 0.9, 0.3: 5.0, 0.5: 5.0, 1.0: 1.1}),
    }
    found = overestimation_under(results, reading_of("shared-visible"))
    assert found.numbers == (
        "P = 0: Hysteretic +0.9, DAC -1.0; P = 0.3: Hysteretic +5.0, DAC -1.0; P = 0.5: Hysteretic +5.0, DAC +2.0;"
        " P = 1: Hysteretic +1.1, DAC +0.9 (2 of 4, 2 seeds)"
    )
    assert found.verdict == "partly reproduced"
    assert overestimation_under({others: results[others]}, reading_of("shared-visible")) is None
    assert overestimation_under(results, reading_of("one-weight")) is None and overestimation_in({}) is None


def test_a_map_without_dac_is_open_and_one_with_all_methods_is_judged():
    three = {"5m_vs_6m": {"iql": 0.4, "hysteretic": 0.1, "i2q": 0.0}}
    open_one = finding_on_a_map(results_of(three, sharing=True), "C7", True)
    assert open_one.verdict == "open" and open_one.numbers.startswith("DAC not run, Hysteretic 10.0 ± 1.4 %, I2Q 0.0")
    all_four = results_of({"5m_vs_6m": three["5m_vs_6m"] | {"dac": 0.3}})
    judged = finding_on_a_map(all_four, "C7", False)
    assert judged.verdict == "partly reproduced" and judged.numbers.endswith("IQL 40.0 ± 1.4 % (2 of 3)")
    assert finding_on_a_map(all_four, "C7", True) is None
