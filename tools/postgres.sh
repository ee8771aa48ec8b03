#!/usr/bin/env bash
# The PostgreSQL server that the tests of the ledger and of tables in PostgreSQL start: installed where it is missing and that can be done.
# Without it those tests are skipped, and say so.
set -euo pipefail
if command -v initdb > /dev/null || compgen -G "/usr/lib/postgresql/*/bin/initdb" > /dev/null; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get > /dev/null; then
    mkdir -p /etc/postgresql-common
    echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.conf # the tests make their own
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends postgresql > /dev/null
else
    echo "no PostgreSQL server here: install one (postgresql), or the tests that need it are skipped" >&2
fi
