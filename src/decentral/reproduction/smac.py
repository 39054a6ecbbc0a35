"""Parts (f) to (l) of the figure of comparisons: the paper's SMAC maps as simulated battles, and its claims."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from decentral.reproduction.battle_curves import WINS, Endings, battle_panel, endings_of, is_above
from decentral.reproduction.battle_pieces import (
    MAPS,
    METHODS,
    PAPER,
    SHARED_MAPS,
    WEIGHTS,
    battle_pieces,
    chosen_weight,
    piece_name,
    weights_name,
    weights_tried,
)
from decentral.reproduction.target import ClaimFinding, Data, Piece, Results, Scale, Target, markdown_table, verdict_of

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


def findings_of(results: Results) -> dict[str, ClaimFinding]:
    """The findings of the finished pieces for each claim; none for a claim without any."""
    by_map = {battle: endings_of(battle_panel(results, battle, False)) for battle in MAPS}
    findings = {}
    for claim, battle in PLACES.items():
        endings = _of_paper(by_map[battle])
        if endings:
            shared = _of_paper(endings_of(battle_panel(results, battle, True)))
            findings[claim] = _finding(claim, endings, shared)
    if any(_of_paper(endings) for endings in by_map.values()):
        findings[OVERALL] = _overall({battle: _of_paper(endings) for battle, endings in by_map.items()})
    return findings


def _of_paper(endings: Endings) -> Endings:
    return {method: endings[method] for method in PAPER if method in endings}


def _finding(claim: str, endings: Endings, shared: Endings) -> ClaimFinding:
    missing = _missing(endings, ("dac", "iql") if claim == EASY else PAPER)
    parts = [] if missing else _parts_of(claim, endings)
    held = f"; not yet run: {missing}" if missing else f" ({sum(parts)} of {len(parts)})"
    beside = f"; with shared parameters (not decentralised): {in_words(shared)}" if shared else ""
    verdict = "not yet run" if missing else verdict_of(parts)
    return ClaimFinding(f"{in_words(endings)}{held}{beside}", verdict, READINGS[claim])


def finding_on_a_map(results: Results, claim: str, sharing: bool) -> ClaimFinding | None:
    """A claim about one map with separate learners or with shared parameters, in win rates; None without any run."""
    endings = _of_paper(endings_of(battle_panel(results, PLACES[claim], sharing)))
    if not endings:
        return None
    words = (
        f"{label} {endings[method].win_words if method in endings else 'not run'}" for method, label in PAPER.items()
    )
    if endings.keys() < PAPER.keys():
        return ClaimFinding(", ".join(words), "open", READINGS[claim])
    parts = _parts_of(claim, endings)
    return ClaimFinding(f"{', '.join(words)} ({sum(parts)} of {len(parts)})", verdict_of(parts), READINGS[claim])


def _parts_of(claim: str, endings: Endings) -> list[bool]:
    """Which parts of a claim about one map hold."""
    if claim == EASY:
        apart = abs(endings["dac"].win_rate - endings["iql"].win_rate)
        one_above = is_above("dac", "iql", endings) or is_above("iql", "dac", endings)
        return [apart <= ALIKE or not one_above]
    if claim == HARD:
        return [endings[method].win_rate < STRUGGLES for method in PAPER]
    return [is_above("dac", other, endings) for other in OTHERS]


def _overall(by_map: dict[str, Endings]) -> ClaimFinding:
    """The claim about all maps together."""
    missing = {battle: _missing(endings, PAPER) for battle, endings in by_map.items()}
    if any(missing.values()):
        done = sum(len(endings) for endings in by_map.values())
        left = "; ".join(f"{battle}: {names}" for battle, names in missing.items() if names)
        numbers = f"{done} of {len(MAPS) * len(PAPER)} pairs of map and method are done; not yet run: {left}"
        return ClaimFinding(numbers, "not yet run", READINGS[OVERALL])

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
    return ClaimFinding(numbers, verdict_of(parts), READINGS[OVERALL])


def _is_poor(method: str, endings: Endings) -> bool:
    best = max(ending.win_rate for ending in endings.values())
    return endings[method].win_rate < max(best / 2, WINS)


def _iql_is_degraded(endings: Endings) -> bool:
    return any(is_above(other, "iql", endings) for other in PAPER if other != "iql")


def _missing(endings: Endings, methods: Iterable[str]) -> str:
    return ", ".join(METHODS[method] for method in methods if method not in endings)


def in_words(endings: Endings) -> str:
    """Win rate and return of every method, mean and standard deviation over seeds."""
    return ", ".join(
        f"{METHODS[method]} {ending.win_words} (return {ending.return_words})" for method, ending in endings.items()
    )


if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from decentral.analysis.plots.battles import BattlePanel

Setting = tuple[str, bool]  # a map, and whether parameters are shared on it
SETTINGS: tuple[Setting, ...] = (*((name, False) for name in MAPS), *((name, True) for name in SHARED_MAPS))
GLANCE = 100_000  # steps: every piece of the full scale has more
NOT_YET = "not yet run"
NOTE = (
    "Simulated battles, not StarCraft II. Mean over the tests in the last tenth of training, and standard deviation"
    " over seeds. Not decentralised: VDN, QMIX, and everything with shared parameters."
)


class SmacCurves(Target):
    """Test win rates and returns over training, mean and standard deviation over seeds. It grows piece by piece."""

    title = "Comparison in simulated battles"
    claims = CLAIMED
    grows = True

    def pieces(self, scale: Scale) -> list[Piece]:
        return battle_pieces(scale)

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.plots.battles import battles_figure

        return battles_figure([_panel(results, *shown) for shown in _shown(results)], self.title)

    def tabulate(self, results: Results) -> str:
        wins, returns, heads = [], [], ["map", "parameters", *METHODS.values()]
        for battle, sharing in _shown(results):
            endings = endings_of(battle_panel(results, battle, sharing))
            who = [battle, "shared" if sharing else "separate"]
            wins.append(who + [endings[method].win_words if method in endings else NOT_YET for method in METHODS])
            returns.append(who + [endings[method].return_words if method in endings else NOT_YET for method in METHODS])
        tables = {
            "Win rate at the end of training": markdown_table(heads, wins),
            "Return at the end of training": markdown_table(heads, returns),
            "Return of Hysteretic by its weight, on other seeds (the chosen one is bold)": _weights_table(results),
        }
        return "\n\n".join([NOTE, *(f"{title}:\n\n{table}" for title, table in tables.items())])

    def findings(self, results: Results) -> dict[str, ClaimFinding]:
        return findings_of(results)


def _shown(results: Results) -> list[Setting]:
    """All settings; at the quick scale, only those that were run."""
    if any(_steps_of(done.settings) > GLANCE for done in results.values()) or not results:
        return list(SETTINGS)
    return [
        (battle, sharing)
        for battle, sharing in SETTINGS
        if any(piece_name(battle, method, sharing) in results for method in METHODS)
    ]


def _steps_of(settings: Data) -> int:
    return settings.get("configs", [settings])[0]["training"]["steps"]


def _panel(results: Results, battle: str, sharing: bool) -> "BattlePanel":
    from decentral.analysis.plots.battles import BattlePanel, ShownMethod

    panel = battle_panel(results, battle, sharing)
    order = list(METHODS)
    curves = [ShownMethod(METHODS[method], order.index(method), sharing, run) for method, run in panel.items()]
    title = f"{battle}, shared parameters" if sharing else battle
    return BattlePanel(title, curves, [PAPER[method] for method in PAPER if method not in panel])


def _weights_table(results: Results) -> str:
    """The return of each weight of Hysteretic on the maps where one is chosen."""
    rows = []
    for battle in dict.fromkeys(battle for battle, _ in _shown(results)):
        done = results.get(weights_name(battle))
        if done is None:
            rows.append([battle, *(NOT_YET for _ in WEIGHTS)])
            continue
        tried, best = weights_tried(done), chosen_weight(done)
        cells = {weight: f"{tried[weight]:.2f}" for weight in WEIGHTS}
        rows.append([battle, *(f"**{cell}**" if weight == best else cell for weight, cell in cells.items())])
    return markdown_table(["map", *(f"{weight:g}" for weight in WEIGHTS)], rows)
