//! Keeps plans in files, so that later programs with the same problem need not search.
//!
//! One folder for all machines; a file for each request over the same members and costs. A file is only a hint: it is
//! checked like a plan from a service (see [`service`](crate::service)), so a file that is cut off, belongs to other
//! costs or another version, or was written by another program causes a new search and never a wrong plan.

use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::PathBuf;

use corecast_base::CpuId;
use corecast_machine::{read_bounded, write_atomically};

use crate::background;
use crate::effort::Effort;
use crate::operation::Operation;
use crate::plan::{Plan, PlanError};
use crate::plan_json::PlanJson;
use crate::problem::Problem;
use crate::request::Request;
use crate::service::{PlanRequest, read_plan};

/// The number of files that a folder holds; beyond it, the oldest is removed.
const MOST_FILES: usize = 256;

/// Raise this with every change of what searches find: plans of before are not found then.
const SEARCH: u32 = 2;

/// Many times the length of the longest file written.
const MAX_LEN_BYTES: u64 = 1 << 20;

/// Plans over the members of one problem, in a folder.
///
/// ```
/// use corecast_base::CpuId;
/// use corecast_machine::{Cpu, Machine, Topology};
/// use corecast_plan::{Effort, Operation, PlanStore, Problem, Request};
/// let folder = tempfile::tempdir()?;
/// let cpus = (0..20).map(|id| Cpu::flat(CpuId::new(id))).collect();
/// let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
/// let problem = Problem::of_machine(&machine)?;
/// let store = PlanStore::new(folder.path().to_owned(), &problem);
/// let request = Request::new(Operation::Broadcast).effort(Effort::Quick);
/// assert_eq!(store.load(&request), None);
/// let plan = store.plan(&request, &problem)?;
/// assert_eq!(store.load(&request), Some(plan));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct PlanStore {
    folder: PathBuf,
    /// The problem with members in place of CPUs, which may be shared.
    ranked: Problem,
    cpus: Vec<CpuId>,
    digest: u64,
}

impl PlanStore {
    /// Searches among fewer members take some milliseconds, and are not kept.
    pub const FEWEST_MEMBERS: usize = 9;

    /// Among fewer members effort normal takes so little time that nobody need do without.
    pub const FEWEST_IN_BACKGROUND: usize = 65;

    /// The plans in this folder for the members and costs of `problem`; the folder is made when a plan is kept.
    #[must_use]
    pub fn new(folder: PathBuf, problem: &Problem) -> Self {
        Self { folder, ranked: problem.by_rank(), cpus: problem.cpus().to_vec(), digest: digest(problem) }
    }

    /// The plan kept, or a new one, which is kept if it can be. `problem` is the one that the store was made with.
    ///
    /// # Errors
    ///
    /// As [`Request::plan`].
    pub fn plan(&self, request: &Request<'_>, problem: &Problem) -> Result<Plan, PlanError> {
        if let Some(plan) = self.load(request) {
            return Ok(plan);
        }
        let plan = request.plan(problem)?;
        // A process that cannot keep it searches again.
        let _ = self.keep(request, plan.clone());
        Ok(plan)
    }

    /// The best plan that is to be had at once, whatever effort is asked for: the one kept that effort normal found, or
    /// else that of effort quick. In the latter case another thread of this process goes on to search with effort normal, and
    /// keeps what it finds for the next caller, if there are [`FEWEST_IN_BACKGROUND`](Self::FEWEST_IN_BACKGROUND) members.
    ///
    /// # Errors
    ///
    /// As [`Request::plan`].
    pub fn plan_at_once(&self, request: &Request<'static>, problem: &Problem) -> Result<Plan, PlanError> {
        let better = request.clone().effort(Effort::Normal);
        if let Some(plan) = self.load(&better) {
            return Ok(plan);
        }
        let plan = self.plan(&request.clone().effort(Effort::Quick), problem)?;
        if problem.len() >= Self::FEWEST_IN_BACKGROUND {
            let (store, problem) = (self.clone(), problem.clone());
            background::search(self.path(&better), move || {
                // A program that cannot keep it searches again.
                let _ = store.plan(&better, &problem);
            });
        }
        Ok(plan)
    }

    /// The plan kept for this request, if there is a valid one.
    #[must_use]
    pub fn load(&self, request: &Request<'_>) -> Option<Plan> {
        let text = read_bounded(&self.path(request), MAX_LEN_BYTES).ok()?;
        let asked = PlanRequest {
            root: request.root.map(|root| self.ranked.cpu(root)),
            limits: request.settings.limits,
            ..PlanRequest::new(request.operation)
        };
        let plan = read_plan(std::str::from_utf8(&text).ok()?, &asked, &self.ranked).ok()?;
        Some(Plan { cpus: self.cpus.clone(), ..plan })
    }

