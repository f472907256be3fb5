//! Models of what threads share without locks. Run by `ci/loom.sh`.
#![cfg(loom)]

#[path = "loom/bucket.rs"]
mod bucket;
