//! Instances of transactional memory, and their servers.

use std::ffi::{c_char, c_int};
use std::os::fd::IntoRawFd;

use corecast::Wait;
use corecast::machine::Machine;
use corecast::tm::{Builder, Form, Manager, Role, Server, Tm, Values, Writes};

use crate::argument::{Parameters, choice, duplicate};
use crate::error::{Failure, copy_text};
use crate::group::detect;
use crate::lock::algorithm_of;
use crate::region::socket_dir;
use crate::wait;

/// An instance of transactional memory. Any number of threads may use it at a time. Its participants and servers keep it when it
/// is closed.
#[derive(Debug)]
pub struct TmInstance(pub(crate) Tm);

/// A participant that decides conflicts and runs no transactions.
#[derive(Debug)]
pub struct TmServer(Option<Server>);

/// How the conflict of two transactions is decided.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum TmManager {
    /// The participant whose successful attempts took less time wins: fair in that time.
    FairCm = 0,
    /// The one that asks for a variable loses.
    None = 1,
    /// The same, and it waits longer after each time.
    BackOff = 2,
    /// The participant with fewer commits wins.
    Wholly = 3,
    /// The transaction that began first wins.
    OffsetGreedy = 4,
}

/// The side that decides conflicts.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum TmForm {
    /// Servers, by messages.
    Messages = 0,
    /// The participants themselves, in shared memory.
    Shared = 1,
    /// The one of both that is faster here.
    Auto = 2,
}

/// When a transaction claims what it writes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum TmWrites {
    /// When it commits.
    Lazy = 0,
    /// At the write.
    Eager = 1,
}

/// Where the values of variables are.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub enum TmValues {
    /// In shared memory.
    InMemory = 0,
    /// With the server of the variable, and in messages.
    AtServers = 1,
}

/// The choices of an instance. Set `size` to sizeof(corecast_tm_config), all else to 0, and then the fields that matter; NULL
/// stands for all zeroes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct TmConfig {
    /// sizeof(corecast_tm_config).
    pub size: usize,
    /// The participants, servers among them, at most 1,024. 0: one for each CPU, and at least two.
    pub participants: u32,
    /// The distance of two servers, from participant 0 on: 2 to the number of participants. 0: 3. The shared form has no servers.
    pub servers_every: u32,
    /// A corecast_tm_manager.
    pub manager: u32,
    /// A corecast_tm_form.
    pub form: u32,
    /// A corecast_tm_writes.
    pub writes: u32,
    /// A corecast_tm_values.
    pub values: u32,
    /// The number of words. 0: 65,536.
    pub words: u64,
    /// A corecast_wait: how participants wait for each other.
    pub wait: u32,
    /// 1: a commit asks for one word by one message, instead of up to ten.
    pub is_unbatched: u32,
    /// The most values of one transaction that others can complete when its process is killed while it stores them; a larger one
    /// poisons the instance then. 0: 1,024.
    pub log_entries: u32,
    /// 2 to the power of this number of neighbouring words lie at one server.
    pub neighbours: u32,
    /// A corecast_lock_algorithm: the lock of the buckets of the shared form. 0: auto among threads, word among processes, where
    /// no other one survives its holder.
    pub lock: u32,
    /// 0: room for a later field.
    pub reserved: u32,
}

// SAFETY: numbers laid out as C does, without padding, the size first.
unsafe impl Parameters for TmConfig {}

/// The choices, and the machine that they are made for.
struct Choices {
    config: TmConfig,
    machine: Machine,
}

impl TmConfig {
    fn check(self) -> Result<Choices, Failure> {
        Ok(Choices { config: self, machine: detect()? })
    }
}

impl Choices {
    fn builder(&self) -> Result<Builder<'_>, Failure> {
        let TmConfig { participants, servers_every, words, log_entries, lock, .. } = self.config;
        let managers = [Manager::FairCm, Manager::None, Manager::BackOff, Manager::Wholly, Manager::OffsetGreedy];
        let forms = [Form::Messages, Form::Shared, Form::Auto];
        let policy: Wait = wait::policy(self.config.wait, "config.wait")?;
        let mut builder = Tm::builder(&self.machine)
            .manager(choice(self.config.manager, &managers, "config.manager")?)
            .form(choice(self.config.form, &forms, "config.form")?)
            .writes(choice(self.config.writes, &[Writes::Lazy, Writes::Eager], "config.writes")?)
            .values(choice(self.config.values, &[Values::InMemory, Values::AtServers], "config.values")?)
            .batched(choice(self.config.is_unbatched, &[true, false], "config.is_unbatched")?)
            .neighbours(self.config.neighbours)
            .wait(policy);
        if self.config.reserved != 0 {
            return Err(Failure::argument("config.reserved", "is not 0"));
        }
        if log_entries > 0 {
            builder = builder.log_entries(log_entries as usize);
        }
        if lock > 0 {
            builder = builder.lock(algorithm_of(lock)?);
        }
        if participants > 0 {
            builder = builder.participants(participants as usize);
        }
        if servers_every > 0 {
            builder = builder.servers_every(servers_every as usize);
        }
        if words > 0 {
            builder = builder.variables(usize::try_from(words).unwrap_or(usize::MAX));
        }
        Ok(builder)
    }
}

impl TmInstance {
    /// Refuses the number of a participant of the other kind, whose place would be lost if it were taken.
    pub(crate) fn check_role(&self, id: u32, is_server: bool) -> Result<(), Failure> {
        let is_one = (id as usize) < self.0.participants();
        if is_one && self.0.is_server(id as usize) != is_server {
            let kind = if is_server { "no server" } else { "a server" };
            return Err(Failure::argument("id", format_args!("participant {id} is {kind}")));
        }
        Ok(())
    }
}

