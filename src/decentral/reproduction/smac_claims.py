"""What the paper says of the SMAC maps, and which of it holds in simulated battles. Rules are fixed in words."""

from collections.abc import Callable, Iterable

from decentral.reproduction.battle_curves import WINS, Endings, battle_panel, endings_of, is_above
from decentral.reproduction.battle_pieces import MAPS, METHODS, PAPER
from decentral.reproduction.target import Finding, Results, verdict_of

MEDIUM = {"C7": "5m_vs_6m", "C8": "8m_vs_9m", "C9": "10m_vs_11m", "C10": "3s_vs_4z", "C11": "3s_vs_5z"}
EASY, HARD, OVERALL = "C12", "C13", "C14"
PLACES = MEDIUM | {EASY: "2s_vs_1sc", HARD: "3s5z"}
CLAIMED = (*PLACES, OVERALL)
ALIKE = 0.1  # of the tests
STRUGGLES = 0.25
MOST = 4  # maps of seven

AT_THE_END = (
    "simulated battles, separate learners, Hysteretic with the weight chosen on other seeds; win rates, mean over the"
    " last tenth of training"
)
ABOVE = (
    "above: the difference of means exceeds its standard error; in returns where none of them wins"
    f" {100 * WINS:.0f} % of the tests"
)
READINGS = dict.fromkeys(MEDIUM, f"{AT_THE_END}; {ABOVE}; three parts, one for each of the others") | {
    EASY: (
        f"{AT_THE_END}; about as good: win rates differ by at most {100 * ALIKE:.0f} points, or neither is above;"
        f" {ABOVE}"
    ),
    HARD: f"{AT_THE_END}; struggles: wins less than {100 * STRUGGLES:.0f} %; four parts, one for each method",
    OVERALL: (
        f"{AT_THE_END}; poor: wins less than half as often as the best of the four on that map, or less than"
        f" {100 * WINS:.0f} %; degraded: one of the others is above it; {ABOVE}. Three parts: Hysteretic poor on the"
        f" five maps of C7 to C11, IQL degraded on {MOST} maps or more, I2Q poor on all seven"
    ),
}
OTHERS = tuple(method for method in PAPER if method != "dac")


def findings_of(results: Results) -> dict[str, Finding]:
    """What the pieces that are done say of each claim; nothing of one of which nothing was run."""
    by_map = {battle: endings_of(battle_panel(results, battle, False)) for battle in MAPS}
    found = {}
    for claim, battle in PLACES.items():
        endings = _of_paper(by_map[battle])
        if endings:
            shared = _of_paper(endings_of(battle_panel(results, battle, True)))
            found[claim] = _finding(claim, endings, shared)
    if any(_of_paper(endings) for endings in by_map.values()):
        found[OVERALL] = _overall({battle: _of_paper(endings) for battle, endings in by_map.items()})
    return found


def _of_paper(endings: Endings) -> Endings:
    return {method: endings[method] for method in PAPER if method in endings}


def _finding(claim: str, endings: Endings, shared: Endings) -> Finding:
    missing = _missing(endings, ("dac", "iql") if claim == EASY else PAPER)
    parts = [] if missing else _parts_of(claim, endings)
    held = f"; not yet run: {missing}" if missing else f" ({sum(parts)} of {len(parts)})"
    beside = f"; with shared parameters (not decentralised): {in_words(shared)}" if shared else ""
    verdict = "not yet run" if missing else verdict_of(parts)
    return Finding(f"{in_words(endings)}{held}{beside}", verdict, READINGS[claim])


def _parts_of(claim: str, endings: Endings) -> list[bool]:
    """Which parts of a claim about one map hold."""
    if claim == EASY:
        apart = abs(endings["dac"].win_rate - endings["iql"].win_rate)
        one_above = is_above("dac", "iql", endings) or is_above("iql", "dac", endings)
        return [apart <= ALIKE or not one_above]
    if claim == HARD:
        return [endings[method].win_rate < STRUGGLES for method in PAPER]
    return [is_above("dac", other, endings) for other in OTHERS]


def _overall(by_map: dict[str, Endings]) -> Finding:
    """The claim about all maps together."""
    missing = {battle: _missing(endings, PAPER) for battle, endings in by_map.items()}
    if any(missing.values()):
        done = sum(len(endings) for endings in by_map.values())
        left = "; ".join(f"{battle}: {names}" for battle, names in missing.items() if names)
        numbers = f"{done} of {len(MAPS) * len(PAPER)} pairs of map and method are done; not yet run: {left}"
        return Finding(numbers, "not yet run", READINGS[OVERALL])

    def counted(holds: Callable[[Endings], bool], battles: Iterable[str]) -> int:
        return sum(holds(by_map[battle]) for battle in battles)

    hysteretic = counted(lambda endings: _is_poor("hysteretic", endings), MEDIUM.values())
    iql = counted(_iql_is_degraded, MAPS)
    i2q = counted(lambda endings: _is_poor("i2q", endings), MAPS)
    numbers = (
        f"Hysteretic poor on {hysteretic} of {len(MEDIUM)} maps, IQL degraded on {iql} of {len(MAPS)},"
        f" I2Q poor on {i2q} of {len(MAPS)}"
    )
    parts = [hysteretic == len(MEDIUM), iql >= MOST, i2q == len(MAPS)]
    return Finding(numbers, verdict_of(parts), READINGS[OVERALL])


def _is_poor(method: str, endings: Endings) -> bool:
    best = max(own.win_rate for own in endings.values())
    return endings[method].win_rate < max(best / 2, WINS)


def _iql_is_degraded(endings: Endings) -> bool:
    return any(is_above(other, "iql", endings) for other in PAPER if other != "iql")


def _missing(endings: Endings, methods: Iterable[str]) -> str:
    return ", ".join(METHODS[method] for method in methods if method not in endings)


def in_words(endings: Endings) -> str:
    """Win rate and return of every method, mean and standard deviation over seeds."""
    return ", ".join(
        f"{METHODS[method]} {own.win_words} (return {own.return_words})" for method, own in endings.items()
    )
