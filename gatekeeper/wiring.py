"""The only module that names concrete adapters, each inside its own factory function so that imports stay lazy."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gatekeeper import __version__
from gatekeeper.config import Paths, paths
from gatekeeper.domain.decision import Approval, Outcome
from gatekeeper.domain.finding import Finding, finding, from_error, ordered
from gatekeeper.domain.gate_settings import (
    GateSettings,
    PolicyKind,
    PolicySettings,
    SigningKind,
    SigningSettings,
    SourceSettings,
)
from gatekeeper.domain.ports import Limits
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.verdict import Mode, Verdict, worst
from gatekeeper.errors import ConfigurationError, GatekeeperError, UsageError

if TYPE_CHECKING:
    from gatekeeper.adapters.blob_store import BlobStore
    from gatekeeper.adapters.bubblewrap_sandbox import BubblewrapSandbox
    from gatekeeper.adapters.dbos_durable import DbosEngine
    from gatekeeper.adapters.environment_builder import UvEnvironmentBuilder
    from gatekeeper.adapters.file_reports import FileReports
    from gatekeeper.adapters.git_mirror import GitMirror, GitNotesStore
    from gatekeeper.adapters.git_mirror.enforcer import EnforcerRepository
    from gatekeeper.adapters.git_mirror.sources import Remotes
    from gatekeeper.adapters.kingfisher_scanner.scanner import KingfisherScanner
    from gatekeeper.adapters.local_key_signer import LocalKeySigner
    from gatekeeper.adapters.opa_policy import OpaPolicy
    from gatekeeper.adapters.rego_policy import RegoPolicy
    from gatekeeper.adapters.semgrep_scanner import SemgrepScanner
    from gatekeeper.adapters.sigstore_signer import SigstoreSigner
    from gatekeeper.adapters.sql_store import SqlRecords
    from gatekeeper.api.server import ApiServer, ServerSettings
    from gatekeeper.domain.trust import Trust
    from gatekeeper.formats.attestation import Keyless
    from gatekeeper.workflow.service.service import Service
    from gatekeeper.workflow.service.verification_run import RunSettings
    from gatekeeper.workflow.tools import Tools


SANDBOX_NICENESS = 5
"""Of runs under the server: whoever submits or watches is answered while tests fill the cores."""
_LOG = logging.getLogger("gatekeeper.wiring")


class SystemClock:
    """The machine's clocks. Implements `domain.ports.Clock`."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic()


def new_id() -> str:
    """A fresh id: 128 random bits in hex."""
    return os.urandom(16).hex()


# --- the one-shot check -------------------------------------------------------------------------------------------


@contextmanager
def check_tools(where: Paths, *, trust: bytes | None, publish: bool, timeout_s: float) -> Iterator[Tools]:
    """Tools of `gatekeeper check`: mode local, local key, everything in this process.

    What takes long to load (secret rules, policy worker) starts loading at once, beside the git work.
    """
    from gatekeeper.workflow.tools import Tools

    with ExitStack() as stack:
        policy = policy_engine()
        stack.callback(policy.close)
        policy.warm()
        secrets = secret_scanner(where)
        stack.callback(secrets.close)
        secrets.start()
        yield Tools(
            git=git_repositories(where),
            environments=environment_builder(where),
            sandbox=sandbox(where),
            secrets=secrets,
            code=code_scanner(),
            policy=policy,
            signer=check_signer(where),
            store=attestation_store(),
            clock=SystemClock(),
            new_id=new_id,
            approvals=approval_verifier(trust),
            mode=Mode.LOCAL,
            limits=Limits(wall_s=timeout_s),
            gate_version=__version__,
            publish=publish,
        )


