//! The shim as a tool of the runtime: it is told when a team forms, which threads are its members, and of tasks.
//!
//! A runtime has one tool. If the program brings another, that one is it, and the runtime's teams are not served.
//! `OMP_TOOL=disabled` has the same effect. Source: OpenMP 5.0, chapter 4 (OMPT).

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use corecast_base::sync::AtomicU64;
use corecast_preload::{Family, Real, Settings, is_watched, variable};

use crate::crossing::announce_uncounted;
use crate::pool;
use crate::runtime::KMPC;
use crate::statistics::{self, REGIONS};
use crate::team::{Seat, Team};
use crate::thread::{ThreadState, here};

/// Words that the runtime keeps for its tool with each region, task or thread.
#[repr(C)]
union Data {
    value: u64,
    team: *const Team,
}

/// The answer to a runtime that looks for its tool.
#[repr(C)]
struct StartResult {
    initialize: extern "C" fn(Option<Lookup>, c_int, *mut c_void) -> c_int,
    finalize: extern "C" fn(*mut c_void),
    /// The runtime hands it back; nothing is kept there.
    data: AtomicU64,
}

type Lookup = unsafe extern "C" fn(*const c_char) -> *const c_void;
type SetCallback = unsafe extern "C" fn(c_int, *const c_void) -> c_int;
type StartTool = unsafe extern "C" fn(c_uint, *const c_char) -> *const StartResult;

/// Numbers of events.
const PARALLEL_BEGIN: c_int = 3;
const PARALLEL_END: c_int = 4;
const TASK_CREATE: c_int = 5;
const IMPLICIT_TASK: c_int = 7;
/// The answer of a runtime that will tell every such event.
const ALWAYS: c_int = 5;
/// An endpoint of a task: its begin.
const BEGIN: c_int = 1;
/// Kinds of tasks and of regions.
const INITIAL_TASK: c_int = 1;
const LEAGUE: c_int = 0x4000_0000;
/// The number that is kept with an implicit task whose thread has a seat to give back.
const SEATED: u64 = 0x636f_7265;

static RESULT: StartResult = StartResult { initialize, finalize, data: AtomicU64::new(0) };

/// Called by a runtime as it starts, which looks for its tool by this name.
///
/// # Safety
/// - As OpenMP says of it.
#[unsafe(no_mangle)]
unsafe extern "C" fn ompt_start_tool(version: c_uint, runtime: *const c_char) -> *const StartResult {
    // The tool that the runtime would have found without this object. The runtime itself has a function of this name, which looks
    // for one in the libraries behind it.
    static NEXT: Real = Real::new(c"ompt_start_tool");
    let next = NEXT.next();
    if !next.is_null() {
        // SAFETY: a function of this name has this signature.
        let next = unsafe { std::mem::transmute::<*mut c_void, StartTool>(next) };
        // SAFETY: the runtime's call.
        let other = unsafe { next(version, runtime) };
        if !other.is_null() {
            return other;
        }
    }
    if is_wanted() { &raw const RESULT } else { ptr::null() }
}

/// The runtime is only about to start: the environment is asked, and not the runtime. Under ThreadSanitizer the tool is Archer,
/// which the runtime loads if there is no other one.
fn is_wanted() -> bool {
    let has_libraries = variable(c"OMP_TOOL_LIBRARIES").is_some_and(|libraries| !libraries.is_empty());
    let is_true = |value: &[u8]| value.trim_ascii().eq_ignore_ascii_case(b"true") || value.trim_ascii() == b"1";
    let cancels = variable(c"OMP_CANCELLATION").is_some_and(is_true);
    Settings::get().serves(Family::Omp) && !has_libraries && !cancels && !is_watched()
}