    /// Keeps the plan made for this request, unless it is quickly made again.
    ///
    /// # Errors
    ///
    /// The system's error for the folder or the file.
    pub fn keep(&self, request: &Request<'_>, plan: Plan) -> io::Result<()> {
        if self.ranked.len() < Self::FEWEST_MEMBERS {
            return Ok(());
        }
        let json = PlanJson::of(&plan.over(&self.ranked)).expect("ranks are distinct");
        fs::create_dir_all(&self.folder)?;
        write_atomically(&self.path(request), &serde_json::to_vec(&json)?)?;
        self.remove_oldest()
    }

    fn path(&self, request: &Request<'_>) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        (self.digest, format!("{request:?}")).hash(&mut hasher);
        self.folder.join(format!("{}-{}-{:016x}.json", request.operation, self.ranked.len(), hasher.finish()))
    }

    fn remove_oldest(&self) -> io::Result<()> {
        let mut files = fs::read_dir(&self.folder)?.collect::<io::Result<Vec<_>>>()?;
        files.retain(|file| file.file_name().to_str().is_some_and(is_name_of_plan));
        if files.len() > MOST_FILES {
            files.sort_by_key(|file| file.metadata().and_then(|metadata| metadata.modified()).ok());
            files[..files.len() - MOST_FILES].iter().try_for_each(|file| fs::remove_file(file.path()))?;
        }
        Ok(())
    }
}

/// Whether a file's name is one that [`PlanStore::path`] makes: other files in the folder belong to other programs.
fn is_name_of_plan(name: &str) -> bool {
    let Some(name) = name.strip_suffix(".json") else { return false };
    let Some((rest, digest)) = name.rsplit_once('-') else { return false };
    let Some((operation, members)) = rest.rsplit_once('-') else { return false };
    let is_digest = digest.len() == 16 && u64::from_str_radix(digest, 16).is_ok();
    is_digest && members.parse::<usize>().is_ok() && operation.parse::<Operation>().is_ok()
}

/// A digest of everything that plans follow from, for the name of a file: that the costs are the same is checked when
/// it is read.
fn digest(problem: &Problem) -> u64 {
    let mut hasher = DefaultHasher::new();
    (SEARCH, env!("CARGO_PKG_VERSION"), problem.machine(), problem.cpus(), problem.numa_listing()).hash(&mut hasher);
    (problem.siblings(), format!("{:?} {:?} {}", problem.terms(), problem.noise(), problem.unit())).hash(&mut hasher);
    let members = 0..problem.len();
    members.clone().flat_map(|from| members.clone().map(move |to| (from, to))).for_each(|(from, to)| {
        hasher.write_u64(problem.send(from, to).to_bits());
        hasher.write_u64(problem.receive(from, to).to_bits());
    });
    hasher.finish()
}

