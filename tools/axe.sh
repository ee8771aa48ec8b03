#!/bin/sh
# Install axe-core, which the accessibility tests of the workbench run in a browser, into .axe/. Needs npm.
set -eu
version=4.14.0
cd "$(dirname "$0")/.."
if [ -f .axe/axe.min.js ] && [ "$(cat .axe/version 2>/dev/null)" = "$version" ]; then exit 0; fi
if ! command -v npm >/dev/null; then
  echo "axe.sh: npm is not installed, so the accessibility tests will be skipped" >&2
  exit 0
fi
mkdir -p .axe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm pack --silent --pack-destination "$work" "${AXE_PACKAGE:-axe-core@$version}" >/dev/null
tar -xzf "$work"/*.tgz -C "$work" package/axe.min.js package/LICENSE
mv "$work/package/axe.min.js" "$work/package/LICENSE" .axe/
echo "$version" > .axe/version
