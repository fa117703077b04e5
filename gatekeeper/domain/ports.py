"""Ports: what the pipeline needs of the world. Adapters implement them; `wiring` chooses; workflow knows only these.

Every method promises the typed errors named here and nothing else; an adapter wraps what its technology raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from gatekeeper.domain.change import Change
from gatekeeper.domain.decision import BundleId, Plan, PolicyDecision
from gatekeeper.domain.evidence import ScanReport
from gatekeeper.domain.flake import FlakeRecord
from gatekeeper.domain.principal import Principal
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.testrun import RunRole, SuiteRun
from gatekeeper.domain.ticket import Suite
from gatekeeper.domain.tree import Tree
from gatekeeper.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Mirror:
    """A bare mirror the gate owns. `path` is on the gate's disk and holds hostile objects; only git plumbing opens it."""

    path: Path
    repository: str
    target_ref: str
    """Fully qualified."""
    base: str
    """Tip of the target as fetched."""
    head: str


class GitRepositories(Protocol):
    """Git, hardened: no hook, filter, attribute, textconv, submodule or config of the commit or of the user ever runs."""

    def fetch(self, source: str, target_ref: str, head: str, bundle: str | None = None) -> Mirror:
        """Bring target and head into the mirror of `source`: a path, or an address that the operator registered.

        `bundle` is the path of a git bundle of at most 256 MiB, hostile, that brings objects of head where the source has
        none; no name in it is followed. Raises `UsageError` (REPOSITORY_UNREADABLE, TARGET_NOT_FOUND, HEAD_NOT_FOUND),
        `InputError` (TREE_HOSTILE, BUNDLE_MALFORMED, BUNDLE_TOO_LARGE, BUNDLE_PREREQUISITE_MISSING) and `CouldNotCheck`
        (GIT_FAILED, SOURCE_UNREACHABLE, FETCH_TOO_LARGE).
        """

    def describe(self, mirror: Mirror) -> Change:
        """Merge head into base inside the mirror and describe what would land.

        Raises `NotMergeable` (MERGE_CONFLICT, UNRELATED_HISTORIES, NOTHING_TO_MERGE), `InputError` (TREE_HOSTILE: paths
        like `.git`, `..`, too many files, too large) and `CouldNotCheck`.
        """

    def tree(self, mirror: Mirror, tree: str) -> Tree:
        """The tree with that oid, lazily read; picklable (holds path and oid only)."""

    def blobs(self, mirror: Mirror, oids: Sequence[str]) -> dict[str, bytes]:
        """Blobs by oid; one that is over the cap is left out, which the scan then shows as not scanned."""

    def compose(self, mirror: Mirror, tree: str, replace: Mapping[str, tuple[str, str] | None]) -> str:
        """A new tree oid: `tree` with each path set to (mode, oid) or removed (None). Pure plumbing, no work tree."""

    def export(self, mirror: Mirror, tree: str) -> Path:
        """A pristine directory with the tree's files, cached by oid, owned by the sandbox user, never written again.

        Links are made as links and never followed; gitlinks become empty directories; blob bytes are exact.
        """