def check(
    submission: Submission,
    *,
    trust: bytes | None,
    publish: bool,
    timeout_s: float,
    listener: Callable[[str, Mapping[str, Any]], None],
    started: float,
    begun: float,
) -> Outcome:
    """Judge one submission in this process.

    `started` is the time of day when the request came, `begun` the same moment on `time.perf_counter`. Raises
    `UsageError` alone: whatever else goes wrong, setting up included, is an undecided outcome.
    """
    from gatekeeper.adapters.memory_durable import MemoryDurable
    from gatekeeper.workflow.pipeline import crash, load_late_steps, step_table, verify

    def listen(state: str, detail: Mapping[str, Any]) -> None:
        if state == "RUNNING":
            threading.Thread(target=load_late_steps, name="late-steps", daemon=True).start()
        listener(state, detail)

    submission = replace(submission, run_id=new_id())
    timings: dict[str, float] = {}
    try:
        with check_tools(paths(), trust=trust, publish=publish, timeout_s=timeout_s) as tools:
            submission = replace(submission, approvals=(*submission.approvals, *_stored_approvals(tools, submission)))
            durable = MemoryDurable(step_table(tools), listen)
            timings = durable.timings_ms
            timings["start"] = round((time.perf_counter() - begun) * 1000, 1)
            outcome = verify(durable, submission, mode=Mode.LOCAL, started=started)
    except UsageError:
        raise
    except GatekeeperError as error:
        outcome = _undecided(submission, from_error(error))
    except Exception as error:
        outcome = _undecided(submission, crash(error))
    return replace(outcome, timings_ms={**timings, "total": round((time.perf_counter() - begun) * 1000, 1)})


def _undecided(submission: Submission, reason: Finding) -> Outcome:
    found = [reason]
    if reason.category != "could_not_check":
        found.append(finding("GATE_CRASHED", "The gate could not be set up."))
    return Outcome(
        verdict=Verdict.UNDECIDED,
        mode=Mode.LOCAL,
        findings=ordered(found),
        run_id=submission.run_id,
        head=submission.head,
    )


def _stored_approvals(tools: Tools, submission: Submission) -> tuple[bytes, ...]:
    """Whatever is stored for the head commit in the repository; only what verifies counts."""
    try:
        return tuple(b.encode() for b in tools.store.get(submission.repository, submission.head))
    except GatekeeperError:
        return ()


def write_attestation(outcome: Outcome, path: Path) -> Outcome:
    """Write the signed statements, one bundle a line. A verdict that cannot be handed over is undecided."""
    if not outcome.attestation:
        return outcome
    try:
        path.write_text("".join(b + "\n" for b in outcome.attestation["bundles"]), encoding="utf-8")
    except OSError as error:
        trouble = finding("STORE_FAILED", f"The statements cannot be written to {str(path)!r}: {error.strerror}.")
        return replace(
            outcome,
            verdict=worst([outcome.verdict, Verdict.UNDECIDED]),
            findings=ordered([*outcome.findings, trouble]),
            attestation=None,
        )
    return replace(outcome, attestation={**outcome.attestation, "file": str(path)})


def report_store(where: Paths) -> FileReports:
    """Reports of `check` on this machine."""
    from gatekeeper.adapters.file_reports import FileReports

    return FileReports(where.reports)


def keep_report(outcome: Outcome, target_ref: str) -> str | None:
    """Keep the report for reviewers. Never raises, and never changes the verdict; returns words where it failed."""
    from gatekeeper.formats.report_json import document, dumps
    from gatekeeper.formats.stored_report import STORED

    if outcome.head is None or outcome.ticket is None:
        return None
    full = target_ref if target_ref.startswith("refs/heads/") else f"refs/heads/{target_ref}"
    try:
        row = {"schema": STORED, "target_ref": full, "written_at": time.time(), "report": document(outcome)}
        report_store(paths()).put(outcome.head, outcome.run_id, dumps(row))
    except Exception as error:
        return f"the report could not be kept for reviewers ({type(error).__name__}: {error})"
    return None


