"""The same from Python: one function for each command, with the same words and the same defaults.

`run = decentral.train("dac", "matrix-game", seeds=5)`. What draws is imported where it is called: matplotlib takes long
to import, and training needs none of it.
"""

import warnings
from typing import Any

from decentral.api.arena import arena
from decentral.api.audit import Audit, MessageAudit, audit
from decentral.api.bench import Bench, bench
from decentral.api.callbacks import Callback
from decentral.api.check_battles import BattleCheck, check_battles, record_battles
from decentral.api.check_env import EnvironmentCheck, check_env
from decentral.api.compare import Comparison, compare, compare_runs
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
from decentral.api.sweep import FileSweep, Sweep, sweep, sweep_file, sweep_status
from decentral.api.train import Run, load, train
from decentral.api.trust import Trusted, trust, trusted, untrust
from decentral.api.values import ValueTable, values
from decentral.api.verify import Verification, verify
from decentral.api.watch import Animation, watch

__all__ = [
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
    "FileSweep",
    "Listing",
    "MessageAudit",
    "MetricsTable",
    "Probe",
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

RENAMED = {"Meeting": "CrossPlay", "Showing": "Animation"}  # the old names go with the next version


def __getattr__(name: str) -> Any:
    """What a name of the last version means now."""
    if name not in RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(f"{name} is called {RENAMED[name]} now", DeprecationWarning, stacklevel=2)
    return globals()[RENAMED[name]]
