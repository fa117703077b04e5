"""Lists of dependencies beside pip's and npm's own: each with what must be stopped and what looks like it and must pass."""

import pytest
from tree_evidence import permit, tree_evidence

from gatekeeper.checks.supply_chain import check

H1, H2 = "1" * 64, "2" * 64
PYPI = "https://pypi" + ".org/simple"
NPM = "https://registry.npm" + "js.org"
CRATES = "registry+https://github.com/rust-lang/crates" + ".io-index"
FILES = "https://files.pythonhosted" + ".org"
SETUP_CFG = "[metadata]\nname = shop\n\n[options]\ninstall_requires =\n    requests>=2  # the web\n    tomli; python_version < '3.11'\n\n[options.extras_require]\ntest =\n    pytest\n"
SETUP_PY = "from setuptools import setup\n\nREQ = ['requests>=2']\nsetup(name='shop', install_requires=REQ, extras_require={'test': ['pytest'], ':python_version<\"3.11\"': ['tomli']})\n"
TOX = "[tox]\nenvlist = py\n\n[testenv]\ndeps =\n    pytest\n    py27: mock\n    -rrequirements.txt\n    .[extra]\ncommands = pytest\n"
NOX = "import nox\n\n@nox.session\ndef tests(session):\n    session.install('-r', 'requirements.txt', '.')\n    session.install('pytest')\n"
PIPFILE = f'[[source]]\nurl = "{PYPI}"\nverify_ssl = true\nname = "pypi"\n\n[packages]\nrequests = "*"\n'
PIPFILE_LOCK = f'{{"_meta": {{"sources": [{{"name": "pypi", "url": "{PYPI}", "verify_ssl": true}}]}}, "default": {{"requests": {{"hashes": ["sha256:{H1}"], "version": "==2.0"}}}}, "develop": {{}}}}'
CONDA = "name: shop\nchannels:\n  - conda-forge\ndependencies:\n  - python=3.11\n  - numpy>=1\n  - pip:\n    - requests==2.0\n"
YARN = f'# yarn lockfile v1\n\n\nreact@^1.0.0, react@^1.0.1:\n  version "1.0.1"\n  resolved "{NPM}/react/-/react-1.0.1.tgz#{"a" * 40}"\n  integrity sha512-AAAA==\n  dependencies:\n    loose "^1"\n\n"@s/loose@^1":\n  version "1.0.0"\n  resolved "{NPM}/@s/loose/-/loose-1.0.0.tgz#{"b" * 40}"\n  integrity sha512-BBBB==\n'
BERRY = '__metadata:\n  version: 8\n  cacheKey: 10c0\n\n"react@npm:^1.0.0":\n  version: 1.0.1\n  resolution: "react@npm:1.0.1"\n  checksum: 10c0/aaaa\n  languageName: node\n  linkType: hard\n\n"shop@workspace:.":\n  version: 0.0.0-use.local\n  resolution: "shop@workspace:."\n  languageName: unknown\n  linkType: soft\n'
PNPM = "lockfileVersion: '9.0'\n\npackages:\n\n  react@1.0.1:\n    resolution: {integrity: sha512-AAAA==}\n    engines: {node: '>=6'}\n\n  '@s/loose@1.0.0':\n    resolution: {integrity: sha512-BBBB==}\n"
GO_MOD = "module example.com/shop\n\ngo 1.22\n\nrequire github.com/a/b v1.0.0\n\nrequire (\n\tgithub.com/c/d v1.2.0 // indirect\n)\n"
SUM = "h1:" + "A" * 43 + "="
GO_SUM = f"github.com/a/b v1.0.0 {SUM}\ngithub.com/a/b v1.0.0/go.mod {SUM}\n"
CARGO = (
    '[package]\nname = "shop"\nversion = "0.1.0"\n\n[dependencies]\nserde = { version = "1", features = ["derive"] }\n'
)
CARGO_LOCK = f'version = 3\n\n[[package]]\nname = "serde"\nversion = "1.0.0"\nsource = "{CRATES}"\nchecksum = "{H1}"\n\n[[package]]\nname = "shop"\nversion = "0.1.0"\ndependencies = ["serde"]\n'
POM = "<project><groupId>org.shop</groupId><artifactId>shop</artifactId><dependencies><dependency><groupId>org.slf4j</groupId><artifactId>slf4j-api</artifactId><version>2.0.0</version></dependency></dependencies></project>\n"
GRADLE = "plugins {\n    id 'java'\n}\nrepositories { mavenCentral() }\ndependencies {\n    implementation 'org.slf4j:slf4j-api:2.0.0'\n}\n"
WRAPPER = (
    f"distributionUrl=https\\://services.gradle.org/distributions/gradle-8.5-bin.zip\ndistributionSha256Sum={H1}\n"
)
HOOKS = "repos:\n  - repo: https://github.com/pre-commit/mirrors-mypy\n    rev: v1\n    hooks:\n      - id: mypy\n        additional_dependencies: [types-requests]\n"
UV_LOCK = f'version = 1\n\n[[package]]\nname = "requests"\nversion = "2.0"\nsource = {{ registry = "{PYPI}" }}\nsdist = {{ url = "{FILES}/packages/requests-2.0.tar.gz", hash = "sha256:{H1}" }}\n'
REPO = {
    "requirements.txt": "requests\nmock\ntomli\npytest\nnumpy\n", "setup.cfg": SETUP_CFG, "setup.py": SETUP_PY, "tox.ini": TOX, "noxfile.py": NOX, "Pipfile": PIPFILE,
    "Pipfile.lock": PIPFILE_LOCK, "environment.yml": CONDA, "web/yarn.lock": YARN, "app/yarn.lock": BERRY, "lib/pnpm-lock.yaml": PNPM, "go.mod": GO_MOD,
    "go.sum": GO_SUM, "Cargo.toml": CARGO, "Cargo.lock": CARGO_LOCK, "pom.xml": POM, "build.gradle": GRADLE,
    "gradle/wrapper/gradle-wrapper.properties": WRAPPER, ".pre-commit-config.yaml": HOOKS, "uv.lock": UV_LOCK, "crates/part/Cargo.toml": CARGO,
}  # fmt: skip

