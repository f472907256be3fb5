//! Proves that the loom models see every memory ordering: weakens them one at a time and expects some model to fail each
//! time. A mutant that survives is an ordering that is too strong or a model that is too weak, and makes this program fail.
//!
//! All mutants are compiled at once, in a copy of the workspace: each ordering becomes a call that tells the weaker one
//! if the environment names its number. So a mutant costs a run of the models, most of which fail at once, and no build.
//! There is no Relaxed fence: a fence that has only that below it is left out instead. A mutant that ends in a panic
//! about an ordering that its operation does not have is no mutant. It is told apart from one that a model caught, and
//! makes this program fail too.
//!
//! Not mutated: code that the models do not compile (`#[cfg(not(loom))]` modules, and files in whose place they have others) or
//! call, and Relaxed, which cannot be weakened.
//!
//! Run it as `ci/mutants.sh`; with words as arguments it weakens only orderings in files whose path, or on lines whose
//! code, contains one of them: `ci/mutants.sh 'fence('` tries all fences, `ci/mutants.sh mcast/` the orderings of mcast.
//! `MUTANTS_SHARE=0/3` has it weaken each third one only, from the first on; all models run all the same.
#![allow(clippy::print_stdout, reason = "this is a program")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

/// Crates with models, by their folders, and the path to their door to atomics.
const CRATES: [(&str, &str); 8] = [
    ("base", "crate::sync"),
    ("lock", "corecast_base::sync"),
    ("channel", "corecast_base::sync"),
    ("collective", "corecast_base::sync"),
    ("replica", "corecast_base::sync"),
    ("tm", "corecast_base::sync"),
    ("shims/omp", "corecast_base::sync"),
    ("shims/pthread", "corecast_base::sync"),
];
/// The features that are built along with the models of a crate.
const FEATURES: [(&str, &str); 1] = [("lock", "hierarchical")];
const WEAKER: [(&str, &[&str]); 4] = [
    ("Ordering::Acquire", &["Ordering::Relaxed"]),
    ("Ordering::Release", &["Ordering::Relaxed"]),
    ("Ordering::AcqRel", &["Ordering::Acquire", "Ordering::Release"]),
    ("Ordering::SeqCst", &["Ordering::AcqRel"]),
];
/// Compiled, and never called: nobody dies in a model. The exhaustive models and the tests that kill processes try it.
const IDLE: &str = "mcast/reap.rs";
/// Where the models' atomics come from, and what is added there.
const DOOR: &str = "crates/base/src/sync/loom.rs";
const SWITCH: &str = r#"
/// The weaker ordering in the mutant that the environment names.
pub fn weakened(ordering: Ordering, mutants: &[(u32, Ordering)]) -> Ordering {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let chosen = CHOSEN.get_or_init(|| std::env::var("CORECAST_MUTANT").map_or(0, |n| n.parse().unwrap_or(0)));
    mutants.iter().find(|(number, _)| number == chosen).map_or(ordering, |(_, weaker)| *weaker)
}

/// The fence, except in the mutant that is without it.
pub fn fence_unless(ordering: Ordering, mutant: u32) {
    // The mutant without it is chosen where another ordering is told.
    if weakened(ordering, &[(mutant, Ordering::Relaxed)]) == ordering {
        fence(ordering);
    }
}
"#;
/// The name of the weaker ordering of a fence that is left out.
const NO_FENCE: &str = "no fence";
/// The words of a panic about an operation that does not have its ordering.
const NO_SUCH_ORDERING: [&str; 2] = ["there is no such thing as", "unimplemented ordering"];

/// One ordering made weaker.
struct Mutant {
    number: usize,
    crate_name: &'static str,
    file: PathBuf,
    line: usize,
    code: String,
    from: &'static str,
    to: &'static str,
}

/// A model that failed.
struct Failed<'a> {
    model: &'a Model,
    /// False if it failed because the mutant has an ordering that its operation does not have.
    is_caught: bool,
}

/// One model, in the test binary of a crate.
#[derive(Clone)]
struct Model {
    binary: PathBuf,
    name: String,
    /// How long the model runs when no ordering is weakened.
    takes: Duration,
}

fn main() -> io::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let scratch = std::env::temp_dir().join(format!("corecast-mutants-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    for part in ["Cargo.toml", "Cargo.lock", "crates", "bench", "testing", "tidy"] {
        copy(&root.join(part), &scratch.join(part))?;
    }
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let share = std::env::var("MUTANTS_SHARE")
        .ok()
        .map(|text| share(&text).expect("MUTANTS_SHARE is a number below another: 0/3"));
    let outcome = hunt(&scratch, &wanted, share);
    fs::remove_dir_all(&scratch)?;
    outcome
}

/// Which share of all mutants, and how many shares there are.
fn share(text: &str) -> Option<(usize, usize)> {
    let (which, of) = text.split_once('/')?;
    let share = (which.parse().ok()?, of.parse().ok()?);
    (share.0 < share.1).then_some(share)
}

