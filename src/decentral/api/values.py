"""What the agents of a matrix game have learned, as in the paper's Table 1."""

from decentral.api.arguments import check_whole, open_run
from decentral.api.places import PathLike
from decentral.inspection.values import ValueTable, ValueTables, value_tables
from decentral.runs.trained import Trained

__all__ = ["ValueTable", "ValueTables", "values"]


def values(
    run: PathLike, /, *, seed: int | None = None, environment: str | None = None, algorithm: str | None = None
) -> ValueTables:
    """The tables Q(s,a,c) and phi of every agent of a run on matrix-game: of one seed, or of all.

    Where the run's environment or algorithm is code of yours, name it again: what a file names is never run.
    """
    check_whole(seed=seed)
    trained = Trained.load(open_run(run, environment, algorithm))
    chosen_seeds = trained.seeds if seed is None else [seed]
    for chosen in chosen_seeds:
        trained.lane(chosen)
    return ValueTables(table for table in value_tables(trained) if table.seed in chosen_seeds)
