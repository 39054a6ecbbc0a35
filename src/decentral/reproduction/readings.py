"""Readings: what the paper may have run where its text leaves it open, each with the words that it rests on.

A reading is data: settings of the environment and of training, which all methods share, and settings of DAC alone.
Lines are those of the paper's LaTeX source.
"""

from dataclasses import dataclass, field

from decentral.reproduction.target import Data, markdown_table


@dataclass(frozen=True)
class PaperReading:
    """A named set of settings, and the quote that it rests on."""

    name: str  # a valid file name
    words: str
    quote: str
    line: int
    environment: Data = field(default_factory=dict)
    training: Data = field(default_factory=dict)
    dac: Data = field(default_factory=dict)
    one_weight: bool = False  # of Hysteretic, for all penalties

    @property
    def is_hidden(self) -> bool:
        """Whether agents do not see their teammate."""
        return not self.environment.get("observe_teammate", False)

    @property
    def is_shared(self) -> bool:
        """Whether agents share their parameters, which is not decentralised."""
        return bool(self.training.get("sharing", False))


VISIBLE: Data = {"observe_teammate": True}
SHARED: Data = {"sharing": True}
OBSERVATION = (
    "The observation of each predator agent includes its own coordinates, agent ID, and the relative coordinates"
)
STATE = "each agent i observes the state s_t"
PYMARL = "The other implementation details are the same as standard IQL in PyMARL"

SEPARATE_HIDDEN = PaperReading("separate-hidden", "separate learners, teammate hidden (the text)", OBSERVATION, 756)
SEPARATE_VISIBLE = PaperReading(
    "separate-visible", "separate learners, teammate visible (the formalism)", STATE, 103, VISIBLE
)
SHARED_HIDDEN = PaperReading("shared-hidden", "shared parameters, teammate hidden", PYMARL, 713, training=SHARED)
SHARED_VISIBLE = PaperReading("shared-visible", "shared parameters, teammate visible", PYMARL, 713, VISIBLE, SHARED)


def beside_shared_visible(name: str, words: str, quote: str, line: int, **settings: Data) -> PaperReading:
    """A reading that differs from shared parameters with a visible teammate in some settings."""
    environment, dac = VISIBLE | settings.get("environment", {}), settings.get("dac", {})
    return PaperReading(name, words, quote, line, environment, SHARED, dac)


READINGS = (
    SEPARATE_HIDDEN,
    SEPARATE_VISIBLE,
    SHARED_HIDDEN,
    SHARED_VISIBLE,
    beside_shared_visible(
        "centred",
        "places around the grid's middle for all methods, (p - 2.5) / 5",
        "We adopt the modified predator-prey",  # whose code has them so
        756,
        environment={"coordinates": "centred"},
    ),
    PaperReading(
        "centred-hidden",
        "the same with the teammate hidden",
        "We adopt the modified predator-prey",
        756,
        {"coordinates": "centred"},
        SHARED,
    ),
    beside_shared_visible(
        "fractions",
        "places as fractions of the grid for all methods",
        "We adopt the modified predator-prey",
        756,
        environment={"coordinates": "fractions"},
    ),
    beside_shared_visible(
        "appendix-a",
        "the target takes the best context (Appendix A)",
        "finally converges to the optimal joint action value function",
        674,
        dac={"next_context": "optimistic"},
    ),
    PaperReading(
        "appendix-a-hidden",
        "the same with the teammate hidden",
        "finally converges to the optimal joint action value function",
        674,
        training=SHARED,
        dac={"next_context": "optimistic"},
    ),
    beside_shared_visible(
        "time-limit-ends",
        "the time limit ends the task",
        "An entire episode proceeds over 100 time steps",
        756,
        environment={"time_limit_ends": True},
    ),
    beside_shared_visible(
        "everyone-respawns",
        "after a catch everyone is placed anew",
        "it is ``captured'' and then regenerated at random positions",
        756,
        environment={"respawn": "everyone"},
    ),
    beside_shared_visible(
        "value-trains-encoder",
        "the value loss trains the encoder",
        "Update all components with gradient descent",
        745,
        dac={"value_trains_encoder": True},
    ),
    beside_shared_visible(
        "same-context",
        "one context at both ends of a step",
        "For each context c in C, the function M(c) specifies a MDP",
        137,
        dac={"next_context": "same"},
    ),
    beside_shared_visible(
        "few-contexts",
        "m = 5, next to every KL weight",
        "we evaluate k in {5,10,15,20}, m in {5,10,15,20}, and beta in {0.0, 0.001, 0.01, 0.1}",
        830,
        dac={"contexts": 5},
    ),
    beside_shared_visible(
        "short-window",
        "k = 5, which Table 4 has for P = 1.0",
        "DAC with k=5 achieves strong performance in predator-prey with P=1.0",
        834,
        dac={"window": 5},
    ),
    beside_shared_visible(
        "soft-contexts",
        "values learn with soft samples",
        "we employ the Gumbel-Softmax to the encoder outputs",
        245,
        dac={"hard": False},
    ),
    beside_shared_visible(
        "cold-contexts",
        "Gumbel-Softmax at temperature 0.5",
        "we employ the Gumbel-Softmax to the encoder outputs",
        245,
        dac={"temperature": 0.5},
    ),
    beside_shared_visible(
        "likeliest-context",
        "values learn with the most likely context",
        "Construct contexts c_t^i based on the encoder",
        743,
        dac={"value_context": "mode"},
    ),
    beside_shared_visible(
        "target-encoder",
        "the target infers its context with a target encoder",
        PYMARL,
        713,
        dac={"target_encoder": True},
    ),
    beside_shared_visible(
        "single-q",
        "one network chooses and values the next action, as Eq. (10) is printed",
        "is updated as below",
        213,
        dac={"double_q": False},
    ),
    beside_shared_visible(
        "avoiding-prey",
        "the prey avoids predators",
        "2 predators must coordinate to capture 1 moving prey",
        756,
        environment={"prey": "avoiding"},
    ),
    beside_shared_visible(
        "penalty-on-approach",
        "a lone predator pays as it comes beside the prey",
        "otherwise a penalty of -P is provided for sole pursuit",
        756,
        environment={"penalty_at": "approach"},
    ),
    PaperReading(
        "one-weight",
        "one weight of Hysteretic for all penalties",
        "and run multiple seeds using beta that yields the best performance",
        817,
        VISIBLE,
        SHARED,
        one_weight=True,
    ),
)

# Screened first; the others if there is time.
CORE = (
    *("separate-hidden", "shared-hidden", "shared-visible", "centred", "appendix-a", "time-limit-ends"),
    *("everyone-respawns", "value-trains-encoder", "same-context", "few-contexts"),
)
# Those that go on to ten fresh seeds: the decentralised default, and those under which most claims held in screening.
FINALISTS = ("separate-hidden", "shared-hidden", "shared-visible", "appendix-a")


def reading_of(name: str) -> PaperReading:
    """The reading of a name."""
    [found] = [reading for reading in READINGS if reading.name == name]
    return found


def list_of_readings() -> str:
    """Every reading with its settings and the words that it rests on, as Markdown."""
    rows = []
    for reading in READINGS:
        settings = {**reading.environment, **reading.training, **reading.dac}
        named = ", ".join(f"`{key}` {str(value).lower()}" for key, value in settings.items()) or "the defaults"
        rows.append([f"`{reading.name}`", reading.words, named, f'"{reading.quote}" ({reading.line})'])
    return markdown_table(["reading", "what it is", "settings", "rests on (line of the paper's source)"], rows)
