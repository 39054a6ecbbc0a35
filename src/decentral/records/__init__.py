"""Run directories on disk: written so that a crash harms nothing, read so that nothing in them runs."""

from decentral.records.run_directory import RunDirectory, next_free

__all__ = ["RunDirectory", "next_free"]
