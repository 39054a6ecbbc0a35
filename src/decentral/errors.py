"""Exceptions that end a request with one line: it can't be met, other code failed, or it was asked to stop."""

import difflib
import os
import shlex
import string
import traceback
import unicodedata
from collections.abc import Iterable
from pathlib import Path

LONGEST_WORD = 500  # characters of a word in a refusal: longer ones are cut
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # categories of characters that move a cursor, or colour, turn or hide text
LONGEST_VALUE = 40  # characters of a value
LONGEST_REASON = 300  # characters of what an exception says
PLAIN = {*string.ascii_letters, *string.digits, *"/._-"}  # what a shell takes as it is
LAYOUT = {"\n", "\t"}


class Refused(ValueError):
    """A request that can't be met, said in one line: the key, the value and what is allowed."""


class Failed(RuntimeError):
    """A request that was fine, but an environment broke: one line says which, when and how."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suggestion for an unknown word, as part of a refusal; empty if no known word is close."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" did you mean {near[0]}?" if near else ""


def brief(value: object) -> str:
    """A value in a refusal: the beginning, if it is long."""
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


def what_was_raised(error: BaseException) -> str:
    """An exception in one line, with the place where it was raised."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{words_of(error)} ({Path(frame.f_code.co_filename).name}, line {line})"


def words_of(error: BaseException | None) -> str:
    """The type and the message of an exception, in one line."""
    try:
        words = f"{type(error).__name__}: {error}".removesuffix(": ")
    except BaseException:  # its __str__ is somebody else's code too
        words = f"{type(error).__name__}, which can't be printed"
    return " ".join(words.split())[:LONGEST_REASON]


def in_one_line(message: str) -> str:
    """A message as it is printed: one line, long words cut, without terminal control characters."""
    words = map(printable, message.split())
    return " ".join(word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}..." for word in words)


def shell_words(words: Iterable[str]) -> str:
    """Words as a shell takes them, from a message that is printed in one line too."""
    return " ".join(map(_shell_word, words))


def _shell_word(word: str) -> str:
    if word.isprintable() and "  " not in word:
        return shlex.quote(word)
    octal = (chr(byte) if chr(byte) in PLAIN else f"\\{byte:03o}" for byte in os.fsencode(word))
    return f"$'{''.join(octal)}'"


def printable(text: str) -> str:
    """A text that is safe for a terminal: control characters are shown (`\\x1b`) and not sent. Lines stay lines.

    Anything from a file or from somebody else's code may hold some.
    """
    if text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character in LAYOUT or unicodedata.category(character) not in UNSEEN:
        return character
    return character.encode("unicode_escape").decode()


class DiskFull(Failed):
    """A run ended because the disk is full, and says how to resume once it is not."""

    def __init__(self, lack: str, how: str):
        super().__init__(f"{lack}; make room, then resume: {how}")
        self.lack = lack


class Interrupted(KeyboardInterrupt):
    """A run was asked to stop, has saved its state, and says how to resume."""

    def __init__(self, step: int, how: str):
        when = f"at step {step:,} and saved" if step else "before the first step"
        super().__init__(f"interrupted {when}; to resume: {how}")
        self.step = step
