//! Proves that the loom models see every memory ordering: weakens them one at a time, in a copy of the workspace, and
//! expects some model to fail each time. A mutant that survives is an ordering that is too strong or a model that is too
//! weak, and makes this program fail.
//!
//! Not mutated: what the models do not compile (the native sides of `base::sync`), and Relaxed, which cannot be weakened.
//!
//! Run it as `ci/mutants.sh`.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io};

/// Crates with models, and those whose models also run over them.
const CRATES: [(&str, &[&str]); 3] = [
    ("base", &["corecast-base", "corecast-channel", "corecast-collective"]),
    ("channel", &["corecast-channel"]),
    ("collective", &["corecast-collective"]),
];
/// Files that are compiled only where loom is not, or do nothing there: nobody dies in a model.
const NATIVE: [&str; 8] = [
    "sync/native.rs",
    "sync/membarrier.rs",
    "slots/native.rs",
    "peer/native.rs",
    "/region",
    "ump/successor.rs",
    "counter_",
    "mcast/reap.rs",
];
const WEAKER: [(&str, &[&str]); 4] = [
    ("Ordering::Acquire", &["Ordering::Relaxed"]),
    ("Ordering::Release", &["Ordering::Relaxed"]),
    ("Ordering::AcqRel", &["Ordering::Acquire", "Ordering::Release"]),
    ("Ordering::SeqCst", &["Ordering::AcqRel"]),
];

/// One ordering made weaker.
struct Mutant {
    file: PathBuf,
    line: usize,
    from: &'static str,
    to: &'static str,
    text: String,
    models: &'static [&'static str],
}

fn main() -> io::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let scratch = std::env::temp_dir().join(format!("corecast-mutants-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    for part in ["Cargo.toml", "Cargo.lock", "crates", "bench", "tidy"] {
        copy(&root.join(part), &scratch.join(part))?;
    }
    let outcome = hunt(&scratch);
    fs::remove_dir_all(&scratch)?;
    outcome
}

fn hunt(workspace: &Path) -> io::Result<ExitCode> {
    if !models_pass(workspace, CRATES[0].1)? {
        println!("the models fail before anything is weakened");
        return Ok(ExitCode::FAILURE);
    }
    let mut survivors = 0;
    let mutants = all_mutants(workspace)?;
    for mutant in &mutants {
        let original = fs::read_to_string(&mutant.file)?;
        fs::write(&mutant.file, &mutant.text)?;
        let survived = models_pass(workspace, mutant.models)?;
        fs::write(&mutant.file, original)?;
        survivors += usize::from(survived);
        let place = mutant.file.strip_prefix(workspace).unwrap_or(&mutant.file).display();
        let verdict = if survived { "SURVIVED" } else { "caught  " };
        println!("{verdict} {place}:{} {} -> {}", mutant.line, mutant.from, mutant.to);
    }
    println!("{} of {} weakened orderings caught", mutants.len() - survivors, mutants.len());
    Ok(if survivors == 0 && !mutants.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn models_pass(workspace: &Path, packages: &[&str]) -> io::Result<bool> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(workspace).args(["test", "--quiet", "--release", "--test", "loom"]);
    packages.iter().for_each(|package| {
        cargo.args(["--package", package]);
    });
    cargo.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", workspace.join("target")).env("RUST_BACKTRACE", "0");
    // A weakened spin loop may never end in the model; loom's own limits stop it.
    Ok(cargo.output()?.status.success())
}

fn all_mutants(workspace: &Path) -> io::Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    for (name, models) in CRATES {
        let mut files = Vec::new();
        sources(&workspace.join("crates").join(name).join("src"), &mut files)?;
        files.sort();
        for file in files {
            mutants.extend(mutants_of(&file, &fs::read_to_string(&file)?, models));
        }
    }
    Ok(mutants)
}

fn mutants_of(file: &Path, text: &str, models: &'static [&'static str]) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    for (at, line) in text.lines().enumerate().take_while(|(_, line)| !line.contains("mod tests {")) {
        let code = line.split("//").next().unwrap_or_default();
        for (from, weaker) in WEAKER.iter().filter(|(from, _)| code.contains(from)) {
            for to in *weaker {
                let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                lines[at] = line.replace(from, to);
                let text = lines.join("\n") + "\n";
                mutants.push(Mutant { file: file.to_owned(), line: at + 1, from, to, text, models });
            }
        }
    }
    mutants
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_native = NATIVE.iter().any(|part| path.to_string_lossy().contains(part));
        if path.is_dir() {
            sources(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_native {
            files.push(path);
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
