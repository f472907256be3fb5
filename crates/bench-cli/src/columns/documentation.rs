//! The fields that `docs/json` describes: what the tables of its pages say, read by the tests of columns.

use serde::Serialize;
use serde_json::Value;

use super::{Column, Format};

const BENCH: &str = include_str!("../../../../docs/json/bench.md");
const CC: &str = include_str!("../../../../docs/json/cc.md");

/// One field of a page.
#[derive(Debug, PartialEq)]
struct Field {
    /// From the top of the result, such as `cells[].rows[].mops`.
    path: String,
    kind: String,
    meaning: String,
}

/// Every column with a name is documented as a field of `row`, such as `cells[].rows[]`, in the section of this command, and has
/// the unit of time that its name says.
pub(crate) fn assert_documented<R>(columns: &[Column<R>], command: &str, row: &str) {
    let fields = fields(section(command));
    for column in columns.iter().filter(|column| !column.name.is_empty()) {
        let path = format!("{row}.{}", without_places(column.name));
        let is_known = describes(&fields, &path);
        assert!(is_known, "docs/json does not describe {path} of {command}, the column '{}'", column.head());
        if let Some(end) = end_of_name(column) {
            assert!(path.ends_with(end), "the column '{}' is {path}, which does not end in {end}", column.head());
        }
    }
}

/// Every field of a result is documented in the section of this command, those within arrays once for all elements.
pub(crate) fn assert_fields_documented(result: &impl Serialize, command: &str) {
    let fields = fields(section(command));
    let mut paths = Vec::new();
    list_paths(&serde_json::to_value(result).expect("a result is JSON"), String::new(), &mut paths);
    for path in paths {
        assert!(describes(&fields, &path), "docs/json does not describe {path} of {command}");
    }
}

/// The paths of all fields that hold no fields themselves.
fn list_paths(value: &Value, path: String, paths: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, field)| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            list_paths(field, path, paths);
        }),
        Value::Array(elements) if !elements.is_empty() => {
            elements.iter().for_each(|element| list_paths(element, format!("{path}[]"), paths));
        }
        _ => paths.push(path),
    }
}

/// The part of the pages that is about this command.
fn section(command: &str) -> &'static str {
    if command == "cc" {
        return CC;
    }
    let mut sections = BENCH.split("\n## ");
    let named = format!("`{command}`");
    let found = sections.find(|section| section.lines().next().is_some_and(|head| head.contains(&named)));
    found.unwrap_or_else(|| panic!("docs/json/bench.md has no section of {command}"))
}

/// The rows of all tables of fields. The fields of one row lie beside its first one.
fn fields(section: &str) -> Vec<Field> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.flat_map(|row| {
        let mut cells = row.splitn(3, '|').map(|cell| cell.trim_end_matches('|').trim().to_owned());
        let [names, kind, meaning] = [(); 3].map(|()| cells.next().unwrap_or_default());
        let names: Vec<String> = names.split(',').map(|name| name.trim().trim_matches('`').to_owned()).collect();
        let beside = names[0].rfind('.').map_or(String::new(), |end| names[0][..=end].to_owned());
        let path = move |name: String| if name.contains('.') { name } else { format!("{beside}{name}") };
        names.into_iter().map(move |name| Field { path: path(name), kind: kind.clone(), meaning: meaning.clone() })
    })
    .collect()
}

/// Whether a field is described, by itself or as part of a distribution, whose parts stand once.
fn describes(fields: &[Field], path: &str) -> bool {
    let find = |path: &str| fields.iter().find(|field| field.path == path && !field.meaning.is_empty());
    let (outer, part) = path.rsplit_once('.').unwrap_or(("", path));
    let is_distribution = find(outer).is_some_and(|outer| outer.kind.starts_with("distribution"));
    find(path).is_some() || is_distribution && find(part).is_some()
}

/// A name without the places in arrays: those have one line for all.
fn without_places(name: &str) -> String {
    let parts: Vec<&str> = name.split('/').filter(|part| part.parse::<usize>().is_err()).collect();
    parts.join(".")
}

/// The end of the name of a column of times.
fn end_of_name<R>(column: &Column<R>) -> Option<&'static str> {
    match (column.format, column.unit) {
        (Format::Micros | Format::Cost, _) | (_, "ns") => Some("_ns"),
        (_, "ms") => Some("_ms"),
        _ => None,
    }
}

#[test]
fn a_row_describes_fields_that_lie_beside_its_first_one() {
    let page = "text `no`\n| field | type | meaning |\n|---|---|---|\n| `a[].b`, `c_ns` | number | both | of it |\n\
                | `a[].times` | distribution or null | many |\n| `p50_ns` | number | the median |\n| `empty` | | |\n";
    let fields = fields(page);
    let paths: Vec<&str> = fields.iter().map(|field| field.path.as_str()).collect();
    assert_eq!(paths, ["a[].b", "a[].c_ns", "a[].times", "p50_ns", "empty"]);
    for (path, is_described) in [
        ("a[].c_ns", true),
        ("a[].times.p50_ns", true),
        ("a[].b.p50_ns", false),
        ("a[].times.p90_ns", false),
        ("c_ns", false),
        ("empty", false),
    ] {
        assert_eq!(describes(&fields, path), is_described, "{path}");
    }
    let mut paths = Vec::new();
    list_paths(&serde_json::json!({"a": [{"b": 1, "times": {"p50_ns": 2}}], "empty": []}), String::new(), &mut paths);
    assert_eq!(paths, ["a[].b", "a[].times.p50_ns", "empty"]);
    assert_eq!(without_places("mops/0"), "mops");
    assert!(section("bench idle").contains("cpu_percent") && !section("bench idle").contains("regret"));
}
