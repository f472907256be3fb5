//! The reader of machine models: what it accepts holds together, and comes back from its own text.

#![no_main]

use corecast_machine::model_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    if let Ok(machine) = model_file::parse(text) {
        machine.check().expect("what is read holds together");
        let rendered = model_file::render(&machine).expect("what is read can be written");
        assert_eq!(model_file::parse(rendered).expect("what is written can be read"), machine);
    }
});
