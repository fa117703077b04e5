#!/usr/bin/env bash
# Trusts: the Go toolchain found here, and the hashes in tests/conformance/api/go/go.sum for every module it takes.
# Builds foreign clients of the API into .venv/libexec/api-clients/: grpcurl, and a Go client that is generated from the
# .proto files alone. Only tests/conformance/api uses them. Does nothing when all is up to date.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
place=$PWD/.venv/libexec/api-clients
source=$PWD/tests/conformance/api/go

digest=$(cat "$source"/go.mod "$source"/go.sum "$source"/*.go proto/gatekeeper/api/v1/*.proto deploy/api_clients.sh | sha256sum | cut -c1-32)
if [ -x "$place/gate-client" ] && [ -x "$place/grpcurl" ] && [ "$(cat "$place/.digest" 2>/dev/null)" = "$digest" ]; then exit 0; fi
if ! command -v go >/dev/null; then
  printf 'api-clients: %s\n' "Go is not here; it is needed to build grpcurl and a Go client of the API for the tests." \
    "Install Go 1.25 or newer and run this again." >&2
  exit 1
fi
printf 'api-clients: building with %s; the first time this takes some minutes\n' "$(go env GOVERSION)" >&2
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
mkdir -p "$place"
cp "$source"/go.mod "$source"/go.sum "$source"/*.go "$work"
(cd "$work" && GOBIN="$place" GOFLAGS=-mod=readonly go install tool)
PATH="$place:$PATH" .venv/bin/python -m grpc_tools.protoc -Iproto --go_out="$work" --go_opt=module=gatekeeper \
  --go-grpc_out="$work" --go-grpc_opt=module=gatekeeper proto/gatekeeper/api/v1/*.proto
(cd "$work" && GOFLAGS=-mod=readonly go build -o "$place/gate-client" .)
printf %s "$digest" >"$place/.digest"
