#!/bin/sh
# Makes the virtual environment in .venv and installs pacbench with what it needs; called by make.
# Says what is missing where it cannot. Needs the network only for packages that are not there yet;
# `make wheels` keeps a copy of them in wheels/, from which this works offline in a new checkout.
set -eu
cd "$(dirname "$0")/.."

fail() {
    printf 'error: %s\n' "$1" >&2
    exit 2
}

say() {
    printf 'setup: %s\n' "$1"
}

find_python() {
    for name in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
        [ -n "$name" ] || continue
        command -v "$name" >/dev/null 2>&1 || continue
        "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
        printf '%s\n' "$name"
        return
    done
    found=$(python3 --version 2>&1 || printf 'no python3 at all')
    fail "pacbench needs Python 3.11 or later; found: $found. Install one, or name it: make PYTHON=python3.12"
}

command -v "${CXX:-c++}" >/dev/null 2>&1 || fail \
    "no C++ compiler ('${CXX:-c++}' is not on the PATH). Install one (Debian: apt-get install g++) or set CXX."

if [ ! -x .venv/bin/python ]; then
    python=$(find_python)
    say "making .venv with $($python --version)"
    "$python" -m venv .venv || {
        rm -rf .venv
        fail "$python cannot make virtual environments. Install its venv module (Debian: apt-get install python3-venv)."
    }
fi

say 'installing pacbench and what it needs; the first time this takes some minutes'
[ -d wheels ] && set -- --no-index --find-links wheels || set --
install() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "$@" || fail \
        "packages could not be installed (see above). Offline? Run 'make wheels' once where there is a network and take the wheels/ folder along."
}
# The build tools come first, so that pacbench builds in this environment and not in one of its own;
# pydensecrf2 too, which comes as source only and does build in one of its own.
install "$@" scikit-build-core cmake ninja pydensecrf2
install "$@" --no-build-isolation --editable '.[dev]'
