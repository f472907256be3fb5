//! An instance of transactional memory, as one of its processes holds it.

use std::fmt;
use std::os::fd::{OwnedFd, RawFd};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::{io, thread};

use corecast_base::CpuId;
use corecast_base::region::SharedRegion;
use corecast_base::rendezvous::{self, HostedRegion, SocketDir};

use crate::access::Access;
use crate::choice::Choice;
use crate::config::{Config, Form, Values};
use crate::conflicts::Manager;
use crate::crash_point;
use crate::error::{OpenError, RunError};
use crate::messages::{Links, MessageClient, Server};
use crate::participant::Participant;
use crate::plan::plan;
use crate::region::{Memory, class_of};
use crate::shared::{BucketLocks, SharedClient};
use crate::status::ClientId;
use crate::tvar::{TBlock, TVar};
use crate::value::Value;

/// An instance of transactional memory. A clone is the same instance.
#[derive(Clone)]
pub struct Tm {
    inner: Arc<Inner>,
}

struct Inner {
    memory: Arc<Memory>,
    links: Links,
    bucket_locks: Arc<BucketLocks>,
    choice: Option<Choice>,
    /// Keeps the name for as long as the instance is held here.
    _hosted: Option<HostedRegion>,
}

/// The kind of a participant.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one for each participant, moved a few times at its begin")]
#[non_exhaustive]
pub enum Role {
    /// It runs transactions.
    Application(Participant),
    /// It answers applications.
    Server(Server),
}

impl Tm {
    pub(crate) fn among_threads(config: Config, cpus: &[Option<CpuId>]) -> Result<Self, OpenError> {
        let region = SharedRegion::heap(&plan(&config)?)?;
        let memory = Arc::new(Memory::open(region)?);
        memory.place(cpus);
        let links = Links::threads(&config);
        let bucket_locks =
            if config.is_shared { BucketLocks::threads(&config) } else { BucketLocks::Threads(Vec::new()) };
        let bucket_locks = Arc::new(bucket_locks);
        Ok(Self::new(Inner { memory, links, bucket_locks, choice: None, _hosted: None }))
    }

    /// Remembers why its form was chosen.
    pub(crate) fn chosen(mut self, choice: Option<Choice>) -> Self {
        let inner = Arc::get_mut(&mut self.inner).expect("it was made just now");
        inner.choice = choice;
        self
    }

    pub(crate) fn in_region(region: SharedRegion, hosted: Option<HostedRegion>) -> Result<Self, OpenError> {
        let memory = Arc::new(Memory::open(region.clone())?);
        region.expect_plan(&plan(&memory.config)?)?;
        let bucket_locks = Arc::new(BucketLocks::region(&memory));
        Ok(Self::new(Inner { memory, links: Links::Region(region), bucket_locks, choice: None, _hosted: hosted }))
    }

    fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Joins the instance with this name.
    ///
    /// # Errors
    /// [`OpenError`] if there is none, or it is of another version.
    pub fn attach(dir: &SocketDir, name: &str) -> Result<Self, OpenError> {
        let hosted = rendezvous::connect(dir, name)?;
        Self::in_region(hosted.region().clone(), Some(hosted))
    }

    /// Joins the instance behind a descriptor.
    ///
    /// # Errors
    /// [`OpenError`] if it is none, or of another version.
    pub fn attach_fd(fd: OwnedFd) -> Result<Self, OpenError> {
        Self::in_region(SharedRegion::from_fd(fd)?, None)
    }

    /// Joins the instance behind an inherited descriptor with this number, which is left as it is.
    ///
    /// # Errors
    /// [`OpenError`] if it is none, or of another version.
    pub fn inherited(number: RawFd) -> Result<Self, OpenError> {
        Self::in_region(SharedRegion::inherited(number)?, None)
    }

    /// A descriptor for another process to [attach](Self::attach_fd) to. Each process gets its own.
    ///
    /// # Errors
    /// [`io::Error`] of an instance among threads.
    pub fn share(&self) -> io::Result<OwnedFd> {
        self.inner.memory.region.share()
    }

