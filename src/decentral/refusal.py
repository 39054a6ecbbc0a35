"""How a request that can't be met is refused."""


class Refused(ValueError):
    """A request that can't be met, said in one line: the key, the value and what is allowed."""
