"""How a request ends that can't be met, or that a world outside of this program broke: in one line."""


class Refused(ValueError):
    """A request that can't be met, said in one line: the key, the value and what is allowed."""


class Failed(RuntimeError):
    """A request that was fine, but a world outside of this program broke, said in one line: which, when and how."""
