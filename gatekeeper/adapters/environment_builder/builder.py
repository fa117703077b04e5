"""`UvEnvironmentBuilder`: prepares, caches and describes environments."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gatekeeper.adapters.environment_builder import interpreter as interpreters
from gatekeeper.adapters.environment_builder.interpreter import Interpreter
from gatekeeper.adapters.environment_builder.store import built, inventory
from gatekeeper.config import Paths
from gatekeeper.domain.ports import TestEnvironment
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.tree import Tree
from gatekeeper.errors import CouldNotCheck

if TYPE_CHECKING:
    from gatekeeper.adapters.environment_builder import project

UV_TIMEOUT_S = 900.0
_PASSED_ON = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)


@functools.cache
def _dies_with_the_gate() -> tuple[str, ...]:
    setpriv = shutil.which("setpriv", path=os.defpath)
    return (setpriv, "--pdeathsig", "KILL", "--") if setpriv else ()


class UvEnvironmentBuilder:
    """Implements `domain.ports.EnvironmentBuilder`.

    `recorder` is the pytest recorder as files for site-packages; `tree_path` is where the tree is inside the sandbox.
    """

    def __init__(self, paths: Paths, recorder: Mapping[str, bytes], tree_path: str) -> None:
        self._paths = paths
        self._recorder = dict(recorder)
        self._tree_path = tree_path

    def prepare(self, base: Tree, settings: EnvironmentSettings, choice: str) -> TestEnvironment:
        """See `EnvironmentBuilder.prepare`."""
        if choice == "host" or (choice == "auto" and settings.kind == "host"):
            return self._host()
        if choice == "auto":
            return self._from_locks(base, settings)
        return self._prepared(Path(choice))

    # --- the gate's own pytest ---

    def _host(self) -> TestEnvironment:
        from gatekeeper.adapters.environment_builder import packages

        base = interpreters.own()
        # More than pytest needs, but known without reading what each of them requires.
        digest = self._digest("host", str(base.executable), base.version, *packages.installed())

        def make(place: Path) -> None:
            site = self._skeleton(place, base)
            packages.copy_distributions(packages.closure(["pytest"]), site)
            self._runner(place, f"host-{digest}")
            packages.write_files(self._recorder, site)
            packages.compile_bytecode(base.executable, site)

        where = built(self._paths.environments, f"host-{digest}", make)
        return self._environment(where, base, digest, "the gate's own Python and pytest", missing=("base_lock",))

    def _skeleton(self, place: Path, base: Interpreter) -> Path:
        """A virtual environment without running anything; returns its site-packages."""
        site = place / "lib" / f"python{base.minor}" / "site-packages"
        site.mkdir(parents=True)
        (place / "bin").mkdir()
        (place / "pyvenv.cfg").write_text(
            f"home = {base.executable.parent}\ninclude-system-site-packages = false\n"
            f"version = {base.version}\nrelocatable = true\n",
            encoding="utf-8",
        )
        for alias in ("python", "python3", f"python{base.minor}"):
            (place / "bin" / alias).symlink_to(base.executable)
        return site

    def _runner(self, place: Path, name: str) -> None:
        """bin/pytest, written last: what an installer wrote names the directory of the making."""
        from gatekeeper.adapters.environment_builder import packages

        runner = place / "bin" / "pytest"
        runner.unlink(missing_ok=True)
        runner.write_text(packages.script(f"{self._paths.environments / name}/bin/python"), encoding="utf-8")
        runner.chmod(0o755)

    # --- from the base's locks ---

    def _from_locks(self, base_tree: Tree, settings: EnvironmentSettings) -> TestEnvironment:
        from importlib import metadata

        from gatekeeper.adapters.environment_builder import packages, project

        base = interpreters.own()
        wanted = project.requirements(base_tree, settings)
        own_files = project.stand_in(base_tree, self._tree_path)
        content = json.dumps(
            [wanted.files, wanted.roots, {k: v.decode() for k, v in own_files.items()}], sort_keys=True
        )
        digest = self._digest(
            "lock", content, str(base.executable), base.version, metadata.version("uv"), metadata.version("pytest")
        )
        name = f"lock-{digest}"

        def make(place: Path) -> None:
            site = self._skeleton(place, base)
            if any(project.content_lines(c) for c in wanted.files.values()):
                self._install(place, wanted)
            if not (site / "pytest").is_dir():
                packages.copy_distributions(packages.closure(["pytest"]), site)
            self._runner(place, name)
            packages.write_files(own_files, site)
            packages.write_files(self._recorder, site)
            packages.compile_bytecode(base.executable, site)

        where = built(self._paths.environments, name, make)
        missing = () if wanted.hashed else ("hashed_lock",) if wanted.locked else ("base_lock",)
        return self._environment(where, base, digest, wanted.description, missing=missing)

    def _install(self, place: Path, wanted: project.Requirements) -> None:
        """`uv pip install` into `place`: wheels only, so that nothing of the packages runs at build time."""
        from gatekeeper.adapters.environment_builder import project

        files = place / ".requirements"
        for name, content in wanted.files.items():
            target = files / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content, encoding="utf-8")
        # --no-config: no settings file of the base is obeyed; the operator's is named by UV_CONFIG_FILE or is variables.
        uv = Path(sys.prefix) / "bin" / "uv"
        arguments = [
            *_dies_with_the_gate(), str(uv), "pip", "install", "-q", "--no-config", "--color", "never", "--python", str(place / "bin" / "python"),
            "--link-mode", "copy", "--only-binary", ":all:",
        ]  # fmt: skip
        if wanted.hashed:
            arguments.append("--require-hashes")
        for name in wanted.roots:
            arguments += ["-r", name]
        try:
            done = subprocess.run(
                arguments, cwd=files, env=self._uv_environment(), capture_output=True, text=True, timeout=UV_TIMEOUT_S,
                check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise CouldNotCheck(
                "ENVIRONMENT_FAILED", f"Installing the lock took longer than {UV_TIMEOUT_S:g} s."
            ) from None
        except OSError as error:
            raise CouldNotCheck("ENVIRONMENT_FAILED", f"uv cannot be started: {error}.", blame="gate") from error
        if done.returncode:
            words = "".join(c if c.isprintable() or c == "\n" else "?" for c in done.stderr[-20_000:]).strip()
            what = "pyproject.toml" if wanted.roots == (project.DECLARED,) else f"The lock ({', '.join(wanted.roots)})"
            raise CouldNotCheck("ENVIRONMENT_FAILED", f"{what} cannot be installed: {self._redacted(words)[-1500:]}")

    def _uv_environment(self) -> dict[str, str]:
        """Uv sees the operator's registry settings and nothing else. pip's variables serve where uv has none of its own."""
        env = {k: v for k, v in os.environ.items() if k in _PASSED_ON or k.startswith("UV_")}
        for ours, theirs in (
            ("UV_DEFAULT_INDEX", "PIP_INDEX_URL"),
            ("UV_INDEX", "PIP_EXTRA_INDEX_URL"),
            ("UV_FIND_LINKS", "PIP_FIND_LINKS"),
            ("UV_NO_INDEX", "PIP_NO_INDEX"),
            ("UV_INSECURE_HOST", "PIP_TRUSTED_HOST"),
            ("SSL_CERT_FILE", "PIP_CERT"),
        ):
            if theirs in os.environ and ours not in env:
                env[ours] = os.environ[theirs]
        cache = self._paths.cache / "uv"
        return {
            "PATH": os.defpath,
            "HOME": str(cache),
            "UV_CACHE_DIR": str(cache),
            "UV_PYTHON_DOWNLOADS": "never",
            **env,
        }

    def _redacted(self, words: str) -> str:
        """Uv's words without the operator's credentials, in addresses or elsewhere."""
        from gatekeeper.adapters.environment_builder import lock_lines

        for name, value in self._uv_environment().items():
            if re.search("PASSWORD|TOKEN|USERNAME", name) and len(value) >= 4:
                words = words.replace(value, "***")
        return lock_lines.redacted(words)

    # --- prepared by the operator ---

    def _prepared(self, directory: Path) -> TestEnvironment:
        from gatekeeper.adapters.environment_builder import packages

        directory = Path(os.path.abspath(directory))
        if not (directory / "bin" / "python").exists():
            raise CouldNotCheck("ENVIRONMENT_MISSING", f"{str(directory)!r} has no bin/python.")
        base = interpreters.of_environment(directory)
        if base is None:
            raise CouldNotCheck(
                "ENVIRONMENT_MISSING", f"The interpreter {str(directory / 'bin' / 'python')!r} does not start."
            )
        site = directory / "lib" / f"python{base.minor}" / "site-packages"
        if not site.is_dir() or not (directory / "pyvenv.cfg").is_file():
            raise CouldNotCheck(
                "ENVIRONMENT_MISSING", f"{str(directory)!r} is not a virtual environment of Python {base.minor}."
            )
        digest = self._digest("prepared", str(directory), base.version, inventory(directory))

        def make(place: Path) -> None:
            # A copy: the recorder must be an entry point in it, and the operator's own directory stays as it is.
            subprocess.run(
                ["cp", "-a", "--", f"{directory}/.", str(place)], check=True, capture_output=True, timeout=600
            )
            packages.write_files(self._recorder, place / site.relative_to(directory))
            packages.compile_bytecode(base.executable, place / site.relative_to(directory))

        try:
            where = built(self._paths.environments, f"prepared-{digest}", make)
        except subprocess.SubprocessError as error:
            raise CouldNotCheck("ENVIRONMENT_FAILED", f"{str(directory)!r} cannot be copied: {error}.") from error
        mounts = ((str(where), str(directory)), *interpreters.mounts(base, self._paths.runtime))
        return TestEnvironment(
            mounts=mounts,
            python=f"{directory}/bin/python",
            path=(f"{directory}/bin",),
            digest=digest,
            description=f"prepared by the operator at {directory}",
            has_recorder=True,
            env={"VIRTUAL_ENV": str(directory)},
            missing=("base_lock",),
        )

    # --- common ---

    def _digest(self, *parts: str) -> str:
        mark = hashlib.sha256()
        for part in [
            *parts,
            self._tree_path,
            str(self._paths.environments),
            *(f"{k}\0{hashlib.sha256(v).hexdigest()}" for k, v in sorted(self._recorder.items())),
        ]:
            mark.update(part.encode("utf-8", "surrogateescape") + b"\0\0")
        return mark.hexdigest()[:32]

    def _environment(
        self, where: Path, base: Interpreter, digest: str, words: str, *, missing: tuple[str, ...]
    ) -> TestEnvironment:
        return TestEnvironment(
            mounts=((str(where), str(where)), *interpreters.mounts(base, self._paths.runtime)),
            python=f"{where}/bin/python",
            path=(f"{where}/bin",),
            digest=digest,
            description=words,
            has_recorder=True,
            env={"VIRTUAL_ENV": str(where)},
            missing=missing,
        )
