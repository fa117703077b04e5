"""`OpaPolicy`: the policy port over an OPA server.

The same bundle and the same checks of it as in process: the bundle is read and judged here first, and then the server
must hold exactly that. What a server says is believed only while its content is the expected one; undefined, late,
broken and unreachable are never an answer.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gatekeeper.adapters.opa_policy.client import Client, NamedServer, OpaError
from gatekeeper.adapters.opa_policy.server import StartedServer
from gatekeeper.domain.decision import BundleId, Plan, PolicyDecision
from gatekeeper.domain.ticket import Risk
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats.policy_answer import decision_of, plan_of
from gatekeeper.formats.rego_bundle import LoadedBundle, refused
from gatekeeper.formats.rego_text import package_of

PLAN = "gatekeeper/plan/v1/result"
DECIDE = "gatekeeper/decide/v1/result"

WALL_S = 5.0
"""Wall limit of one question; a decision takes some milliseconds."""

RECHECK_S = 30.0
"""A named server may load something else at any time: its content is compared again after so long."""


class OpaPolicy:
    """Asks one server. Implements `domain.ports.PolicyEngine`; thread-safe, one question at a time.

    A started server that dies or hangs is replaced at the next call; a named one is connected to again and compared
    anew. `close()` ends a started server.
    """

    def __init__(
        self,
        read_bundle: Callable[[], LoadedBundle],
        server: NamedServer | Path | None,
        *,
        wall_s: float = WALL_S,
        recheck_s: float = RECHECK_S,
    ) -> None:
        """`read_bundle` gives the expected bundle; `server` is a named one, the program to start, or None for missing."""
        self._read = read_bundle
        self._server = server
        self._wall_s = wall_s
        self._recheck_s = recheck_s
        self._lock = threading.Lock()
        self._bundle: LoadedBundle | None = None
        self._started: StartedServer | None = None
        self._client: Client | None = None
        self._compared = 0.0
        self._closed = False

    def warm(self) -> None:
        """Begin to read the bundle and to reach the server; returns at once. A fault shows in the first call."""

        def begin() -> None:
            with contextlib.suppress(Exception), self._lock:
                self._ready()

        threading.Thread(target=begin, name="policy-warm", daemon=True).start()

    def bundle(self) -> BundleId:
        """Identity of the bundle. Raises `CouldNotCheck` (POLICY_UNUSABLE)."""
        with self._lock:
            return self._loaded().id

    def plan(self, document: Mapping[str, Any]) -> Plan:
        """Evaluate the plan. Raises `CouldNotCheck` (POLICY_UNUSABLE, POLICY_FAILED)."""
        answer, identity = self._evaluate(PLAN, document)
        return plan_of(answer, identity)

    def decide(self, document: Mapping[str, Any]) -> PolicyDecision:
        """Evaluate the decision. Raises `CouldNotCheck` (POLICY_UNUSABLE, POLICY_FAILED)."""
        answer, identity = self._evaluate(DECIDE, document)
        return decision_of(answer, identity)

    def close(self) -> None:
        """End a started server. The object cannot be used afterwards."""
        with self._lock:
            self._closed = True
            self._drop()

    def _evaluate(self, entrypoint: str, document: Mapping[str, Any]) -> tuple[Any, BundleId]:
        with self._lock:
            client = self._ready()
            try:
                answer = self._ask(client, entrypoint, dict(document))
            except OpaError as error:
                self._drop()
                raise CouldNotCheck("POLICY_FAILED", f"OPA gave no answer to {entrypoint}: {error}.") from error
            return answer, self._loaded().id

    def _loaded(self) -> LoadedBundle:
        if self._bundle is None:
            self._bundle = self._read()
        return self._bundle

    def _drop(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._started is not None:
            self._started.stop()
            self._started = None

    def _ready(self) -> Client:
        """A connection to a server that holds the bundle; the lock is held."""
        if self._closed:
            raise CouldNotCheck("POLICY_FAILED", "The policy engine is closed.")
        if self._client is not None:
            if isinstance(self._server, Path):
                if self._started is not None and self._started.alive:
                    return self._client
            elif time.monotonic() - self._compared < self._recheck_s:
                return self._client
            self._drop()
        bundle = self._loaded()
        try:
            self._client = self._connect(bundle)
            self._compare(self._client, bundle)
            self._prove(self._client, bundle.id)
        except OpaError as error:
            self._drop()
            raise CouldNotCheck("POLICY_FAILED", f"The OPA server cannot be used: {error}.") from error
        except BaseException:
            self._drop()
            raise
        self._compared = time.monotonic()
        return self._client

    def _connect(self, bundle: LoadedBundle) -> Client:
        if self._server is None:
            raise refused("opa", "the program is neither in the gate's libexec folder nor on the PATH")
        if isinstance(self._server, NamedServer):
            return Client(self._server, self._wall_s)
        self._started = StartedServer(self._server, bundle, self._wall_s)
        return Client(self._started.socket, self._wall_s)

    def _ask(self, client: Client, entrypoint: str, document: dict[str, Any]) -> Any:
        answer = client.ask(entrypoint, document)
        self._check_revision(answer)
        if "result" not in answer:
            raise OpaError("the entrypoint is undefined")
        return answer["result"]

    def _check_revision(self, answer: Mapping[str, Any]) -> None:
        """Some active bundle of the server must be the expected one: by revision, or by digest as its revision."""
        identity = self._loaded().id
        provenance = answer.get("provenance")
        bundles = provenance.get("bundles") if isinstance(provenance, dict) else None
        rows = bundles.values() if isinstance(bundles, dict) else ()
        found = {row.get("revision") for row in rows if isinstance(row, dict) and isinstance(row.get("revision"), str)}
        # A server of our own was given the digest; only one that the operator runs has the bundle's plain revision.
        wanted = {identity.digest} if self._started is not None else {identity.digest, identity.revision}
        if not found & wanted:
            shown = ", ".join(sorted(str(f)[:80] for f in found)) or "none"
            raise OpaError(
                f"the server's bundle has revision {shown}, expected {identity.revision} ({identity.digest})"
            )

    def _compare(self, client: Client, bundle: LoadedBundle) -> None:
        """The server must hold these modules, no other in their packages, and this data."""
        held = Counter(client.policies())
        own = {source for _, source in bundle.modules}
        tests = {source for _, source in bundle.tests}
        for path, source in bundle.modules:
            if held[source] != 1:
                raise refused(path, "the OPA server does not hold this module, or holds it twice")
        roots = {(package_of(source) or "").partition(".")[0] for source in own}
        for source in held:
            package = package_of(source)
            if source not in own | tests and (package is None or package.partition(".")[0] in roots):
                raise refused(str(package)[:100], "the OPA server holds a module that is not in the bundle")
        packages = {tuple((package_of(source) or "").split(".")) for source in own}
        for place, value in _documents((), bundle.data, packages):
            path = "/".join(place)
            try:
                same = client.data(path) == value
            except OpaError as error:
                raise refused(path, f"the OPA server does not give this data, {error}") from error
            if not same:
                raise refused(path, "the OPA server holds other data here")

    def _prove(self, client: Client, identity: BundleId) -> None:
        """A server that accepts an input without any fact, or is not whole on it, would accept anything."""
        for entrypoint in (PLAN, DECIDE):
            answer = self._ask(client, entrypoint, {})
            try:
                if entrypoint == PLAN:
                    harmless = plan_of(answer, identity).tier is Risk.HIGH
                else:
                    harmless = decision_of(answer, identity).verdict.rank <= Verdict.UNDECIDED.rank
            except CouldNotCheck as error:
                raise refused(f"{entrypoint} on an empty input", str(error)) from error
            if not harmless:
                raise refused(entrypoint, "it lets an empty input pass")


def _documents(
    place: tuple[str, ...], value: Any, packages: set[tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Parts of the data that lie beside the packages: there the server's document is the bundle's and nothing else."""
    if isinstance(value, dict) and any(package[: len(place)] == place for package in packages):
        for name, below in value.items():
            yield from _documents((*place, name), below, packages)
    else:
        yield place, value
