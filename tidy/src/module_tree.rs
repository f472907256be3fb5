//! The modules of a package's `src/`, and which of them names which.
//!
//! A path is followed as the compiler does, as far as files show it: `crate`, `super`, child modules, imported names, and
//! re-exports (`pub use` in a module on the way leads on to where the item is). Globs are not followed: there are none
//! outside of tests. A path that leaves the package, and a name that a macro makes, lead nowhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::SourceFile;
use crate::token::{Token, closing, reads};
use crate::workspace::Package;

/// A module as its names from the crate's root down; empty for the root.
pub(crate) type ModulePath = Vec<String>;

/// How many re-exports lead from a path to its item at most; stops names that are imported from themselves.
const LONGEST_CHAIN: usize = 16;

/// One module: its names and paths, tests left out.
#[derive(Debug, Default)]
struct Module {
    /// The imported names, each with the path that it stands for.
    imported: BTreeMap<String, Vec<String>>,
    /// Every path that the module's code names.
    paths: BTreeSet<Vec<String>>,
}

/// The modules of one package.
#[derive(Debug)]
pub(crate) struct ModuleTree {
    modules: BTreeMap<ModulePath, Module>,
}

impl ModuleTree {
    pub(crate) fn of(package: &Package) -> Self {
        let mut tree = Self { modules: BTreeMap::new() };
        for source in &package.sources {
            if let Some(path) = module_path(&package.dir, source) {
                tree.read(&path, source);
            }
        }
        tree
    }

    /// Each pair of a module and another one that it names, itself or through re-exports.
    pub(crate) fn dependencies(&self) -> BTreeSet<(&ModulePath, ModulePath)> {
        let mut found = BTreeSet::new();
        for (from, module) in &self.modules {
            for path in &module.paths {
                let mut named = Vec::new();
                self.follow(from, path, LONGEST_CHAIN, &mut named);
                found.extend(named.into_iter().map(|target| (from, target)));
            }
        }
        found
    }

    fn read(&mut self, file: &ModulePath, source: &SourceFile) {
        let inline = inline_modules(&source.tokens);
        let module_at = |line: usize| {
            let names = inline.iter().filter(|module| (module.first..=module.last).contains(&line));
            file.iter().cloned().chain(names.map(|module| module.name.clone())).collect::<ModulePath>()
        };
        self.modules.entry(file.clone()).or_default();
        for mut import in source.imports() {
            if !source.is_test_line(import.line) {
                let module = self.modules.entry(module_at(import.line)).or_default();
                import.path.retain(|part| part != "*");
                let name = import.alias.or_else(|| import.path.last().cloned()).unwrap_or_default();
                module.imported.insert(name, import.path.clone());
                module.paths.insert(import.path);
            }
        }
        for (path, line) in written_paths(&source.tokens) {
            if !source.is_test_line(line) {
                self.modules.entry(module_at(line)).or_default().paths.insert(path);
            }
        }
    }

    /// Adds to `named` the module in which the last part of `path` is found, and each module whose re-export led there.
    fn follow(&self, from: &[String], path: &[String], chain: usize, named: &mut Vec<ModulePath>) {
        let mut at = from.to_vec();
        for (i, part) in path.iter().enumerate() {
            match part.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()),
                name => {
                    at.push(name.to_owned());
                    if self.modules.contains_key(&at) {
                        continue;
                    }
                    at.pop();
                    let imported = self.modules.get(&at).and_then(|module| module.imported.get(name));
                    if let Some(target) = imported.filter(|_| chain > 0) {
                        let target = [target, &path[i + 1..]].concat();
                        self.follow(&at, &target, chain - 1, named);
                    } else if i == 0 {
                        return;
                    }
                    break;
                }
            }
        }
        named.push(at);
    }
}

/// The module that a file of `src/` holds.
fn module_path(dir: &str, source: &SourceFile) -> Option<ModulePath> {
    let path = source.path.strip_prefix(dir)?.strip_prefix("/src/")?.strip_suffix(".rs")?;
    let mut parts: ModulePath = path.split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|name| ["lib", "main", "mod"].contains(&name.as_str())) {
        parts.pop();
    }
    Some(parts)
}

/// A module within a file, with its first and last line.
struct InlineModule {
    name: String,
    first: usize,
    last: usize,
}

fn inline_modules(tokens: &[Token]) -> Vec<InlineModule> {
    let starts = (0..tokens.len()).filter(|&at| reads(tokens, at, &["mod"]) && reads(tokens, at + 2, &["{"]));
    let module = |at: usize| InlineModule {
        name: tokens[at + 1].text.clone(),
        first: tokens[at].line,
        last: tokens[closing(tokens, at + 2)].line,
    };
    starts.map(module).collect()
}

/// The paths of two parts or more in the code, each with its line.
fn written_paths(tokens: &[Token]) -> Vec<(Vec<String>, usize)> {
    let is_word = |at: usize| tokens.get(at).is_some_and(|token| token.text.starts_with(crate::lexer::is_word));
    let is_joined = |at: usize| reads(tokens, at, &[":", ":"]);
    let starts = (0..tokens.len()).filter(|&at| is_word(at) && is_joined(at + 1) && !(at > 1 && is_joined(at - 2)));
    let path = |at: usize| {
        let rest = (at + 3..).step_by(3).take_while(|&next| is_joined(next - 2) && is_word(next));
        std::iter::once(at).chain(rest).map(|part| tokens[part].text.clone()).filter(|part| part != "self").collect()
    };
    starts.map(|at| (path(at), tokens[at].line)).collect()
}