def approval_verifier(trust: bytes | None) -> Callable[..., tuple[tuple[Approval, ...], tuple[Finding, ...]]]:
    """Verifies approvals against the operator's trust file; without one no approval counts."""

    def verifier(bundles: Sequence[bytes], **binding: Any) -> tuple[tuple[Approval, ...], tuple[Finding, ...]]:
        if trust is None or not bundles:
            return (), ()
        from gatekeeper.adapters.local_key_signer import verify_approvals
        from gatekeeper.formats.trust import parse_trust

        return verify_approvals(bundles, parse_trust(trust), **binding)

    return verifier


def machine_preparations(where: Paths) -> Iterator[tuple[str, Callable[[], object]]]:
    """What makes the first check on this machine as fast as the second: (words for the user, action)."""
    yield "making the secret scanner's rule cache", lambda: warm_secret_rules(where)
    yield "making the environment of the gate's own pytest", lambda: host_environment(where)


def host_environment(where: Paths) -> object:
    """The environment behind `--environment host`."""
    from gatekeeper.domain.settings import EnvironmentSettings
    from gatekeeper.domain.tree import MemoryTree

    return environment_builder(where).prepare(MemoryTree.of({}), EnvironmentSettings(), "host")


# --- the service --------------------------------------------------------------------------------------------------


@contextmanager
def service_tools(where: Paths, *, trust: bytes | None, timeout_s: float, verifier_id: str | None) -> Iterator[Tools]:
    """Tools of the server: mode enforced, the gate's own key, everything warm before the first submission."""
    from gatekeeper.workflow.kept_runs import KeptRuns
    from gatekeeper.workflow.tools import Tools

    with ExitStack() as stack:
        policy = policy_engine()
        stack.callback(policy.close)
        policy.warm()
        secrets = secret_scanner(where)
        stack.callback(secrets.close)
        secrets.start()
        desk = review_desk(where)
        signer = gate_signer(where, verifier_id)
        yield Tools(
            git=git_repositories(where, remotes(gate_settings(where).sources)),
            environments=environment_builder(where),
            sandbox=sandbox(where, niceness=SANDBOX_NICENESS),
            secrets=secrets,
            code=code_scanner(),
            policy=policy,
            signer=signer,
            store=attestation_store(),
            clock=SystemClock(),
            new_id=new_id,
            approvals=desk_verifier(trust, desk),
            mode=Mode.ENFORCED,
            limits=Limits(wall_s=timeout_s),
            gate_version=__version__,
            desk=desk,
            kept=KeptRuns(),
        )


@dataclass(frozen=True)
class Runtime:
    """A running service: its use cases' ports, and the engine that works for them."""

    service: Service
    engine: DbosEngine
    tools: Tools


@contextmanager
def service_runtime(
    where: Paths,
    settings: RunSettings,
    *,
    trust: bytes | None = None,
    timeout_s: float = 600.0,
    verifier_id: str | None = None,
    workers: int | None = None,
    grace_s: float = 10.0,
    upkeep_s: float = 30.0,
    statements_required: bool = False,
) -> Iterator[Runtime]:
    """Everything of the server but its API. Enter it before any event loop runs.

    Raises `ConfigurationError` (GATE_RUNNING, KEY_UNUSABLE) and `CouldNotCheck` (STORE_FAILED).
    """
    from gatekeeper.adapters.dbos_durable import DbosEngine
    from gatekeeper.adapters.dbos_durable.engine import Waiting
    from gatekeeper.workflow.service import verification_run as runs
    from gatekeeper.workflow.service.service import Service

    with ExitStack() as stack:
        tools = stack.enter_context(service_tools(where, trust=trust, timeout_s=timeout_s, verifier_id=verifier_id))
        records, blobs = service_records(where), blob_store(where)
        stack.callback(records.close)
        engine = DbosEngine(
            where.service,
            steps={},
            body=lambda durable, name: runs.run(durable, name, settings),
            waiting=lambda: [Waiting(name, owner) for name, owner in runs.waiting(service)],
            running=lambda: runs.running(service),
            give_up=lambda name, why: runs.give_up(service, name, why),
            listener=lambda name, state, detail: runs.progress(service, name, state, detail),
            stop_processes=lambda name: tools.sandbox.stop(name.rpartition("/")[2]),
            workers=workers,
        )
        service = Service(
            records=records,
            blobs=blobs,
            queue=engine,
            clock=tools.clock,
            new_id=new_id,
            approvals=approval_verifier(trust) if trust is not None else None,
            desk=tools.desk,
            statements_required=statements_required,
        )
        engine.provide(runs.steps(service, tools, settings))
        blobs.sweep()
        engine.launch()
        ending = threading.Event()
        upkeep = threading.Thread(target=_keep_up, args=(service, tools, ending, upkeep_s), name="upkeep", daemon=True)
        upkeep.start()
        try:
            yield Runtime(service, engine, tools)
        finally:
            ending.set()
            if not engine.close(grace_s):
                # What still runs must not come to an end of its own here: it goes on at the next start.
                records.close()
                os._exit(0)


