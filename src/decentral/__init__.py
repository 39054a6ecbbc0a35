"""decentral: fully decentralised cooperative multi-agent reinforcement learning."""

from decentral.api import Run, load, train
from decentral.settings import Refused

__all__ = ["Refused", "Run", "load", "train"]
