//! The example as a whole, with few writes, at three addresses of this machine.

use std::process::Command;

#[test]
fn a_host_is_killed_and_the_others_have_every_write() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_corecast-raft-example"));
    let output = program.env_remove("CORECAST_AGENT").args(["--writes", "100"]).output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}\n{errors}");
    assert!(told.contains("400 writes acknowledged") && told.contains(" leads, and is killed after "), "{told}");
    assert!(told.contains(" stood still for "), "{told}");
    assert_eq!(told.matches(": 400 texts, digest ").count(), 6, "two hosts with three replicas each: {told}");
    assert!(told.ends_with("the replicas of the living hosts are equal, and have every write\n"), "{told}");
}