def service_api(service: Service, settings: ServerSettings, queue_up: Callable[[], bool] = lambda: True) -> ApiServer:
    """The gRPC server of a service: make it inside the event loop that it runs in. Raises `ConfigurationError`
    (TLS_REQUIRED, ADDRESS_UNUSABLE).
    """
    from gatekeeper.api.server import ApiServer

    return ApiServer(service, settings, queue_up)


def _keep_up(service: Service, tools: Tools, ending: threading.Event, every_s: float) -> None:
    """Look after accepted changes until the server ends."""
    from gatekeeper.workflow.service.upkeep import sweep

    while not ending.wait(every_s):
        try:
            sweep(service, tools)
        except Exception:
            _LOG.exception("accepted changes could not be looked after")


def gate_signer(where: Paths, verifier_id: str | None) -> LocalKeySigner | SigstoreSigner:
    """Signer of the server: the gate's key, made at first use, with the verifier id that enforcers pin."""
    from gatekeeper.adapters.local_key_signer import LocalKeySigner

    settings = gate_settings(where).signing
    if settings.kind is SigningKind.KEYLESS:
        return keyless_signer(settings, verifier_id)
    path = settings.key or where.keys / "gate.pem"
    verifier_id = verifier_id or settings.verifier_id
    signer = LocalKeySigner(path, create=settings.key is None)
    if verifier_id is None:
        verifier_id = f"urn:gatekeeper:verifier:{signer.public.fingerprint}"
    return LocalKeySigner(path, create=settings.key is None, verifier_id=verifier_id)


def review_desk(where: Paths) -> LocalKeySigner:
    """Signer of what reviewers decide at the API. Not the gate's key: an enforcer pins both, each for its own purpose."""
    from gatekeeper.adapters.local_key_signer import LocalKeySigner

    return LocalKeySigner(where.keys / "desk.pem")


def desk_verifier(
    trust: bytes | None, desk: LocalKeySigner
) -> Callable[..., tuple[tuple[Approval, ...], tuple[Finding, ...]]]:
    """Verifies approvals against the operator's reviewers and against the service's own desk."""

    def verifier(bundles: Sequence[bytes], **binding: Any) -> tuple[tuple[Approval, ...], tuple[Finding, ...]]:
        if not bundles:
            return (), ()
        from gatekeeper.adapters.local_key_signer import verify_approvals
        from gatekeeper.domain.trust import Trust, TrustedReviewer
        from gatekeeper.formats.approvals import reviewers_named
        from gatekeeper.formats.trust import parse_trust

        own = parse_trust(trust) if trust is not None else Trust((), (), ())
        # The desk speaks for everybody whose approval it took; that is what its key is for.
        rows = [TrustedReviewer(name, desk.public) for name in reviewers_named(bundles)]
        return verify_approvals(bundles, replace(own, reviewers=(*own.reviewers, *rows)), **binding)

    return verifier


# --- single adapters ----------------------------------------------------------------------------------------------


