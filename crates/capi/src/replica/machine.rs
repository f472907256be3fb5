//! A state machine that C implements, as the library calls it.
//!
//! The library makes a new value of a state machine from a snapshot, and drops the old one. C's state stays one object: the new
//! value keeps the bytes, and hands them to C at its first use. From then on nothing reaches the old value.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::mem::offset_of;
use std::panic::resume_unwind;
use std::sync::OnceLock;

use corecast::replica::{Config, Index, Node, OpenError, StateMachine};

use crate::argument::{Parameters, optional_text, required};
use crate::error::Failure;
use crate::status::Status;

/// Bytes that a function of the caller's writes, with corecast_replica_output_write.
#[derive(Debug, Default)]
pub struct ReplicaOutput(pub(crate) Vec<u8>);

/// 128 bits that are equal where states are equal, and differ, with overwhelming probability, where they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct ReplicaDigest {
    /// The lower half.
    pub low: u64,
    /// The upper half.
    pub high: u64,
}

/// Applies an operation, which stands at `index` of the log, and writes its result. Returns 0; another number if this replica
/// cannot go on: it then leaves, and if all replicas fail at the same operation, the group stops with CORECAST_POISONED.
pub type ReplicaApply = Option<
    unsafe extern "C" fn(
        state: *mut c_void,
        index: u64,
        op: *const c_void,
        len: usize,
        result: *mut ReplicaOutput,
    ) -> c_int,
>;

/// Answers a question. Returns 0; another number to make the read fail with CORECAST_INVALID_ARGUMENT.
pub type ReplicaQuery = Option<
    unsafe extern "C" fn(
        state: *const c_void,
        question: *const c_void,
        len: usize,
        answer: *mut ReplicaOutput,
    ) -> c_int,
>;

/// The digest of the state.
pub type ReplicaDigestOf = Option<unsafe extern "C" fn(state: *const c_void) -> ReplicaDigest>;

/// Writes the whole state.
pub type ReplicaSnapshot = Option<unsafe extern "C" fn(state: *const c_void, to: *mut ReplicaOutput)>;

/// Makes the state the one of a snapshot. Returns 0; another number if the bytes are no state.
pub type ReplicaRestore =
    Option<unsafe extern "C" fn(state: *mut c_void, snapshot: *const c_void, len: usize) -> c_int>;

/// A deterministic state machine: the same operations in the same order give the same state and the same results. Clock values
/// and random numbers have to arrive inside the operation. Set `size` to sizeof(corecast_replica_machine), and all else but
/// `kind`, which may be NULL.
///
/// The functions are called by threads of the library, too. `apply` and `restore` have the state to themselves; `query`,
/// `digest` and `snapshot` may run in several threads at a time. None of them throws, jumps, or calls anything with the
/// replica. The state is used until the replica and all its sessions are closed.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ReplicaMachine {
    /// sizeof(corecast_replica_machine).
    pub size: usize,
    /// The state: passed to the functions as it is.
    pub state: *mut c_void,
    /// Applies an operation.
    pub apply: ReplicaApply,
    /// Answers a question.
    pub query: ReplicaQuery,
    /// The digest of the state.
    pub digest: ReplicaDigestOf,
    /// Writes the state.
    pub snapshot: ReplicaSnapshot,
    /// Reads it.
    pub restore: ReplicaRestore,
    /// A text that names the kind of state, such as "counter 2": a replica joins only a group whose creator gave the same one,
    /// and gets CORECAST_MISMATCH elsewhere. So programs with different states, or versions of them, are told apart. NULL stands
    /// for "". Not used after the call.
    pub kind: *const c_char,
}

// SAFETY: laid out as C does, without padding, the size first; functions and pointers may have any bytes until they are used.
unsafe impl Parameters for ReplicaMachine {
    const FIRST_BYTES: usize = offset_of!(ReplicaMachine, kind);
}

/// A state machine of C's, and the name of its kind.
#[derive(Debug)]
pub(crate) struct Described {
    calls: Calls,
    kind: String,
}

impl Described {
    /// Makes or attaches a replica with these functions, in a group of this kind.
    pub(crate) fn open(
        &self,
        config: Config,
        open: impl FnOnce(&Config, Calls) -> Result<Node<Machine>, OpenError>,
    ) -> Result<Node<Machine>, OpenError> {
        ATTACHING.set(Some(self.calls));
        let opened = open(&config.kind(&*self.kind), self.calls);
        ATTACHING.set(None);
        opened
    }
}

impl ReplicaMachine {
    pub(crate) fn check(self) -> Result<Described, Failure> {
        // SAFETY: C passes a text, or NULL.
        let kind = unsafe { optional_text(self.kind, "machine.kind") }?.unwrap_or_default().to_owned();
        Ok(Described { calls: self.calls()?, kind })
    }

    fn calls(self) -> Result<Calls, Failure> {
        Ok(Calls {
            state: self.state,
            apply: required(self.apply, "machine.apply")?,
            query: required(self.query, "machine.query")?,
            digest: required(self.digest, "machine.digest")?,
            snapshot: required(self.snapshot, "machine.snapshot")?,
            restore: required(self.restore, "machine.restore")?,
        })
    }
}