fn hunt(workspace: &Path, wanted: &[String], share: Option<(usize, usize)>) -> io::Result<ExitCode> {
    let mut mutants = plant(workspace)?;
    mutants.retain(|mutant| share.is_none_or(|(which, of)| mutant.number % of == which));
    let is_wanted = |mutant: &Mutant| {
        let file = mutant.file.to_string_lossy();
        wanted.iter().any(|word| file.contains(word) || mutant.code.contains(word))
    };
    mutants.retain(|mutant| wanted.is_empty() || is_wanted(mutant));
    let mut models = build(workspace, &mutants)?;
    let fail = Mutex::new(Vec::new());
    for_each(models.iter_mut().flat_map(|(_, models)| models), |model| {
        let began = Instant::now();
        if first_to_fail(std::slice::from_ref(model), 0).is_some() {
            fail.lock().expect("no hunter panics").push(model.name.clone());
        }
        model.takes = began.elapsed();
    });
    if let [name, ..] = &*fail.into_inner().expect("no hunter panicked") {
        println!("{name} fails before anything is weakened");
        return Ok(ExitCode::FAILURE);
    }
    let survivors = Mutex::new(0);
    for_each(mutants.iter(), |mutant| {
        let models = models_for(mutant, &models);
        let failed = first_to_fail(&models, mutant.number);
        let is_caught = failed.as_ref().is_some_and(|failed| failed.is_caught);
        *survivors.lock().expect("no hunter panics") += usize::from(!is_caught);
        tell(mutant, failed, workspace);
    });
    let survivors = survivors.into_inner().expect("no hunter panicked");
    println!("{} of {} weakened orderings caught", mutants.len() - survivors, mutants.len());
    Ok(if survivors == 0 && !mutants.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Does it with each, on as many threads as there are CPUs.
fn for_each<T: Send>(all: impl Iterator<Item = T> + Send, work: impl Fn(T) + Sync) {
    let left = Mutex::new(all);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let next = left.lock().expect("no hunter panics").next();
                    let Some(next) = next else { break };
                    work(next);
                }
            });
        }
    });
}

fn tell(mutant: &Mutant, failed: Option<Failed<'_>>, workspace: &Path) {
    let place = mutant.file.strip_prefix(workspace).unwrap_or(&mutant.file).display();
    let verdict = match failed {
        None => "SURVIVED".to_owned(),
        Some(Failed { model, is_caught: true }) => format!("caught by {}", model.name),
        Some(Failed { model, .. }) => format!("NO MUTANT: {} finds no such ordering", model.name),
    };
    println!("{place}:{} {} -> {}: {verdict}", mutant.line, mutant.from, mutant.to);
}

/// The models that may see the mutant, those named as its folder first: of its crate, and of the crates above, whose models
/// run over it too. The quickest come first, as one that fails is enough.
fn models_for(mutant: &Mutant, models: &[(&'static str, Vec<Model>)]) -> Vec<Model> {
    let from =
        models.iter().position(|(name, _)| *name == mutant.crate_name).expect("all crates with mutants have models");
    let mut chosen: Vec<Model> = models[from..].iter().flat_map(|(_, models)| models.clone()).collect();
    let is_near = |model: &Model| {
        let module = model.name.split("::").next().unwrap_or_default();
        mutant.file.iter().filter_map(|part| part.to_str()).any(|part| module.starts_with(part))
    };
    chosen.sort_by_key(|model| (!is_near(model), model.takes));
    chosen
}

fn first_to_fail(models: &[Model], mutant: usize) -> Option<Failed<'_>> {
    models.iter().find_map(|model| {
        let mut run = Command::new(&model.binary);
        run.args(["--exact", &model.name, "--quiet"]).env("CORECAST_MUTANT", mutant.to_string());
        // A weakened spin loop may never end in the model; loom's own limits stop it.
        let run = run.env("RUST_BACKTRACE", "0").output().expect("a model that was listed can be run");
        let is_caught = || !has_no_such_ordering(&run.stdout) && !has_no_such_ordering(&run.stderr);
        (!run.status.success()).then(|| Failed { model, is_caught: is_caught() })
    })
}

fn has_no_such_ordering(output: &[u8]) -> bool {
    let output = String::from_utf8_lossy(output);
    NO_SUCH_ORDERING.iter().any(|words| output.contains(words))
}

/// Builds the models that may see one of the mutants, each crate's by itself as the binaries have one name.
fn build(workspace: &Path, mutants: &[Mutant]) -> io::Result<Vec<(&'static str, Vec<Model>)>> {
    let has_mutants = |&(name, _): &(&str, &str)| mutants.iter().any(|mutant| mutant.crate_name == name);
    let from_lowest = CRATES.iter().skip_while(|of| !has_mutants(of));
    from_lowest.map(|&(name, _)| Ok((name, models_of(workspace, name)?))).collect()
}

fn models_of(workspace: &Path, crate_name: &str) -> io::Result<Vec<Model>> {
    let package = format!("corecast-{}", crate_name.replace("shims/", "shim-"));
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(workspace).args(["test", "--release", "--no-run", "--test", "loom", "--message-format=json"]);
    cargo.args(["--package", &package]).env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target_dir());
    for (_, feature) in FEATURES.iter().filter(|(name, _)| *name == crate_name) {
        cargo.args(["--features", feature]);
    }
    let built = cargo.stderr(Stdio::inherit()).output()?;
    let text = String::from_utf8_lossy(&built.stdout);
    let binary = text.lines().rev().find_map(|line| line.split_once("\"executable\":\"")?.1.split('"').next());
    let binary =
        PathBuf::from(binary.ok_or_else(|| io::Error::other(format!("the models of {package} do not build")))?);
    let list = Command::new(&binary).args(["--list", "--format=terse"]).output()?;
    let names = String::from_utf8_lossy(&list.stdout).into_owned();
    let names = names.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(|name| Model { binary: binary.clone(), name: name.to_owned(), takes: Duration::ZERO }).collect())
}

