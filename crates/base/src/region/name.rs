//! The names of regions and channels.

/// The longest name of a region, in bytes.
pub const MAX_REGION_NAME: usize = 200;
/// The longest name of a channel, in bytes.
pub const MAX_CHANNEL_NAME: usize = 63;

/// A name that breaks a rule, and the rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad name {name:?}: {rule}")]
pub struct BadName {
    name: String,
    rule: &'static str,
}

/// Checks the name of a region: 1 to 200 bytes of `[A-Za-z0-9._-]`, no leading dot.
///
/// # Errors
/// [`BadName`] with the rule.
pub fn check_region_name(name: &str) -> Result<(), BadName> {
    check(name, MAX_REGION_NAME, "longer than 200 bytes")
}

/// Checks the name of a channel: 1 to 63 bytes of `[A-Za-z0-9._-]`, no leading dot.
///
/// # Errors
/// [`BadName`] with the rule.
pub fn check_channel_name(name: &str) -> Result<(), BadName> {
    check(name, MAX_CHANNEL_NAME, "longer than 63 bytes")
}

fn check(name: &str, max: usize, too_long: &'static str) -> Result<(), BadName> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let rule = if name.is_empty() {
        "empty"
    } else if name.len() > max {
        too_long
    } else if name.starts_with('.') {
        "begins with a dot"
    } else if !name.bytes().all(is_allowed) {
        "only letters, digits, '.', '_' and '-' are allowed"
    } else {
        return Ok(());
    };
    // Long enough to recognise it, short enough for a line.
    Err(BadName { name: name.chars().take(max).collect(), rule })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_names_are_refused_with_the_rule() {
        for (name, rule) in [
            ("", "empty"),
            ("a/b", "only letters"),
            ("..", "begins with a dot"),
            ("../up", "begins with a dot"),
            ("a\nb", "only letters"),
            ("a\0", "only letters"),
            ("é", "only letters"),
            (&"x".repeat(256), "longer than 200"),
        ] {
            let said = check_region_name(name).expect_err(name).to_string();
            assert!(said.contains(rule), "{said}");
        }
        let said = check_channel_name(&"x".repeat(64)).expect_err("too long").to_string();
        assert!(said.ends_with("longer than 63 bytes"), "{said}");
    }

    #[test]
    fn the_longest_names_are_fine() {
        assert_eq!(check_region_name(&"x".repeat(200)), Ok(()));
        assert_eq!(check_channel_name(&"Az09._-".repeat(9)), Ok(()));
    }
}
