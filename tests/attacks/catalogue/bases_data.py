"""Code bases about data: kvlog (src layout, fixtures, golden files) and yomikana (flat, Japanese text)."""

from __future__ import annotations

KVLOG = {
    "README.md": "# kvlog\n\nA key-value store that only appends to one file.\n",
    "CHANGELOG.md": "# Changes\n\n- 0.5: checksums.\n",
    "pyproject.toml": """\
[project]
name = "kvlog"
version = "0.5.0"
dependencies = []

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["src"]
""",
    "requirements-dev.txt": "pytest==8.3.4\n",
    "src/kvlog/__init__.py": '"""Append-only store."""\n\nfrom kvlog.codec import CorruptError\nfrom kvlog.store import Store\n\n'
    '__all__ = ["CorruptError", "Store"]\n',
    "src/kvlog/codec.py": '''\
"""Records as lines: checksum, operation, JSON of key and value."""

import json
import zlib


class CorruptError(ValueError):
    """A line is damaged."""


def checksum(body):
    return f"{zlib.crc32(body.encode()):08x}"


def encode(operation, key, value=None):
    body = operation + " " + json.dumps([key, value], sort_keys=True, separators=(",", ":"))
    return f"{checksum(body)} {body}\\n"


def decode(line):
    """(operation, key, value) of a line."""
    given, _, body = line.rstrip("\\n").partition(" ")
    if checksum(body) != given:
        raise CorruptError(f"checksum: {line!r}")
    operation, _, rest = body.partition(" ")
    key, value = json.loads(rest)
    return operation, key, value
''',
    "src/kvlog/store.py": '''\
"""The store over one file."""

from pathlib import Path

from kvlog.codec import decode, encode


class Store:
    """Reads everything when opened; every change is appended."""

    def __init__(self, path):
        self.path = Path(path)
        self._values = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                self._apply(*decode(line))

    def _apply(self, operation, key, value):
        if operation == "put":
            self._values[key] = value
        else:
            self._values.pop(key, None)

    def _append(self, line):
        with self.path.open("a") as out:
            out.write(line)

    def put(self, key, value):
        if not key:
            raise ValueError("empty key")
        self._append(encode("put", key, value))
        self._values[key] = value

    def get(self, key, default=None):
        return self._values.get(key, default)

    def delete(self, key):
        if key not in self._values:
            raise KeyError(key)
        self._append(encode("del", key))
        del self._values[key]

    def keys(self):
        return sorted(self._values)

    def __len__(self):
        return len(self._values)

    def compact(self):
        """Write the present values only; returns how many lines went away."""
        before = len(self.path.read_text().splitlines()) if self.path.exists() else 0
        self.path.write_text("".join(encode("put", key, value) for key, value in self._values.items()))
        return before - len(self._values)
''',
    "tests/conftest.py": """\
import pytest

from kvlog import Store


@pytest.fixture(params=["fresh", "reopened"])
def store(request, tmp_path):
    made = Store(tmp_path / "data.log")
    made.put("b", 2)
    made.put("a", 1)
    return Store(tmp_path / "data.log") if request.param == "reopened" else made
""",
    "tests/golden/records.json": """\
[
 ["put", "a", 1, "34a48e46 put [\\"a\\",1]"],
 ["put", "k", {"y": [1, 2], "x": null}, "PLACEHOLDER1"],
 ["del", "a", null, "PLACEHOLDER2"]
]
""",
    "tests/test_codec.py": """\
import json
from pathlib import Path

import pytest

from kvlog.codec import CorruptError, decode, encode

GOLDEN = json.loads((Path(__file__).parent / "golden" / "records.json").read_text())


@pytest.mark.parametrize(("operation", "key", "value", "line"), GOLDEN)
def test_encode_matches_golden(operation, key, value, line):
    assert encode(operation, key, value) == line + "\\n"


@pytest.mark.parametrize(("operation", "key", "value", "line"), GOLDEN)
def test_decode_matches_golden(operation, key, value, line):
    assert decode(line) == (operation, key, value)


def test_damage_is_seen():
    with pytest.raises(CorruptError, match="checksum"):
        decode(encode("put", "a", 1).replace("a", "b"))


def test_line_without_checksum():
    with pytest.raises(CorruptError):
        decode('put ["a",1]')
""",
    "tests/test_store.py": """\
import pytest

from kvlog import CorruptError, Store


def test_get(store):
    assert store.get("a") == 1


def test_get_default(store):
    assert store.get("zzz", "none") == "none"


def test_keys_are_sorted(store):
    assert store.keys() == ["a", "b"]


def test_overwrite(store):
    store.put("a", 9)
    assert store.get("a") == 9
    assert len(store) == 2


def test_delete(store):
    store.delete("a")
    assert store.keys() == ["b"]
    assert Store(store.path).keys() == ["b"]


def test_delete_unknown(store):
    with pytest.raises(KeyError):
        store.delete("zzz")


def test_empty_key_is_refused(store):
    with pytest.raises(ValueError, match="empty key"):
        store.put("", 1)


def test_compact_drops_old_lines(store):
    store.put("a", 5)
    store.delete("b")
    assert store.compact() == 3
    assert Store(store.path).keys() == ["a"]


def test_corrupt_file_is_refused(store):
    store.path.write_text(store.path.read_text().replace("put", "pot", 1))
    with pytest.raises(CorruptError):
        Store(store.path)
""",
}

