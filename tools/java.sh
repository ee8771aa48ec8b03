#!/usr/bin/env bash
# The Java that the tests of tables in Spark need: installed where it is missing and that can be done.
# Without it those tests are skipped, and say so.
set -euo pipefail
if command -v java > /dev/null || [ -x "${JAVA_HOME:-}/bin/java" ]; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get > /dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends openjdk-17-jre-headless > /dev/null ||
        DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends default-jre-headless > /dev/null
else
    echo "no Java here: install version 17 or newer (openjdk-17-jre-headless), or the tests that need it are skipped" >&2
fi
