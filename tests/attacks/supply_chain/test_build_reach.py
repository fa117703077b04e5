"""What a build brings in beside the text of its script; and builds that only look like it."""

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.supply_chain import check

SETUP = "from setuptools import setup\nsetup(name='shop')\n"
START = "import subprocess\nsubprocess.getoutput('id')\n"
TOML = '[project]\nname = "shop"\ndynamic = ["version"]\n[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
DYNAMIC = TOML + '[tool.setuptools.dynamic]\nversion = {attr = "shop.version.V"}\n'
READS = (
    "from pathlib import Path\nfrom setuptools import setup\n\nHERE = Path(__file__).resolve().parent\nabout = {}\n"
    "exec((HERE / 'shop' / 'about.py').read_text(encoding='utf-8'), about)\nsetup(name='shop', version=about['V'])\n"
)


def told(before, after):
    return [(f.code, f.effect.value) for f in check(tree_evidence(before, after)) if f.effect.value != "advises"]


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ({"setup.py": SETUP}, {"setup.py": "import tool\n" + SETUP, "tool.py": START}, "blocks"),
        ({"setup.py": SETUP}, {"setup.py": "from tools.more import x\n" + SETUP, "tools/__init__.py": "", "tools/more.py": START}, "blocks"),
        ({}, {"setup.py": "import tool\n" + SETUP, "tool.py": "from deeper import x\n", "deeper.py": START}, "blocks"),
        ({"setup.py": "import tool\n" + SETUP, "tool.py": "x = 1\n"}, {"tool.py": START}, "asks"),
        ({"setup.py": "import tool\n" + SETUP, "tool.py": "x = 1\n"}, {"tool.py": "import os\ndef f():\n    os.system('id')\nf()\n"}, "asks"),
        ({"setup.py": SETUP}, {"setup.py": SETUP + "open('shop/x.py', 'w').write('boom')\n"}, "asks"),
        ({"setup.py": SETUP}, {"setup.py": "from pathlib import Path\nPath('x.py').write_text('boom')\n" + SETUP}, "asks"),
        ({"setup.py": SETUP}, {"setup.py": "import setuptools.command.build_py as b\nb.build_py.run = print\n" + SETUP}, "asks"),
        ({"setup.py": SETUP}, {"setup.py": "import fast_cells\n" + SETUP}, "asks"),
        ({"pyproject.toml": TOML, "shop/__init__.py": ""}, {"pyproject.toml": DYNAMIC, "shop/version.py": START + "V = str(1)\n"}, "blocks"),
        ({"pyproject.toml": DYNAMIC, "shop/__init__.py": "", "shop/version.py": "V = '1'\n"}, {"shop/version.py": START + "V = str(1)\n"}, "asks"),
        ({"setup.cfg": "[metadata]\nname = shop\n"}, {"setup.cfg": "[metadata]\nname = shop\nversion = attr: tool.V\n", "tool.py": START}, "blocks"),
        ({"setup.py": SETUP}, {"setup.py": READS, "shop/about.py": START}, "blocks"),
        ({"setup.py": READS, "shop/about.py": "V = '1'\n"}, {"setup.py": READS.replace("'about.py'", "'data.txt'"), "shop/data.txt": START}, "blocks"),
        ({"setup.py": READS, "shop/about.py": "V = '1'\n"}, {"shop/about.py": START + "V = '1'\n"}, "blocks"),
        ({"setup.py": READS, "shop/about.py": "V = '1'\n"}, {"shop/about.py": "from typing import Evil as Final\nV: Final = '1'\n"}, "blocks"),
    ],
)  # fmt: skip
def test_what_a_build_newly_brings_in_is_seen(before, after, effect):
    assert told(before, after) == [("BUILD_HOOK_ADDED", effect)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"setup.py": SETUP}, {"setup.py": "import shop\n" + SETUP, "shop/__init__.py": "import subprocess\ndef f():\n    subprocess.run(['x'])\n"}),
        ({"setup.py": "import shop\n" + SETUP, "shop/__init__.py": "V = '1'\n"}, {"shop/__init__.py": "import os\nV = '2'\nclass A:\n    def f(self):\n        os.system('id')\n"}),
        ({"setup.py": SETUP.replace("'shop')", "'shop', install_requires=['text-cells>=1'])")}, {"setup.py": "try:\n    import text_cells\nexcept ImportError:\n    pass\n" + SETUP}),
        ({"setup.py": SETUP}, {"setup.py": "import numpy\nimport os, sys, pkg_resources\n" + SETUP}),
        ({"setup.py": SETUP}, {"setup.py": "text = open('README.md').read()\nmore = open('x', 'rb')\n" + SETUP}),
        ({"setup.py": SETUP}, {"setup.py": "import sys\nsys.dont_write_bytecode = True\n" + SETUP}),
        ({"pyproject.toml": TOML, "shop/__init__.py": ""}, {"pyproject.toml": DYNAMIC, "shop/version.py": "V: str = '1'\n"}),
        ({"pyproject.toml": TOML, "shop/__init__.py": ""}, {"pyproject.toml": DYNAMIC, "shop/version.py": "from shop.other import V\n", "shop/other.py": "V = '1'\n"}),
        ({"setup.py": SETUP}, {"setup.py": READS, "shop/about.py": "V = '1'\n"}),
        ({"setup.py": READS, "shop/about.py": "V = '1'\n"}, {"shop/about.py": "from __future__ import annotations\nfrom typing import Final\n\nV: Final[str] = '2'\nT: tuple[int, ...] = (1, 2)\n"}),
        ({"setup.py": SETUP, "versioneer.py": "import subprocess\ndef get_version():\n    subprocess.run([])\n"}, {"setup.py": "import versioneer\nfrom setuptools import setup\nsetup(name='shop', version=versioneer.get_version(), cmdclass=versioneer.get_cmdclass())\n"}),
        (
            {"setup.py": "import subprocess\nv = subprocess.check_output(['git', 'describe'])\n" + SETUP},
            {"setup.py": "import subprocess\nv = subprocess.check_output(['git', 'describe', '--tags', '--always'], text=True)\n" + SETUP},
        ),
    ],
)  # fmt: skip
def test_a_build_that_only_looks_like_it_passes(before, after):
    assert told(before, after) == []


@pytest.mark.parametrize(
    "line",
    [
        "['git', '-c', 'x', 'describe']",
        "['git', 'describe', '--exec=sh']",
        "['./git', 'describe']",
        "'git describe; id'",
    ],
)
def test_another_way_to_ask_git_is_asked_about(line):
    before = "import subprocess\nv = subprocess.check_output(['git', 'describe'])\n" + SETUP
    after = before.replace("['git', 'describe']", line)
    assert told({"setup.py": before}, {"setup.py": after}) == [("BUILD_HOOK_ADDED", "asks")]


def test_versioneer_that_comes_along_is_asked_about():
    after = "import versioneer\nfrom setuptools import setup\nsetup(name='shop', cmdclass=versioneer.get_cmdclass())\n"
    assert told({"setup.py": SETUP}, {"setup.py": after, "versioneer.py": "x = 1\n"}) == [("BUILD_HOOK_ADDED", "asks")]


def test_another_module_that_is_called_typing_is_no_constant():
    files = {"setup.py": READS, "shop/about.py": "V = '1'\n"}
    after = {"shop/about.py": "from typing import Final\nV: Final = '1'\n", "typing.py": START}
    assert ("BUILD_HOOK_ADDED", "blocks") in told(files, after)