CHEATS = [
    ("setup.cfg", SETUP_CFG.replace("    tomli", "    fast-cells\n    tomli"), "DEPENDENCY_ADDED", "blocks"),
    ("setup.cfg", SETUP_CFG.replace("    pytest", "    pytest\n    fast-cells"), "DEPENDENCY_ADDED", "blocks"),
    ("setup.cfg", SETUP_CFG.replace("requests>=2", "requests @ https://e.example/r.whl"), "DEPENDENCY_DIRECT_SOURCE", "blocks"),
    ("setup.cfg", SETUP_CFG.replace("[options.ex", "dependency_links = https://e.example/\n\n[options.ex"), "DEPENDENCY_INDEX_ADDED", "blocks"),
    ("setup.py", SETUP_PY.replace("['requests>=2']", "['requests>=2', 'fast-cells']"), "DEPENDENCY_ADDED", "blocks"),
    ("setup.py", SETUP_PY.replace("setup(n", "REQ.append('fast' + '-cells')\nsetup(n"), "DEPENDENCY_ADDED", "blocks"),
    ("setup.py", SETUP_PY.replace("setup(n", "REQ += ['fast-cells==%s' % 1]\nsetup(n"), "DEPENDENCY_ADDED", "blocks"),
    ("setup.py", SETUP_PY.replace("{'test'", "{'test': 'fast-cells', 'dev'"), "DEPENDENCY_ADDED", "blocks"),
    ("setup.py", SETUP_PY.replace("name='shop',", "name='shop', setup_requires=['fast-cells'],"), "DEPENDENCY_ADDED", "blocks"),
    ("setup.py", SETUP_PY.replace("setup(n", "more = dict(tests_require=('fast-cells',))\nsetup(**more, n"), "DEPENDENCY_ADDED", "blocks"),
    ("tox.ini", TOX.replace("    pytest\n", "    pytest\n    fast-cells\n", 1), "DEPENDENCY_ADDED", "blocks"),
    ("tox.ini", TOX.replace("py27: mock", "py27,py36: fast-cells"), "DEPENDENCY_ADDED", "blocks"),
    ("tox.ini", TOX.replace("py27: mock", "{env:WITH:fast-cells}"), "DEPENDENCY_ADDED", "blocks"),
    ("tox.ini", TOX.replace("py27: mock", "-i https://e.example/simple"), "DEPENDENCY_INDEX_ADDED", "blocks"),
    ("tox.ini", TOX + "setenv =\n    PIP_INDEX_URL = https://e.example/simple\n", "DEPENDENCY_INDEX_ADDED", "blocks"),
    ("noxfile.py", NOX.replace("'pytest'", "'pytest', 'fast-cells'"), "DEPENDENCY_ADDED", "blocks"),
    ("noxfile.py", NOX.replace("'pytest'", "'--index-url=https://e.example', 'pytest'"), "DEPENDENCY_INDEX_ADDED", "blocks"),
    ("Pipfile", PIPFILE + 'fast-cells = "*"\n', "DEPENDENCY_ADDED", "blocks"),
    ("Pipfile", PIPFILE.replace(PYPI, "https://e.example/simple"), "DEPENDENCY_INDEX_ADDED", "blocks"),
    ("Pipfile", PIPFILE.replace('"*"', '{git = "https://e.example/r.git"}'), "DEPENDENCY_DIRECT_SOURCE", "blocks"),
    ("Pipfile.lock", PIPFILE_LOCK.replace(PYPI, "https://e.example/simple"), "DEPENDENCY_INDEX_ADDED", "blocks"),
    ("Pipfile.lock", PIPFILE_LOCK.replace(H1, H2), "DEPENDENCY_HASH_CHANGED", "blocks"),
    ("environment.yml", CONDA + "    - fast-cells\n", "DEPENDENCY_ADDED", "blocks"),
    ("environment.yml", CONDA.replace("  - numpy", "  - fast-cells\n  - numpy"), "DEPENDENCY_ADDED", "blocks"),
    ("environment.yml", CONDA.replace("numpy>=1", "somebody::numpy"), "DEPENDENCY_INDEX_ADDED", "blocks"),
    ("environment.yml", CONDA.replace("- conda-forge", "- somebody"), "DEPENDENCY_INDEX_ADDED", "blocks"),
    ("web/yarn.lock", YARN.replace(f"{NPM}/react", "https://e.example/react"), "DEPENDENCY_DIRECT_SOURCE", "blocks"),
    ("web/yarn.lock", YARN.replace("sha512-AAAA", "sha512-CCCC"), "DEPENDENCY_HASH_CHANGED", "blocks"),
    ("web/yarn.lock", YARN.replace("  integrity sha512-AAAA==\n", "").replace("#" + "a" * 40, ""), "DEPENDENCY_PINS_DROPPED", "blocks"),
    ("web/yarn.lock", YARN.replace("/react/-/react-1.0.1", "/reakt-dom/-/reakt-dom-1.0.1"), "DEPENDENCY_ADDED", "blocks"),
    ("web/yarn.lock", YARN.replace("react@^1.0.0,", '"react@npm:reakt@1",').replace(f'  resolved "{NPM}/react/-/react-1.0.1.tgz#{"a" * 40}"\n', ""), "DEPENDENCY_ADDED", "blocks"),
    ("app/yarn.lock", BERRY.replace("10c0/aaaa", "10c0/bbbb"), "DEPENDENCY_HASH_CHANGED", "blocks"),
    ("app/yarn.lock", BERRY.replace('"react@npm:1.0.1"', '"reakt@npm:1.0.1"'), "DEPENDENCY_ADDED", "blocks"),
    ("app/yarn.lock", BERRY.replace('"react@npm:1.0.1"', '"react@https://e.example/r.git#commit=1"'), "DEPENDENCY_DIRECT_SOURCE", "blocks"),
    ("lib/pnpm-lock.yaml", PNPM.replace("sha512-AAAA", "sha512-CCCC"), "DEPENDENCY_HASH_CHANGED", "blocks"),
    ("lib/pnpm-lock.yaml", PNPM.replace("{integrity: sha512-AAAA==}", "{integrity: sha512-AAAA==, tarball: https://e.example/r.tgz}"), "DEPENDENCY_DIRECT_SOURCE", "blocks"),
    ("lib/pnpm-lock.yaml", PNPM.replace("  react@1.0.1", "  reakt@1.0.1:\n    resolution: {integrity: sha512-DDDD==}\n\n  react@1.0.1"), "DEPENDENCY_ADDED", "blocks"),
    ("lib/pnpm-lock.yaml", PNPM.replace("{integrity: sha512-AAAA==}", "{integrity: sha512-AAAA=="), "DEPENDENCIES_UNREADABLE", "blocks"),
    ("go.mod", GO_MOD.replace("v1.0.0\n", "v1.0.0\nrequire github.com/e/f v1.0.0\n"), "DEPENDENCY_ADDED", "blocks"),
    ("go.mod", GO_MOD + "replace github.com/a/b => github.com/e/f v1.0.0\n", "DEPENDENCY_DIRECT_SOURCE", "blocks"),
    ("go.mod", GO_MOD + "replace github.com/a/b => ../outside\n", "DEPENDENCY_DIRECT_SOURCE", "blocks"),
    ("go.sum", GO_SUM.replace(f"v1.0.0 {SUM}", f"v1.0.0 {SUM.replace('AAA', 'BBB', 1)}"), "DEPENDENCY_HASH_CHANGED", "blocks"),
    ("Cargo.toml", CARGO + 'fast-cells = "1"\n', "DEPENDENCY_ADDED", "blocks"),
    ("Cargo.toml", CARGO + "[build-dependencies]\nfast-cells = '1'\n", "DEPENDENCY_ADDED", "blocks"),
    ("Cargo.toml", CARGO + "[target.'cfg(unix)'.dependencies]\nserde2 = {package = 'fast-cells', version = '1'}\n", "DEPENDENCY_ADDED", "blocks"),
    ("Cargo.toml", CARGO.replace('version = "1"', 'git = "https://e.example/serde"'), "DEPENDENCY_DIRECT_SOURCE", "blocks"),
    ("Cargo.toml", CARGO + "[patch.crates-io]\nserde = {git = 'https://e.example/serde'}\n", "DEPENDENCY_DIRECT_SOURCE", "blocks"),
    ("Cargo.lock", CARGO_LOCK.replace(H1, H2), "DEPENDENCY_HASH_CHANGED", "blocks"),
    ("Cargo.lock", CARGO_LOCK.replace(f'checksum = "{H1}"\n', ""), "DEPENDENCY_PINS_DROPPED", "blocks"),
    ("Cargo.lock", CARGO_LOCK.replace(CRATES, "git+https://e.example/serde#1"), "DEPENDENCY_DIRECT_SOURCE", "blocks"),
    (".cargo/config.toml", '[source.crates-io]\nreplace-with = "e"\n[source.e]\nregistry = "https://e.example"\n', "DEPENDENCY_INDEX_ADDED", "blocks"),
    (".cargo/config.toml", '[build]\nrustc-wrapper = "./w.sh"\n', "INSTALL_SCRIPT_ADDED", "blocks"),
    ("pom.xml", POM.replace("</dependencies>", "<dependency><groupId>org.e</groupId><artifactId>fast</artifactId></dependency></dependencies>"), "DEPENDENCY_ADDED", "blocks"),
    ("pom.xml", POM.replace("<dep", "<repositories><repository><url>https://e.example/m2</url></repository></repositories><dep", 1), "DEPENDENCY_INDEX_ADDED", "blocks"),
    ("pom.xml", '<!DOCTYPE p [<!ENTITY e "x">]>' + POM, "DEPENDENCIES_UNREADABLE", "blocks"),
    ("build.gradle", GRADLE.replace("2.0.0'\n", "2.0.0'\n    implementation 'org.e:fast:1'\n"), "DEPENDENCY_ADDED", "blocks"),
    ("build.gradle", GRADLE.replace("id 'java'", "id 'java'\n    id 'org.e.plugin' version '1'"), "DEPENDENCY_ADDED", "blocks"),
    ("build.gradle", GRADLE.replace("mavenCentral()", "maven { url 'https://e.example/m2' }"), "DEPENDENCY_INDEX_ADDED", "blocks"),
    ("gradle/wrapper/gradle-wrapper.properties", WRAPPER.replace("services.gradle.org", "e.example"), "DEPENDENCY_INDEX_ADDED", "blocks"),
    ("gradle/wrapper/gradle-wrapper.properties", WRAPPER.replace(H1, H2), "DEPENDENCY_HASH_CHANGED", "blocks"),
    ("gradle/wrapper/gradle-wrapper.properties", WRAPPER.replace(f"distributionSha256Sum={H1}\n", ""), "DEPENDENCY_PINS_DROPPED", "blocks"),
    (".pre-commit-config.yaml", HOOKS.replace("[types-requests]", "[types-requests, fast-cells]"), "DEPENDENCY_ADDED", "blocks"),
    ("uv.lock", UV_LOCK.replace("requests-2.0.tar.gz", "fast_cells-2.0.tar.gz"), "DEPENDENCY_DIRECT_SOURCE", "blocks"),
    ("uv.lock", UV_LOCK.replace(FILES, "https://e.example").replace("2.0", "3.0").replace(H1, H2), "DEPENDENCY_INDEX_ADDED", "asks"),
    ("uv.lock", UV_LOCK.replace(f'{{ registry = "{PYPI}" }}', '{ git = "https://e.example/r" }'), "DEPENDENCY_DIRECT_SOURCE", "blocks"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "after", "code", "effect"), CHEATS)
