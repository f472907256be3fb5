//! Finds the names of processes by their number and start time.

use corecast::base::small_file;

/// The name of this process, if it is of this namespace: the number alone may mean another process here.
pub(super) fn name(pid: u32, start_time: u64) -> Option<String> {
    let stat = small_file::read(format!("/proc/{pid}/stat").as_ref(), 4096).ok()?;
    let (name, start) = parse(&stat)?;
    (start == start_time).then_some(name)
}

/// The name, and when it began, in clock ticks since boot.
fn parse(stat: &str) -> Option<(String, u64)> {
    // The name may contain anything; it ends at the last parenthesis. Then come fields 3, 4, ...
    let (before, fields) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let start = fields.split_whitespace().nth(22 - 3)?.parse().ok()?;
    // For terminals.
    Some((name.chars().map(|c| if c.is_control() { '?' } else { c }).collect(), start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_and_control_characters_are_read() {
        let rest = "S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 777 1000 1";
        assert_eq!(parse(&format!("12 (a) (\x1b[2J) {rest}")), Some(("a) (?[2J".to_owned(), 777)));
        assert_eq!(parse("12 (short) S 1"), None);
        assert_eq!(name(std::process::id(), 1), None, "not the one that began then");
    }
}