@dataclass(frozen=True)
class TestEnvironment:
    """Where the tests' interpreter and packages are: read-only mounts for the sandbox."""

    __test__ = False  # not a test class, whatever its name looks like to pytest

    mounts: tuple[tuple[str, str], ...]
    """(path on the host, path inside), all read-only."""
    python: str
    """Absolute path of the interpreter inside the sandbox."""
    path: tuple[str, ...]
    """Directories for PATH inside, first wins."""
    digest: str
    """Names the content: lock, interpreter, tool versions."""
    description: str
    has_recorder: bool
    """True where the gate's pytest recorder is installed as an entry point."""
    env: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    """Guarantees this environment lacks (e.g. not_from_base_lock for `host`)."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """Absolute paths inside of further programs, by name, as toolchains put them there (`node`, `go`)."""
    scratch: tuple[str, ...] = ()
    """Folders inside that lie in a read-only mount and can be written: empty, in memory."""
    layers: tuple[tuple[str, str], ...] = ()
    """(path on the host, path inside): what is there can be read; what a run writes there is its own and goes with it."""


class EnvironmentBuilder(Protocol):
    """Makes the environment of the tests from the base's lock, cached by digest, outside any sandbox of a test."""

    def prepare(self, base: Tree, settings: EnvironmentSettings, choice: str) -> TestEnvironment:
        """`choice` is auto, host, or a path.

        Raises `CouldNotCheck` (ENVIRONMENT_FAILED, blame environment; ENVIRONMENT_MISSING, blame environment).
        """


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one run. Each stops an attack: a hang, a memory hog, a fork bomb, a disk filler, a flood."""

    wall_s: float = 600.0
    memory_mib: int = 2048
    processes: int = 512
    file_size_mib: int = 1024
    output_mib: int = 16
    tmp_mib: int = 512
    files: int = 400_000
    """Made by the run, wherever it can write."""


@dataclass(frozen=True)
class RunRequest:
    """One suite on one tree."""

    id: str
    role: RunRole
    suite: Suite
    tree_oid: str
    tree: Path
    """Pristine directory from `GitRepositories.export`; mounted as the lower layer of an overlay."""
    environment: TestEnvironment
    limits: Limits
    tests: tuple[str, ...] = ()
    """For a structured runner: only these files or ids; empty for the whole suite."""
    arguments: tuple[str, ...] = ()
    """For a structured runner: further arguments of the gate's own."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files of the gate's own, by plain name, read-only in `GATE_FILES`."""
    over: Mapping[str, bytes] = field(default_factory=dict)
    """Files that lie over the tree, by path: put in place of what is there, or added."""
    program: tuple[str, ...] = ()
    """The gate's own argument vector instead of the suite's command; `{python}` stands for the interpreter."""
    collect: tuple[str, ...] = ()
    """Absolute paths inside, of files that come back as `SuiteRun.outputs`. Written by tested code: a claim."""
    only: tuple[str, ...] = ()
    """For pytest with the recorder, in an opaque command too: paths below the tree; nothing else is collected, and no
    option ends the run at a failure."""
    last: tuple[str, ...] = ()
    """Beside `only`: further paths; half of their tests come after all others, half before, whatever settings reorder or
    deselect."""


GATE_FILES = "/run/gate"
"""Directory inside the sandbox that holds `RunRequest.files`."""


class ToolchainBuilder(Protocol):
    """Adds what the suites of one language need to the environment of the tests, from the base's own lock."""

    def extend(
        self, environment: TestEnvironment, base: Tree, settings: EnvironmentSettings, suites: Sequence[Suite]
    ) -> TestEnvironment:
        """The environment as it is where no suite needs this toolchain.

        Raises `CouldNotCheck` (ENVIRONMENT_FAILED, ENVIRONMENT_MISSING; blame environment).
        """


class Sandbox(Protocol):
    """Runs hostile code. Default closed: no network, no host home, cleared environment, dedicated user."""

    def run(self, request: RunRequest) -> SuiteRun:
        """Run to the end or to a limit; the whole process tree is gone when it returns.

        Raises `CouldNotCheck` (SANDBOX_UNAVAILABLE, SANDBOX_FAILED, SANDBOX_STOPPED; blame gate). A limit reached, a kill,
        a flood are results (`Termination`), not errors.
        """

    def stop(self, prefix: str) -> None:
        """End every run whose request id begins with `prefix`, and start none of that prefix for a while.

        Callable from any thread; returns when they are gone, or after some seconds. A stopped run raises `CouldNotCheck`
        (SANDBOX_STOPPED, blame gate) where it was started: it says nothing about the change.
        """


@dataclass(frozen=True, slots=True)
class ScanTarget:
    """Text to scan. `name` identifies it in the report: a path, `commit:<oid>` for a message, or `<oid>:<path>`."""

    name: str
    path: str | None
    data: bytes
    commit: str | None = None