def gate_settings(where: Paths) -> GateSettings:
    """The operator's settings of this gate; the defaults where there is no file.

    Raises `ConfigurationError` (GATE_SETTINGS_MALFORMED), also for a file that others can write.
    """
    from gatekeeper.config import gate_settings_file
    from gatekeeper.formats.gate_settings import MAX_SETTINGS, parse_gate_settings

    path = gate_settings_file(where)
    if path is None:
        return GateSettings()
    try:
        with path.open("rb") as file:
            facts = os.fstat(file.fileno())
            data = file.read(MAX_SETTINGS + 1)
    except OSError as error:
        raise ConfigurationError(
            "GATE_SETTINGS_MALFORMED", f"The gate's settings {str(path)!r} cannot be read: {error.strerror}."
        ) from error
    if facts.st_mode & 0o022 or facts.st_uid not in (0, os.geteuid()):
        raise ConfigurationError(
            "GATE_SETTINGS_MALFORMED",
            f"The gate's settings {str(path)!r} can be written by others; make them yours, mode 0644 or 0600.",
        )
    return parse_gate_settings(data)


def policy_engine(directory: Path | None = None, settings: PolicySettings | None = None) -> RegoPolicy | OpaPolicy:
    """The policy as the settings choose it. Call `warm()` early and `close()` at the end."""
    from gatekeeper.config import libexec, policy_bundle

    settings = settings or gate_settings(paths()).policy
    directory = directory or settings.bundle or policy_bundle()
    if settings.engine is PolicyKind.EMBEDDED:
        from gatekeeper.adapters.rego_policy import RegoPolicy

        return RegoPolicy(directory)
    from gatekeeper.adapters.opa_policy import NamedServer, OpaPolicy, find_opa
    from gatekeeper.adapters.rego_policy.loader import load_bundle

    server: NamedServer | Path | None = (
        NamedServer(settings.url, settings.token_file, settings.ca_file) if settings.url else find_opa(libexec())
    )
    return OpaPolicy(lambda: load_bundle(directory), server)


def opa_program() -> Path | None:
    """The OPA program that would be started."""
    from gatekeeper.adapters.opa_policy import find_opa
    from gatekeeper.config import libexec

    return find_opa(libexec())


def remotes(settings: SourceSettings) -> Remotes:
    """How registered repositories on other machines are reached."""
    from gatekeeper.adapters.git_mirror.sources import Remotes

    return Remotes(
        credential_helper=settings.credential_helper,
        certificates=settings.certificates,
        proxy=settings.proxy,
        ssh_key=settings.ssh_key,
        ssh_known_hosts=settings.ssh_known_hosts,
        max_bytes=settings.max_mib * 1024**2,
        fetch_s=settings.fetch_s,
    )


def git_repositories(where: Paths, remotes: Remotes | None = None) -> GitMirror:
    """Mirrors of repositories on this machine and, with the operator's `remotes`, of those that https and ssh reach."""
    from gatekeeper.adapters.git_mirror import GitMirror

    return GitMirror(where, remotes)


# --- keys and enforcement -----------------------------------------------------------------------------------------


def local_signer(where: Paths) -> LocalKeySigner:
    """Signer of this machine's own gate, mode local; its key is made at first use."""
    from gatekeeper.adapters.local_key_signer import LocalKeySigner

    return LocalKeySigner(where.keys / "local.pem")


def check_signer(where: Paths, settings: SigningSettings | None = None) -> LocalKeySigner | SigstoreSigner:
    """Signer of `check` as the settings choose it."""
    from gatekeeper.adapters.local_key_signer import LocalKeySigner

    settings = settings or gate_settings(where).signing
    if settings.kind is SigningKind.KEYLESS:
        return keyless_signer(settings)
    if settings.key is None and settings.verifier_id is None:
        return local_signer(where)
    path = settings.key or where.keys / "local.pem"
    return LocalKeySigner(path, create=settings.key is None, verifier_id=settings.verifier_id)


