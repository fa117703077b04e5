#!/usr/bin/env bash
# Trusts: the Go toolchain found here and the checksums that Go itself keeps for modules (GOSUMDB, as it is configured).
# Builds the pinned OPA into .venv/libexec/opa/opa. Nobody needs it to use the gate: it serves the engine "opa" and tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=1.22.3
place=.venv/libexec/opa

is_pinned() { [ -x "$1" ] && [ "$("$1" version 2>/dev/null | sed -n 's/^Version: //p')" = "$version" ]; }

if is_pinned "$place/opa"; then exit 0; fi
if command -v go >/dev/null; then
  printf 'opa: building %s with %s; the first time this takes some minutes\n' "$version" "$(go env GOVERSION)" >&2
  mkdir -p "$place"
  GOBIN="$PWD/$place" go install "github.com/open-policy-agent/opa@v$version"
  is_pinned "$place/opa" || { printf 'opa: what was built does not say it is %s\n' "$version" >&2; exit 1; }
elif found=$(command -v opa) && is_pinned "$found"; then
  printf 'opa: %s %s is on the PATH and will do\n' "$found" "$version" >&2
else
  printf 'opa: %s\n' "Go is not here, and no opa $version is on the PATH." \
    "Install Go 1.24 or newer (Debian: apt-get install golang) and run this again," \
    "or put the program opa $version of your platform at $place/opa." >&2
  exit 1
fi
