"""Rules in parts see what all rules together see, and are refused where somebody else could have written them."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import shutil
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatekeeper.adapters.kingfisher_scanner import catalogue, parting, patterns
from gatekeeper.adapters.kingfisher_scanner.engine import SecretEngine
from gatekeeper.adapters.kingfisher_scanner.patterns import ops
from gatekeeper.config import Paths

RARE_RULE = "betterleaks.rubygems-api-token"
RARE = "rubygems_" + "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071"
KNOWN = "ghp_" + "mx6T55Bn27kvsEsB2jSW" + "5R3UfG8TuQSEqSal"
TWO_EXTENTS = "glpat-" + "UdvhsMcHEAfRxoisdgUHvttXG4xajCRkjhc9FLEucyXnOBUnK3SVd8.bamnnm598"
"""Two rules see it, one of them in part."""
ANY = string.ascii_letters + string.digits


@pytest.fixture(scope="module")
def cache(gate_paths: Paths) -> Path:
    place = gate_paths.cache / "secret-catalogue"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    parting.make(place)
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
    files = (cache / catalogue.folder_name()).glob("part-*.yml")
    return [rule for file in files for rule in json.loads(file.read_text())["rules"]]


def hits(rules: catalogue.Catalogue, text: str) -> set[tuple[str, str]]:
    return seen_in(rules, text.encode())


def seen_in(rules: catalogue.Catalogue, data: bytes) -> set[tuple[str, str]]:
    text = data.decode("utf-8", "replace")
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
    for number, rule in enumerate(rules):
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
        coding = ("utf-16", "utf-16-be", "utf-32")[number % 3]
        for data in [texts[0].encode(coding)] if number % 8 == 0 else []:
            assert seen_in(whole, data) <= seen_in(parted, data), (rule["id"], texts[0])
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
    folder = cache / catalogue.folder_name()
    for place in (folder, folder / "index.json"):
        mode = place.stat().st_mode
        place.chmod(mode | 0o020)
        assert catalogue.opened(cache) is None
        place.chmod(mode)
    assert catalogue.opened(cache) is not None


def test_catalogue_behind_a_link_is_not_used(cache, tmp_path):
    (tmp_path / catalogue.folder_name()).symlink_to(cache / catalogue.folder_name())
    assert catalogue.opened(tmp_path) is None


def copied(cache: Path, to: Path) -> Path:
    folder = to / catalogue.folder_name()
    shutil.copytree(cache / folder.name, folder)
    return folder


@pytest.fixture
def folder(cache: Path, tmp_path: Path) -> Path:
    return copied(cache, tmp_path)


def rows_of(folder: Path) -> list[dict]:
    return json.loads((folder / "index.json").read_bytes().partition(b"\n")[2])


@pytest.mark.parametrize("index", [b"", b"{", b"[{}]", b"[1]", b"null", b"\xff"])
def test_damaged_index_is_not_used(folder, index):
    for written in (index, hashlib.sha256(index).hexdigest().encode() + b"\n" + index):
        (folder / "index.json").write_bytes(written)
        assert catalogue.opened(folder.parent) is None


def digests(cache: Path, data: bytes) -> set[str]:
    return {row["digest"] for row in SecretEngine(cache, b"p" * 32).scan("f.py", data)}


@pytest.mark.parametrize("damage", ["row", "words", "pattern", "empty", "gone"])
def test_whatever_was_changed_on_disk_a_secret_is_seen_and_making_heals_it(folder, damage):
    index, part = folder / "index.json", next(folder / r["file"] for r in rows_of(folder) if RARE_RULE in r["ids"])
    if damage == "row":
        index.write_text(json.dumps([r for r in rows_of(folder) if RARE_RULE not in r["ids"]]))
    elif damage == "words":
        index.write_text(index.read_text().replace('"rubygems_"', '"rubigems_"'))
    elif damage == "pattern":
        part.write_text(part.read_text().replace("rubygems_", "rubigems_"))
    elif damage == "empty":
        for file in folder.glob("part-*.yml"):
            file.write_text("")
    else:
        part.unlink()
    assert not catalogue.made(folder.parent)
    assert digests(folder.parent, f"key = '{RARE}'\n".encode())


def test_part_that_goes_while_the_engine_lives_costs_no_secret(folder):
    engine = SecretEngine(folder.parent, b"p" * 32)
    assert engine.scan("a.py", b"x = 1\n") == []
    for file in folder.glob("part-*.yml"):
        file.write_text("")
    assert engine.scan("f.py", f"key = '{RARE}'\n".encode())


def test_damaged_parts_are_made_again(folder):
    for file in folder.glob("part-*.yml"):
        file.write_text("")
    parting.make(folder.parent)
    assert catalogue.made(folder.parent)
    opened = catalogue.opened(folder.parent)
    assert opened is not None
    assert hits(opened, f"key = '{RARE}'\n")


@pytest.mark.parametrize(
    "data",
    [
        ("\u4e2d\u6587" * 1100 + "\nkey = 'SECRET'\n", "utf-16"),
        ("\ufeff" + "\u4e2d\u6587" * 1100 + "\nkey = 'SECRET'\n", "utf-16-be"),
        ("key = 'SECRET'\n", "utf-32"),
        ("key = 'SECRET'\n", "utf-32-be"),
    ],
    ids=["utf-16", "utf-16-be", "utf-32", "utf-32-be"],
)
def test_text_that_the_engine_reads_in_more_bytes_a_character(cache, data):
    text, coding = data
    assert digests(cache, text.replace("SECRET", RARE).encode(coding))


@pytest.mark.parametrize("other", ["rubygems", "AKIA" + "QZ7XWERTY4LMNOPD", "second"])
def test_new_secret_beside_a_known_one_on_its_line(cache, other):
    other = {"rubygems": RARE, "second": "ghp_" + "Q2fT55Bn27kvsEsB2jSW" + "5R3UfG8TuQSEqXYz"}.get(other, other)
    known = digests(cache, f"a = '{KNOWN}'\n".encode())
    for line in (f"a = '{KNOWN}'; b = '{other}'\n", f"b = '{other}'; a = '{KNOWN}'\n"):
        assert digests(cache, line.encode()) - known


def test_rules_that_see_parts_of_one_secret_are_one_hit(cache):
    rows = SecretEngine(cache, b"p" * 32).scan("f.py", f"token = '{TWO_EXTENTS}'\n".encode())
    assert len(rows) == 1


def test_same_line_in_a_large_file_is_not_new(cache):
    base = f"x = '{TWO_EXTENTS}'\n".encode() + b"# words\n" * 75_000
    engine = SecretEngine(cache, b"p" * 32)
    after = {row["digest"] for row in engine.scan("f.py", base + b"y = 1\n")}
    assert after == {row["digest"] for row in engine.scan("f.py", base)}


def test_secret_behind_many_known_ones_is_seen_and_a_flood_is_an_error(cache):
    rng = random.Random(1)
    rows = [f"k{i} = 'ghp_{''.join(rng.choices(ANY, k=36))}'\n" for i in range(1100)]
    text = "".join(rows[:300])
    known = digests(cache, text.encode())
    for data in (text + f"n = '{RARE}'\n", f"n = '{RARE}'\n" + text):
        assert digests(cache, data.encode()) - known
    with pytest.raises(ValueError, match="more than 1000 secrets in one file"):
        digests(cache, "".join(rows).encode())


def test_making_it_again_changes_nothing_and_leaves_no_draft(cache):
    before = {p: p.stat().st_mtime_ns for p in cache.rglob("*")}
    parting.make(cache)
    assert {p: p.stat().st_mtime_ns for p in cache.rglob("*")} == before
    assert not list(cache.glob("making-*"))


def test_draft_of_a_failed_making_is_removed(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parting, "scanner_of", full)
    monkeypatch.setattr(parting, "_sources", lambda: ["x = 1"])
    with pytest.raises(OSError, match="No space left"):
        parting.make(tmp_path)
    assert [p for p in tmp_path.iterdir() if p.is_dir()] == []
    assert catalogue.opened(tmp_path) is None