/// Where `ci/loom.sh` builds, so that what the models depend on is built once.
fn target_dir() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join("loom")
}

/// Puts all mutants into the copy of the workspace.
fn plant(workspace: &Path) -> io::Result<Vec<Mutant>> {
    let mut mutants = Vec::new();
    for (crate_name, door) in CRATES {
        let mut files = Vec::new();
        sources(&workspace.join("crates").join(crate_name).join("src"), &mut files)?;
        files.sort();
        for file in files {
            let text = fs::read_to_string(&file)?;
            let first = mutants.len();
            let planted = plant_in(&text, door, &mut |line, code, from, to| {
                let (number, code) = (mutants.len() + 1, code.to_owned());
                mutants.push(Mutant { number, crate_name, file: file.clone(), line, code, from, to });
                number
            });
            if mutants.len() > first {
                fs::write(&file, planted)?;
            }
        }
    }
    let door = workspace.join(DOOR);
    fs::write(&door, fs::read_to_string(&door)? + SWITCH)?;
    let index = door.with_file_name("mod.rs");
    fs::write(&index, fs::read_to_string(&index)? + "#[cfg(loom)]\npub use self::loom::{fence_unless, weakened};\n")?;
    Ok(mutants)
}

/// Takes the line, its code, an ordering there and the weaker one; tells the number of that mutant.
type Number<'a> = dyn FnMut(usize, &str, &'static str, &'static str) -> usize + 'a;

/// The text with a switch in the place of each ordering that can be weakened, up to its tests.
fn plant_in(text: &str, door: &str, number: &mut Number<'_>) -> String {
    let mut is_test = false;
    let lines = text.lines().enumerate().map(|(at, line)| {
        is_test |= line.contains("mod tests {");
        let code = line.split("//").next().unwrap_or_default().trim();
        let mut planted = line.to_owned();
        for (from, weaker) in WEAKER.iter().filter(|(from, _)| !is_test && code.contains(from)) {
            if *weaker == ["Ordering::Relaxed"] && code == format!("fence({from});") {
                let fence = format!("{door}::fence_unless({from}, {});", number(at + 1, code, from, NO_FENCE));
                planted = planted.replace(code, &fence);
                continue;
            }
            let mut tell = |to: &&'static str| format!("({}, {to})", number(at + 1, code, from, to));
            let switch = weaker.iter().map(&mut tell).collect::<Vec<_>>().join(", ");
            planted = planted.replace(from, &format!("{door}::weakened({from}, &[{switch}])"));
        }
        planted + "\n"
    });
    lines.collect()
}

/// The files below `folder` that the models compile.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let index =
        ["lib.rs", "mod.rs"].iter().find_map(|name| fs::read_to_string(folder.join(name)).ok()).unwrap_or_default();
    let native = native_modules(&index);
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_native = path.file_stem().is_some_and(|stem| native.iter().any(|module| stem == module.as_str()));
        if is_native || path.ends_with(IDLE) {
            continue;
        }
        if path.is_dir() {
            sources(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// The files of modules that an index declares for builds without models only, without their ending.
fn native_modules(index: &str) -> Vec<String> {
    const WITHOUT: [&str; 3] = ["#[cfg(not(loom))]", "#[cfg(not(any(loom, simulated)))]", "#[cfg(simulated)]"];
    let is_without_models =
        |cfg: &str| WITHOUT.contains(&cfg) || (cfg.starts_with("#[cfg(all(") && cfg.ends_with(", not(loom)))]"));
    let pairs = index.lines().zip(index.lines().skip(1)).filter(|(cfg, _)| is_without_models(cfg));
    let declared = pairs.filter_map(|(_, module)| module.split_once("mod ")?.1.strip_suffix(';'));
    let prefix = "#[cfg_attr(not(loom), path = \"";
    let replaced = index.lines().filter_map(|line| line.strip_prefix(prefix)?.strip_suffix(".rs\")]"));
    declared.chain(replaced).map(str::to_owned).collect()
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
