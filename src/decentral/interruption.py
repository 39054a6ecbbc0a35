"""How a training that was asked to stop says so."""


class Interrupted(KeyboardInterrupt):
    """A training was asked to stop, has saved what there was to save, and says how to go on."""

    def __init__(self, step: int, how: str):
        when = f"at step {step:,} and saved" if step else "before the first step"
        super().__init__(f"interrupted {when}; to go on: {how}")
        self.step = step