def test_what_newly_gets_installed_is_stopped(path, after, code, effect):
    assert after != REPO.get(path)
    found = check(tree_evidence(REPO, {path: after}))
    assert (code, effect) in {(f.code, f.effect.value) for f in found}
    assert {f.path for f in found} == {path}


HONEST = [
    ("setup.cfg", SETUP_CFG.replace(">=2", ">=2.1").replace("    pytest\n", "    pytest>=8\n    mock\n")),
    ("setup.cfg", SETUP_CFG.replace("install_requires =\n    requests>=2  # the web\n    tomli; python_version < '3.11'", "install_requires = file: requirements.txt")),
    ("setup.cfg", SETUP_CFG + "\n[flake8]\nmax-line-length = 100\nextend-ignore =\n    E203\n"),
    ("setup.py", SETUP_PY.replace("REQ = ['requests>=2']", "REQ = open('requirements.txt').read().splitlines()")),
    ("setup.py", SETUP_PY.replace("'requests>=2'", "'requests>=2.5,<3'").replace("name='shop'", "name='shop', classifiers=['Topic :: Software'], keywords=['a', 'b'], packages=['shop']")),
    ("setup.py", SETUP_PY.replace("setup(n", "if True:\n    REQ += ['mock']\nsetup(python_requires='>=3.9', n")),
    ("tox.ini", TOX.replace("envlist = py", "envlist = py, lint") + "\n[testenv:lint]\ndeps =\n    pytest>=8\n    {[testenv]deps}\n    ./plugins/own\ncommands = pytest\n"),
    ("noxfile.py", NOX.replace("'pytest'", "'pytest>=8', *session.posargs")),
    ("Pipfile", PIPFILE.replace('"*"', '">=2"') + 'numpy = "*"\n'),
    ("Pipfile.lock", PIPFILE_LOCK.replace(H1, H2).replace("==2.0", "==2.1")),
    ("environment.yml", CONDA.replace("3.11", "3.12").replace("requests==2.0", "requests==2.1").replace("- conda-forge", "- conda-forge\n  - nodefaults")),
    ("deploy/environment.yaml", "kind: Settings\nvalues:\n  - a\n"),
    ("web/yarn.lock", YARN.replace("1.0.1", "1.0.2").replace("a" * 40, "c" * 40).replace("AAAA", "CCCC")),
    ("app/yarn.lock", BERRY.replace("1.0.1", "1.0.2").replace("aaaa", "cccc")),
    ("lib/pnpm-lock.yaml", PNPM.replace("1.0.1", "1.0.2").replace("AAAA", "CCCC")),
    ("go.mod", GO_MOD.replace("go 1.22", "go 1.23\n\ntoolchain go1.23.1").replace("b v1.0.0", "b v1.1.0")),
    ("go.mod", GO_MOD + "replace github.com/a/b => github.com/a/b v0.9.0\n"),
    ("go.sum", GO_SUM + f"github.com/new/module v1.0.0 {SUM}\n"),
    ("Cargo.toml", CARGO.replace('"1"', '"1.2"') + '[dev-dependencies]\nserde = "1"\n[[bin]]\nname = "x"\n'),
    ("Cargo.toml", CARGO + 'part = { path = "crates/part" }\n'),
    ("Cargo.lock", CARGO_LOCK.replace("1.0.0", "1.0.1").replace(H1, H2)),
    (".cargo/config.toml", "[alias]\nxtask = 'run'\n[net]\nretry = 3\n[build]\ntarget-dir = 'out'\n"),
    ("pom.xml", POM.replace("2.0.0", "2.0.1")),
    ("build.gradle", GRADLE.replace("2.0.0", "2.0.1")),
    ("gradle/wrapper/gradle-wrapper.properties", WRAPPER.replace("8.5", "8.6").replace(H1, H2)),
    (".pre-commit-config.yaml", HOOKS.replace("[types-requests]", "['types-requests>=2', 'mock', '.[extra]', 'prettier@3.0.0']")),
    ("uv.lock", UV_LOCK.replace("2.0", "2.1").replace(H1, H2)),
]  # fmt: skip


