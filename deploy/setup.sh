#!/usr/bin/env bash
# Trusts: the Python found here, the configured package registry as far as the hashes in deploy/requirements/*.lock go.
# Makes .venv from hash-locked requirements. Usage: deploy/setup.sh runtime|dev. Does nothing when all is up to date.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
kind=${1:?runtime or dev}
venv=.venv
locks=(deploy/requirements/runtime.lock deploy/requirements/semgrep.lock)
[ "$kind" = dev ] && locks=(deploy/requirements/dev.lock deploy/requirements/semgrep.lock)

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { printf 'setup: %s\n' "$@" >&2; exit 1; }

debian_packages() { # as root on Debian the missing pieces can be installed; elsewhere say what is missing
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing $*"
    apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
  else
    fail "needed and not here: $*" "Install them (Debian: apt-get install $*), then run this again."
  fi
}

command -v git >/dev/null || debian_packages git

python=${PYTHON:-}
if [ -z "$python" ]; then
  for candidate in python3.11 python3.12 python3.13 python3; do
    if command -v "$candidate" >/dev/null && "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2])' 2>/dev/null; then
      python=$candidate; break
    fi
  done
fi
[ -n "$python" ] || debian_packages python3
python=${python:-python3}
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2])' ||
  fail "Python 3.11 or newer is needed, $("$python" --version 2>&1) was found." "Set PYTHON=/path/to/python3.11."
"$python" -c 'import ensurepip, venv' 2>/dev/null || debian_packages python3-venv

digest=$(cat "${locks[@]}" deploy/setup.sh pyproject.toml | sha256sum | cut -c1-32)
stamp="$venv/.setup-$kind"
ready() { # a dev environment serves as a runtime environment too, as long as its own locks are unchanged
  [ -x "$venv/bin/gatekeeper" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$digest $PWD" ]
}
if ! ready && [ "$kind" = runtime ] && [ -f "$venv/.setup-dev" ]; then
  exec "${BASH_SOURCE[0]}" dev
fi
if ! ready; then
  if ! "$venv/bin/python" -c 'import sys; sys.exit(sys.prefix == sys.base_prefix)' 2>/dev/null ||
    ! head -1 "$venv/bin/pip" 2>/dev/null | grep -qF "$PWD/"; then
    say "making $venv with $("$python" --version)"
    rm -rf "$venv"
    "$python" -m venv "$venv"
  fi
  rm -f "$venv"/.setup-*
  say "installing the locked requirements ($kind); the first time this takes about a minute"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r "${locks[0]}"
  # semgrep lives in a folder of its own: its pins would hold back the gate's, and only its engine is used.
  semgrep="$venv/libexec/semgrep"
  want=$(sha256sum deploy/requirements/semgrep.lock | cut -d' ' -f1)
  if [ "$(cat "$semgrep/.lock" 2>/dev/null)" != "$want" ]; then
    say "installing the semgrep engine (a large file)"
    rm -rf "$semgrep"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --require-hashes --target "$semgrep" \
      -r deploy/requirements/semgrep.lock
    printf %s "$want" >"$semgrep/.lock"
  fi
  "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation \
    --config-settings editable_mode=compat -e .
  env -u PYTHONDONTWRITEBYTECODE "$venv/bin/python" -m compileall -q gatekeeper
  printf %s "$digest $PWD" >"$stamp"
fi
"$venv/bin/gatekeeper" init --machine
