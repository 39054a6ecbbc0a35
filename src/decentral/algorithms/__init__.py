"""Algorithms, by name. Each is a frozen module of hyper-parameters that answers for one agent."""

from decentral.algorithms.base import Algorithm
from decentral.algorithms.dac import DAC
from decentral.algorithms.iql import IQL

ALGORITHMS: dict[str, type[Algorithm]] = {"iql": IQL, "dac": DAC}