    /// The memory, for tests that spoil it.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> &Memory {
        &self.inner.memory
    }

    fn config(&self) -> &Config {
        &self.inner.memory.config
    }

    /// The number of participants, servers among them.
    #[must_use]
    pub fn participants(&self) -> usize {
        self.config().participants
    }

    /// The number of servers; none in the shared form.
    #[must_use]
    pub fn servers(&self) -> usize {
        self.config().servers()
    }

    /// Whether a participant is a server.
    #[must_use]
    pub fn is_server(&self, id: usize) -> bool {
        self.config().server_number(id).is_some()
    }

    /// The contention manager.
    #[must_use]
    pub fn manager(&self) -> Manager {
        self.config().manager
    }

    /// The form that was chosen: never [`Form::Auto`].
    #[must_use]
    pub fn form(&self) -> Form {
        if self.config().is_shared { Form::Shared } else { Form::Messages }
    }

    /// Why its form was chosen, if it was: of an instance that this process has made with [`Form::Auto`].
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.inner.choice.as_ref()
    }

    /// The CPU on which the machine's model has a participant: each cluster has its share of the servers. The same in all
    /// processes, as the one that made the instance knew the machine; [`run_threads`](Self::run_threads) starts the participant
    /// there, if its process may use that CPU, and a process that takes one participant can bind itself. `None` where the
    /// scheduler chooses, as with more participants than CPUs.
    #[must_use]
    pub fn cpu(&self, id: usize) -> Option<CpuId> {
        self.inner.memory.cpu(id)
    }

    /// The participant with this number, once in the life of the instance, and in the shared form again after it has left.
    ///
    /// # Errors
    /// [`OpenError`] if there is none, it is taken, or a channel cannot be opened.
    pub fn participant(&self, id: usize) -> Result<Role, OpenError> {
        let Inner { memory, links, bucket_locks, .. } = &*self.inner;
        let config = memory.config;
        if id >= config.participants {
            return Err(OpenError::NoParticipant { id, participants: config.participants });
        }
        if let Some(by) = memory.poisoned() {
            return Err(OpenError::Poisoned { by });
        }
        memory.claim(id)?;
        crash_point::here("seated");
        let me = ClientId(id as u16);
        let (memory, undo) = (Arc::clone(memory), Arc::clone(memory));
        let role = if let Some(number) = config.server_number(id) {
            Server::new(memory, links, number).map(Role::Server)
        } else if config.is_shared {
            let client = SharedClient::new(Arc::clone(&memory), Arc::clone(bucket_locks), me);
            Ok(Role::Application(Participant::new(memory, me, Access::Shared(client))))
        } else {
            // Servers stand at 0, every, 2 * every ..: as many of them come before this one.
            let application = id - 1 - id / config.every;
            let client = MessageClient::new(Arc::clone(&memory), links, application);
            client.map(|client| Role::Application(Participant::new(memory, me, Access::Messages(client))))
        };
        role.inspect_err(|_| undo.leave(id))
    }

    /// A variable with this value, outside transactions.
    ///
    /// # Errors
    /// [`RunError::Full`].
    pub fn new_var<T: Value>(&self, value: T) -> Result<TVar<T>, RunError> {
        self.allocate(&[value.to_word()])
    }

    /// A block with these values, outside transactions.
    ///
    /// # Errors
    /// [`RunError::Full`].
    pub fn new_block<T: Value, const N: usize>(&self, values: [T; N]) -> Result<TBlock<T, N>, RunError> {
        Ok(TBlock::new(self.allocate(&values.map(Value::to_word))?))
    }

    fn allocate<T>(&self, words: &[u64]) -> Result<TVar<T>, RunError> {
        let memory = &self.inner.memory;
        memory.check_usable()?;
        let index = memory.allocate(class_of(words.len()))?;
        (index..).zip(words).for_each(|(word, &value)| memory.store(word, value));
        Ok(TVar::new(index, memory.instance()))
    }

    /// The variable with this index, of which another process has told. It must have been made as one of this type.
    ///
    /// # Errors
    /// [`RunError::Beyond`].
    pub fn var<T: Value>(&self, index: u32) -> Result<TVar<T>, RunError> {
        let memory = &self.inner.memory;
        memory.check(index, memory.instance(), 1)?;
        Ok(TVar::new(index, memory.instance()))
    }

    /// The block that begins at this index, of which another process has told. It must have been made as one of this type.
    ///
    /// # Errors
    /// [`RunError::Beyond`].
    pub fn block<T: Value, const N: usize>(&self, index: u32) -> Result<TBlock<T, N>, RunError> {
        let memory = &self.inner.memory;
        memory.check(index, memory.instance(), N)?;
        Ok(TBlock::new(TVar::new(index, memory.instance())))
    }

    /// The value of one variable as the last commit left it, outside transactions. Several such values need not belong together;
    /// they do once nobody runs transactions any more. If participants were killed amid commits, the call completes these first,
    /// or waits for the process that does.
    ///
    /// # Errors
    /// [`RunError::Foreign`], [`RunError::Beyond`], and [`RunError::AtServers`] where values are with the servers: there a
    /// participant can [load](Participant::load) them. [`RunError::Poisoned`]: it may be of a commit that is half done.
    pub fn load<T: Value>(&self, var: TVar<T>) -> Result<T, RunError> {
        let memory = &self.inner.memory;
        memory.check_readable()?;
        memory.check(var.index(), var.instance(), 1)?;
        if memory.config.values == Values::AtServers {
            return Err(RunError::AtServers);
        }
        Ok(T::from_word(memory.load(var.index())))
    }

    /// The participant whose death has poisoned the instance.
    #[must_use]
    pub fn poisoned(&self) -> Option<ClientId> {
        self.inner.memory.poisoned()
    }

    /// Lets the servers end, also where they are never without requests; transactions return [`RunError::Stopped`] from then on,
    /// in the form of messages.
    pub fn stop(&self) {
        self.inner.memory.stop();
        self.inner.links.close();
    }

    /// Runs all participants that are still free as threads of this process: servers serve, and `work` is called with each
    /// application. Returns their results in the order of their numbers, once all have ended: servers do when all applications
    /// have left, those that were taken elsewhere among them. Participants that are taken are left out.
    ///
    /// # Errors
    /// [`OpenError`] if a free participant cannot be had, or has no thread: those that had one have ended then. A server without
    /// a thread ends the transactions of all others with [`RunError::Stopped`].
    ///
    /// # Panics
    /// With the panic of `work`, after all others have ended.
    pub fn run_threads<R: Send>(&self, work: impl Fn(Participant) -> R + Sync) -> Result<Vec<R>, OpenError> {
        let roles = self.free_roles()?;
        let work = &work;
        thread::scope(|scope| {
            let starts = roles.into_iter().map(|(id, role)| {
                let run = move || {
                    pin(self.cpu(id));
                    match role {
                        Role::Application(participant) => Some(work(participant)),
                        Role::Server(server) => {
                            // It ends when all applications have.
                            let _counts = server.serve();
                            None
                        }
                    }
                };
                let started = thread::Builder::new().spawn_scoped(scope, run);
                started.map_err(|cause| OpenError::Thread { id, cause: cause.to_string() })
            });
            let threads: Vec<_> = starts.collect::<Result<_, _>>()?;
            let ended: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
            let results = ended.into_iter().map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)));
            Ok(results.flatten().collect())
        })
    }

    /// The participants that are still free, with their numbers.
    fn free_roles(&self) -> Result<Vec<(usize, Role)>, OpenError> {
        let mut roles = Vec::new();
        for id in 0..self.participants() {
            match self.participant(id) {
                Ok(role) => roles.push((id, role)),
                Err(OpenError::Taken(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(roles)
    }
}

/// Binds this thread, where that is possible. A CPU that this process may not use is no reason not to run: another process has
/// placed the participants, or the mask has changed since.
fn pin(cpu: Option<CpuId>) {
    let usable = cpu.filter(|&cpu| corecast_machine::pin::process_affinity().is_ok_and(|mine| mine.contains(cpu)));
    if let Some(cpu) = usable {
        if let Ok(pinned) = corecast_machine::pin::pin(cpu) {
            pinned.forever();
        }
    }
}

impl fmt::Debug for Tm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tm({}, {} participants, {})", self.form(), self.participants(), self.manager())
    }
}
