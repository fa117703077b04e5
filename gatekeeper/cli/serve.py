"""`gatekeeper serve`: the gate as a service, with everything embedded: API, queue, store, sandbox."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gatekeeper.cli.check import read_input
from gatekeeper.errors import UsageError

if TYPE_CHECKING:
    from gatekeeper.api.server import ServerSettings
    from gatekeeper.wiring import Runtime
    from gatekeeper.workflow.service.verification_run import RunSettings


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command()
    def serve(
        listen: Annotated[
            str, typer.Option(help="HOST:PORT (port 0 takes a free one) or unix:PATH. Beyond loopback TLS is a must.")
        ] = "127.0.0.1:7433",
        tls_certificate: Annotated[Path | None, typer.Option(help="The server's certificate chain, PEM.")] = None,
        tls_key: Annotated[Path | None, typer.Option(help="The key of the certificate, PEM.")] = None,
        client_ca: Annotated[
            Path | None, typer.Option(help="CA of client certificates, PEM: clients may come with one (mTLS).")
        ] = None,
        require_client_certificate: Annotated[
            bool, typer.Option("--require-client-certificate", help="Nobody comes without a certificate.")
        ] = False,
        reflection: Annotated[bool, typer.Option("--reflection", help="Serve gRPC reflection (grpcurl).")] = False,
        environment: Annotated[
            str, typer.Option(help="auto (from each base's locks), host (the gate's own Python), or a path.")
        ] = "auto",
        trust: Annotated[
            Path | None, typer.Option(help="Trust file that names the reviewers whose own signatures count.")
        ] = None,
        publish: Annotated[
            bool, typer.Option("--publish", help="Also store statements in each repository's notes, where hooks look.")
        ] = False,
        timeout: Annotated[float, typer.Option(min=1, help="Seconds that one run of a suite may take.")] = 600.0,
        retries: Annotated[
            int, typer.Option(min=0, max=10, help="How often the gate tries again what it could not check.")
        ] = 1,
        workers: Annotated[int | None, typer.Option(min=1, help="Verifications at once; one more than cores.")] = None,
        grace: Annotated[float, typer.Option(min=0, help="Seconds that running work may take when stopped.")] = 10.0,
        address_file: Annotated[
            Path | None, typer.Option(help="Write the address here once the server listens (for scripts).")
        ] = None,
    ) -> int:
        """Run the gate as a service until SIGTERM or SIGINT.

        Needs a credential before anybody can call it: `gatekeeper token create`. What was running when it stops goes
        on at the next start.
        """
        from gatekeeper import wiring
        from gatekeeper.config import paths

        settings = _settings(listen, tls_certificate, tls_key, client_ca, require_client_certificate, reflection, grace)
        run_settings = _runs(environment, retries, publish)
        trust_bytes = read_input(trust, "trust file") if trust else None
        with wiring.service_runtime(
            paths(), run_settings, trust=trust_bytes, timeout_s=timeout, workers=workers, grace_s=grace
        ) as runtime:
            _serve(runtime, settings, address_file)
        return 0


def _runs(environment: str, retries: int, publish: bool) -> RunSettings:
    from gatekeeper.workflow.service.verification_run import RunSettings

    return RunSettings(environment=environment, retries=retries, publish=publish)


def _settings(
    listen: str,
    certificate: Path | None,
    key: Path | None,
    client_ca: Path | None,
    required: bool,
    reflection: bool,
    grace: float,
) -> ServerSettings:
    from gatekeeper.api.server import ServerSettings, TlsFiles, require_safe

    if (certificate is None) != (key is None):
        raise UsageError("USAGE", "--tls-certificate and --tls-key go together.")
    if certificate is None and (client_ca is not None or required):
        raise UsageError("USAGE", "Client certificates need TLS: --tls-certificate and --tls-key.")
    if required and client_ca is None:
        raise UsageError("USAGE", "--require-client-certificate needs --client-ca.")
    tls = None
    if certificate is not None and key is not None:
        tls = TlsFiles(
            certificate=read_input(certificate, "certificate"),
            key=read_input(key, "key"),
            client_ca=read_input(client_ca, "client CA") if client_ca else None,
            client_required=required,
        )
    settings = ServerSettings(address=listen, tls=tls, reflection=reflection, grace_s=grace)
    require_safe(settings)
    return settings


def _serve(runtime: Runtime, settings: ServerSettings, address_file: Path | None) -> None:
    import asyncio
    import signal

    from gatekeeper import wiring

    async def main() -> None:
        server = wiring.service_api(runtime.service, settings, lambda: runtime.engine.up)
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
