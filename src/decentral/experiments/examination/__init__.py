"""A world, examined: it is played at random, and what it tells is judged rule by rule, in plain words."""

from decentral.experiments.examination.examination import examine
from decentral.experiments.examination.findings import Finding

__all__ = ["Finding", "examine"]