def keyless_signer(settings: SigningSettings, verifier_id: str | None = None) -> SigstoreSigner:
    """Signer with certificates of the Sigstore instance that the settings name."""
    from gatekeeper.adapters.sigstore_signer import KeylessSettings, SigstoreSigner, keyless_verifier_id

    identity, issuer = settings.identity or "", settings.issuer or ""
    return SigstoreSigner(
        KeylessSettings(
            trust_config=settings.trust_config or Path(),
            identity=identity,
            issuer=issuer,
            verifier_id=verifier_id or settings.verifier_id or keyless_verifier_id(identity, issuer),
            token_file=settings.token_file,
            token_env=settings.token_env,
            ambient=settings.ambient,
        )
    )


def reviewer_signer(key: Path) -> LocalKeySigner:
    """Signer with a reviewer's own key file, which must exist."""
    from gatekeeper.adapters.local_key_signer import LocalKeySigner

    return LocalKeySigner(key, create=False)


def new_key(path: Path) -> None:
    """Make a key file; `FileExistsError` where the path is taken."""
    from gatekeeper.adapters import local_key_signer

    local_key_signer.new_key(path)


def public_pem(path: Path) -> str:
    """The public half of a key file, PEM."""
    from gatekeeper.adapters import local_key_signer

    return local_key_signer.public_pem(path)


def enforcer_repository(repository: Path) -> EnforcerRepository:
    """Hardened reads for `verify` and the hook."""
    from gatekeeper.adapters.git_mirror.enforcer import EnforcerRepository

    return EnforcerRepository(repository)


def attestation_store() -> GitNotesStore:
    """Statements in the notes of the repository itself."""
    from gatekeeper.adapters.git_mirror import GitNotesStore

    return GitNotesStore()


def environment_builder(where: Paths) -> UvEnvironmentBuilder:
    """Environments of the tests, with the recorder of the sandbox in them."""
    from gatekeeper.adapters.bubblewrap_sandbox import TREE, recorder_distribution
    from gatekeeper.adapters.environment_builder import UvEnvironmentBuilder

    return UvEnvironmentBuilder(where, recorder_distribution(), TREE)


def secret_scanner(where: Paths) -> KingfisherScanner:
    """The secret scanner. Call `start()` early: its rules load beside other work."""
    from gatekeeper.adapters.kingfisher_scanner.scanner import KingfisherScanner

    return KingfisherScanner(where.cache, where.state)


def warm_secret_rules(where: Paths) -> None:
    """Compile the secret rules into the cache (seconds, once a version)."""
    scanner = secret_scanner(where)
    try:
        scanner.load()
    finally:
        scanner.close()


def code_scanner() -> SemgrepScanner:
    """The code scanner."""
    from gatekeeper.adapters.semgrep_scanner import SemgrepScanner
    from gatekeeper.config import libexec

    return SemgrepScanner(libexec())


def sandbox(where: Paths, *, niceness: int = 0) -> BubblewrapSandbox:
    """The sandbox of this machine."""
    from gatekeeper.adapters.bubblewrap_sandbox import BubblewrapSandbox

    return BubblewrapSandbox(where, niceness=niceness)


def keyless_verifier(trust: Trust) -> Keyless | None:
    """Verifies keyless signatures where the trust file pins any; the library is loaded only then."""
    from gatekeeper.domain.trust import Identity

    if not any(isinstance(s.key, Identity) for s in trust.signers):
        return None
    from gatekeeper.adapters.sigstore_signer import verify_keyless

    return verify_keyless


# --- the service's store --------------------------------------------------------------------------------------------


def service_records(where: Paths) -> SqlRecords:
    """The store of the service on this machine; made or upgraded where needed. Call `close()` at the end."""
    from gatekeeper.adapters.sql_store import SqlRecords

    return SqlRecords.file(where.service / "gatekeeper.sqlite3")


def blob_store(where: Paths) -> BlobStore:
    """Uploaded artifacts. Call `sweep()` at the start of a server."""
    from gatekeeper.adapters.blob_store import BlobStore

    return BlobStore(where.service / "blobs")
