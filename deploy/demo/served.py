"""The gate of the demo: `gatekeeper serve` on a free port, with a state directory and credentials of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from changes import AGENTS
from library import DemoError
from story import DIM, RESET, say

if TYPE_CHECKING:
    from gatekeeper.client import Client

GATE = str(Path(sys.prefix) / "bin" / "gatekeeper")
REVIEWER = "alice@example.org"
PEOPLE = {
    "operator": ("olaf@example.org", "human", "operator"),
    "reviewer": (REVIEWER, "human", "reviewer"),
    "enforcer": ("protected-branch", "service", "enforcer"),
    **{name: (name, "agent", "agent") for name in AGENTS},
}
KEPT = ("GATEKEEPER_POLICY_DIR", "GATEKEEPER_LIBEXEC_DIR", "GATEKEEPER_DEBUG")


@dataclass
class Gate:
    """The gate's directories, the tokens of those who call it, its process while it runs."""

    folder: Path
    state: Path
    address: str = ""
    process: subprocess.Popen[bytes] | None = None
    clients: dict[str, Client] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """Variables of every command of the demo: nothing of the machine's own gate is touched."""
        rest = {k: v for k, v in os.environ.items() if not k.startswith("GATEKEEPER_") or k in KEPT}
        return rest | {
            "GATEKEEPER_STATE_DIR": str(self.state), "GATEKEEPER_CONFIG_DIR": str(self.folder / "config"),
            "XDG_CONFIG_HOME": str(self.folder / "xdg"), "GATEKEEPER_LOG": "warning",
        }  # fmt: skip

    @property
    def log(self) -> Path:
        """What the server writes."""
        return self.folder / "serve.log"

    def token_file(self, who: str) -> Path:
        """Where the token of somebody is."""
        return self.folder / f"{who}.token"

    def run(
        self, *args: str, ok: tuple[int, ...] = (0,), shown: bool = True, who: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """A `gatekeeper` command, as somebody where it speaks to the server. Raises `DemoError` for another status."""
        if shown:
            words = (Path(a).name if a.startswith("/") else a.removeprefix("file://") for a in args)
            say(f"{DIM}   $ gatekeeper {' '.join(words)}{RESET}")
        env = self.environment
        if who:
            env |= {"GATEKEEPER_SERVER": self.address, "GATEKEEPER_TOKEN_FILE": str(self.token_file(who))}
        done = subprocess.run([GATE, *args], env=env, capture_output=True, text=True, timeout=300)
        if done.returncode not in ok:
            raise DemoError(
                f"gatekeeper {' '.join(args[:2])} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
            )
        return done

    def client(self, who: str) -> Client:
        """The connection of somebody."""
        from gatekeeper.client import Client

        if who not in self.clients:
            self.clients[who] = Client(self.address, token=self.token_file(who).read_text().strip())
        return self.clients[who]

    def stop(self) -> float:
        """Stop the server gracefully; seconds that it took. Raises `DemoError` where it does not end well."""
        process, self.process = self.process, None
        if process is None:
            return 0.0
        begun = time.monotonic()
        for client in self.clients.values():
            client.close()
        self.clients.clear()
        process.terminate()
        try:
            status = process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise DemoError(f"The server did not stop within 40 seconds.\n{self.tail()}") from None
        if status != 0:
            raise DemoError(f"The server ended with {status}.\n{self.tail()}")
        return time.monotonic() - begun

    def tail(self) -> str:
        """The end of the server's log."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-2000:] if self.log.exists() else ""


@contextmanager
def served(folder: Path, state: Path) -> Iterator[Gate]:
    """Make the credentials and start the server; it is gone when the block is left."""
    gate = Gate(folder, state)
    for name, (subject, kind, role) in PEOPLE.items():
        email = () if kind == "service" else ("--email", subject if "@" in subject else f"{subject}@agents.example")
        gate.run(
            "token", "create", "--subject", subject, "--kind", kind, "--role", role, *email, "--expires", "12h",
            "--output", str(gate.token_file(name)), shown=False,
        )  # fmt: skip
    say(f"   credentials: {', '.join(PEOPLE)}")
    address = folder / "address"
    try:
        with gate.log.open("wb") as log:
            gate.process = subprocess.Popen(
                [GATE, "serve", "--listen", "127.0.0.1:0", "--address-file", str(address), "--grace", "15"],
                env=gate.environment, stdout=log, stderr=log,
            )  # fmt: skip
        end = time.monotonic() + 60
        while not address.exists():
            if gate.process.poll() is not None or time.monotonic() > end:
                raise DemoError(f"The server did not start.\n{gate.tail()}")
            time.sleep(0.05)
        gate.address = address.read_text(encoding="utf-8").strip()
        yield gate
    finally:
        if gate.process is not None:  # something went wrong: end it, the error is told by whoever noticed
            gate.process.terminate()
            try:
                gate.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                gate.process.kill()
                gate.process.wait()
