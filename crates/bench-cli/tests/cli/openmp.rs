//! `corecast bench epcc`.

use crate::program::Program;

#[test]
fn bad_input_is_told() {
    let program = Program::new();
    let folder = program.path("objects");
    std::fs::create_dir(&folder).expect("a folder");
    let run = |arguments: &[&str]| {
        let mut command = program.command(arguments);
        command.env("CORECAST_SHIM_DIR", &folder);
        crate::program::Run::from(command.output().expect("the program starts"))
    };
    run(&["epcc", "--quick"]).failed(2, "cargo build --release -p corecast-shim-omp");
    // It is not loaded before the sizes are looked at.
    std::fs::write(folder.join("libcorecast_omp.so"), "").expect("a file");
    run(&["epcc", "--quick", "--threads", "0"]).failed(2, "not 0");
    run(&["epcc", "--quick", "--threads", "1025"]).failed(2, "not 1025");
    run(&["epcc", "--quick", "--threads", "two"]).failed(2, "two");
    run(&["epcc", "--quick", "--epcc-dir", folder.to_str().expect("UTF-8")]).failed(2, "syncbench.c");
}
