//! Builds the sources of another package for the simulated machine.

fn main() {
    println!("cargo::rustc-cfg=simulated");
    println!("cargo::rerun-if-changed=../build.rs");
}