/// Asks for the events; 0, which means no tool, if the runtime will not tell all of them.
extern "C" fn initialize(lookup: Option<Lookup>, _device: c_int, _data: *mut c_void) -> c_int {
    let Some(lookup) = lookup else { return 0 };
    let find = |name: &CStr| {
        // SAFETY: a text.
        unsafe { lookup(name.as_ptr()) }
    };
    // SAFETY: null, which is None, or the function of this name.
    let set = unsafe { std::mem::transmute::<*const c_void, Option<SetCallback>>(find(c"ompt_set_callback")) };
    let Some(set) = set else { return 0 };
    let events: [(c_int, *const c_void); 4] = [
        (PARALLEL_BEGIN, parallel_begin as *const c_void),
        (PARALLEL_END, parallel_end as *const c_void),
        (TASK_CREATE, task_create as *const c_void),
        (IMPLICIT_TASK, implicit_task as *const c_void),
    ];
    // SAFETY: functions with the signatures of these events, which stay.
    let is_told = |(event, callback)| unsafe { set(event, callback) } == ALWAYS;
    events.into_iter().all(is_told).into()
}

extern "C" fn finalize(_data: *mut c_void) {}

/// The master is about to fork a team.
extern "C" fn parallel_begin(
    _task: *mut c_void,
    _frame: *const c_void,
    region: *mut Data,
    wanted: c_uint,
    flags: c_int,
    caller: *const c_void,
) {
    let runtime = KMPC.of(caller).filter(|runtime| runtime.is_served() && flags & LEAGUE == 0);
    here(|thread| {
        let team = runtime.and_then(|runtime| {
            let members = if wanted == 0 { runtime.max_threads().unsigned_abs() } else { wanted };
            let team = (members > 1).then(|| pool::team_for(thread, members as usize))??;
            // SAFETY: this thread is the team's master, and between two of its regions.
            unsafe { team.open(None, ptr::null_mut(), runtime, runtime.level() + 1) };
            Some(team)
        });
        thread.fork(team.is_some());
        match team {
            Some(_) => statistics::of(REGIONS).serve(),
            None => statistics::of(REGIONS).pass(),
        }
        keep(region, Data { team: team.map_or(ptr::null(), ptr::from_ref) });
    });
}

/// The master has joined its team. The region's words may be another region's by then: LLVM's runtime gives a nested team's
/// memory back before it tells of the end. So the thread knows itself which team it has forked.
extern "C" fn parallel_end(_region: *mut Data, _task: *mut c_void, _flags: c_int, _caller: *const c_void) {
    if let Some(team) = here(ThreadState::join) {
        team.close();
    }
}

/// A thread begins its part of a region, or has ended it. The end may come late: when the thread is woken for another region.
extern "C" fn implicit_task(
    endpoint: c_int,
    region: *mut Data,
    task: *mut Data,
    members: c_uint,
    number: c_uint,
    flags: c_int,
) {
    if flags & INITIAL_TASK != 0 {
        return;
    }
    here(|thread| {
        if endpoint == BEGIN {
            let seat = team_of(region).map_or(Seat::NONE, |team| team.seat(number as usize, members as usize));
            thread.hidden.push(thread.sit(seat));
            keep(task, Data { value: SEATED });
        } else if is_seated(task) {
            let before = thread.hidden.pop().unwrap_or(Seat::NONE);
            // The team of the seat is not touched here but by its member 0, whose end comes before the join.
            Team::leave(thread.sit(before));
        }
    });
}

/// A thread is about to create a task, by an entry that is replaced or by one that the shim does not know.
extern "C" fn task_create(
    _from: *mut c_void,
    _frame: *const c_void,
    _task: *mut c_void,
    _flags: c_int,
    _has_dependences: c_int,
    _caller: *const c_void,
) {
    announce_uncounted();
}

fn keep(place: *mut Data, data: Data) {
    if !place.is_null() {
        // SAFETY: words that the runtime keeps for its tool, of which no other thread knows yet.
        unsafe { place.write(data) };
    }
}

/// The team that was kept with a region.
fn team_of(region: *const Data) -> Option<&'static Team> {
    // SAFETY: null, or words that the runtime keeps for its tool.
    let data = unsafe { region.as_ref() }?;
    // SAFETY: only parallel_begin writes there, and it writes a team; the runtime begins with zeroes.
    let team = unsafe { data.team };
    // SAFETY: null, or a team, which lives until the process ends.
    unsafe { team.as_ref() }
}

fn is_seated(task: *const Data) -> bool {
    // SAFETY: null, or words that the runtime keeps for its tool.
    let Some(data) = (unsafe { task.as_ref() }) else { return false };
    // SAFETY: numbers are valid whatever was written.
    unsafe { data.value == SEATED }
}
