"""The paper's Table 1 as a figure: the payoff, and beside it each agent's values of every action and context."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure


def value_tables_figure(
    payoff: np.ndarray, tables: list[tuple[np.ndarray, np.ndarray, np.ndarray]], title: str
) -> Figure:
    """Tables are, for each agent, phi [actions], Q [actions, contexts] and where a context occurs."""
    figure, panels = plt.subplots(1, 1 + len(tables), figsize=(3.2 + 4.0 * len(tables), 2.7), layout="constrained")
    limit = Normalize(payoff.min(), payoff.max())
    rows = [f"$a^{number + 1}$" for number in range(payoff.shape[0])]
    columns = [f"$a^{number + 1}$" for number in range(payoff.shape[1])]
    _draw_table(panels[0], payoff, _texts("{:.0f}", payoff), (rows, columns), limit)
    panels[0].set_title("payoff")
    panels[0].set_ylabel("$A^1$")
    panels[0].set_xlabel("$A^2$")
    for agent, (axes, (phi, values, occurs)) in enumerate(zip(panels[1:], tables, strict=True), start=1):
        texts = np.where(occurs, _texts("{:.2f}", values), _texts("({:.2f})", values))
        rows = [f"$a^{number + 1}$ ({value:.2f})" for number, value in enumerate(phi)]
        heads = [str(number) for number in range(values.shape[1])]
        _draw_table(axes, np.where(occurs, values, np.nan), texts, (rows, heads), limit)
        axes.set_title(rf"$Q^{agent}(s,a,c)$ and $\phi^{agent}(s,a)$")
        axes.set_ylabel(f"$A^{agent}$")
        axes.set_xlabel("$c$")
    figure.suptitle(title)
    return figure


def _draw_table(
    axes: Axes, colours: np.ndarray, texts: np.ndarray, heads: tuple[list[str], list[str]], limit: Normalize
) -> None:
    """Cells coloured by value; grey text on white where there is none."""
    axes.imshow(colours, cmap="RdBu", norm=limit, alpha=0.6, aspect="auto")
    for (row, column), text in np.ndenumerate(texts):
        known = bool(np.isfinite(colours[row, column]))
        axes.text(column, row, str(text), ha="center", va="center", color="black" if known else "grey", fontsize=9)
    axes.set_yticks(range(len(heads[0])), heads[0])
    axes.set_xticks(range(len(heads[1])), heads[1])
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(colours.shape[1] - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(colours.shape[0] - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="grey", linewidth=0.6)
    axes.tick_params(which="minor", length=0)


def _texts(pattern: str, values: np.ndarray) -> np.ndarray:
    return np.asarray([[pattern.format(value) for value in row] for row in values])
