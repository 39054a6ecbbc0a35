"""What `package.module:name` stands for: code that the user names, imported when it is asked for."""

import importlib
import os
import re
import sys
from typing import Any

from decentral.environments.foreign import kept_in
from decentral.refusal import Failed, Refused, words_of


def imported(place: str, asked: str, what: str = "environment") -> Any:
    """The object at a place of Python's modules; those of the working directory are found too.

    `asked` is what the user wrote, and `what` it should be, for the line that says what is wrong with it.
    """
    if not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", place):
        raise Refused(f"{what} must name its code as package.module:name, got {asked!r:.120}")
    module_name, name = place.split(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        with kept_in("it", "when run"):
            module = importlib.import_module(module_name)
    except Failed as failure:
        why = words_of(failure.__cause__ or failure)
        raise Refused(f"{what} {asked}: the module {module_name} can't be imported ({why})") from failure
    try:
        return getattr(module, name)
    except AttributeError:
        raise Refused(f"{what} {asked}: the module {module_name} has no {name}") from None
