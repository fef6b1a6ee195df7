#!/usr/bin/env bash
# Installs Addend into a virtual environment, as the tests, CI and the Dockerfile do. Needs Python 3.11 or newer.
# The versions are those of the lock files, which .ci/renew-pins writes from requirements*.txt.
#   bash install.sh results   stored pages, exports, SQL, claims: no PyTorch
#   bash install.sh models    the same and live probes, measuring, training
#   bash install.sh tests     the same and what the checks need, a browser included
#   ADDEND_VENV   where the environment lies (.venv)
#   PYTHON        which Python makes it (python3)
set -euo pipefail
cd "$(dirname "$0")"
what="${1:-models}"
venv="${ADDEND_VENV:-.venv}"

[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
install() { "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"; }
# Every package at its locked version, checked against its hash. The lock files name all, so that pip seeks no others.
locked() { install --no-deps --require-hashes -r "$@"; }
# PyTorch has a build for each kind of machine, so it is pinned by its version and no hash is known here.
pytorch() { install "$@" "$(grep '^torch==' requirements-models.txt)"; }

# Tests import a part of all that is installed: Python compiles that part when it is imported.
case "$what" in
results) locked requirements-results.lock ;;
models) locked requirements.lock && pytorch ;;
tests) locked tests/requirements.lock --no-compile && pytorch --no-compile ;;
*)
    echo "install.sh: $what is none of results, models, tests" >&2
    exit 1
    ;;
esac

# The browser: Debian's where there is apt, else the one that Playwright offers.
if [ "$what" = tests ] && ! command -v chromium >/dev/null; then
    if command -v apt-get >/dev/null; then
        as_root=$([ "$(id -u)" = 0 ] || echo sudo)
        $as_root apt-get update -qq
        DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends chromium >/dev/null
    else
        "$venv/bin/playwright" install chromium
    fi
fi