@pytest.mark.parametrize(("path", "after"), HONEST)
def test_a_plain_bump_and_its_like_pass(path, after):
    # The part lies in the project: only then is its folder no other place.
    repo = {**REPO, "Cargo.toml": CARGO + 'part = "1"\n'} if "part = {" in after else REPO
    assert [(f.code, f.path) for f in check(tree_evidence(repo, {path: after})) if f.effect.value != "advises"] == []


@pytest.mark.parametrize(
    ("path", "after", "name"),
    [
        ("setup.cfg", SETUP_CFG.replace("    tomli", "    fast-cells>=1\n    tomli"), "fast-cells"),
        ("go.mod", GO_MOD.replace("v1.0.0\n", "v1.0.0\nrequire github.com/e/f v1.0.0\n"), "github.com/e/f"),
        ("Cargo.toml", CARGO + 'fast_cells = "1"\n', "fast_cells"),
        ("lib/pnpm-lock.yaml", PNPM.replace("  react@1.0.1", "  '@e/fast@1.0.1':\n    resolution: {integrity: sha512-DDDD==}\n\n  react@1.0.1"), "@e/fast@1.0.1"),
        ("pom.xml", POM.replace("</dependencies>", "<dependency><groupId>org.e</groupId><artifactId>fast</artifactId></dependency></dependencies>"), "org.e:fast"),
    ],
)  # fmt: skip
def test_a_permit_covers_the_package_that_it_names(path, after, name):
    assert check(tree_evidence(REPO, {path: after}, permits=[permit("add_dependency", names=[name])])) == ()
    (found,) = check(tree_evidence(REPO, {path: after}, permits=[permit("add_dependency", names=["another"])]))
    assert (found.code, found.effect.value) == ("DEPENDENCY_ADDED", "blocks")


