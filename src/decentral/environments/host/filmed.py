"""A stage of a host environment that is filmed: what it renders after a reset and after every step, as pictures."""

import io
from typing import Any

import numpy as np

from decentral.environments.host.checks import CheckedStage, brief_text
from decentral.environments.host.interface import BrokenOff, HostEnvironment, Percepts, Stage, Step
from decentral.errors import Failed, Refused
from decentral.pictures import Picture

SHOWN_SIDE = 480  # pixels of the longer side of an image, as it is kept
LONGEST_SIDE = 4096  # of an image that is accepted
SHADES = 256  # colours of an image
NOTHING = "it renders no images (render_mode rgb_array)"


class FilmedStage(Stage):
    """A stage, and a picture of each moment of its last episode.

    What can't be rendered is no reason not to play: `trouble` then says why there are no pictures.
    """

    def __init__(self, environment: HostEnvironment):
        self.pictures: list[Picture] = []
        self.trouble = ""
        try:
            self.stage = CheckedStage(environment, rendered=True)
        except (Refused, Failed) as trouble:
            self.trouble = str(trouble)
            self.stage = CheckedStage(environment)

    def reset(self, seed: int) -> Percepts:
        percepts = self.stage.reset(seed)
        self.pictures.clear()
        self._take_picture()
        return percepts

    def step(self, actions: np.ndarray) -> Step:
        step = self.stage.step(actions)
        self._take_picture()
        return step

    def close(self) -> None:
        self.stage.close()

    def _take_picture(self) -> None:
        if self.trouble:
            return
        try:
            rendered = self.stage.render()
            if rendered is None:
                self.trouble = NOTHING
            else:
                self.pictures.append(rendered if isinstance(rendered, Picture) else picture_of_image(rendered))
        except (Refused, Failed, BrokenOff) as trouble:
            self.trouble = str(trouble)


def picture_of_image(pixels: Any) -> Picture:
    """A picture that is an image [height, width, 3 or 4] of bytes, made smaller if it is large."""
    from PIL import Image  # takes a while, and training needs none of it

    sound = isinstance(pixels, np.ndarray) and pixels.dtype == np.uint8 and pixels.ndim == 3
    if not sound or pixels.shape[2] not in (3, 4) or not 0 < min(pixels.shape) <= max(pixels.shape) <= LONGEST_SIDE:
        got = f"{pixels.dtype} of the shape {pixels.shape}" if isinstance(pixels, np.ndarray) else brief_text(pixels)
        raise Refused(f"a rendered image must be bytes of the shape (height, width, 3), got {got}")
    image = Image.fromarray(np.ascontiguousarray(pixels[..., :3]))
    image.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    file = io.BytesIO()
    image.quantize(SHADES, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return Picture(image.width, image.height, image=file.getvalue())
