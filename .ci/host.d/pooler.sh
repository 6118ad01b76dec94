#!/usr/bin/env bash
# `bash .ci/host.d/pooler.sh`, from `.ci/host`: the tests that need PgBouncer.
set -euo pipefail
source .ci/packages.sh
PATH=$PATH:/usr/sbin need pgbouncer pgbouncer
cargo test --locked --test host
