"""The screen on which tables, bars and coloured lines are shown. With `terminal` the one way out to a terminal."""

from typing import Any

from rich.console import Console
from rich.text import Text

from decentral.errors import printable


class Screen(Console):
    """A console that shows every text as it is: control characters, `[markup]` and `:names:` of it are no orders.

    What is to be styled is given as a `Text`, of words of this program alone or of `printable` ones.
    """

    def __init__(self, **options: Any):
        Console.__init__(self, markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return Console.render_str(self, printable(text), **options)

    def say(self, line: str) -> None:
        """A line of any length, which the terminal may wrap."""
        self.print(line, soft_wrap=True)
