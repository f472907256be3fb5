//! The contenders that were left out of a table and why, one line for each reason.

/// The lines for these pairs of a name and a reason.
pub fn lines<'a>(skipped: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    reasons("skipped", skipped)
}

/// The same for contenders to which something else happened.
pub fn reasons<'a>(what: &str, skipped: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in skipped {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    let line = |(reason, names): (&str, Vec<&str>)| format!("   {what}, {reason}: {}\n", names.join(", "));
    reasons.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_told_once() {
        let text = lines([("a", "not here"), ("b", "too late"), ("c", "not here")].into_iter());
        assert_eq!(text, "   skipped, not here: a, c\n   skipped, too late: b\n");
    }
}