YOMIKANA = {
    "README.md": "# yomikana\n\n仮名をローマ字(ヘボン式)に直す小さなライブラリ。\n",
    "CHANGELOG.md": "# 変更履歴\n\n- 0.1: 最初の版。\n",
    "pyproject.toml": """\
[project]
name = "yomikana"
version = "0.1.0"
dependencies = []

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]
""",
    "yomikana/__init__.py": '"""仮名の読み。"""\n\nfrom yomikana.normalize import normalize\nfrom yomikana.romaji import romaji\n\n'
    '__all__ = ["normalize", "romaji"]\n',
    "yomikana/normalize.py": '''\
"""表記の揺れを揃える。"""

import unicodedata


def normalize(text):
    """半角カナを全角に、カタカナをひらがなに直す。"""
    wide = unicodedata.normalize("NFKC", text)
    return "".join(chr(ord(char) - 0x60) if "ァ" <= char <= "ヶ" else char for char in wide)


def morae(text):
    """拍の数。小さい「ゃゅょ」は前の仮名と一拍になる。"""
    return sum(char not in "ゃゅょぁぃぅぇぉ" for char in normalize(text))
''',
    "yomikana/table.py": '''\
"""仮名とローマ字の表。"""

_ROWS = {
    "": "あいうえお", "k": "かきくけこ", "s": "さしすせそ", "t": "たちつてと", "n": "なにぬねの",
    "h": "はひふへほ", "m": "まみむめも", "r": "らりるれろ", "g": "がぎぐげご", "z": "ざじずぜぞ",
    "d": "だぢづでど", "b": "ばびぶべぼ", "p": "ぱぴぷぺぽ",
}
KANA = {kana: head + vowel for head, row in _ROWS.items() for kana, vowel in zip(row, "aiueo", strict=True)}
KANA |= {"や": "ya", "ゆ": "yu", "よ": "yo", "わ": "wa", "を": "o", "ん": "n"}
KANA |= {"し": "shi", "ち": "chi", "つ": "tsu", "ふ": "fu", "じ": "ji", "ぢ": "ji", "づ": "zu"}
SMALL = {"ゃ": "ya", "ゅ": "yu", "ょ": "yo"}
''',
    "yomikana/romaji.py": '''\
"""ヘボン式のローマ字。"""

from yomikana.normalize import normalize
from yomikana.table import KANA, SMALL


def _syllables(text):
    at = 0
    while at < len(text):
        char = text[at]
        small = SMALL.get(text[at + 1 : at + 2])
        if small and char in KANA:
            head = KANA[char][:-1]
            yield head + (small[1:] if head in ("sh", "ch", "j") else small)
            at += 2
        else:
            yield KANA.get(char, char)
            at += 1


def romaji(text):
    """促音は次の子音を重ねる。"""
    parts = []
    for part in _syllables(normalize(text)):
        if parts and parts[-1] == "っ":
            parts[-1] = part[:1]
        parts.append(part)
    return "".join(parts).replace("ー", "")
''',
    "tests/test_romaji.py": """\
import pytest

from yomikana import romaji


@pytest.mark.parametrize(
    ("kana", "expected"),
    [("さくら", "sakura"), ("ふじ", "fuji"), ("つづき", "tsuzuki"), ("カタカナ", "katakana"), ("ｶﾅ", "kana")],
)
def test_plain(kana, expected):
    assert romaji(kana) == expected


@pytest.mark.parametrize(("kana", "expected"), [("きょう", "kyou"), ("しゃ", "sha"), ("ちゅう", "chuu"), ("じょ", "jo")])
def test_small_kana(kana, expected):
    assert romaji(kana) == expected


@pytest.mark.parametrize(("kana", "expected"), [("がっこう", "gakkou"), ("ざっし", "zasshi"), ("きって", "kitte")])
def test_double_consonant(kana, expected):
    assert romaji(kana) == expected


def test_other_characters_stay():
    assert romaji("abc・123") == "abc・123"


def test_long_vowel_mark_is_dropped():
    assert romaji("ラーメン") == "ramen"


def test_every_row():
    for kana, expected in [("らりるれろ", "rarirurero"), ("ぱぴぷぺぽ", "papipupepo"), ("はひふへほ", "hahifuheho")]:
        assert romaji(kana) == expected
""",
    "tests/test_normalize.py": """\
import unittest

from yomikana.normalize import morae, normalize


class NormalizeTest(unittest.TestCase):
    def test_half_width(self):
        self.assertEqual(normalize("ｶﾞｷﾞ"), "がぎ")

    def test_katakana(self):
        self.assertEqual(normalize("トウキョウ"), "とうきょう")

    def test_kanji_stay(self):
        self.assertEqual(normalize("東京タワー"), "東京たわー")

    def test_morae(self):
        for text, count in [("きょう", 2), ("とうきょう", 4), ("がっこう", 4), ("ファン", 2)]:
            with self.subTest(text=text):
                self.assertEqual(morae(text), count)
""",
}


def _golden() -> None:
    import json
    import zlib

    rows = []
    for operation, key, value in [("put", "a", 1), ("put", "k", {"y": [1, 2], "x": None}), ("del", "a", None)]:
        body = operation + " " + json.dumps([key, value], sort_keys=True, separators=(",", ":"))
        rows.append([operation, key, value, f"{zlib.crc32(body.encode()):08x} {body}"])
    KVLOG["tests/golden/records.json"] = "[\n" + ",\n".join(" " + json.dumps(row) for row in rows) + "\n]\n"


_golden()
