"""DAC. The paper's method is `dac.py` with `context_model.py` and `settings.py`, and can be read by itself.

`extensions.py` (with `attainable.py` and `adaptive_window.py`) and `controls.py` replace single steps of it. The name
"dac" stands for the class that offers them all, `FullDAC`; by default all are off.
"""

from decentral.algorithms.dac.controls import FullDAC
from decentral.algorithms.dac.dac import DAC, DACModels

__all__ = ["DAC", "DACModels", "FullDAC"]
