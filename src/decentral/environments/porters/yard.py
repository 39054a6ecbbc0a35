"""A yard: where porters and loads are, and what the actions are called and where they lead."""

import equinox as eqx
from jaxtyping import Array, Int

UP, LEFT, STAY, RIGHT, DOWN, LIFT = range(6)
NAME_OF_ACTION = ("up", "left", "stay", "right", "down", "lift")
ROW_OF_ACTION = (-1, 0, 0, 0, 1, 0)
COLUMN_OF_ACTION = (0, -1, 0, 1, 0, 0)


class Yard(eqx.Module):
    """The cell of every porter, several of which may share one, and of every load, the heavy ones first."""

    porters: Int[Array, " porters"]
    loads: Int[Array, " loads"]
