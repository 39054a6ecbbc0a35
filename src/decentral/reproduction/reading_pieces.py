"""What the comparison of readings runs: every reading on few seeds with several settings of each method, then finals.

All methods may choose among the same number of settings, all of which are numbers, so that a reading's penalties,
settings and seeds are lanes of one program. Hysteretic with weight 1 is IQL, so the two share a program as well. A
piece serves all readings that do not differ in what it runs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from decentral.analysis.results import Curves, late_returns
from decentral.configs.config import Config, resolve
from decentral.reproduction.hunts import QUICK_PLAN, penalty_of
from decentral.reproduction.pieces import complete_all, curves_from, sweep_piece, training_piece
from decentral.reproduction.predator_prey import WEIGHTS
from decentral.reproduction.readings import CORE, FINALISTS, READINGS, SHARED, PaperReading, reading_of
from decentral.reproduction.table_1 import QUICK_STEPS, tables_of
from decentral.reproduction.target import Data, Done, Piece, Scale, Workplace

SCREENED = (0.3, 0.5, 1.0)  # penalties; without one everything learns
PENALTIES = (0.0, *SCREENED)
SCREENING_PLAN: Data = {"seed": 200, "seeds": 2, "test_interval": 50_000}
FINAL_PLAN: Data = {"seed": 300, "test_interval": 50_000, "diagnostics": True}
IQL_WEIGHT = 1.0  # of Hysteretic
RATES = (1e-4, 2.5e-4, 5e-4, 1e-3, 2e-3)
METHODS = {"dac": "DAC", "hysteretic": "Hysteretic", "i2q": "I2Q", "iql": "IQL"}


@dataclass(frozen=True)
class Program:
    """Methods that share a program: an algorithm, and for each method the settings among which it may choose."""

    algorithm: str
    choices: dict[str, tuple[Data, ...]]
    minutes: tuple[float, float]  # of screening and of a final on one H200, estimated from the time of a turn


PROGRAMS = {
    "dac": Program("dac", {"dac": tuple({"kl_weight": beta} for beta in (0.0, 0.001, 0.003, 0.01, 0.1))}, (3.3, 3.7)),
    "q-learning": Program(
        "hysteretic",
        {
            "hysteretic": tuple({"negative_weight": weight} for weight in WEIGHTS),
            "iql": tuple({"negative_weight": IQL_WEIGHT, "learning_rate": rate} for rate in RATES),
        },
        (3.0, 3.6),
    ),
    "i2q": Program(
        "i2q",
        {
            "i2q": tuple(
                {"mixing": mixing, "expectile": expectile}
                for mixing, expectile in ((0.2, 0.52), (0.2, 0.7), (0.2, 0.9), (0.5, 0.7), (0.5, 0.9))
            )
        },
        (2.8, 3.1),
    ),
}
PROGRAM_OF = {method: name for name, program in PROGRAMS.items() for method in program.choices}
I2Q_SCREENED = ("separate-hidden", "separate-visible")  # elsewhere it is run in finals only
DAC_BASE: Data = {"window": 10, "contexts": 10}  # at every penalty, so that these share a program
TABLE_1 = "table-1-shared"
TABLE_1_MINUTES = 2.5
SHARED_GAMES = {"dac": TABLE_1, "hysteretic": "matrix-game-shared-hysteretic", "iql": "matrix-game-shared-iql"}
GAME_MINUTES = 1.0


def reading_pieces(scale: Scale) -> list[Piece]:
    """All pieces, in the order in which they are worth running.

    The matrix game with shared parameters, the screening of the core readings, the finals, the screening of the others.
    """
    core, others = [[reading for reading in READINGS if (reading.name in CORE) == wanted] for wanted in (True, False)]
    finals = [reading_of(name) for name in FINALISTS]
    if not scale.is_full:
        core, finals, others = core[:1], finals[:1], []
    pieces = {name: _shared_game(method, scale) for method, name in SHARED_GAMES.items()}
    for stage, readings in (("screen", core), ("final", finals), ("screen", others)):
        for reading in readings:
            for program in PROGRAMS:
                name = piece_name(stage, reading, program)
                if name not in pieces and _is_run(stage, reading, program):
                    made = _final if stage == "final" else _screening
                    pieces[name] = made(name, reading, program, scale)
    return list(pieces.values())


def _is_run(stage: str, reading: PaperReading, program: str) -> bool:
    """I2Q is screened only where it goes on, and where the decentralised readings need it."""
    return stage == "final" or program != "i2q" or reading.name in (*I2Q_SCREENED, *FINALISTS)


def piece_name(stage: str, reading: PaperReading, program: str) -> str:
    """The name of the piece of a reading's program: that of the first reading that runs the very same."""
    return f"{stage}-{_first_alike(reading, program).name}-{program}"


def has_own_piece(reading: PaperReading, program: str) -> bool:
    """Whether a reading changes something for a program, so that no piece of another reading serves it."""
    return _first_alike(reading, program).name == reading.name


def is_screened(reading: PaperReading, program: str) -> bool:
    """Whether screening runs a program of a reading, be it for another reading."""
    return _is_run("screen", _first_alike(reading, program), program) or _is_run("screen", reading, program)