class Scanner(Protocol):
    """Looks at hostile text, never runs it, opens no socket."""

    def scan(self, targets: Sequence[ScanTarget]) -> ScanReport:
        """Scan all targets. A tool fault is in `errors` or missing from `scanned`; raises only `CouldNotCheck`."""


class SecretScanner(Scanner, Protocol):
    """A scanner that also makes text harmless that hostile code wrote: tests print what they read."""

    def redact(self, texts: Sequence[str]) -> tuple[str, ...]:
        """The same texts with every secret in them made useless. Raises `CouldNotCheck` where it cannot work at all."""


class PolicyEngine(Protocol):
    """Evaluates the OPA bundle. Undefined, unreachable, slow and failing are `CouldNotCheck` (POLICY_*), blame gate."""

    def bundle(self) -> BundleId:
        """Identity of the loaded bundle."""

    def plan(self, document: Mapping[str, Any]) -> Plan:
        """Evaluate `data.gatekeeper.plan.v1.result` on the input document."""

    def decide(self, document: Mapping[str, Any]) -> PolicyDecision:
        """Evaluate `data.gatekeeper.decide.v1.result` on the input document."""


@dataclass(frozen=True, slots=True)
class SignedAttestation:
    """A Sigstore bundle (JSON text) and the digest that names its payload."""

    bundle: str
    payload_sha256: str
    keyid: str


class Signer(Protocol):
    """Signs statements as DSSE in a Sigstore bundle."""

    def sign(self, statement: Mapping[str, Any]) -> SignedAttestation:
        """Sign the RFC 8785 form of `statement`. Raises `CouldNotCheck` (SIGNING_FAILED, blame gate)."""

    @property
    def verifier_id(self) -> str:
        """The verifier id that goes with this key."""


class AttestationStore(Protocol):
    """Keeps attestations where enforcers find them."""

    def put(self, repository: str, commit: str, bundles: Sequence[str]) -> str:
        """Store; returns where (a ref or path). Raises `CouldNotCheck` (STORE_FAILED)."""

    def get(self, repository: str, commit: str) -> tuple[str, ...]:
        """All bundles stored for a commit, newest last; unverified text."""


class FlakeRegister(Protocol):
    """Tests known to pass and fail on the same commit of a target branch. Raises `CouldNotCheck`
    (FLAKE_REGISTER_UNREADABLE, STORE_FAILED) where it cannot be read or written; it then excuses nothing.
    """

    def known(self, repository: str, suite: str, tests: Sequence[str], now: float) -> Sequence[FlakeRecord]:
        """Records of these tests of that repository that are not expired."""

    def seen(self, records: Sequence[FlakeRecord]) -> None:
        """Add what was seen; what is there already is merged with it."""


class FlakeDesk(FlakeRegister, Protocol):
    """The register for the person who looks after it. `KeyError` for a record that is not there."""

    def records(self) -> Sequence[FlakeRecord]:
        """All of them, expired ones too, in the order of their keys."""

    def own(self, record: FlakeRecord, actor: Principal, now: float) -> None:
        """Put owner, note and expiry of this record in place of what is there."""

    def forget(self, record: FlakeRecord, actor: Principal, now: float) -> None:
        """Take the record out."""


class Clock(Protocol):
    """Time, injected so that rules stay pure."""

    def now(self) -> float:
        """Seconds since the epoch, UTC."""

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""


StepFunction = Callable[..., Any]


class Durable(Protocol):
    """Runs the steps of a pipeline: in memory for `check`, on a durable engine in the service.

    Steps are named; arguments and results are picklable. Steps are at-least-once: each must bear being run again.
    """

    timings_ms: dict[str, float]
    """Time spent in each step so far, summed by name."""

    def step(self, name: str, *args: Any) -> Any:
        """Run the step of that name; re-raises what it raises."""

    def parallel(self, calls: Sequence[tuple[str, tuple[Any, ...]]]) -> list[Any]:
        """Run several steps at once; results in order; an exception is returned in its place, not raised."""

    def note(self, state: str, detail: Mapping[str, Any] | None = None) -> None:
        """Record a state change or progress."""
