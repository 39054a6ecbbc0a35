"""Parts (f) to (l) of the figure of comparisons: the paper's seven SMAC maps, as simulated battles."""

from typing import TYPE_CHECKING

from decentral.reproduction.battle_curves import battle_panel, endings_of
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
from decentral.reproduction.markdown import markdown_table
from decentral.reproduction.smac_claims import CLAIMED, findings_of
from decentral.reproduction.target import Data, Finding, Piece, Results, Scale, Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from decentral.analysis.battle_plot import BattlePanel

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
        from decentral.analysis.battle_plot import battles_figure

        return battles_figure([_panel(results, *own) for own in _shown(results)], self.title)

    def tabulate(self, results: Results) -> str:
        wins, returns, heads = [], [], ["map", "parameters", *METHODS.values()]
        for battle, sharing in _shown(results):
            endings = endings_of(battle_panel(results, battle, sharing))
            who = [battle, "shared" if sharing else "separate"]
            wins.append(who + [endings[own].win_words if own in endings else NOT_YET for own in METHODS])
            returns.append(who + [endings[own].return_words if own in endings else NOT_YET for own in METHODS])
        tables = {
            "Win rate at the end of training": markdown_table(heads, wins),
            "Return at the end of training": markdown_table(heads, returns),
            "Return of Hysteretic by its weight, on other seeds (the chosen one is bold)": _weights_table(results),
        }
        return "\n\n".join([NOTE, *(f"{title}:\n\n{table}" for title, table in tables.items())])

    def findings(self, results: Results) -> dict[str, Finding]:
        return findings_of(results)


def _shown(results: Results) -> list[Setting]:
    """All settings; of a glance those that it has."""
    if any(_steps_of(done.settings) > GLANCE for done in results.values()) or not results:
        return list(SETTINGS)
    return [own for own in SETTINGS if any(piece_name(own[0], each, own[1]) in results for each in METHODS)]


def _steps_of(settings: Data) -> int:
    return settings.get("configs", [settings])[0]["training"]["steps"]


def _panel(results: Results, battle: str, sharing: bool) -> "BattlePanel":
    from decentral.analysis.battle_plot import BattlePanel, ShownMethod

    panel = battle_panel(results, battle, sharing)
    order = list(METHODS)
    curves = [ShownMethod(METHODS[own], order.index(own), sharing, run) for own, run in panel.items()]
    title = f"{battle}, shared parameters" if sharing else battle
    return BattlePanel(title, curves, [PAPER[own] for own in PAPER if own not in panel])


def _weights_table(results: Results) -> str:
    """What each weight of Hysteretic earned where one is chosen."""
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
