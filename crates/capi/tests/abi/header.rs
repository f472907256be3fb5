//! The committed header is the one that the sources make.

use std::fs;
use std::path::Path;

#[test]
fn the_header_is_what_the_sources_say() {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(crate_dir.join("cbindgen.toml")).expect("a configuration");
    let bindings = cbindgen::Builder::new().with_crate(crate_dir).with_config(config).generate().expect("a header");
    let mut made = Vec::new();
    bindings.write(&mut made);
    // The values of the status everybody returns go without its name.
    let made = String::from_utf8(made).expect("text").replace("CORECAST_STATUS_", "CORECAST_");

    let committed = crate_dir.join("include/corecast.h");
    if fs::read_to_string(&committed).unwrap_or_default() != made {
        let new = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corecast.h");
        fs::write(&new, made).expect("a file for the new header");
        panic!(
            "the header is another one than the sources make; if they are right: cp {} {}",
            new.display(),
            committed.display()
        );
    }
}
