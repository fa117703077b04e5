"""package-lock.json, reduced to what a registry can deliver."""

from __future__ import annotations

import json

import pytest

from gatekeeper.errors import InputError
from gatekeeper.formats.npm_lock import depends, npm_project, workspaces

DIGEST = "sha512-" + "b" * 86 + "=="
ENTRY = {"version": "1.2.3", "resolved": "https://registry.example/left/-/left-1.2.3.tgz", "integrity": DIGEST}
MANIFEST = {"name": "p", "version": "1.0.0", "dependencies": {"left": "^1.0.0"}, "scripts": {"install": "rm -rf /"}}


def lock(packages, version=3):
    return json.dumps({"name": "p", "lockfileVersion": version, "packages": {"": MANIFEST, **packages}}).encode()


def reduced(packages, **manifests):
    return npm_project({"": json.dumps(MANIFEST).encode(), **manifests}, lock(packages))


def test_names_versions_and_digests_remain_and_nothing_else():
    made = reduced(
        {"node_modules/left": {**ENTRY, "hasInstallScript": True, "dev": True, "dependencies": {"right": "1"}}}
    )
    assert made.lock["packages"]["node_modules/left"] == {
        "version": "1.2.3", "integrity": DIGEST, "dev": True, "dependencies": {"right": "1"},
    }  # fmt: skip
    assert made.manifests[""] == {"name": "p", "version": "1.0.0", "dependencies": {"left": "^1.0.0"}}
    assert made.packages == {"left"}


@pytest.mark.parametrize(
    "resolved",
    ["https://other.example/npm/left/-/left-1.2.3.tgz", "http://127.0.0.1:4873/left/-/left-1.2.3.tgz", ""],
    ids=["another-registry", "a-local-one", "not-recorded"],
)
def test_the_host_of_a_registry_does_not_matter(resolved):
    assert "left" in reduced({"node_modules/left": {**ENTRY, "resolved": resolved}}).packages


def test_scoped_names_and_aliases():
    scoped = {**ENTRY, "resolved": "https://r.example/@s%2fleft/-/left-1.2.3.tgz"}
    alias = {**ENTRY, "name": "other", "resolved": "https://r.example/other/-/other-1.2.3.tgz"}
    made = reduced({"node_modules/@s/left": scoped, "node_modules/mine": alias})
    assert made.packages == {"@s/left", "mine"}
    assert made.lock["packages"]["node_modules/mine"]["name"] == "other"


def test_workspaces_are_links_into_the_repository():
    packages = {
        "packages/a": {"name": "a", "version": "1.0.0"},
        "node_modules/a": {"resolved": "packages/a", "link": True},
    }
    assert workspaces(lock(packages)) == ("packages/a",)
    made = reduced(packages, **{"packages/a": b'{"name": "a", "version": "1.0.0", "scripts": {"install": "x"}}'})
    assert made.lock["packages"]["node_modules/a"] == {"resolved": "packages/a", "link": True}
    assert made.manifests["packages/a"] == {"name": "a", "version": "1.0.0"}


@pytest.mark.parametrize(
    ("packages", "why"),
    [
        ({"node_modules/left": {**ENTRY, "resolved": "git+ssh://git@host.example/x.git#abc"}}, "no registry's"),
        ({"node_modules/left": {**ENTRY, "resolved": "file:left-1.2.3.tgz"}}, "no registry's"),
        ({"node_modules/left": {**ENTRY, "resolved": "https://host.example/x.tgz"}}, "no registry's"),
        ({"node_modules/left": {**ENTRY, "resolved": "https://r.example/right/-/right-1.2.3.tgz"}}, "no registry's"),
        ({"node_modules/left": {**ENTRY, "resolved": "https://r.example/left/-/left-9.9.9.tgz"}}, "no registry's"),
        ({"node_modules/left": {k: v for k, v in ENTRY.items() if k != "integrity"}}, "integrity"),
        ({"node_modules/left": {**ENTRY, "integrity": "sha1-" + "b" * 27 + "="}}, "integrity"),
        ({"node_modules/left": {**ENTRY, "version": "^1.0.0"}}, "exact version"),
        ({"node_modules/left": {**ENTRY, "version": "https://host.example/x.tgz"}}, "exact version"),
        ({"node_modules/left": {"link": True, "resolved": "../outside"}}, "link"),
        ({"node_modules/left": {"link": True, "resolved": "/etc"}}, "link"),
        ({"../outside": {"version": "1.0.0"}}, "no path of a package"),
        ({"node_modules/../../etc": ENTRY}, "no path of a package"),
        ({"packages/a": {"version": "1.0.0"}}, "without a package.json"),
    ],
)
def test_what_does_not_come_from_a_registry_is_refused(packages, why):
    with pytest.raises(InputError, match=why):
        reduced(packages)


@pytest.mark.parametrize("version", [1, 4, None, "3"])
def test_other_forms_of_lock_are_refused(version):
    with pytest.raises(InputError):
        npm_project({"": b"{}"}, lock({}, version))


def test_what_a_manifest_depends_on():
    assert depends(b'{"devDependencies": {"a": "1"}}')
    assert not depends(b'{"scripts": {"test": "node --test"}, "peerDependencies": {"a": "1"}}')
