"""A repository whose source can never be fetched from is not registered."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from api_server import make_service
from service_acts import OPERATOR, code, request

from gatekeeper.domain.verdict import Mode
from gatekeeper.wiring import engines
from gatekeeper.workflow.service import repositories


def command(source: str) -> repositories.RegisterCommand:
    name = "owners/acme/repositories/shop"
    return repositories.RegisterCommand(
        name, source, "", "", ("refs/heads/main",), Mode.ENFORCED, accept_bundles=False, request=request()
    )


@pytest.fixture
def service(tmp_path: Path):
    made = make_service(tmp_path / "state", require_source=partial(engines.require_source, remotes=None))
    yield made
    made.records.close()


def test_a_directory_that_is_not_there_or_no_repository_is_refused(service, tmp_path, make_repo):
    (tmp_path / "empty").mkdir()
    for source in ((tmp_path / "gone").as_uri(), (tmp_path / "empty").as_uri(), "ftp://gate.example/x.git"):
        assert code(repositories.register, service, OPERATOR, command(source)) == "INPUT_MALFORMED"
    with service.records.reading() as tx:
        assert tx.repository("owners/acme/repositories/shop") is None
    source = make_repo().path.as_uri()
    assert repositories.register(service, OPERATOR, command(source)).source_uri == source
