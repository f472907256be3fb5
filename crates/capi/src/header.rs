//! The committed header is the one that the sources make.
//!
//! cbindgen reads the types in the sources. The functions are made by a macro, into which it does not look, so they are given
//! to it as the macro has declared them.

use std::fs;
use std::path::Path;

use crate::{
    acknowledged, atomic_stream, cluster, combination, commit, condvar, error, ff, gather, group, lock, mcast, member,
    region, region_plan, replica, rw_lock, select, shared_lock, shrink, split, started, status, tm, ump,
};

/// In the order of the header.
const FUNCTIONS: &[&[&str]] = &[
    status::DECLARATIONS,
    error::DECLARATIONS,
    region_plan::DECLARATIONS,
    region::DECLARATIONS,
    ump::DECLARATIONS,
    ump::sender::DECLARATIONS,
    ump::receiver::DECLARATIONS,
    ff::DECLARATIONS,
    mcast::DECLARATIONS,
    mcast::sender::DECLARATIONS,
    mcast::receiver::DECLARATIONS,
    select::DECLARATIONS,
    group::DECLARATIONS,
    member::DECLARATIONS,
    cluster::DECLARATIONS,
    split::DECLARATIONS,
    shrink::DECLARATIONS,
    started::DECLARATIONS,
    gather::DECLARATIONS,
    combination::DECLARATIONS,
    commit::coordinator::DECLARATIONS,
    commit::participant::DECLARATIONS,
    atomic_stream::DECLARATIONS,
    acknowledged::root::DECLARATIONS,
    acknowledged::follower::DECLARATIONS,
    lock::DECLARATIONS,
    condvar::DECLARATIONS,
    rw_lock::DECLARATIONS,
    shared_lock::DECLARATIONS,
    replica::machine::DECLARATIONS,
    replica::node::DECLARATIONS,
    replica::session::DECLARATIONS,
    tm::instance::DECLARATIONS,
    tm::participant::DECLARATIONS,
];

#[test]
fn the_header_is_what_the_sources_say() {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = tempfile::tempdir().expect("a folder");
    let functions = dir.path().join("functions.rs");
    // cbindgen wants Rust, in which `$crate` is only between macros.
    fs::write(&functions, FUNCTIONS.concat().join("\n").replace("$crate", "crate")).expect("a file for the functions");
    let config = cbindgen::Config::from_file(crate_dir.join("cbindgen.toml")).expect("a configuration");
    let builder = cbindgen::Builder::new().with_src(functions).with_crate(crate_dir).with_config(config);
    let mut made = Vec::new();
    builder.generate().expect("a header").write(&mut made);
    // The values of the status everybody returns go without its name.
    let made = String::from_utf8(made).expect("text").replace("CORECAST_STATUS_", "CORECAST_");

    let committed = crate_dir.join("include/corecast.h");
    if fs::read_to_string(&committed).unwrap_or_default() != made {
        let new = dir.keep().join("corecast.h");
        fs::write(&new, made).expect("a file for the new header");
        panic!(
            "the header is another one than the sources make; if they are right: cp {} {}",
            new.display(),
            committed.display()
        );
    }
}

/// A file that is missing above would be missing in the header, without a word.
#[test]
fn every_file_is_in_the_list() {
    let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let with_functions = files.iter().filter(|text| text.lines().any(|line| line == "c_functions! {"));
    assert_eq!(with_functions.count(), FUNCTIONS.len());
}

/// The texts of all files below.
fn sources(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let texts = |path: std::path::PathBuf| match path.is_dir() {
        true => sources(&path),
        false => vec![fs::read_to_string(path).expect("text")],
    };
    entries.flat_map(texts).collect()
}
