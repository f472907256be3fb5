#!/usr/bin/env bash
# State across machines: the example with openraft, which is no member of the workspace. Its test stops one of three hosts for a
# while, and kills another one.
set -euo pipefail
cd "$(dirname "$0")/.."

target="$(realpath -m "${CARGO_TARGET_DIR:-target}")/raft"
# It has no lock file; what its dependencies depend on is chosen anew each time.
cargo fetch --manifest-path examples/raft/Cargo.toml || {
    echo "SKIPPED: the example with openraft: its dependencies cannot be downloaded"
    exit 0
}
cargo fmt --manifest-path examples/raft/Cargo.toml --check
cargo clippy --manifest-path examples/raft/Cargo.toml --target-dir "$target" --all-targets -- -D warnings
cargo test --manifest-path examples/raft/Cargo.toml --target-dir "$target" --no-run
# It takes some seconds; every wait in it ends after a minute.
timeout --kill-after=10 300 cargo test --manifest-path examples/raft/Cargo.toml --target-dir "$target"
