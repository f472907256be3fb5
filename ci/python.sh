#!/usr/bin/env bash
# The Python package: built, its tests and the examples of its documentation, in a virtual environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    echo "SKIPPED: the Python package: no Python from 3.9 on with the module venv"
    exit 0
fi
target="${CARGO_TARGET_DIR:-$PWD/target}/python"
[ -x "$target/venv/bin/pip" ] || python3 -m venv "$target/venv"
"$target/venv/bin/pip" install --quiet maturin mypy pytest numpy redis
cargo fmt --manifest-path python/Cargo.toml --check
CARGO_TARGET_DIR="$target" cargo clippy --quiet --manifest-path python/Cargo.toml -- -D warnings
(cd python && VIRTUAL_ENV="$target/venv" CARGO_TARGET_DIR="$target" "$target/venv/bin/maturin" develop --quiet)
# The stubs say what the extension has. It exports a list of its names by itself, and gives buffers by a slot of C.
(cd python && printf '%s\n' corecast._corecast.__all__ corecast._corecast.Message.__buffer__ > "$target/allowed" &&
    "$target/venv/bin/python" -m mypy.stubtest corecast._corecast --concise --ignore-disjoint-bases --allowlist "$target/allowed")
"$target/venv/bin/python" -m pytest --quiet python/tests
"$target/venv/bin/python" -m pytest --quiet --doctest-modules python/corecast --ignore python/corecast/__main__.py
"$target/venv/bin/python" python/examples/decode_loop.py --workers 2 --steps 100
"$target/venv/bin/python" python/examples/camera.py --frames 50
"$target/venv/bin/python" python/examples/stencil.py --members 2 --steps 10
