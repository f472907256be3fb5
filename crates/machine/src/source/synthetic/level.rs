//! The words of the notation.

use super::indexes::Indexes;

/// The type of a level's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Package,
    Numa,
    L2,
    L3,
    Core,
    Pu,
    /// A level that corecast does not use, such as dies and first-level caches.
    Other,
}

/// One level: `count` objects in each object of the level above.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) kind: Kind,
    pub(super) count: usize,
    pub(super) indexes: Option<Indexes>,
    /// Written in brackets: it stands beside the level above and contains nothing.
    pub(super) beside: bool,
}

/// The levels that `text` names, from the top.
pub(super) fn read(text: &str) -> Result<Vec<Level>, String> {
    let levels = words(text)?.into_iter().map(read_word).collect::<Result<Vec<_>, _>>()?;
    let inner: Vec<Kind> = levels.iter().filter(|level| !level.beside).map(|level| level.kind).collect();
    if inner.last() != Some(&Kind::Pu) {
        return Err("the last level must be pu:<count>".to_owned());
    }
    for (index, kind) in inner.iter().enumerate() {
        if *kind != Kind::Other && inner[..index].contains(kind) {
            return Err(format!("there are two levels of kind {kind:?}"));
        }
    }
    Ok(levels)
}

/// The text cut at blanks outside of parentheses and brackets.
fn words(text: &str) -> Result<Vec<&str>, String> {
    let mut words = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    for (at, symbol) in text.char_indices() {
        match symbol {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1).ok_or_else(|| format!("'{symbol}' closes nothing"))?,
            _ if symbol.is_whitespace() && depth == 0 => {
                words.push(&text[start..at]);
                start = at;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err("a parenthesis or bracket stays open".to_owned());
    }
    words.push(&text[start..]);
    Ok(words.into_iter().map(str::trim).filter(|word| !word.is_empty()).collect())
}

/// `core:8`, `pu:2(indexes=0,1)` or `[numa(memory=1GB)]`.
fn read_word(word: &str) -> Result<Level, String> {
    let inside = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let (head, attributes) = match inside.unwrap_or(word).split_once('(') {
        Some((head, attributes)) => (head, attributes.strip_suffix(')').unwrap_or(attributes)),
        None => (inside.unwrap_or(word), ""),
    };
    let (name, count) = match (head.split_once(':'), inside) {
        (Some((name, count)), None) => (name, read_count(word, count)?),
        (None, Some(_)) => (head, 1),
        _ => return Err(format!("'{word}' is no level: expected type:count such as core:8, or [numa]")),
    };
    let kind = read_kind(name).ok_or_else(|| {
        format!("'{name}' is no type of level: expected pack, die, numa, group, l1 to l5, core or pu")
    })?;
    if inside.is_some() && kind != Kind::Numa {
        return Err(format!("'{word}' is in brackets, but only numa hangs beside a level"));
    }
    let indexes = Indexes::in_attributes(attributes)?;
    Ok(Level { kind, count, indexes, beside: inside.is_some() })
}

fn read_count(word: &str, count: &str) -> Result<usize, String> {
    match count.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("'{word}' needs a count of at least 1 after the colon")),
    }
}

fn read_kind(name: &str) -> Option<Kind> {
    let name = name.trim().to_ascii_lowercase();
    let kind = match name.strip_suffix("cache").unwrap_or(&name) {
        "pack" | "package" | "socket" => Kind::Package,
        "numa" | "numanode" | "node" => Kind::Numa,
        "l2" | "l2u" | "l2d" => Kind::L2,
        "l3" | "l3u" | "l3d" => Kind::L3,
        "core" => Kind::Core,
        "pu" => Kind::Pu,
        "die" | "tile" | "module" | "cluster" => Kind::Other,
        other if other.starts_with("group") => Kind::Other,
        "l1" | "l1d" | "l1u" | "l1i" | "l2i" | "l3i" | "l4" | "l4u" | "l4d" | "l5" | "l5u" | "l5d" => Kind::Other,
        _ => return None,
    };
    Some(kind)
}
