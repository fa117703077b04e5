"""A server that hostile clients meet, with something in it to lose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import (
    REPOSITORY,
    Running,
    add_people,
    approved_ticket,
    make_service,
    register,
    running,
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("gate")
    service = make_service(folder)
    add_people(service)
    with running(service) as found:
        register(found)
        approved_ticket(found)
        assert REPOSITORY
        yield found
