"""Arguments that several verbs take: names and settings, a run on disk, listeners."""

from collections.abc import Sequence
from typing import Any

from decentral.api.places import PathLike
from decentral.configs.config import Config, MemberRequest, resolve
from decentral.configs.config_file import FileSettings, read_config_file
from decentral.configs.registry import recorded_algorithm, take_names
from decentral.environments.base import BaseEnvironment
from decentral.environments.host.checks import build_environment
from decentral.environments.registry import environment_class, recorded_class
from decentral.errors import Refused
from decentral.plain_files import as_path
from decentral.records import RunDirectory
from decentral.runs.listeners.base import Listener
from decentral.runs.listeners.progress import watcher
from decentral.runs.listeners.trackers import trackings

TeamRequest = str | Sequence[MemberRequest]  # one algorithm for all, or what is asked of each agent
EnvironmentRequest = str | dict[str, Any] | None  # of a run: its name, other settings of it, or both as in config.json


def name_and_settings(environment: EnvironmentRequest) -> tuple[str | None, dict[str, Any]]:
    """The name of a run's environment, if it is given again, and the settings in which it is to differ."""
    settings = dict(environment) if isinstance(environment, dict) else {"name": environment}
    name = settings.pop("name", None)
    if name is not None and not isinstance(name, str):
        raise Refused(f"environment must be a name, or an object of settings, got {name!r:.80}")
    return name, settings


def open_run(run: PathLike, environment: str | None, algorithm: str | None) -> RunDirectory:
    """A run on disk, once the code is imported that the caller has named of it again, if any."""
    take_names(environment, algorithm)
    return RunDirectory.open(as_path("run", run))


def environment_of(
    environment: str | type[BaseEnvironment], settings: dict[str, Any] | None
) -> tuple[str, BaseEnvironment]:
    """An environment that is given by its name or as a class, with what it is called."""
    if isinstance(environment, str):
        return environment, build_environment(environment_class(environment), settings or {}, environment)
    if not (isinstance(environment, type) and issubclass(environment, BaseEnvironment)):
        raise Refused(f"environment must be a name or a class of environments, got {environment!r:.80}")
    name = f"python:{environment.__module__}:{environment.__qualname__}"
    return name, build_environment(environment, settings or {}, name)


def check_whole(**numbers: Any) -> None:
    """Refuse what is no whole number, by its word; `None` is the default of some."""
    for word, number in numbers.items():
        if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
            raise Refused(f"{word} must be a whole number, got {number!r:.40}")


def check_objects(groups: dict[str, Any]) -> None:
    """Refuse settings that are no object of them, by their group."""
    for group, settings in groups.items():
        if settings is not None and not isinstance(settings, dict):
            raise Refused(f"{group} must be an object of settings, got {settings!r:.80}")


def plan_of(training: dict[str, Any] | None, **short: Any) -> dict[str, Any]:
    """The plan of a training run, with its short words: `seeds`, `steps`, `seed`, `workers`, `devices`."""
    return (training or {}) | {key: value for key, value in short.items() if value is not None}


def file_settings_of(config: PathLike | None, verb: str) -> FileSettings:
    """What a configuration file asks of a verb; nothing where there is none."""
    if config is None:
        return FileSettings()
    file = as_path("config", config)
    file_settings = read_config_file(file)
    file_settings.check_groups(verb, file)
    return file_settings


def resolved(
    team: TeamRequest | None, environment_name: str | None, groups: dict[str, Any], file_settings: FileSettings
) -> Config:
    """The configuration of a run: what the caller says goes over what a file says, and that over presets.

    `groups` are the settings of `algorithm`, `environment` and `training`. No file decides what code is run.
    """
    if team is None:
        team = _team_of(file_settings)
    if environment_name is None:
        environment_name = file_settings.name("environment")
        recorded_class(_given("environment", environment_name))
    check_objects(groups)
    every = (
        file_settings.settings(group) | (groups[group] or {}) for group in ("algorithm", "environment", "training")
    )
    return resolve(team, environment_name, *every)


def _team_of(file_settings: FileSettings) -> TeamRequest:
    if file_settings.agents is None:
        name = _given("algorithm", file_settings.name("algorithm"))
        recorded_algorithm(name)
        return name
    for member in file_settings.agents:
        name = member if isinstance(member, str) else member["name"]
        if not name.startswith("frozen:"):
            recorded_algorithm(name)
    return file_settings.agents


def _given(group: str, name: Any) -> Any:
    if name is None:
        raise Refused(f"{group} must be named, or config must be a file that names it, got none")
    return name


def listeners_of(progress: bool, track: Sequence[str]) -> list[Listener]:
    """The listeners of a run: the progress bar, and the trackers of these names."""
    return [*([watcher()] if progress else []), *trackings(track)]
