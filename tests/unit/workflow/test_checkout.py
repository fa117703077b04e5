"""Checkout: what of a submission reaches git."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_ports import World, ticket

from gatekeeper.domain.submission import Submission
from gatekeeper.workflow.steps import checkout


@pytest.mark.parametrize("bundle", [None, "/artifacts/1.bundle"])
def test_the_bundle_is_handed_to_git_beside_the_registered_source(bundle: str | None) -> None:
    world = World()
    seen = []
    fetch = world.git.fetch

    def record(*args: str | None):
        seen.append(args)
        return fetch(*args)

    world.git.fetch = record  # type: ignore[method-assign]
    submission = Submission("/registered", "main", "b" * 40, ticket(), None, repository_uri="https://example.org/r")
    fetched = checkout.fetch(world.tools().git, replace(submission, bundle=bundle))
    assert seen == [("/registered", "main", "b" * 40, bundle)]
    assert fetched.uri == "https://example.org/r"