impl TmServer {
    fn open(tm: &TmInstance, id: u32) -> Result<Self, Failure> {
        tm.check_role(id, true)?;
        match tm.0.participant(id as usize)? {
            Role::Server(server) => Ok(Self(Some(server))),
            role => unreachable!("{role:?} is no server"),
        }
    }
}

c_functions! {
    /// Makes an instance for the threads of this process.
    unsafe fn corecast_tm_create(config: parameters TmConfig) -> (tm: new TmInstance) {
        TmInstance(config.builder()?.build()?)
    }

    /// Makes an instance for processes, without a name. Others get the descriptor of corecast_tm_share_fd.
    unsafe fn corecast_tm_create_shared(config: parameters TmConfig) -> (tm: new TmInstance) {
        TmInstance(config.builder()?.create()?)
    }

    /// Makes an instance with a name, which other processes of this user give to corecast_tm_attach. Names and directories are
    /// those of corecast_region_host. CORECAST_EXISTS if a living process has an instance of this name.
    unsafe fn corecast_tm_create_named(
        directory: text?,
        name: text,
        config: parameters TmConfig
    ) -> (tm: new TmInstance) {
        TmInstance(config.builder()?.create_named(&socket_dir(directory), name)?)
    }

    /// Joins the instance with this name. CORECAST_NOT_FOUND if there is none.
    unsafe fn corecast_tm_attach(directory: text?, name: text) -> (tm: new TmInstance) {
        TmInstance(Tm::attach(&socket_dir(directory), name)?)
    }

    /// Joins the instance behind a descriptor, which stays the caller's and may be closed afterwards.
    safe fn corecast_tm_attach_fd(fd: c_int) -> (tm: new TmInstance) {
        TmInstance(Tm::attach_fd(duplicate(fd)?)?)
    }

    /// A new descriptor of the instance, to be sent to one other process, which gives it to corecast_tm_attach_fd. Close it here
    /// once it is sent.
    safe fn corecast_tm_share_fd(tm: &TmInstance) -> (fd: c_int) {
        tm.0.share()?.into_raw_fd()
    }

    /// The number of participants, and of the servers among them.
    safe fn corecast_tm_size(tm: &TmInstance) -> (participants: u32, servers: u32) {
        (tm.0.participants() as u32, tm.0.servers() as u32)
    }

    /// Whether a participant is a server: 1 or 0.
    safe fn corecast_tm_is_server(tm: &TmInstance, id: u32) -> (is_server: u32) {
        tm.0.is_server(id as usize).into()
    }

    /// The form of the instance, a corecast_tm_form: never auto, which becomes one of both when the instance is made.
    safe fn corecast_tm_form_of(tm: &TmInstance) -> (form: u32) {
        (if tm.0.form() == Form::Shared { TmForm::Shared } else { TmForm::Messages }) as u32
    }

    /// Why the form auto has become what it is, in words for people; an empty text if the form was named, or in another process
    /// than that which made the instance. Copies at most `size` bytes to `buffer`, which may be NULL if `size` is 0, as
    /// corecast_error_message does, and the length of the whole text without the zero byte to `len`.
    unsafe fn corecast_tm_explain(tm: &TmInstance, buffer: *mut c_char, size: usize) -> (len: usize) {
        let text = tm.0.choice().map_or_else(String::new, |choice| choice.why.clone());
        // SAFETY: C passes a buffer of that size, or NULL.
        unsafe { copy_text(&text, buffer, size) }
    }

    /// The CPU on which the machine's model has a participant, for the thread or process that takes it to bind itself: the same
    /// in every process. -1 where the scheduler chooses, as with more participants than CPUs.
    safe fn corecast_tm_cpu(tm: &TmInstance, id: u32) -> (cpu: c_int) {
        tm.0.cpu(id as usize).and_then(|cpu| c_int::try_from(cpu.get()).ok()).unwrap_or(-1)
    }

    /// A word with this value, outside transactions: its number, by which every process of the instance knows it. CORECAST_FULL
    /// if all words are in use.
    safe fn corecast_tm_new_word(tm: &TmInstance, value: u64) -> (word: u32) {
        tm.0.new_var(value)?.index()
    }

    /// The value of one word as the last commit left it, outside transactions. Several such values need not belong together.
    /// CORECAST_INVALID_ARGUMENT where values are with the servers.
    safe fn corecast_tm_load(tm: &TmInstance, word: u32) -> (value: u64) {
        tm.0.load(tm.0.var::<u64>(word)?)?
    }

    /// Lets the servers end.
    safe fn corecast_tm_stop(tm: &TmInstance) {
        tm.0.stop()
    }

    /// Closes an instance; NULL is none.
    closing fn corecast_tm_close(tm: TmInstance);

    /// Takes the place of a server. CORECAST_TAKEN if another one has it.
    safe fn corecast_tm_server_open(tm: &TmInstance, id: u32) -> (server: new TmServer) {
        TmServer::open(tm, id)?
    }

    /// Serves until all applications have left, or corecast_tm_stop. It can only be closed afterwards.
    safe fn corecast_tm_server_serve(server: &mut TmServer) {
        let server = server.0.take().ok_or_else(|| Failure::argument("server", "has served already"))?;
        server.serve()?;
    }

    /// Closes a server; NULL is none.
    closing fn corecast_tm_server_close(server: TmServer);
}
