"""Rules in parts see what all rules together see, and are refused where somebody else could have written them."""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatekeeper.adapters.kingfisher_scanner import catalogue, patterns
from gatekeeper.adapters.kingfisher_scanner.engine import SecretEngine
from gatekeeper.adapters.kingfisher_scanner.patterns import ops
from gatekeeper.config import Paths

ANY = string.ascii_letters + string.digits


@pytest.fixture(scope="module")
def cache(gate_paths: Paths) -> Path:
    place = gate_paths.cache / "secret-catalogue"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    catalogue.make(place)
    return place


@pytest.fixture(scope="module")
def parted(cache: Path) -> catalogue.Catalogue:
    made = catalogue.opened(cache)
    assert made is not None
    return made


@pytest.fixture(scope="module")
def whole(cache: Path) -> catalogue.Catalogue:
    return catalogue.whole(cache)


@pytest.fixture(scope="module")
def rules(cache: Path) -> list[catalogue.Rule]:
    files = (cache / catalogue._name()).glob("part-*.yml")
    return [rule for file in files for rule in json.loads(file.read_text())["rules"]]


def hits(rules: catalogue.Catalogue, text: str) -> set[tuple[str, str]]:
    data = text.encode()
    return {(m.rule_id, m.secret) for s in rules.scanners(text, data) for m in s.scan(data, timeout=60)}


def sample(pattern: str, rng: random.Random) -> str:
    """A text that the pattern matches, as far as the parser reads it."""
    return "".join(_characters(patterns._parsed(pattern), rng))


def _characters(sequence, rng: random.Random) -> Iterator[str]:
    for operation, argument in patterns._flat(sequence):
        if operation is ops.LITERAL:
            yield chr(argument)
        elif operation is ops.IN:
            yield _member(argument, rng)
        elif operation is ops.BRANCH:
            yield from _characters(rng.choice(argument[1]), rng)
        elif operation in patterns._REPEATED:
            least, most, inner = argument
            for _ in range(rng.randint(least, min(most if most is not ops.MAXREPEAT else least + 40, least + 40))):
                yield from _characters(inner, rng)
        elif operation is ops.ANY:
            yield rng.choice(ANY)
        elif operation is ops.NOT_LITERAL:
            yield next(c for c in rng.sample(ANY, 2) if ord(c) != argument)


def _member(choices, rng: random.Random) -> str:
    pattern = re.compile("".join(_written(kind, value) for kind, value in choices).join("[]"))
    pool = [c for c in map(chr, range(256)) if pattern.match(c)]
    plain = [c for c in pool if c in ANY]
    return rng.choice(plain or pool)


def _written(kind, value) -> str:
    if kind is ops.NEGATE:
        return "^"
    if kind is ops.LITERAL:
        return re.escape(chr(value))
    if kind is ops.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    letters = {ops.CATEGORY_DIGIT: r"\d", ops.CATEGORY_WORD: r"\w", ops.CATEGORY_SPACE: r"\s",
               ops.CATEGORY_NOT_DIGIT: r"\D", ops.CATEGORY_NOT_WORD: r"\W", ops.CATEGORY_NOT_SPACE: r"\S"}  # fmt: skip
    return letters[value]


def test_parts_hold_every_rule_once_and_as_it_was(parted, whole, rules):
    assert parted.ids == whole.ids
    assert sorted(rule["id"] for rule in rules) == sorted(whole.ids)


def test_parts_see_what_all_rules_see(parted, whole, rules):
    rng = random.Random(7)
    seen = set()
    pattern = {rule["id"]: rule["pattern"] for rule in rules}
    for rule in rules:
        texts = [f"x = 1\nvalue: {sample(rule['pattern'], rng)}\n" for _ in range(3)]
        # Some count only beside what another rule sees.
        for other in rule.get("depends_on_rule", []):
            texts.append(f"{sample(pattern[other['rule_id']], rng)}\n{texts[0]}")
        hidden = [base64.b64encode(f"  {text}".encode()).decode() for text in texts[:1]]
        safe = [base64.urlsafe_b64encode(text.encode()).decode() for text in texts[1:2]]
        for text in [*texts, *(t.upper() for t in texts[:1]), *hidden, *safe]:
            expected = hits(whole, text)
            assert expected <= hits(parted, text), (rule["id"], text)
            seen |= {found for found, _ in expected}
    # Samples that no rule sees would prove nothing.
    assert len(seen) > 0.6 * len(whole.ids)


