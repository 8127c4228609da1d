#!/bin/sh
# Installs the browser that the tests of HTML pages drive, where there is none yet.
set -eu
for program in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$program" >/dev/null 2>&1; then
        exit 0
    fi
done
if ! command -v apt-get >/dev/null 2>&1; then
    echo "the tests of HTML pages need a browser: install chromium with this system's package manager" >&2
    exit 1
fi
as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "the tests of HTML pages need a browser: as root, run apt-get install chromium" >&2
        exit 1
    fi
    as_root="sudo"
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
$as_root apt-get install -y -qq --no-install-recommends chromium
