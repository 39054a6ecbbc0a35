"""How a training that was asked to stop says so."""


class Interrupted(KeyboardInterrupt):
    """A training was asked to stop, has saved where it was, and says how to go on."""

    def __init__(self, step: int, how: str):
        super().__init__(f"interrupted at step {step:,} and saved; to go on: {how}")
        self.step = step
