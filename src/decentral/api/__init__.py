"""The same from Python: one function for each command, with the same words and the same defaults.

`run = decentral.train("dac", "matrix-game", seeds=5)`. A verb's file is imported when the verb is first named: JAX
takes seconds to import, and a list of runs needs none of it. What draws is imported where it is called: matplotlib
takes long too.
"""

import importlib
import sys
import types
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

FILES: dict[str, tuple[str, ...]] = {
    "arena": ("arena",),
    "audit": ("Audit", "MessageAudit", "audit"),
    "bench": ("Bench", "bench"),
    "callbacks": ("Callback",),
    "check_battles": ("BattleCheck", "check_battles", "record_battles"),
    "check_env": ("EnvironmentCheck", "check_env"),
    "compare": ("compare",),
    "compare_runs": ("Comparison", "compare_runs"),
    "compare_suite": ("SuiteComparison", "compare_suite", "suite_tasks"),
    "crossplay": ("CrossPlay", "crossplay"),
    "evaluate": ("Evaluation", "evaluate"),
    "export": ("Bundle", "export"),
    "export_results": ("export_results",),
    "list_runs": ("RunStatus", "list_runs"),
    "listing": ("Listing", "listing"),
    "metrics": ("MetricsTable",),
    "oracle": ("ExactReturns", "oracle"),
    "pettingzoo": ("pettingzoo",),
    "plot": ("plot",),
    "probe": ("Probe", "probe"),
    "report": ("report",),
    "reproduce": ("Claims", "Reproduction", "Worklist", "claims", "collect", "redraw", "reproduce", "worklist"),
    "resume": ("resume",),
    "rollout": ("AgentRollout", "Rollout", "rollout"),
    "search": ("Search", "search"),
    "show": ("show",),
    "sweep": ("Sweep", "sweep"),
    "sweep_file": ("sweep_file",),
    "sweep_status": ("FileSweep", "sweep_status"),
    "train": ("Run", "load", "train"),
    "trust": ("Trusted", "trust", "trusted", "untrust"),
    "values": ("ValueTable", "values"),
    "verify": ("Verification", "verify"),
    "watch": ("Animation", "watch"),
}
HOMES = {name: file for file, names in FILES.items() for name in names}
RENAMED = {"Meeting": "CrossPlay", "Showing": "Animation"}  # the old names go with the next version


def __getattr__(name: str) -> Any:
    """A verb, from its file; or what a name of the last version means now."""
    if name in RENAMED:
        warnings.warn(f"{name} is called {RENAMED[name]} now", DeprecationWarning, stacklevel=2)
        name = RENAMED[name]
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{HOMES[name]}"), name)


class Door(types.ModuleType):
    """This package, in which a file does not hide the verb of the same name once it has been imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in HOMES and isinstance(value, types.ModuleType)):
            types.ModuleType.__setattr__(self, name, value)


sys.modules[__name__].__class__ = Door
