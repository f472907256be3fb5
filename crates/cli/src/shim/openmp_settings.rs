//! Variables by which OpenMP's runtimes do without the shim: it serves nothing then, and the program runs as without it.

use std::ffi::{OsStr, OsString};

use super::check::Remark;
use super::runtimes::Runtime;

/// The remarks on the user's environment, where one of these runtimes reads it.
pub(super) fn remarks(runtimes: &[Runtime], variable: impl Fn(&str) -> Option<OsString>) -> Vec<Remark> {
    let has = |name: &str, is_meant: fn(&OsStr) -> bool| variable(name).is_some_and(|value| is_meant(&value));
    let (has_openmp, has_tools) = (runtimes.iter().any(Runtime::is_openmp), runtimes.iter().any(Runtime::has_tools));
    let mut remarks = Vec::new();
    let mut add =
        |kind, is_so: bool, words: &str| remarks.extend(is_so.then(|| Remark { kind, words: words.to_owned() }));
    let cancels = has_openmp && has("OMP_CANCELLATION", is_true) || has_tools && has("OMP_CANCELLATION", is_one);
    add("cancellation", cancels, "OMP_CANCELLATION is true, so that nothing of OpenMP is served");
    let is_disabled = has_tools && has("OMP_TOOL", |value| value.eq_ignore_ascii_case("disabled"));
    add("tool", is_disabled, "OMP_TOOL is disabled, so that the teams of libomp and libiomp5 are not served");
    let has_other = has_tools && has("OMP_TOOL_LIBRARIES", |value| !value.is_empty());
    add(
        "tool",
        has_other,
        "OMP_TOOL_LIBRARIES names another tool, so that the teams of libomp and libiomp5 are not served",
    );
    remarks
}

fn is_true(value: &OsStr) -> bool {
    value.to_string_lossy().trim().eq_ignore_ascii_case("true")
}

/// What LLVM's family takes for true as well, and libgomp does not.
fn is_one(value: &OsStr) -> bool {
    value.to_string_lossy().trim() == "1"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_runtime_reads_is_told() {
        let kinds = |runtime: &'static str, set: &[(&str, &str)]| {
            let runtimes = [Runtime::named(runtime)];
            let variable = |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
            remarks(&runtimes, variable).into_iter().map(|remark| remark.kind).collect::<Vec<_>>()
        };
        let tools = [("OMP_TOOL", "Disabled"), ("OMP_TOOL_LIBRARIES", "libx.so")];
        assert_eq!(kinds("libomp", &tools), ["tool", "tool"]);
        assert_eq!(kinds("libgomp", &tools), [""; 0]);
        assert_eq!(kinds("libiomp5", &[("OMP_TOOL", "enabled"), ("OMP_TOOL_LIBRARIES", "")]), [""; 0]);
        let cancels = [("OMP_CANCELLATION", " TRUE")];
        assert_eq!([kinds("libgomp", &cancels), kinds("libomp", &cancels)], [["cancellation"]; 2]);
        assert_eq!(kinds("MPICH", &cancels), [""; 0]);
        let one = [("OMP_CANCELLATION", "1")];
        assert_eq!(kinds("libomp", &one), ["cancellation"]);
        assert_eq!(kinds("libgomp", &one), [""; 0], "it says that the value is invalid");
        assert_eq!(kinds("libgomp", &[("OMP_CANCELLATION", "false")]), [""; 0]);
    }
}
