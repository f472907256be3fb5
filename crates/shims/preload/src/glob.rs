//! Patterns of file names: `*` for any bytes, `?` for one.

/// True if the pattern matches the whole name.
pub(crate) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Where the last star stands, and the first byte of the name that it does not cover yet.
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match pattern.get(from) {
            Some(b'*') => {
                star = Some((from, at));
                from += 1;
            }
            Some(&byte) if byte == b'?' || byte == name[at] => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((place, covered)) = star else { return false };
                star = Some((place, covered + 1));
                (from, at) = (place + 1, covered + 1);
            }
        }
    }
    pattern[from..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_cover_any_bytes_and_question_marks_one() {
        let matching: [(&str, &str); 7] = [
            ("memcached", "memcached"),
            ("*", ""),
            ("mem*", "memcached"),
            ("*/bin/*d", "/usr/bin/memcached"),
            ("a*b*c", "aXbXbc"),
            ("?igz", "pigz"),
            ("**x", "x"),
        ];
        for (pattern, name) in matching {
            assert!(matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        for (pattern, name) in [("", "a"), ("a", ""), ("mem", "memcached"), ("a*b", "acbc"), ("?", ""), ("x*", "ax")] {
            assert!(!matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
    }
}
