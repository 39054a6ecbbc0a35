"""What is right and what is wrong with an environment."""

from dataclasses import dataclass
from typing import Any

from decentral.api.arguments import check_whole, environment_of
from decentral.environments.base import BaseEnvironment
from decentral.notebook import table_html
from decentral.types import Continuous
from decentral.verification.environment_check.check import Finding, examine


@dataclass(frozen=True)
class EnvironmentCheck:
    """What was found of an environment, a finding for each rule."""

    name: str
    sizes: dict[str, int | dict[str, int]]  # by what they count; where agents differ, by agent
    findings: list[Finding]

    @property
    def wrong(self) -> list[Finding]:
        """What has to be mended."""
        return [finding for finding in self.findings if finding.verdict == "wrong"]

    def _repr_html_(self) -> str:
        rows = [(finding.rule, finding.verdict, finding.said) for finding in self.findings]
        sizes = ", ".join(f"{what} {size}" for what, size in self.sizes.items())
        return table_html(self.name, ("rule", "verdict", "finding"), rows, sizes, texts=3)


def check_env(
    environment_name: str | type[BaseEnvironment],
    /,
    *,
    environment: dict[str, Any] | None = None,
    episodes: int = 8,
    seed: int = 0,
) -> EnvironmentCheck:
    """Play random episodes of an environment, such as your own, and say in plain words what is right and wrong.

    It is given by its name or as a class; `environment` holds settings of it.
    """
    check_whole(episodes=episodes, seed=seed)
    name, built = environment_of(environment_name, environment)
    findings = examine(built, episodes, seed)
    return EnvironmentCheck(name, sizes_of(built), findings)


def sizes_of(environment: BaseEnvironment) -> dict[str, int | dict[str, int]]:
    """How many agents there are, and how much each observes and can do."""
    specs = environment.agent_specs
    observed = [spec.observation_size for spec in specs]
    counts = [spec.actions.count for spec in specs]
    acted = "numbers of an action" if isinstance(specs[0].actions, Continuous) else "actions"
    alike, names = len(set(zip(observed, counts, strict=True))) == 1, environment.agent_names
    each: dict[str, int | dict[str, int]] = (
        {"numbers observed by each": observed[0], acted: counts[0]}
        if alike
        else {
            "numbers observed by": dict(zip(names, observed, strict=True)),
            f"{acted} of": dict(zip(names, counts, strict=True)),
        }
    )
    return {"agents": environment.num_agents, **each, "time limit": environment.time_limit}
