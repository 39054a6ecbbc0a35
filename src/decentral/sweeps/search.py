"""What a search tries next, by Optuna (an extra), and its trials as a table. Proposals are reproducible."""

import csv
import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.errors import Refused
from decentral.records import durable
from decentral.sweeps.search_space import Key, OneOf, Range, SearchPlan, Space


@dataclass(frozen=True)
class Trial:
    """Proposed values and their worth: None if it is not known yet or a seed diverged."""

    proposal: dict[str, Any]  # Optuna's parameters
    values: dict[Key, Any]
    worth: float | None


def name_of(number: int) -> str:
    """The name of a trial's run."""
    return f"trial-{number:03}"


def propose(space: Space, plan: SearchPlan, known: Sequence[Trial], count: int) -> list[Trial]:
    """The next trials, whose worth is still unknown, from the known ones.

    The study is rebuilt each time from a seed and the known trials, so no state of Optuna has to be stored.
    """
    optuna = _optuna()
    distributions = {
        ".".join(key): _distribution(optuna, range_or_choice) for key, range_or_choice in space.open.items()
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study = optuna.create_study(direction="maximize", sampler=_sampler(optuna, plan, len(known)))
    for trial in known:
        state = optuna.trial.TrialState.FAIL if trial.worth is None else optuna.trial.TrialState.COMPLETE
        study.add_trial(
            optuna.trial.create_trial(
                state=state, value=trial.worth, params=trial.proposal, distributions=distributions
            )
        )
    proposals = [dict(study.ask(distributions).params) for _ in range(count)]
    return [Trial(proposal, _values(space, proposal), None) for proposal in proposals]


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise Refused("search needs optuna: pip install 'decentral[optuna]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _sampler(optuna: Any, plan: SearchPlan, known: int) -> Any:
    seed = (plan.seed * 1_000_003 + known) % 2**32
    if plan.sampler == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    return optuna.samplers.TPESampler(seed=seed, constant_liar=True)  # spreads the proposals of one batch


def _distribution(optuna: Any, range_or_choice: Range | OneOf) -> Any:
    if isinstance(range_or_choice, OneOf):
        return optuna.distributions.CategoricalDistribution(range(len(range_or_choice.values)))
    if range_or_choice.whole:
        return optuna.distributions.IntDistribution(
            int(range_or_choice.low), int(range_or_choice.high), log=range_or_choice.log
        )
    return optuna.distributions.FloatDistribution(range_or_choice.low, range_or_choice.high, log=range_or_choice.log)


def _values(space: Space, proposal: dict[str, Any]) -> dict[Key, Any]:
    """The settings of a proposal; for a choice Optuna knows only the index, so the values may be anything."""
    return {
        key: range_or_choice.values[proposal[".".join(key)]]
        if isinstance(range_or_choice, OneOf)
        else proposal[".".join(key)]
        for key, range_or_choice in space.open.items()
    }


TABLE = "trials.csv"


def write_trials(trials: Sequence[Trial], out: Path) -> Path:
    """A line for every trial, in the order in which they were proposed, in `trials.csv`."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["trial", *(".".join(key) for key in trials[0].values), "worth"])
    for number, trial in enumerate(trials):
        table.writerow([name_of(number), *trial.values.values(), "" if trial.worth is None else trial.worth])
    durable.replace_file(out / TABLE, text.getvalue().encode())
    return out / TABLE
