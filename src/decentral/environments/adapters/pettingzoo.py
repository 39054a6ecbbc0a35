"""Any parallel environment of PettingZoo: `pettingzoo:package.module:factory`.

Agents whose observations or actions are fewer than others' have them padded with zeros, and the actions that they lack
are never available. An agent that has left perceives zeros and can do nothing but the first action, which is not sent;
of continuous actions it has none. Actions in a `Box` are numbers from -1 to 1 here, which are scaled to its bounds.
"""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Literal

from decentral.environments.adapters.infos import info_names
from decentral.environments.adapters.pettingzoo_stage import PettingZooSizes, PettingZooStage
from decentral.environments.adapters.rewards import Rewards, TeamReturn, check_result, team_return_in_words
from decentral.environments.base import AgentSpaces
from decentral.environments.host.interface import HostEnvironment, Stage
from decentral.environments.host.user_code import errors_as_failures, imported
from decentral.errors import Failed, Refused, words_of
from decentral.settings import setting
from decentral.types import AgentSpec

Factory = Callable[..., Any]
RENDERED = "rgb_array"  # the mode in which environments give images


class PettingZoo(HostEnvironment):
    """A parallel environment of PettingZoo."""

    time_limit: int = setting(100, "steps after which an episode is cut off, unless it ends before", at_least=1)
    may_end_early: bool = setting(True, "can an episode end before the time limit? (false saves compiling)")
    rewards: Rewards = setting(
        "shared", "what agents learn from: the reward that all are given, the sum or mean of theirs, or each its own"
    )
    result: TeamReturn = setting("mean", "with rewards own: the team's return in tests, of the agents' own")
    infos: str = setting("", "entries of the infos that tests report as means, with commas between them: success,time")

    images: Literal["convolutional", "flat"] = setting(
        "convolutional", "how observations that are images (uint8, rank 3) are read: by convolutions, or as numbers"
    )

    address: ClassVar[str]
    factory: ClassVar[Factory]
    sizes: ClassVar[PettingZooSizes]

    @property
    def fact_names(self) -> tuple[str, ...]:
        return info_names(self.infos)

    @property
    def reports(self) -> dict[str, str]:
        return {name: name for name in self.fact_names}

    @property
    def num_agents(self) -> int:
        return len(self.sizes.names)

    @property
    def spec(self) -> AgentSpec:
        return AgentSpec(self.sizes.features, self.sizes.kind, self.image)

    @property
    def image(self) -> tuple[int, int, int] | None:
        """The shape of the image that every agent observes; none if they observe anything else."""
        return self.sizes.image if self.images == "convolutional" else None

    @property
    def agent_specs(self) -> tuple[AgentSpec, ...]:
        pairs = zip(self.sizes.observations, self.sizes.actions, strict=True)
        return tuple(AgentSpec(observed.size, actions.kind, self.image) for observed, actions in pairs)

    @property
    def agent_names(self) -> tuple[str, ...]:
        return tuple(map(str, self.sizes.names))

    @property
    def has_own_rewards(self) -> bool:
        return self.rewards == "own"

    @property
    def team_return(self) -> str:
        return team_return_in_words(self.rewards, self.result)

    def check_together(self) -> None:
        info_names(self.infos)
        check_result(self.rewards, self.result)

    def agent_spaces(self, place: int) -> AgentSpaces:
        sizes, spec = self.sizes, self.agent_specs[place]
        labels = sizes.observation_names[place], sizes.action_names[place]
        own = sizes.actions[place]
        return AgentSpaces(self.agent_names[place], spec, *labels, own.first, own.bounds)

    def open(self) -> Stage:
        return self._stage(type(self).factory())

    def open_rendered(self) -> Stage:
        make = type(self).factory
        return self._stage(make(render_mode=RENDERED) if takes_render_mode(make) else make())

    def _stage(self, environment: Any) -> Stage:
        return PettingZooStage(environment, self.sizes, self.rewards, self.result, self.fact_names)


def takes_render_mode(make: Factory) -> bool:
    """Can a factory be asked for an environment that gives images?"""
    try:
        parameters = inspect.signature(make).parameters
    except (TypeError, ValueError):  # code that is not Python's
        return False
    return "render_mode" in parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values())


@cache
def pettingzoo_environment(place: str) -> type[PettingZoo]:
    """The environment that a factory makes. It is made once to see its sizes."""
    name = f"pettingzoo:{place}"
    make = imported(place, name)
    if not callable(make):
        raise Refused(f"environment {name} must name a function that makes an environment, got {make!r:.80}")
    return made_by(make, name)[0]


def made_by(
    make: Factory, name: str, ask: Callable[[Any], Any] = lambda environment: None
) -> tuple[type[PettingZoo], Any]:
    """The class of what a factory makes, and what `ask` wants to know of it."""
    try:
        with errors_as_failures("it", "when made"):
            environment = make()
    except Failed as failure:
        raise Refused(f"environment {name} can't be made ({words_of(failure.__cause__ or failure)})") from failure
    with errors_as_failures(name, "when asked for its spaces"):
        read_sizes, answer = PettingZooSizes.of(environment, name), ask(environment)
    with errors_as_failures(name, "when closed"):
        environment.close()

    class MadeByPettingZoo(PettingZoo):
        """A parallel environment of PettingZoo."""

        address: ClassVar[str] = name
        factory: ClassVar[Factory] = staticmethod(make)
        sizes: ClassVar[PettingZooSizes] = read_sizes

    return MadeByPettingZoo, answer
