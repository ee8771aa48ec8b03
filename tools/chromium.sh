#!/usr/bin/env bash
# The browser that the tests of the workbench drive: installed where it is missing and that can be done.
# Without it those tests are skipped, and say so.
set -euo pipefail
if command -v chromium > /dev/null || command -v google-chrome > /dev/null; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ] && command -v apt-get > /dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium > /dev/null
else
    echo "no Chromium here: install it (chromium), or the tests that need it are skipped" >&2
fi
