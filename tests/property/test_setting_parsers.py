"""Parsers of settings, manifests, workflows and code never raise on hostile text."""

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.formats import python_code, python_requirements, tool_settings, workflow_yaml

HOSTILE = st.text(max_size=400) | st.text(alphabet="[]{}=:\"'\n -&*!<>#@,.a1\\", max_size=400)


@given(HOSTILE)
def test_workflows(text):
    workflow_yaml.walk(workflow_yaml.load(text))


@given(HOSTILE, st.sampled_from(["requirements.txt", "pyproject.toml", "package.json", "uv.lock", "Pipfile.lock"]))
def test_manifests(text, name):
    python_requirements.read(name, text)


@given(HOSTILE, st.sampled_from(["setup.cfg", "pyproject.toml", ".eslintrc.json", "codecov.yml"]))
def test_settings(text, name):
    tool_settings.read(name, text)


@given(HOSTILE)
def test_code(text):
    tree = python_code.parse(text)
    if tree is not None:
        assert python_code.meaning(tree) == python_code.meaning(tree)
        list(python_code.strings(tree))


def test_an_alias_bomb_ends():
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9)
    )
    assert len(workflow_yaml.walk(workflow_yaml.load(bomb))) <= 20_000


def test_depth_is_capped():
    assert workflow_yaml.load("[" * 5000 + "]" * 5000) is None
    assert python_code.parse("(" * 50_000) is None
