"""How the tests are shared out."""

import os

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="all tests run in one process")
def test_one_worker_runs_a_file(request):
    """Else every worker compiles the programs of every file, and nothing but the time says so."""
    assert request.node.nodeid.endswith("@tests/test_workers.py")
