"""Both scanners keep the port's promises; every code rule fires on its positive text and not on its negative one."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from gatekeeper.adapters.kingfisher_scanner.scanner import KingfisherScanner
from gatekeeper.adapters.semgrep_scanner import SemgrepScanner
from gatekeeper.adapters.semgrep_scanner.scanner import RULES
from gatekeeper.config import Paths, libexec
from gatekeeper.domain.ports import ScanTarget
from gatekeeper.errors import CouldNotCheck, reasons

ASK = "r = client.chat.completions.create(model='m')\nx = r.choices[0].message.content\n"
JS = "const r = await client.chat.completions.create({});\nconst x = r.choices[0].message.content;\n"
# rule: (extension, positive, negative)
SAMPLES = {
    "py-model-output-exec": ("py", ASK + "exec(x)\n", ASK + "print(x)\nexec('1')\n"),
    "py-model-output-eval": ("py", ASK + "eval(x)\n", ASK + "ast.literal_eval(x)\n"),
    "py-model-output-shell": ("py", ASK + "subprocess.run(x, shell=True)\n", ASK + "subprocess.run(['ls'])\n"),
    "py-model-output-import": ("py", ASK + "importlib.import_module(x)\n", "importlib.import_module(name)\n"),
    "py-model-output-template": ("py", ASK + "jinja2.Template(x)\n", ASK + "jinja2.Template('a').render(x=x)\n"),
    "py-model-output-deserialise": ("py", ASK + "pickle.loads(x)\n", ASK + "json.loads(x)\n"),
    "py-model-output-sql": ("py", ASK + "db.execute(x)\n", ASK + "db.execute('select ?', (x,))\n"),
    "py-model-output-html": ("py", ASK + "Markup(x)\n", ASK + "Markup(html.escape(x))\n"),
    "py-model-output-path": ("py", ASK + "open(x)\n", ASK + "open('a', 'w').write(x)\n"),
    "js-model-output-eval": ("js", JS + "eval(x);\n", JS + "JSON.parse(x);\n"),
    "js-model-output-shell": ("ts", JS + "child_process.exec(x);\n", JS + "console.log(x);\n"),
    "js-model-output-html": ("ts", JS + "e.innerHTML = x;\n", JS + "e.innerHTML = DOMPurify.sanitize(x);\ne.textContent = x;\n"),
    "py-tool-argument-shell": ("py", "@mcp.tool()\ndef run(cmd):\n    os.system(cmd)\n", "def run(cmd):\n    os.system('ls')\n"),
    "js-tool-argument-shell": ("js", "execSync(toolCall.arguments.cmd);\n", "execSync('ls');\n"),
    "agent-cli-checks-off": ("sh", "claude -p hi --dangerously-skip-permissions\n", "claude -p hi --allowedTools Read\n"),
    "py-allow-dangerous": ("py", "load(x, allow_dangerous_deserialization=True)\n", "load(x, allow_dangerous_deserialization=False)\n"),
    "py-bypass-permissions": ("py", "Options(permission_mode='bypassPermissions')\n", "Options(permission_mode='plan')\n"),
    "py-code-tool": ("py", "tools = [ShellTool()]\n", "tools = [SearchTool()]\n"),
    "py-trust-remote-code": ("py", "A.from_pretrained('m', trust_remote_code=True)\n", "A.from_pretrained('m')\n"),
    "py-torch-load-pickle": ("py", "torch.load(p, weights_only=False)\n", "torch.load(p, weights_only=True)\n"),
    "py-keras-unsafe": ("py", "load_model(p, safe_mode=False)\n", "load_model(p)\n"),
    "py-unpickle-download": ("py", "pickle.loads(requests.get(u).content)\n", "json.loads(requests.get(u).content)\n"),
    "py-yaml-unsafe": ("py", "yaml.load(s, Loader=yaml.Loader)\n", "yaml.load(s, Loader=yaml.SafeLoader)\nyaml.safe_load(s)\n"),
    "py-tls-off": ("py", "requests.get(u, verify=False)\n", "requests.get(u, verify='ca.pem')\n"),
    "js-tls-off": ("js", "new Agent({rejectUnauthorized: false});\n", "new Agent({rejectUnauthorized: true});\n"),
}  # fmt: skip
WRAPPED = "from shop.assistant import ask\nfrom shop.runner import run\ndef f(client, db, q):\n    t = ask(client, q).strip()\n"
"""A model asked through a function of the project itself, in another file."""
BY_CLIENT = (
    "def ask(client, q):\n    return client.chat.completions.create(q)\ndef f(client, q):\n    t = ask(client, q)\n"
)
JS_ASK = "async function f(client) {\n  const t = await ask(client, 'q');\n"
# rule, extension, text that it finds, or "" with one where nothing is to be found
FURTHER = [
    ("py-model-output-shell", "py", WRAPPED + "    return run(t)\n"),
    ("py-model-output-sql", "py", WRAPPED + "    return list(db.execute(f'select 1 where {t} order by 2'))\n"),
    ("py-model-output-eval", "py", BY_CLIENT + "    return dict(eval(t, {'__builtins__': {}}))\n"),
    ("js-model-output-eval", "js", JS + "const f = new Function('row', `return (${x});`);\n"),
    ("js-model-output-eval", "ts", JS_ASK + "  return new vm.Script(t);\n}\n"),
    ("js-model-output-html", "js", JS_ASK + "  return <div dangerouslySetInnerHTML={{__html: t}} />;\n}\n"),
    ("", "py", WRAPPED + "    run(['ls', '-l'])\n    run(ACTIONS[t])\n    run(ACTIONS.get(t, ['true']))\n    db.execute('select ?', (t,))\n"),
    ("", "py", "from shop.chat import load\ndef f(client, session):\n    open(load('a'))\n    open(client.get('/x').text)\n    eval(str(session.query(Model)))\n"),
    ("", "js", JS + "new Function('a', 'return a')(x);\nsetTimeout(() => show(x), 100);\n$(e).text(x);\n"),
]  # fmt: skip


@pytest.fixture(scope="module")
def code() -> SemgrepScanner:
    made = SemgrepScanner(libexec())
    if not made.binary.is_file():
        if os.environ.get("CI") == "true":
            pytest.fail("semgrep is not installed")
        pytest.skip("semgrep is not installed")
    return made


def targets(files: dict[str, str | bytes]) -> list[ScanTarget]:
    return [ScanTarget(p, p, c.encode() if isinstance(c, str) else c) for p, c in files.items()]


def test_every_rule_has_samples():
    ids = {i for f in RULES.glob("*.yml") for i in re.findall(r"^  - id: (\S+)", f.read_text(), re.MULTILINE)}
    assert ids - {"canary"} == set(SAMPLES)


def test_rules_fire_on_positive_and_only_on_positive(code):
    files = {}
    for rule, (ext, good, bad) in SAMPLES.items():
        files[f"{rule}/pos.{ext}"], files[f"{rule}/neg.{ext}"] = good, bad
    report = code.scan(targets(files))
    assert report.verified, report.errors
    got = {(h.rule, h.path) for h in report.hits}
    for rule, (ext, _, _) in SAMPLES.items():
        assert (rule, f"{rule}/pos.{ext}") in got
    assert [g for g in got if "/neg." in str(g[1])] == []
    assert {h.metadata["code"] for h in report.hits} <= set(reasons())


def test_models_are_asked_and_commands_run_through_functions_of_the_project(code):
    files = {f"{n}.{ext}": body for n, (_, ext, body) in enumerate(FURTHER)}
    report = code.scan(targets(files))
    assert report.verified, report.errors
    got = {(h.rule, h.path) for h in report.hits}
    assert got == {(rule, f"{n}.{ext}") for n, (rule, ext, _) in enumerate(FURTHER) if rule}


def test_every_kind_of_file_counts_as_scanned(code):
    report = code.scan(
        targets({"README.md": "x", "Makefile": "", "a b\n.toml": "x=1", "-rf.py": "x=1", "../../e.py": "y"})
    )
    assert report.verified
    assert set(report.scanned) == {"README.md", "Makefile", "a b\n.toml", "-rf.py", "../../e.py"}


@pytest.mark.parametrize(
    "data", ["exec(1)".encode("utf-16"), b"x = 1\x00", b"# -*- coding: utf-7 -*-\nx", b"x=1\n" * 400_000]
)
def test_source_that_the_engine_would_not_see_is_a_hit(code, data):
    report = code.scan(targets({"a.py": data}))
    assert [h.metadata["code"] for h in report.hits] == ["UNREADABLE_SOURCE"]


def test_binary_data_is_left_out_on_purpose(code):
    assert code.scan(targets({"logo.png": b"\x89PNG\x00\x01"})).verified


def test_out_of_time_is_not_verified():
    scanner = SemgrepScanner(libexec(), wall_s=0.001)
    if scanner.binary.is_file():
        report = scanner.scan(targets({"a.py": "x = 1"}))
        assert not report.verified
        assert "out of time" in report.errors[0]


def test_bad_rule_is_not_verified(code, tmp_path: Path):
    (tmp_path / "a.yml").write_text(
        "rules:\n  - id: x\n    languages: [python]\n    pattern: 'f((('\n    message: m\n    severity: ERROR\n"
    )
    assert not SemgrepScanner(libexec(), rules=tmp_path).scan(targets({"a.py": "x = 1"})).verified


def test_missing_engine_is_could_not_check(tmp_path: Path):
    with pytest.raises(CouldNotCheck) as caught:
        SemgrepScanner(tmp_path).scan(targets({"a.py": "x = 1"}))
    assert caught.value.code == "CODE_SCAN_FAILED"


def test_nosem_comment_does_not_help(code):
    assert code.scan(targets({"a.py": "requests.get(u, verify=False)  # nosemgrep\n"})).hits


@pytest.fixture
def secrets(gate_paths: Paths):
    scanner = KingfisherScanner(gate_paths.cache, gate_paths.state)
    yield scanner
    scanner.close()


def test_nothing_to_scan_is_verified(code, secrets):
    assert code.scan([]).verified
    assert secrets.scan([]).verified


def killing(scanner: KingfisherScanner, names: set[str]) -> None:
    """The worker dies before it answers for these targets, as native code would that a file crashes."""
    ask = scanner._ask

    def dies(target: ScanTarget):
        if target.name in names:
            os.kill(scanner._ready().pid, signal.SIGSEGV)
        return ask(target)

    scanner._ask = dies


def test_file_that_kills_the_secret_scanner_is_not_verified_and_others_are_scanned(secrets):
    killing(secrets, {"b.py"})
    key = "ghp_" + "mx6T55Bn27kvsEsB2jSW" + "5R3UfG8TuQSEqSal"
    report = secrets.scan(targets({"a.py": "x", "b.py": "y", "c.py": key}))
    assert not report.verified
    assert report.scanned == ("a.py", "c.py")
    assert [hit.path for hit in report.hits] == ["c.py"]
    assert key not in str(report)


def test_scanner_that_dies_at_every_file_is_not_started_for_ever(secrets, monkeypatch):
    names = {f"f{n}.py" for n in range(20)}
    killing(secrets, names)
    started = []
    begin = secrets._begin
    monkeypatch.setattr(secrets, "_begin", lambda: started.append(1) or begin())
    report = secrets.scan(targets({name: name for name in sorted(names)}))
    assert report.scanned == ()
    assert len(report.errors) == 20
    assert len(started) < 15


def test_closed_scanner_scans_nothing(secrets):
    secrets.close()
    with pytest.raises(CouldNotCheck) as caught:
        secrets.scan(targets({"a.py": "x"}))
    assert caught.value.code == "SECRET_SCAN_FAILED"


def test_scanner_without_its_package_says_so(secrets, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    secrets.start()
    with pytest.raises(CouldNotCheck, match="kingfisher_sdk is not installed"):
        secrets.scan([])


def test_text_is_told_without_its_secrets(secrets):
    key = "ghp_" + "mx6T55Bn27kvsEsB2jSW" + "5R3UfG8TuQSEqSal"
    texts = [f"E   AssertionError: {key}\nE   assert '{key}' == ''", "nothing here", "", "password = changeme"]
    told = secrets.redact(texts)
    assert key not in told[0]
    assert "AssertionError" in told[0]
    assert told[1:] == tuple(texts[1:])


NETRC = "machine artifacts.shop.test\n  login ci-bot\n  password {}\n"
KEY = "sk-ant-" + "api03-lNE9XFdC-yreIogLe3pOsxVZSo0jR2z3fV-Kmt-z95IOmFGNEBgEolOGSE6MsaUFs2gdjkTFYDki4i"


def test_passwords_of_netrc_files_and_tokens_in_hexadecimal_digits(secrets):
    digits = KEY.encode().hex()
    found = secrets.scan(
        targets(
            {
                "ci/netrc": NETRC.format("dK1VZSJpFes" + "Ne8OKlUHTOf"),
                "hex.py": f"\nK = '{digits}'\n",
                "upper.py": f"K = 0x{digits.upper()}\n",
                "split.py": f"K = ('{digits[:80]}'\n     '{digits[80:]}')\nx = 1\n",
            }
        )
    )
    assert found.verified
    assert {(h.path, h.line) for h in found.hits} == {("ci/netrc", 3), ("hex.py", 2), ("upper.py", 1), ("split.py", 1)}
    assert digits not in secrets.redact([f"seen: {digits}"])[0]


def test_digests_and_stand_ins_are_no_secrets(secrets):
    import hashlib

    sums = "".join(f"{hashlib.sha512(bytes([n])).hexdigest()}  file{n}\n" for n in range(50))
    prose = "The machine learning default login is in the docs; the user changes a password there.\n"
    text = b"hello, this is plain text of no meaning".hex()
    found = secrets.scan(
        targets(
            {"SUMS": sums, "a.md": prose, "netrc.example": NETRC.format("your-password"), "t.py": f"T = '{text}'\n"}
        )
    )
    assert found.verified
    assert found.hits == ()


def test_text_that_kills_the_scanner_is_withheld_whole(secrets, monkeypatch):
    secrets.load()
    os.kill(secrets._ready().pid, signal.SIGKILL)
    monkeypatch.setattr(secrets, "_ready", lambda worker=secrets._worker: worker)
    assert secrets.redact(["abc"]) == ("[withheld: the secret scanner could not look through this text]",)