def test_what_comes_along_with_a_permitted_module_is_asked_about():
    after = {
        "go.mod": GO_MOD.replace("v1.0.0\n", "v1.0.0\nrequire github.com/e/f v1.0.0\n")
        + "\nrequire github.com/g/h v1.0.0 // indirect\n"
    }
    (found,) = check(tree_evidence(REPO, after, permits=[permit("add_dependency", names=["github.com/e/f"])]))
    assert (found.code, found.effect.value) == ("DEPENDENCY_ADDED", "asks")


def test_a_script_that_was_no_python_before_says_as_little_now():
    old = "print 'for an old interpreter'\n"
    assert check(tree_evidence({"setup.py": old}, {"setup.py": old + "print 'more'\n"})) == ()
    found = check(tree_evidence({"setup.py": SETUP_PY}, {"setup.py": old}))
    assert [(f.code, f.effect.value) for f in found] == [("DEPENDENCIES_UNREADABLE", "blocks")]


def test_a_name_is_known_within_its_family_alone():
    after = {"package.json": '{"dependencies": {"requests": "1"}}'}
    assert [f.code for f in check(tree_evidence(REPO, after))] == ["DEPENDENCY_ADDED"]


def test_a_list_that_moves_to_another_file_adds_nothing():
    moved = {
        "setup.py": None,
        "setup.cfg": None,
        "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["requests>=2", "tomli"]\n',
    }
    before = {"setup.py": SETUP_PY, "setup.cfg": SETUP_CFG}
    assert check(tree_evidence(before, moved)) == ()


def test_a_private_registry_that_the_lock_has_used_may_serve_another_version():
    lock = '{{"lockfileVersion": 3, "packages": {{"": {{}}, "node_modules/shared": {{"version": "{0}", "resolved": "https://npm.example/r/shared/-/shared-{0}.tgz", "integrity": "sha512-{1}"}}}}}}'
    before = {"package-lock.json": lock.format("1.0.0", "AAAA")}
    assert check(tree_evidence(before, {"package-lock.json": lock.format("1.0.1", "BBBB")})) == ()
    other = lock.format("1.0.1", "BBBB").replace("npm.example", "e.example")
    assert [f.code for f in check(tree_evidence(before, {"package-lock.json": other}))] == ["DEPENDENCY_DIRECT_SOURCE"]


def test_a_part_of_the_project_in_its_own_lock_comes_from_nowhere_else():
    lock = '{"lockfileVersion": 3, "packages": {"": {}, "packages/part": {"version": "1.0.0"}, "node_modules/part": {"resolved": "packages/part", "link": true}}}'
    assert check(tree_evidence({"packages/part/package.json": '{"name": "part"}'}, {"package-lock.json": lock})) == ()
