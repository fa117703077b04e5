"""`gatekeeper serve`: the gate as a service, with everything embedded: API, queue, store, sandbox."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gatekeeper.cli.check import read_input
from gatekeeper.errors import UsageError

if TYPE_CHECKING:
    from gatekeeper.api.server import ServerSettings
    from gatekeeper.domain.gate_settings import ServeSettings
    from gatekeeper.wiring.server import Runtime


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def serve(
        listen: Annotated[
            str | None,
            typer.Option(
                help="HOST:PORT (port 0: a free one) or unix:PATH. [127.0.0.1:7433] Beyond loopback TLS is a must."
            ),
        ] = None,
        tls_certificate: Annotated[Path | None, typer.Option(help="The server's certificate chain, PEM.")] = None,
        tls_key: Annotated[Path | None, typer.Option(help="The key of the certificate, PEM.")] = None,
        client_ca: Annotated[
            Path | None, typer.Option(help="CA of client certificates, PEM: clients may come with one (mTLS).")
        ] = None,
        require_client_certificate: Annotated[
            bool | None,
            typer.Option("--require-client-certificate", help="Nobody comes without a certificate."),
        ] = None,
        reflection: Annotated[
            bool | None, typer.Option("--reflection", help="Serve gRPC reflection (grpcurl).")
        ] = None,
        environment: Annotated[
            str | None,
            typer.Option(help="auto (from each base's locks), host (the gate's own Python), or a path. [auto]"),
        ] = None,
        trust: Annotated[
            Path | None, typer.Option(help="Trust file that names the reviewers whose own signatures count.")
        ] = None,
        publish: Annotated[
            bool | None,
            typer.Option("--publish", help="Also store statements in each repository's notes, where hooks look."),
        ] = None,
        timeout: Annotated[
            float | None, typer.Option(min=1, help="Seconds that one run of a suite may take. [600]")
        ] = None,
        retries: Annotated[
            int | None, typer.Option(min=0, max=10, help="How often the gate tries again what it could not check. [1]")
        ] = None,
        workers: Annotated[int | None, typer.Option(min=1, help="Verifications at once. [one more than cores]")] = None,
        grace: Annotated[
            float | None, typer.Option(min=0, help="Seconds that running work may take when stopped. [10]")
        ] = None,
        address_file: Annotated[
            Path | None, typer.Option(help="Write the address here once the server listens (for scripts).")
        ] = None,
    ) -> int:
        """Run the gate as a service until SIGTERM or SIGINT.

        Options that are not given come from the gate's settings file, table [server]. Nobody can call before there is a
        credential: `gatekeeper token create`. What was running when it stops goes on at the next start.
        """
        from gatekeeper.config import paths
        from gatekeeper.wiring import machine, server
        from gatekeeper.workflow.service.verification_run import RunSettings

        said: dict[str, Any] = {
            "listen": listen, "tls_certificate": tls_certificate, "tls_key": tls_key, "client_ca": client_ca,
            "require_client_certificate": require_client_certificate, "reflection": reflection,
            "environment": environment, "trust": trust, "publish": publish, "timeout_s": timeout, "retries": retries,
            "workers": workers, "grace_s": grace,
        }  # fmt: skip
        where = paths()
        wanted = replace(machine.gate_settings(where).server, **{k: v for k, v in said.items() if v is not None})
        settings = _settings(wanted)
        trust_bytes = read_input(wanted.trust, "trust file") if wanted.trust else None
        runs = RunSettings(environment=wanted.environment, retries=wanted.retries, publish=wanted.publish)
        with server.service_runtime(
            where,
            runs,
            trust=trust_bytes,
            timeout_s=wanted.timeout_s,
            workers=wanted.workers,
            grace_s=wanted.grace_s,
            upkeep_s=wanted.upkeep_s,
            statements_required=wanted.statements_required,
        ) as runtime:
            _serve(runtime, settings, address_file)
        return 0


def _settings(wanted: ServeSettings) -> ServerSettings:
    """How to listen. Raises `UsageError` and `ConfigurationError` (TLS_REQUIRED)."""
    from gatekeeper.api.server import ServerSettings, TlsFiles, require_safe

    if (wanted.tls_certificate is None) != (wanted.tls_key is None):
        raise UsageError(
            "USAGE",
            "The TLS certificate and its key go together.",
            next_action="Give both: --tls-certificate server.crt --tls-key server.key.",
        )
    if wanted.tls_certificate is None and (wanted.client_ca is not None or wanted.require_client_certificate):
        raise UsageError(
            "USAGE",
            "Client certificates need TLS.",
            next_action="Add --tls-certificate server.crt --tls-key server.key.",
        )
    if wanted.require_client_certificate and wanted.client_ca is None:
        raise UsageError(
            "USAGE", "Required client certificates need their CA.", next_action="Add --client-ca clients.pem."
        )
    tls = None
    if wanted.tls_certificate is not None and wanted.tls_key is not None:
        tls = TlsFiles(
            certificate=read_input(wanted.tls_certificate, "certificate"),
            key=read_input(wanted.tls_key, "key"),
            client_ca=read_input(wanted.client_ca, "client CA") if wanted.client_ca else None,
            client_required=wanted.require_client_certificate,
        )
    settings = ServerSettings(address=wanted.listen, tls=tls, reflection=wanted.reflection, grace_s=wanted.grace_s)
    require_safe(settings)
    return settings


def _serve(runtime: Runtime, settings: ServerSettings, address_file: Path | None) -> None:
    import asyncio
    import signal

    from gatekeeper.wiring.server import service_api

    async def main() -> None:
        server = service_api(runtime.service, settings, lambda: runtime.engine.up)
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        address = await server.start()
        print(f"gatekeeper: listening on {address}", file=sys.stderr, flush=True)
        if address_file is not None:
            draft = address_file.with_name(f".{address_file.name}.{os.getpid()}")
            draft.write_text(f"{address}\n", encoding="utf-8")
            draft.replace(address_file)
        await stop.wait()
        print("gatekeeper: stopping; unfinished work goes on at the next start", file=sys.stderr, flush=True)
        await server.stop(settings.grace_s)

    asyncio.run(main())
