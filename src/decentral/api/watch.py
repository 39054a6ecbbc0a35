"""Episodes of trained teams, to look at."""

from dataclasses import dataclass
from pathlib import Path

from decentral.analysis.results import labels
from decentral.api.arguments import EnvironmentRequest, check_whole, name_and_settings
from decentral.api.places import PathLike, place_for
from decentral.api.train import Run
from decentral.configs.registry import take_names
from decentral.inspection.films import film
from decentral.notebook import escaped, picture_html
from decentral.pictures import Film
from decentral.runs.trained import Trained
from decentral.settings import Refused


@dataclass(frozen=True, repr=False)
class Animation:
    """Films of one or two runs, and the page and the GIF that show them."""

    films: list[Film]
    page: Path
    gif: Path

    def __repr__(self) -> str:
        return f"Animation({str(self.page)!r})"

    def _repr_html_(self) -> str:
        """The animated picture; the page, in which one can stop and look closer, is named below it."""
        titles = " and ".join(film.title for film in self.films)
        page = f"<div><small>{escaped(self.page)}</small></div>"
        return f"<div><div><b>{escaped(titles)}</b></div>{picture_html(self.gif, titles)}{page}</div>"


def watch(
    run: PathLike,
    beside: PathLike | None = None,
    /,
    *,
    seed: int | None = None,
    episode: int = 0,
    out: PathLike | None = None,
    environment: EnvironmentRequest = None,
    algorithm: str | None = None,
) -> Animation:
    """Film a greedy episode of a trained team, and of a second run's team beside it, as an HTML page and as a GIF.

    `seed` is one of the run's, the first unless told otherwise. `episode` is one of the 32 that `evaluate` plays by
    default. `environment`: other settings of it, as for `evaluate`. Where it or the algorithm is code of yours, name
    it again. Without `out`: the directory `watch` of the run; for two runs, or with other settings, a new directory
    under `runs`.
    """
    from decentral.analysis.animation.gif import write_gif
    from decentral.analysis.animation.html import write_page

    check_whole(seed=seed, episode=episode)
    name, settings = name_and_settings(environment)
    take_names(name, algorithm)
    runs = [Run(path) for path in (run, beside) if path is not None]
    names = labels([opened.curves for opened in runs])
    teams = [Trained.load(opened.directory) for opened in runs]
    if settings:
        teams = [team.elsewhere(settings) for team in teams]
        names = [", ".join([label, *(f"{key}={value!s:.40}" for key, value in settings.items())]) for label in names]
    seeds = [team.seeds[0] if seed is None else seed for team in teams]
    films = [film(team, name, team_seed, episode) for team, name, team_seed in zip(teams, names, seeds, strict=True)]
    at_home = out is None and beside is None and not settings
    place = runs[0].path / "watch" if at_home else place_for(out, "watch")
    title = f"seed-{'-'.join(map(str, dict.fromkeys(seeds)))}-episode-{episode}"
    animation = Animation(films, place / f"{title}.html", place / f"{title}.gif")
    try:
        place.mkdir(parents=True, exist_ok=True)
        write_page(films, animation.page)
        write_gif(films, animation.gif)
    except OSError as error:
        raise Refused(f"out must be a directory that can be written, got {place} ({error.strerror})") from None
    return animation
