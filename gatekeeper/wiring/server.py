"""The service: its tools, its store, its engine and its API."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from gatekeeper import __version__
from gatekeeper.config import Paths
from gatekeeper.domain.ports import Limits
from gatekeeper.domain.verdict import Mode
from gatekeeper.records import dataclass, replace
from gatekeeper.wiring import engines, machine, signers

if TYPE_CHECKING:
    from gatekeeper.adapters.blob_store import BlobStore
    from gatekeeper.adapters.dbos_durable import DbosEngine
    from gatekeeper.adapters.sql_store import SqlRecords
    from gatekeeper.api.server import ApiServer, ServerSettings
    from gatekeeper.workflow.service.service import Service
    from gatekeeper.workflow.service.verification_run import RunSettings
    from gatekeeper.workflow.tools import Tools


SANDBOX_NICENESS = 5
"""Of runs under the server: whoever submits or watches is answered while tests fill the cores."""


_LOG = logging.getLogger("gatekeeper.wiring")


@contextmanager
def service_tools(where: Paths, *, trust: bytes | None, timeout_s: float, verifier_id: str | None) -> Iterator[Tools]:
    """Tools of the server: mode enforced, the gate's own key, everything warm before the first submission."""
    from gatekeeper.workflow.kept_runs import KeptRuns
    from gatekeeper.workflow.tools import Tools

    with ExitStack() as stack:
        policy = engines.policy_engine()
        stack.callback(policy.close)
        policy.warm()
        secrets = engines.secret_scanner(where)
        stack.callback(secrets.close)
        secrets.start()
        desk = signers.review_desk(where)
        signer = signers.gate_signer(where, verifier_id)
        yield Tools(
            git=engines.git_repositories(where, engines.remotes(machine.gate_settings(where).sources)),
            environments=engines.environment_builder(where),
            toolchains=engines.toolchains(where),
            sandbox=engines.sandbox(where, niceness=SANDBOX_NICENESS),
            secrets=secrets,
            code=engines.code_scanner(),
            policy=policy,
            signer=signer,
            store=engines.attestation_store(),
            clock=machine.SystemClock(),
            new_id=machine.new_id,
            approvals=signers.desk_verifier(trust, desk),
            mode=Mode.ENFORCED,
            limits=Limits(wall_s=timeout_s),
            gate_version=__version__,
            effort=machine.gate_settings(where).effort,
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
    from gatekeeper.workflow.service.flakes import ServiceFlakes
    from gatekeeper.workflow.service.service import Service

    with ExitStack() as stack:
        tools = stack.enter_context(service_tools(where, trust=trust, timeout_s=timeout_s, verifier_id=verifier_id))
        records, blobs = service_records(where), blob_store(where)
        stack.callback(records.close)
        tools = replace(tools, flakes=ServiceFlakes(records))
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
            new_id=machine.new_id,
            approvals=signers.approval_verifier(trust) if trust is not None else None,
            desk=tools.desk,
            statements_required=statements_required,
            require_source=partial(
                engines.require_source, remotes=engines.remotes(machine.gate_settings(where).sources)
            ),
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


def service_records(where: Paths) -> SqlRecords:
    """The store of the service on this machine; made or upgraded where needed. Call `close()` at the end."""
    from gatekeeper.adapters.sql_store import SqlRecords

    return SqlRecords.file(where.service / "gatekeeper.sqlite3")


def blob_store(where: Paths) -> BlobStore:
    """Uploaded artifacts. Call `sweep()` at the start of a server."""
    from gatekeeper.adapters.blob_store import BlobStore

    return BlobStore(where.service / "blobs")