impl fmt::Debug for PlanStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlanStore({:?}, {} members)", self.folder, self.cpus.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Terms;
    use corecast_machine::{Cpu, Machine, Topology};
    use proptest::prelude::*;
    use std::path::Path;

    fn problem(members: u32, nodes: u32) -> Problem {
        let cpus = (0..members).map(|id| Cpu { numa: Some(id % nodes), ..Cpu::flat(CpuId::new(id + 3)) }).collect();
        Problem::of_machine(&Machine::from_topology(&Topology { cpus, ..Topology::default() })).expect("CPUs")
    }

    fn request(operation: Operation) -> Request<'static> {
        Request::new(operation).effort(Effort::Quick)
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
        files.map(|file| file.expect("an entry").path()).collect()
    }

    #[test]
    fn a_kept_plan_is_found_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let problem = problem(20, 4);
        let store = PlanStore::new(folder.path().to_owned(), &problem);
        for operation in Operation::ALL {
            let planned = store.plan(&request(operation), &problem).expect("a plan");
            assert_eq!(store.load(&request(operation)).as_ref(), Some(&planned), "{operation}");
            assert_eq!(store.load(&request(operation).root(Some(7))), None);
            assert_eq!(store.load(&request(operation).seed(1)), None);
        }
        assert_eq!(files(folder.path()).len(), Operation::ALL.len());
    }

    #[test]
    fn a_better_plan_is_found_in_the_background_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let many = problem(PlanStore::FEWEST_IN_BACKGROUND as u32, 4);
        let store = PlanStore::new(folder.path().to_owned(), &many);
        let first = store.plan_at_once(&request(Operation::Broadcast), &many).expect("a plan");
        assert_eq!(first.effort, Some(Effort::Quick));
        let normal = Request::new(Operation::Broadcast).effort(Effort::Normal);
        while store.load(&normal).is_none() {
            std::thread::yield_now();
        }
        let second = store.plan_at_once(&request(Operation::Broadcast), &many).expect("a plan");
        assert_eq!((second.effort, store.load(&normal).as_ref()), (Some(Effort::Normal), Some(&second)));
        assert!(second.predicted <= first.predicted);
        let few = problem(PlanStore::FEWEST_MEMBERS as u32, 4);
        let store = PlanStore::new(folder.path().to_owned(), &few);
        store.plan_at_once(&request(Operation::Reduce), &few).expect("a plan");
        assert_eq!(files(folder.path()).len(), 3, "nothing is searched for among few");
    }

    #[test]
    fn members_that_share_cpus_are_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let cpus = (0..2).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let members: Vec<CpuId> = (0..20).map(|member| CpuId::new(member % 2)).collect();
        let problem = Problem::of_members(&machine, &members).expect("CPUs");
        let store = PlanStore::new(folder.path().to_owned(), &problem);
        let request = request(Operation::Barrier);
        let planned = store.plan(&request, &problem).expect("a plan");
        assert_eq!(store.load(&request), Some(planned));
    }

    #[test]
    fn plans_of_other_problems_are_not_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let (problem, other) = (problem(20, 4), problem(20, 5));
        let terms = Terms { overlapped_receive: Some(1.0), ..Terms::default() };
        let request = request(Operation::Broadcast);
        PlanStore::new(folder.path().to_owned(), &problem).plan(&request, &problem).expect("a plan");
        for other in [other, problem.with_terms(terms)] {
            assert_eq!(PlanStore::new(folder.path().to_owned(), &other).load(&request), None);
        }
    }

    /// Even if its name matches this request.
    #[test]
    fn a_plan_of_another_machine_under_this_name_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let (problem, other) = (problem(20, 4), problem(20, 5));
        let request = request(Operation::Barrier);
        let [store, strange] = [&problem, &other].map(|problem| PlanStore::new(folder.path().to_owned(), problem));
        strange.plan(&request, &other).expect("a plan");
        fs::rename(strange.path(&request), store.path(&request)).expect("renamed");
        assert_eq!(store.load(&request), None);
        let planned = store.plan(&request, &problem).expect("a plan");
        assert_eq!(store.load(&request), Some(planned));
    }

    #[test]
    fn few_members_are_not_kept_and_old_plans_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let few = problem(8, 4);
        PlanStore::new(folder.path().to_owned(), &few).plan(&request(Operation::Reduce), &few).expect("a plan");
        assert_eq!(files(folder.path()).len(), 0);
        let old = (0..MOST_FILES).map(|n| format!("two-phase-commit-99-{n:016x}.json"));
        let strange = ["notes.json", "broadcast-20.json", "broadcast-20-0.json"].map(str::to_owned);
        let names = old.chain(strange.clone());
        names.for_each(|name| fs::write(folder.path().join(name), "old").expect("written"));
        fs::create_dir(folder.path().join("folder")).expect("made");
        let many = problem(9, 4);
        let store = PlanStore::new(folder.path().to_owned(), &many);
        store.plan(&request(Operation::Reduce), &many).expect("a plan");
        assert_eq!(files(folder.path()).len(), MOST_FILES + strange.len() + 1);
        assert!(strange.iter().all(|name| folder.path().join(name).exists()), "they are no plans");
        assert!(store.load(&request(Operation::Reduce)).is_some(), "the newest stays");
    }

    #[test]
    fn a_folder_that_cannot_be_made_only_costs_a_search() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let problem = problem(17, 4);
        let store = PlanStore::new(file.path().join("plans"), &problem);
        let planned = store.plan(&request(Operation::Reduce), &problem).expect("a plan");
        store.keep(&request(Operation::Reduce), planned).expect_err("a file is no folder");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn damaged_files_are_searched_for_anew(at in 0..10_000_usize, byte: u8, is_cut: bool) {
            let folder = tempfile::tempdir().expect("a folder");
            let problem = problem(17, 4);
            let store = PlanStore::new(folder.path().to_owned(), &problem);
            let request = request(Operation::Barrier).planner("binary");
            let planned = store.plan(&request, &problem).expect("a plan");
            let mut text = fs::read(store.path(&request)).expect("it was kept");
            let at = at % text.len();
            if is_cut { text.truncate(at) } else { text[at] = byte }
            fs::write(store.path(&request), text).expect("written");
            if let Some(found) = store.load(&request) {
                prop_assert_eq!((found.tree, found.up, found.scheme), (planned.tree, planned.up, planned.scheme));
            }
        }
    }
}
