#!/usr/bin/env bash
# What the suite needs beside Python where a missing tool is a failure: a Postgres for the store's contract tests.
# Everything else is a locked package, or is built by the tests' own targets (OPA, foreign clients).
set -euo pipefail
shopt -s nullglob
found=(/usr/lib/postgresql/*/bin/initdb)
if [ ${#found[@]} -eq 0 ] && ! command -v initdb >/dev/null; then
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "ci-tools: Postgres is missing; install the package postgresql, then run this again" >&2
    exit 1
  fi
  echo "ci-tools: installing postgresql"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends postgresql >/dev/null
fi
