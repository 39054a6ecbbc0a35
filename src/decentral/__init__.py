"""decentral: fully decentralised cooperative multi-agent reinforcement learning."""

from decentral.api import Comparison, Run, compare, compare_runs, load, train
from decentral.settings import Refused

__all__ = ["Comparison", "Refused", "Run", "compare", "compare_runs", "load", "train"]
