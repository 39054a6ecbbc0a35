"""decentral: fully decentralised cooperative multi-agent reinforcement learning."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decentral.agents import Agent
    from decentral.api.arena import arena
    from decentral.api.audit import Audit, MessageAudit, audit
    from decentral.api.bench import Bench, bench
    from decentral.api.callbacks import Callback
    from decentral.api.check_battles import BattleCheck, check_battles, record_battles
    from decentral.api.check_env import EnvironmentCheck, check_env
    from decentral.api.compare import compare
    from decentral.api.compare_runs import Comparison, compare_runs
    from decentral.api.compare_suite import SuiteComparison, compare_suite, suite_tasks
    from decentral.api.crossplay import CrossPlay, crossplay
    from decentral.api.evaluate import Evaluation, evaluate
    from decentral.api.export import Bundle, export
    from decentral.api.export_results import export_results
    from decentral.api.list_runs import RunStatus, list_runs
    from decentral.api.listing import Listing, listing
    from decentral.api.metrics import MetricsTable
    from decentral.api.oracle import ExactReturns, oracle
    from decentral.api.pettingzoo import pettingzoo
    from decentral.api.plot import plot
    from decentral.api.probe import Probe, probe
    from decentral.api.report import report
    from decentral.api.reproduce import Claims, Reproduction, Worklist, claims, collect, redraw, reproduce, worklist
    from decentral.api.resume import resume
    from decentral.api.rollout import AgentRollout, Rollout, rollout
    from decentral.api.search import Search, search
    from decentral.api.show import show
    from decentral.api.sweep import Sweep, sweep
    from decentral.api.sweep_file import sweep_file
    from decentral.api.sweep_status import FileSweep, sweep_status
    from decentral.api.train import Run, load, train
    from decentral.api.trust import Trusted, trust, trusted, untrust
    from decentral.api.values import ValueTable, values
    from decentral.api.verify import Verification, verify
    from decentral.api.watch import Animation, watch
    from decentral.errors import Failed, Refused

__all__ = [
    "Agent",
    "AgentRollout",
    "Animation",
    "Audit",
    "BattleCheck",
    "Bench",
    "Bundle",
    "Callback",
    "Claims",
    "Comparison",
    "CrossPlay",
    "EnvironmentCheck",
    "Evaluation",
    "ExactReturns",
    "Failed",
    "FileSweep",
    "Listing",
    "MessageAudit",
    "MetricsTable",
    "Probe",
    "Refused",
    "Reproduction",
    "Rollout",
    "Run",
    "RunStatus",
    "Search",
    "SuiteComparison",
    "Sweep",
    "Trusted",
    "ValueTable",
    "Verification",
    "Worklist",
    "arena",
    "audit",
    "bench",
    "check_battles",
    "check_env",
    "claims",
    "collect",
    "compare",
    "compare_runs",
    "compare_suite",
    "crossplay",
    "evaluate",
    "export",
    "export_results",
    "list_runs",
    "listing",
    "load",
    "oracle",
    "pettingzoo",
    "plot",
    "probe",
    "record_battles",
    "redraw",
    "report",
    "reproduce",
    "resume",
    "rollout",
    "search",
    "show",
    "suite_tasks",
    "sweep",
    "sweep_file",
    "sweep_status",
    "train",
    "trust",
    "trusted",
    "untrust",
    "values",
    "verify",
    "watch",
    "worklist",
]

_HOMES = {"Agent": "decentral.agents", "Failed": "decentral.errors", "Refused": "decentral.errors"}
_OLD_NAMES = ("Meeting", "Showing")


def __getattr__(name: str) -> Any:
    """A public name, imported on first use: the command line's help needs none of them."""
    if name == "__version__":
        return _version()
    if name not in __all__ and name not in _OLD_NAMES:
        raise AttributeError(f"module 'decentral' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, "decentral.api")), name)


def _version() -> str:
    """The version of the installed package; pyproject.toml is the only place that sets it."""
    from importlib.metadata import PackageNotFoundError, version  # only here: the help must not wait for it

    try:
        return version("decentral")
    except PackageNotFoundError:  # bare sources on the path
        return "unknown"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
