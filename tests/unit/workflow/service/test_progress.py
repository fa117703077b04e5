"""What watchers hear of how far a verification is, also when the work is told once more after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import make_service
from service_acts import set_up, submit, verification

from gatekeeper.workflow.service.service import Service
from gatekeeper.workflow.service.verification_run import progress


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = make_service(tmp_path)
    set_up(made)
    yield made
    made.records.close()


def counted(service: Service, name: str) -> tuple[int, int]:
    record = verification(service, name)
    return record.runs_done, record.runs_planned


def test_runs_and_controls_add_up(service: Service) -> None:
    name = submit(service).name
    progress(service, name, "RUNNING", {"runs": 2})
    progress(service, name, "RAN", {"ended": 1})
    assert counted(service, name) == (1, 2)
    progress(service, name, "RAN", {"ended": 1})
    progress(service, name, "CONTROL", {"runs": 3})
    progress(service, name, "RAN", {"ended": 1})
    assert counted(service, name) == (3, 5)


def test_after_a_restart_runs_are_not_counted_twice(service: Service) -> None:
    name = submit(service).name
    for _ in range(2):  # the work goes through its steps again; those that were done before answer at once
        progress(service, name, "RUNNING", {"runs": 2})
        assert counted(service, name) == (0, 2)
        progress(service, name, "RAN", {"ended": 1})
        progress(service, name, "RAN", {"ended": 1})
        progress(service, name, "CONTROL", {"runs": 1})
    assert counted(service, name) == (2, 3)