def test_words_under_other_letters_that_the_engine_takes_for_the_same(parted, whole):
    # The Kelvin sign and the long s are k and s where case does not matter.
    secret = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
    for word in ("facebook", "faceboo\u212a", "FACEBOO\u212a"):
        text = f"{word}_secret = '{secret}'\n"
        assert hits(whole, text)
        assert hits(whole, text) <= hits(parted, text)


def test_ordinary_text_needs_few_parts(parted):
    text = "def add(a, b):\n    return a + b\n"
    assert len(list(parted.scanners(text, text.encode()))) == 1


def test_much_text_is_read_by_all_rules_at_once(cache, monkeypatch):
    monkeypatch.setattr(catalogue, "MUCH", 1000)
    engine = SecretEngine(cache, b"p" * 32)
    key = "ghp_" + "mx6T55Bn27kvsEsB2jSW" + "5R3UfG8TuQSEqSal"
    words = "# words\n" * 60
    for number in range(4):
        rows = engine.scan(f"f{number}.py", f"x = {number}\n{words}token = '{key}'\n".encode())
        assert [row["line"] for row in rows] == [62]
    assert [part.ids for part in engine._rules._parts] == [engine._rules.ids]


def test_catalogue_that_others_could_have_written_is_not_used(cache):
    folder = cache / catalogue._name()
    for place in (folder, folder / "index.json"):
        mode = place.stat().st_mode
        place.chmod(mode | 0o020)
        assert catalogue.opened(cache) is None
        place.chmod(mode)
    assert catalogue.opened(cache) is not None


def test_catalogue_behind_a_link_is_not_used(cache, tmp_path):
    (tmp_path / catalogue._name()).symlink_to(cache / catalogue._name())
    assert catalogue.opened(tmp_path) is None


@pytest.mark.parametrize("index", [b"", b"{", b"[{}]", b"[1]", b"null", b"\xff"])
def test_damaged_index_is_not_used(cache, tmp_path, index):
    folder = tmp_path / catalogue._name()
    folder.mkdir()
    (folder / "index.json").write_bytes(index)
    assert catalogue.opened(tmp_path) is None


def copied(cache: Path, to: Path) -> Path:
    folder = to / catalogue._name()
    folder.mkdir()
    for file in (cache / folder.name).iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    return folder


def test_part_that_lost_a_rule_is_an_error_and_no_clean_text(cache, tmp_path):
    folder = copied(cache, tmp_path)
    rows = json.loads((folder / "index.json").read_text())
    lost = next(row for row in rows if row["needs"] and len(row["ids"]) > 1)
    rules = json.loads((folder / lost["file"]).read_text())["rules"]
    (folder / lost["file"]).write_text(json.dumps({"rules": rules[1:]}))
    opened = catalogue.opened(tmp_path)
    assert opened is not None
    text = " ".join(word for clauses in lost["needs"] for clause in clauses for word in clause)
    with pytest.raises(ValueError, match=f"not loaded from {lost['file']}: {rules[0]['id']}"):
        list(opened.scanners(text, text.encode()))


def test_part_that_is_gone_is_an_error_and_no_clean_text(cache, tmp_path):
    folder = copied(cache, tmp_path)
    rows = json.loads((folder / "index.json").read_text())
    gone = next(row for row in rows if row["needs"])
    (folder / gone["file"]).unlink()
    engine = SecretEngine(tmp_path, b"p" * 32)
    assert engine.scan("a.py", b"x = 1\n") == []
    text = " ".join(word for clauses in gone["needs"] for clause in clauses for word in clause)
    with pytest.raises((OSError, ValueError, RuntimeError)):
        engine.scan("a.py", text.encode())


def test_making_it_again_changes_nothing_and_leaves_no_draft(cache):
    before = {p: p.stat().st_mtime_ns for p in cache.rglob("*")}
    catalogue.make(cache)
    assert {p: p.stat().st_mtime_ns for p in cache.rglob("*")} == before
    assert not list(cache.glob("making-*"))


def test_draft_of_a_failed_making_is_removed(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(catalogue, "_scanner", full)
    monkeypatch.setattr(catalogue, "_sources", lambda: ["x = 1"])
    with pytest.raises(OSError, match="No space left"):
        catalogue.make(tmp_path)
    assert [p for p in tmp_path.iterdir() if p.is_dir()] == []
    assert catalogue.opened(tmp_path) is None
