"""Simulated battles against recorded ones: what agrees, what differs, and which settings fit the recording."""

from decentral.verification.battle_check.check import Check, fitting_values, variants
from decentral.verification.battle_check.episodes import episodes_of
from decentral.verification.battle_check.live import record
from decentral.verification.battle_check.recording import GameRecording, check_new, read_recording, write_recording

__all__ = [
    "Check",
    "GameRecording",
    "check_new",
    "episodes_of",
    "fitting_values",
    "read_recording",
    "record",
    "variants",
    "write_recording",
]
