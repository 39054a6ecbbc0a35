"""How a training that was asked to stop says so."""


class Interrupted(KeyboardInterrupt):
    """A training was asked to stop, has saved where it was, and says how to go on."""
