"""Run directories on disk: written so that a crash does no harm, read without running anything in them."""

from decentral.records.run_directory import RunDirectory, next_free

__all__ = ["RunDirectory", "next_free"]
