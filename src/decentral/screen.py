"""The screen for tables, bars and coloured lines. With `terminal`, the only way to write to a terminal."""

from typing import Any

from rich.console import Console
from rich.text import Text

from decentral.errors import printable


class Screen(Console):
    """A console that shows every text literally: control characters, `[markup]` and `:names:` have no effect.

    Styled text is passed as a `Text` that holds only this program's own words or `printable` ones.
    """

    def __init__(self, **options: Any):
        Console.__init__(self, markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return Console.render_str(self, printable(text), **options)

    def say(self, line: str) -> None:
        """A line of any length, which the terminal may wrap."""
        self.print(line, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Let the command end as it does for any other line that nobody reads, and not by an exit of the console's."""
        raise BrokenPipeError
