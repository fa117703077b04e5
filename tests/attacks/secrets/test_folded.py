"""A token put together from names and literals, beside constants that make no token."""

import hashlib
import string

import pytest

from gatekeeper.adapters.kingfisher_scanner.folding import LONGEST, MOST, folded_texts
from gatekeeper.adapters.kingfisher_scanner.scanner import KingfisherScanner
from gatekeeper.config import Paths
from gatekeeper.domain.ports import ScanTarget


def made(label: str, length: int) -> str:
    """Drawn while the test runs: this file holds no token."""
    digits = string.ascii_letters + string.digits
    blocks = b"".join(hashlib.sha256(f"{label}{i}".encode()).digest() for i in range(length // 32 + 1))
    return "".join(digits[b % len(digits)] for b in blocks[:length])


REST = "51AT3" + made("service", 90)
HEAD = "sk_" + "live_"
TOKEN = HEAD + REST

ATTACKS = {
    "sum over lines": ("a.py", f'P = "{HEAD}"\nKEY = (\n    P\n    + "{REST[:40]}"\n    + "{REST[40:]}"\n)\n', 2),
    "name below": ("a.py", f'def key():\n    return P + "{REST}"\n\n\nP: str = "{HEAD}"\n', 2),
    "f-string": ("a.py", f'P = "{HEAD}"\nKEY = f"{{P}}{REST}"\n', 2),
    "attribute": ("a.py", f'class C:\n    P = "{HEAD}"\n    K = C.P + "{REST}"\n', 3),
    "join": ("a.py", f'P = "{HEAD}"\nKEY = "".join([P, "{REST}"])\n', 2),
    "percent": ("a.py", f'P = "{HEAD}"\nKEY = "%s%s" % (P, "{REST}")\n', 2),
    "format": ("a.py", f'P = "{HEAD}"\nKEY = "{{}}{{}}".format(P, "{REST}")\n', 2),
    "backwards": ("a.py", f'KEY = "{TOKEN[::-1]}"[::-1]\n', 1),
    "escapes": ("a.py", 'KEY = "\\x73' + TOKEN[1:] + '"\n', 1),
    "grown": ("a.py", f'key = "{HEAD}"\nkey += "{REST}"\n', 2),
    "three names": ("a.py", f'A = "sk_"\nB = "live_"\nC = A + B\nKEY = C + "{REST}"\n', 4),
    "template": ("a.ts", f'const p: string = "{HEAD}";\nexport const key = `${{p}}{REST}`;\n', 2),
    "javascript": ("a.js", f"const p = '{HEAD}';\nmodule.exports = [p, '{REST}'].join('');\n", 2),
    "go": ("a.go", f'package a\n\nconst p = "{HEAD}"\n\nvar key = p + "{REST}"\n', 5),
    "go format": ("a.go", f'package a\n\nvar p string = "{HEAD}"\nvar k = fmt.Sprintf("%s%s", p, "{REST}")\n', 4),
    "shell": ("a.sh", f'P="{HEAD}"\nexport KEY="${{P}}{REST}"\n', 2),
    "c": ("a.c", f'#define P "{HEAD}"\nchar *key = P "{REST}";\n', 2),
}
HONEST = {
    "placeholder": f'P = "{HEAD}"\nKEY = P + "your-key-goes-here-0000"\n',
    "random at run time": f'import secrets\n\nP = "{HEAD}"\nKEY = P + secrets.token_hex(24)\n',
    "published test key": f'P = "sk_" "test_"\nKEY = P + "{REST}"\n',
    "address": 'HOST = "https://api.shop.test/v2"\nURL = f"{HOST}/users/0123456789abcdef0123456789abcdef"\n',
    "from the environment": f'import os\n\nP = "{HEAD}"\nKEY = P + os.environ["KEY_51"]\nOLD = "b51c2d"\n',
    "list": f'WORDS = ["{HEAD}", "abcdefgh12345678", "b2"]\nTEXT = ", ".join(WORDS)\n',
    "split": 'ALPHABET = "abcdefghijklm" + "nopqrstuvwxyz" + "0123456789"\n',
}


@pytest.fixture(scope="module")
def scanner(gate_paths: Paths):
    made = KingfisherScanner(gate_paths.cache, gate_paths.state)
    made.start()
    yield made
    made.close()


@pytest.mark.parametrize("name", ATTACKS)
def test_a_token_in_named_parts_is_found_on_its_line(name, scanner):
    path, text, line = ATTACKS[name]
    report = scanner.scan([ScanTarget(path, path, text.encode())])
    assert report.verified
    assert line in {h.line for h in report.hits}
    assert REST[:40] not in str(report.hits)


@pytest.mark.parametrize("name", HONEST)
def test_constants_that_make_no_token_pass(name, scanner):
    report = scanner.scan([ScanTarget("lib/a.py", "lib/a.py", HONEST[name].encode())])
    assert report.verified
    assert report.hits == ()


@pytest.mark.parametrize(
    "text",
    ['"a1b2c3" % (' * 300, "[" * 5000, '["a1b2c3",' * 3000, '"a1b2c3" + ' * 3000, "`${a1b2c3", '"""', "'" + "\\" * 99],
)
def test_hostile_text_is_read_to_its_end(text):
    for offset, value in folded_texts('"a1b2c3" + "d4";' + text):
        assert 0 <= offset < len(text) + 16
        assert len(value) <= LONGEST


def test_what_is_read_is_bounded():
    far = " " * MOST + f'P = "{HEAD}"\nK = P + "{REST}"\n'
    assert list(folded_texts(far)) == []
