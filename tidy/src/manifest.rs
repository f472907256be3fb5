//! As much of a `Cargo.toml` as the rules ask for: tables, keys, dependencies and workspace members.

/// One table of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The header without its brackets, `""` for what stands above the first one.
    pub header: String,
    /// The line of the header, counted from 1.
    pub line: usize,
    /// The entries as key, value and line (from 1). A value over several lines is joined into one.
    pub entries: Vec<(String, String, usize)>,
}

/// A dependency of any kind: normal, for tests, for builds, for one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The name of the package.
    pub package: String,
    /// The line that names it, counted from 1.
    pub line: usize,
    /// True if only tests, examples and benches may use it.
    pub is_for_tests: bool,
}

/// A manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Its tables in the order of the file.
    pub sections: Vec<Section>,
}

impl Manifest {
    /// Reads a manifest. A line that is neither a table nor `key = value` is passed over: cargo has already refused it.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut sections = vec![Section { header: String::new(), line: 0, entries: Vec::new() }];
        let mut lines = text.lines().map(without_comment).enumerate();
        while let Some((index, line)) = lines.next() {
            let last = sections.last_mut().expect("starts with one section");
            if let Some(header) = line.trim().strip_prefix('[') {
                let header = header.trim_matches(['[', ']', ' ']).to_owned();
                sections.push(Section { header, line: index + 1, entries: Vec::new() });
            } else if let Some((key, value)) = line.split_once('=') {
                let mut value = value.trim().to_owned();
                while is_open(&value) {
                    let Some((_, more)) = lines.next() else { break };
                    value.push_str(more.trim());
                }
                last.entries.push((key.trim().to_owned(), value, index + 1));
            }
        }
        Self { sections }
    }

    /// The value of `key` in the table `header`.
    #[must_use]
    pub fn value(&self, header: &str, key: &str) -> Option<&str> {
        let section = self.sections.iter().find(|section| section.header == header)?;
        section.entries.iter().find(|entry| entry.0 == key).map(|entry| entry.1.as_str())
    }

    /// The texts of an array of texts.
    #[must_use]
    pub fn texts(&self, header: &str, key: &str) -> Vec<String> {
        let value = self.value(header, key).unwrap_or_default();
        value.split('"').skip(1).step_by(2).map(str::to_owned).collect()
    }

    /// The dependencies of all kinds.
    #[must_use]
    pub fn dependencies(&self) -> Vec<Dependency> {
        self.sections.iter().flat_map(section_dependencies).collect()
    }
}

fn section_dependencies(section: &Section) -> Vec<Dependency> {
    let is_for_tests = section.header.contains("dev-dependencies");
    if section.header.ends_with("dependencies") && !section.header.starts_with("workspace") {
        return section.entries.iter().map(|(key, value, line)| dependency(key, value, *line, is_for_tests)).collect();
    }
    // The long form: a table `[dependencies.name]` of its own.
    match section.header.rsplit_once("dependencies.") {
        Some((kind, name)) if !kind.starts_with("workspace") => {
            let package = section.entries.iter().find(|entry| entry.0 == "package").map_or(name, |entry| &entry.1);
            vec![Dependency { package: package.trim_matches('"').to_owned(), line: section.line, is_for_tests }]
        }
        _ => Vec::new(),
    }
}

fn dependency(key: &str, value: &str, line: usize, is_for_tests: bool) -> Dependency {
    let renamed = value.split_once("package").and_then(|(_, rest)| rest.split('"').nth(1));
    let name = key.split_once('.').map_or(key, |(name, _)| name);
    Dependency { package: renamed.unwrap_or(name).trim_matches('"').to_owned(), line, is_for_tests }
}

/// The line up to a `#` that is not inside a text.
fn without_comment(line: &str) -> &str {
    let mut in_text = false;
    let hash = line.char_indices().find(|&(_, c)| {
        in_text ^= c == '"';
        c == '#' && !in_text
    });
    hash.map_or(line, |(at, _)| &line[..at])
}

/// True if `value` opens more brackets than it closes.
fn is_open(value: &str) -> bool {
    let count = |signs: [char; 2]| value.matches(signs).count();
    count(['[', '{']) > count([']', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
[workspace]
members = [
    "crates/base", # lowest
    "tidy",
]

[workspace.dependencies]
corecast-replica = "1"

[lints]
workspace = true

[dependencies]
corecast-base.workspace = true
corecast-plan = { path = "../plan" }
planner = { package = "corecast-machine", path = "x" }

[dependencies.corecast-lock]
path = "y"

[target."cfg(loom)".dev-dependencies]
loom.workspace = true
"#;

    #[test]
    fn finds_dependencies_of_every_form() {
        let found = Manifest::parse(TEXT).dependencies();
        let found: Vec<(&str, usize)> = found.iter().map(|d| (d.package.as_str(), d.line)).collect();
        assert_eq!(
            found,
            [
                ("corecast-base", 15),
                ("corecast-plan", 16),
                ("corecast-machine", 17),
                ("corecast-lock", 19),
                ("loom", 23)
            ]
        );
    }

    #[test]
    fn reads_values_and_arrays() {
        let manifest = Manifest::parse(TEXT);
        assert_eq!(manifest.value("lints", "workspace"), Some("true"));
        assert_eq!(manifest.texts("workspace", "members"), ["crates/base", "tidy"]);
    }
}