def _first_alike(reading: PaperReading, program: str) -> PaperReading:
    ours = _settings_of(reading, program)
    return next(other for other in READINGS if _settings_of(other, program) == ours)


def _settings_of(reading: PaperReading, program: str) -> list[Data]:
    """What a program depends on: I2Q's published code shares nothing, and only DAC has settings of its own."""
    return [
        reading.environment,
        {} if program == "i2q" else reading.training,
        reading.dac if program == "dac" else {},
    ]


def _configs(reading: PaperReading, program: str, penalties: Sequence[float], plan: Data) -> list[Config]:
    """Every choice of every method of a program at each penalty."""
    environment, training, own = _settings_of(reading, program)
    base = DAC_BASE | own if program == "dac" else {}
    chosen = PROGRAMS[program]
    return [
        resolve(chosen.algorithm, "predator-prey", base | choice, environment | {"penalty": penalty}, plan | training)
        for choices in chosen.choices.values()
        for choice in choices
        for penalty in penalties
    ]


def _screening(name: str, reading: PaperReading, program: str, scale: Scale) -> Piece:
    plan, penalties = (SCREENING_PLAN, SCREENED) if scale.is_full else (SCREENING_PLAN | QUICK_PLAN, (0.5,))
    return sweep_piece(name, _configs(reading, program, penalties, plan), minutes=PROGRAMS[program].minutes[0])


def _final(name: str, reading: PaperReading, program: str, scale: Scale) -> Piece:
    """At each penalty the choice that was best in screening, on twice as many seeds as other targets have."""
    plan = FINAL_PLAN | {"seeds": 2 * scale.seeds}
    plan, penalties = (plan, PENALTIES) if scale.is_full else (plan | QUICK_PLAN, (0.5,))
    configs, screening = _configs(reading, program, penalties, plan), piece_name("screen", reading, program)

    def produce(workplace: Workplace) -> Data:
        places = chosen_places(configs, workplace.results[screening])
        workplace.say(f"{name}: {len(places)} of {len(configs)} settings, chosen in {screening}")
        made = sweep_piece(name, [configs[place] for place in places]).produce(workplace)
        return made | {"chosen": places}

    settings = {"chosen_in": screening, "configs": [config.as_data() for config in configs]}
    return Piece(name, settings, produce, complete_all, needs=(screening,), minutes=PROGRAMS[program].minutes[1])


def _shared_game(method: str, scale: Scale) -> Piece:
    """A method in the matrix game with shared parameters; of DAC also Table 1."""
    plan = {"seeds": scale.seeds} | SHARED | ({} if scale.is_full else {"steps": QUICK_STEPS})
    config = resolve(method, "matrix-game", training_settings=plan)
    if method == "dac":
        return training_piece(TABLE_1, config, tables_of, TABLE_1_MINUTES)
    return training_piece(SHARED_GAMES[method], config, minutes=GAME_MINUTES)


def method_of(algorithm: Data) -> str:
    """The method that the settings of an algorithm stand for: Hysteretic that forgives nothing is IQL."""
    if algorithm["name"] == "hysteretic" and algorithm["negative_weight"] == IQL_WEIGHT:
        return "iql"
    return algorithm["name"]


def choice_of(algorithm: Data) -> int:
    """Which of its method's choices the settings of an algorithm are."""
    method = method_of(algorithm)
    choices = PROGRAMS[PROGRAM_OF[method]].choices[method]
    [place] = [
        place
        for place, choice in enumerate(choices)
        if all(math.isclose(algorithm[key], value) for key, value in choice.items())
    ]
    return place


def runs_of(done: Done) -> list[Curves]:
    """The learning curves of a piece: of a final, those of the chosen settings."""
    configs, runs = done.settings["configs"], done.result["runs"]
    places = done.result.get("chosen", range(len(configs)))
    return [curves_from(configs[place], run) for place, run in zip(places, runs, strict=True)]


def best_choices(done: Done, one_weight: bool = False) -> dict[tuple[str, float], int]:
    """For each method and penalty the choice with the highest late return; of equals, the first.

    `one_weight`: Hysteretic has one choice for all penalties, by the mean over them.
    """
    earned: dict[tuple[str, float], dict[int, float]] = {}
    for run in runs_of(done):
        algorithm = run.config["algorithm"]
        by_choice = earned.setdefault((method_of(algorithm), penalty_of(run)), {})
        by_choice[choice_of(algorithm)] = float(late_returns(run).mean())
    own = [by_choice for (method, _), by_choice in earned.items() if method == "hysteretic"]
    if one_weight and own:
        mean = {place: float(np.mean([by_choice[place] for by_choice in own])) for place in own[0]}
        earned |= {key: mean for key in earned if key[0] == "hysteretic"}
    return {key: max(by_choice, key=lambda place: (by_choice[place], -place)) for key, by_choice in earned.items()}


def chosen_places(configs: Sequence[Config], screening: Done) -> list[int]:
    """Which configurations were best in screening; without a penalty, those of the lowest penalty screened."""
    best = best_choices(screening)
    lowest = min(penalty for _, penalty in best)
    places = []
    for place, config in enumerate(configs):
        data = config.as_data()
        penalty = data["environment"]["penalty"]
        key = (method_of(data["algorithm"]), max(penalty, lowest))
        if choice_of(data["algorithm"]) == best[key]:
            places.append(place)
    return places