/// C's functions and its state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Calls {
    state: *mut c_void,
    apply: unsafe extern "C" fn(*mut c_void, u64, *const c_void, usize, *mut ReplicaOutput) -> c_int,
    query: unsafe extern "C" fn(*const c_void, *const c_void, usize, *mut ReplicaOutput) -> c_int,
    digest: unsafe extern "C" fn(*const c_void) -> ReplicaDigest,
    snapshot: unsafe extern "C" fn(*const c_void, *mut ReplicaOutput),
    restore: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_int,
}

// SAFETY: C promises that its functions may be called by any thread.
unsafe impl Send for Calls {}

// SAFETY: C promises that those which only read may be called by several at a time; the others are called alone.
unsafe impl Sync for Calls {}

thread_local! {
    /// The functions of the replica that this thread makes or attaches: its first state may be made of bytes alone.
    static ATTACHING: Cell<Option<Calls>> = const { Cell::new(None) };
}

/// The state machine, as the library has it.
#[derive(Debug)]
pub(crate) struct Machine {
    calls: Calls,
    /// A snapshot that C's state is made of before it is used.
    snapshot: Option<Vec<u8>>,
    /// Whether C took the snapshot.
    is_restored: OnceLock<bool>,
}

/// C did not take a snapshot, or did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    Snapshot,
    Question(c_int),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Snapshot => Self::new(Status::Mismatch, "the function restore did not take the state of a member"),
            Refusal::Question(number) => {
                Self::argument("question", format_args!("the function query returned {number}"))
            }
        }
    }
}

impl Machine {
    /// C's state as it is.
    pub(crate) fn new(calls: Calls) -> Self {
        Self { calls, snapshot: None, is_restored: OnceLock::new() }
    }

    fn of_snapshot(calls: Calls, from: &mut dyn io::Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        Ok(Self { snapshot: Some(bytes), ..Self::new(calls) })
    }

    /// C's functions, with the state that this value stands for.
    pub(crate) fn ready(&self) -> Result<Calls, Refusal> {
        let Some(bytes) = &self.snapshot else { return Ok(self.calls) };
        let restore = || {
            // SAFETY: C's function with its state; nothing else reaches the state before this value is ready.
            let outcome = unsafe { (self.calls.restore)(self.calls.state, bytes.as_ptr().cast(), bytes.len()) };
            outcome == 0
        };
        if *self.is_restored.get_or_init(restore) { Ok(self.calls) } else { Err(Refusal::Snapshot) }
    }
}

/// Ends a call into the state machine as a panic does, without a message: the library makes the replica leave.
fn give_up(why: &'static str) -> ! {
    resume_unwind(Box::new(why))
}

impl StateMachine for Machine {
    type Op = Vec<u8>;
    type Out = Vec<u8>;
    type Query = [u8];
    type Answer = Result<Vec<u8>, Refusal>;

    fn apply(&mut self, at: Index, op: &Vec<u8>) -> Vec<u8> {
        let Ok(calls) = self.ready() else { give_up("no state") };
        self.snapshot = None;
        let mut output = ReplicaOutput::default();
        // SAFETY: C's function with its state, which this call has to itself, and bytes.
        let outcome = unsafe { (calls.apply)(calls.state, at, op.as_ptr().cast(), op.len(), &raw mut output) };
        if outcome == 0 { output.0 } else { give_up("the function apply failed") }
    }

    fn query(&self, question: &[u8]) -> Result<Vec<u8>, Refusal> {
        let (calls, mut output) = (self.ready()?, ReplicaOutput::default());
        let (data, len) = (question.as_ptr().cast(), question.len());
        // SAFETY: C's function with its state, which nothing changes meanwhile, and bytes.
        let outcome = unsafe { (calls.query)(calls.state, data, len, &raw mut output) };
        if outcome == 0 { Ok(output.0) } else { Err(Refusal::Question(outcome)) }
    }

    fn digest(&self) -> u128 {
        let Ok(calls) = self.ready() else { return 0 };
        // SAFETY: C's function with its state, which nothing changes meanwhile.
        let ReplicaDigest { low, high } = unsafe { (calls.digest)(calls.state) };
        u128::from(high) << 64 | u128::from(low)
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        let calls = self.ready().map_err(|_| io::Error::other("this replica has no state"))?;
        let mut output = ReplicaOutput::default();
        // SAFETY: C's function with its state, which nothing changes meanwhile.
        unsafe { (calls.snapshot)(calls.state, &raw mut output) };
        to.write_all(&output.0)
    }

    fn restore(from: &mut dyn io::Read) -> io::Result<Self> {
        let calls = ATTACHING.get().ok_or_else(|| io::Error::other("this thread attaches no replica"))?;
        Self::of_snapshot(calls, from)
    }

    fn restore_anew(&self, from: &mut dyn io::Read) -> io::Result<Self> {
        Self::of_snapshot(self.calls, from)
    }
}

c_functions! {
    /// Adds bytes to an output: for the functions of a corecast_replica_machine.
    unsafe fn corecast_replica_output_write(output: &mut ReplicaOutput, data: bytes[len]) {
        output.0.extend_from_slice(data);
    }
}
