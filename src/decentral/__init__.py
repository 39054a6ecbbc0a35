"""decentral: fully decentralised cooperative multi-agent reinforcement learning."""

from decentral.api import Comparison, Meeting, Run, compare, compare_runs, crossplay, load, train
from decentral.settings import Refused

__all__ = ["Comparison", "Meeting", "Refused", "Run", "compare", "compare_runs", "crossplay", "load", "train"]
