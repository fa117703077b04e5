"""The shipped bundle: its own Rego tests under the engine that ships, and its register against its folders."""

from __future__ import annotations

import json
import re
import subprocess

import regopy
from opa_program import opa_program

from gatekeeper.adapters.rego_policy.loader import load_bundle
from gatekeeper.config import policy_bundle
from gatekeeper.errors import reasons
from gatekeeper.formats.policy_signals import SIGNALS

BUNDLE = policy_bundle()


def _document(name):
    text = (BUNDLE / "gatekeeper/example_test.rego").read_text()
    body = re.search(rf"^{name} := (\{{.*?^\}})", text, re.MULTILINE | re.DOTALL).group(1)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", body))


def _patched(document, test_source):
    """The document of `test_fail_...`: this engine does not bear `with`, so the patch is applied here."""
    body = re.search(r"json\.patch\(\s*example_test\.\w+,\s*(\[.*?\}\s*,?\s*\]),?\s*\)", test_source, re.DOTALL).group(
        1
    )
    for step in json.loads(re.sub(r",(\s*[}\]])", r"\1", body)):
        *above, last = step["path"].strip("/").split("/")
        place = document
        for key in above:
            place = place[int(key) if isinstance(place, list) else key]
        if step["op"] == "remove":
            del place[last]
        else:
            place[last] = step["value"]
    return document


def test_every_rule_holds_and_fails_under_the_shipped_engine_as_its_rego_tests_say():
    loaded = load_bundle(BUNDLE)
    engine = regopy.Interpreter()
    engine.strict_built_in_errors = True
    engine.add_data(loaded.data)
    for path, source in loaded.modules:
        engine.add_module(path, source)
    tests = {path.rpartition("/")[0]: source for path, source in loaded.tests if "/rules/" in path}
    rules = [path.rpartition("/")[0] for path, _ in loaded.modules if "/rules/" in path]
    compiled = engine.build(None, [f"{rule}/outcome" for rule in rules])
    assert compiled.ok()

    def outcome(rule, document):
        engine.set_input(document)
        return engine.query_bundle_entrypoint(compiled, f"{rule}/outcome")[0].expressions[0]

    assert sorted(tests) == sorted(rules)
    for rule in rules:
        kind = "plan" if "/tier/" in rule else "decision"
        good, bad = outcome(rule, _document(kind)), outcome(rule, _patched(_document(kind), tests[rule]))
        if kind == "plan":
            assert good["reasons"] == [], rule
            assert len(bad["reasons"]) == 1, rule
        else:
            assert (good["satisfied"], bad["satisfied"]) == (True, False), rule
            assert outcome(rule, {})["satisfied"] is False, rule


def test_register_and_folders_agree():
    rules = json.loads((BUNDLE / "gatekeeper/config/data.json").read_text())["rules"]
    folders = {
        f"{p.parent.parent.name}/{p.parent.name}"
        for p in (BUNDLE / "gatekeeper/rules").rglob("*.rego")
        if not p.name.endswith("_test.rego")
    }
    assert sorted(rules["plan"] + rules["decide"]) == sorted(folders)


def test_every_code_of_a_rule_is_registered():
    for path in (BUNDLE / "gatekeeper/rules").rglob("*.rego"):
        for code in re.findall(r'"code": "([A-Z_]+)"', path.read_text()):
            assert code in reasons(), path


def test_every_signal_has_a_tier_and_every_tier_a_signal():
    tiers = json.loads((BUNDLE / "gatekeeper/config/data.json").read_text())["tiers"]
    assert sorted(tiers["signals"]) == sorted(SIGNALS)


def test_real_opa_agrees():
    opa = opa_program()
    subprocess.run([opa, "check", "--strict", "--capabilities", "capabilities.json", "-b", "."], cwd=BUNDLE, check=True)
    subprocess.run([opa, "test", "-b", "."], cwd=BUNDLE, check=True)
