"""Images of JaxMARL's environments: what they render, or for those that only a window shows, what they consist of."""

from typing import Any, NamedTuple

import numpy as np

INCHES, DOTS = 4.8, 100  # of an image's side
ALLY, ENEMY = (0.16, 0.35, 0.85), (0.85, 0.3, 0.16)


class Disc(NamedTuple):
    """Somebody or something in a plane."""

    place: np.ndarray  # [2]
    radius: float
    colour: tuple[float, ...]  # red, green and blue, up to 1


def image_of(environment: Any, state: Any) -> np.ndarray:
    """An image [height, width, 3 or 4] of a state. Where there is none, whatever is missing raises.

    Environments are told apart by the names of their classes, as those of other packages are.
    """
    kinds = {base.__name__ for base in type(environment).__mro__}
    if "SimpleMPE" in kinds:
        return _drawn(_particles(environment, state), ((-2.0, 2.0), (-2.0, 2.0)))
    if kinds & {"SMAX", "EnemySMAX"}:
        units = state.state if "EnemySMAX" in kinds else state
        return _drawn(_units(environment, units), ((0.0, environment.map_width), (0.0, environment.map_height)))
    if "Overcooked" in kinds:
        return _kitchen(environment, state)
    if "OvercookedV2" in kinds:
        from jaxmarl.viz.overcooked_v2_visualizer import OvercookedV2Visualizer

        return np.asarray(OvercookedV2Visualizer()._render_state(state))
    if "InTheGrid_2p" in kinds:  # STORM; its bar of time can't be drawn with NumPy 2, so that none is asked for
        state = state.replace(step=0, outer_t=0)
    return np.asarray(environment.render(state))


def _particles(environment: Any, state: Any) -> list[Disc]:
    """The entities of a particle world, agents first."""
    places, radii = np.asarray(state.p_pos), np.asarray(environment.rad)
    colours = np.asarray(environment.colour) / 255
    return [Disc(*one) for one in zip(places, radii.tolist(), map(tuple, colours.tolist()), strict=True)]


def _units(environment: Any, state: Any) -> list[Disc]:
    """The units of a battle that are alive."""
    alive, radii = np.asarray(state.unit_alive), np.asarray(environment.unit_type_radiuses)
    sizes = radii[np.asarray(state.unit_types)].tolist()
    sides = (ALLY if number < environment.num_allies else ENEMY for number in range(len(sizes)))
    every = zip(np.asarray(state.unit_positions), sizes, sides, alive, strict=True)
    return [Disc(place, size, side) for place, size, side, is_alive in every if is_alive]


def _kitchen(environment: Any, state: Any) -> np.ndarray:
    """The grid of Overcooked, in the tiles of JaxMARL's visualiser, without the walls that pad it."""
    from jaxmarl.viz.overcooked_visualizer import OvercookedVisualizer

    edge = environment.agent_view_size - 2
    grid = np.asarray(state.maze_map)[edge:-edge, edge:-edge]
    return np.asarray(
        OvercookedVisualizer._render_grid(
            grid, agent_dir_idx=np.asarray(state.agent_dir_idx), agent_inv=np.asarray(state.agent_inv)
        )
    )


def _drawn(discs: list[Disc], extent: tuple[tuple[float, float], tuple[float, float]]) -> np.ndarray:
    """Discs on a white ground."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    (left, right), (bottom, top) = extent
    tall = (top - bottom) / (right - left)
    figure = Figure((INCHES, INCHES * tall) if tall <= 1 else (INCHES / tall, INCHES), dpi=DOTS)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(left, right), ylim=(bottom, top))
    axes.set_axis_off()
    for disc in discs:
        axes.add_patch(Circle((float(disc.place[0]), float(disc.place[1])), disc.radius, color=disc.colour))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())
