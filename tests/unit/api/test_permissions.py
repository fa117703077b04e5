"""The permission table lists every rpc and says what the public contract says."""

from __future__ import annotations

import re

import api_descriptors as api
import pytest
from api_server import methods

from gatekeeper.api.permissions import RULES, require_role
from gatekeeper.domain.principal import Caller, Principal, Role
from gatekeeper.errors import RequestRefused

RPCS = {r.name: r for r in api.rpcs()}


def caller(kind: str, *roles: Role) -> Caller:
    return Caller(Principal("gatekeeper", "somebody", kind), frozenset(roles))


def test_every_rpc_is_listed_and_nothing_else():
    assert set(RULES) == set(RPCS) == set(methods())


@pytest.mark.parametrize("name", sorted(RPCS))
def test_roles_are_those_of_the_contract(name: str):
    assert {r.value for r in RULES[name].roles} == set(
        re.findall(r"[a-z]+(?=[,.]| or |$)", RPCS[name].line("Role"))
    ) - {"or"}


@pytest.mark.parametrize("name", sorted(RPCS))
def test_sizes_are_those_of_the_contract(name: str):
    limits = RPCS[name].line("Limits")
    said = re.search(r"(?:request|chunk) ([0-9.]+) (KiB|MiB)", limits)
    assert said, limits
    size = float(said[1]) * (1024 if said[2] == "KiB" else 1024 * 1024)
    framing = 64 if name == "ArtifactService.UploadArtifact" else 0
    assert RULES[name].max_request == size + framing


@pytest.mark.parametrize("name", sorted(RULES))
@pytest.mark.parametrize("role", list(Role))
def test_a_person_with_a_role_gets_in_exactly_where_the_table_says(name: str, role: Role):
    if role in RULES[name].roles:
        require_role(name, caller("human", role))
    else:
        with pytest.raises(RequestRefused) as refused:
            require_role(name, caller("human", role))
        assert refused.value.code == "ROLE_REQUIRED"


@pytest.mark.parametrize("name", sorted(n for n, r in RULES.items() if Role.REVIEWER in r.roles and len(r.roles) < 4))
def test_the_reviewer_role_of_a_program_counts_for_nothing(name: str):
    with pytest.raises(RequestRefused) as refused:
        require_role(name, caller("service", Role.REVIEWER))
    assert refused.value.code == ("HUMAN_REQUIRED" if len(RULES[name].roles) == 1 else "ROLE_REQUIRED")


def test_no_role_opens_nothing():
    for name in RULES:
        with pytest.raises(RequestRefused):
            require_role(name, caller("human"))
