"""Readers of lists of dependencies and of lines that install never raise on hostile text, and end soon."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.formats import package_lists
from gatekeeper.formats.package_lists import images, install_lines, yaml_lock

NAMES = [
    "setup.cfg", "tox.ini", "setup.py", "noxfile.py", "Pipfile", "Pipfile.lock", "environment.yml", ".pre-commit-config.yaml", "yarn.lock",
    "pnpm-lock.yaml", "go.mod", "go.sum", "Cargo.toml", "Cargo.lock", ".cargo/config.toml", "pom.xml", "build.gradle", "libs.versions.toml",
    "gradle/wrapper/gradle-wrapper.properties", "package.json", "package-lock.json", "pyproject.toml", "uv.lock", "requirements.txt",
]  # fmt: skip
WORDS = [
    "[options]", "install_requires", "=", "\n", "    ", "[testenv]", "deps", ":", "setup(", "name=", "'a'", ")", "[", "]", "{", "}", "[packages]", '"', "a", "1", "@",
    "__metadata:", "packages:", "resolution:", "-", "module", "require", "(", "replace", "=>", "./x", "v1.0.0", "[[package]]", "source", "dependencies", "<project>",
    "<dependency>", "</dependency>", "implementation", "distributionUrl", "FROM", "AS", "RUN", "pip install", "npx", "--from", "$", "#", "://", "e.example", ",", ";", "|",
]  # fmt: skip
HOSTILE = (
    st.text(max_size=300)
    | st.lists(st.sampled_from(WORDS), max_size=60).map("".join)
    | st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8) | st.sampled_from(["react@1", "npm:x@1", "file:../x", "git+https://e.example/x"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["packages", "dependencies", "resolution", "pip", "repos", "hooks", "additional_dependencies", "_meta", "sources", "default", "version", "node_modules/a", "integrity", "resolved", "a@1"]), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


@given(HOSTILE, st.sampled_from(NAMES))
def test_a_list_is_read_or_refused(text, path):
    made = package_lists.read(path, text)
    if made is not None:
        assert all(
            isinstance(d.name, str) and isinstance(d.version, str) and isinstance(d.source, str)
            for d in made.dependencies
        )


@given(VALUES, st.sampled_from([n for n in NAMES if n.endswith((".json", ".lock", ".yml", ".yaml"))]))
def test_values_of_any_type_are_read_or_refused(value, path):
    package_lists.read(path, json.dumps(value))


@given(HOSTILE)
def test_lines_of_a_shell_and_images(text):
    install_lines.installed(text)
    images.container_file(text)
    images.run_lines(text)


@given(HOSTILE)
def test_yaml_of_a_lock(text):
    made = yaml_lock.load(text)
    assert made is None or isinstance(made, dict)


@pytest.mark.parametrize(
    "text", ["a: &a [x]\nb: *a\n", "[" * 100 + "]" * 100, "a: 1\na: 2\n", "? {a: b}\n: c\n", "- a\n", "", "a: [\n"]
)
def test_yaml_that_no_tool_writes_is_refused(text):
    assert yaml_lock.load(text) is None


def test_long_lines_are_read_in_bounded_time():
    """Each would take hours if a pattern went back over what it has read."""
    for word in (
        "pip install ",
        "docker run ",
        "docker run -e a ",
        "npx --a ",
        "FROM ",
        "ARG a=",
        "uvx --with a ",
        "go get a.b/c@v ",
        "id 'a.b' ",
        "'a:b:c' ",
        "https://",
        "- {a: ",
        "a@b:\n",
    ):
        text = word * (100_000 // len(word))
        install_lines.installed(text)
        images.run_lines(text)
        images.container_file(text)
        for path in NAMES:
            package_lists.read(path, text)
