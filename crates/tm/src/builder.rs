//! The choices of a new instance.

use std::thread;

use corecast_base::region::SharedRegion;
use corecast_base::rendezvous::{self, SocketDir};
use corecast_base::wait::Wait;
use corecast_lock::Algorithm;
use corecast_machine::Machine;

use crate::choice::Choice;
use crate::client_set::MAX_PARTICIPANTS;
use crate::config::{Config, Form, MOST_BUCKETS, MOST_LOG_ENTRIES, MOST_VARIABLES, Values, Writes};
use crate::conflicts::Manager;
use crate::error::OpenError;
use crate::placement::SERVERS_EVERY;
use crate::plan::plan;
use crate::prediction::Prediction;
use crate::race::race;
use crate::region::Memory;
use crate::seats;
use crate::shared::BucketLocks;
use crate::tm::Tm;

/// Values that a killed participant may have been storing and that others can complete.
const LOG_ENTRIES: u32 = 1024;

/// The choices of a new instance: see [`Tm::builder`].
#[derive(Debug, Clone)]
pub struct Builder<'a> {
    machine: &'a Machine,
    participants: usize,
    every: Option<usize>,
    manager: Manager,
    values: Values,
    writes: Writes,
    is_batched: bool,
    form: Form,
    lock: Option<Algorithm>,
    variables: usize,
    server_shift: u32,
    log_entries: u32,
    wait: Wait,
}

impl Tm {
    /// The choices of a new instance on this machine.
    #[must_use]
    pub fn builder(machine: &Machine) -> Builder<'_> {
        Builder::new(machine)
    }
}

impl<'a> Builder<'a> {
    fn new(machine: &'a Machine) -> Self {
        let cpus = thread::available_parallelism().map_or(2, usize::from);
        Self {
            machine,
            participants: cpus.clamp(2, MAX_PARTICIPANTS),
            every: None,
            manager: Manager::default(),
            values: Values::default(),
            writes: Writes::default(),
            is_batched: true,
            form: Form::default(),
            lock: None,
            variables: 1 << 16,
            server_shift: 0,
            log_entries: LOG_ENTRIES,
            wait: Wait::default(),
        }
    }

    /// The number of participants, servers among them; by default one for each CPU, and at least two.
    #[must_use]
    pub fn participants(self, participants: usize) -> Self {
        Self { participants, ..self }
    }

    /// Makes every `every`-th participant a server, from participant 0 on: 2 to the number of participants; 3 by default, or 2 of
    /// two.
    #[must_use]
    pub fn servers_every(self, every: usize) -> Self {
        Self { every: Some(every), ..self }
    }

    /// How conflicts are decided.
    #[must_use]
    pub fn manager(self, manager: Manager) -> Self {
        Self { manager, ..self }
    }

    /// Where values are.
    #[must_use]
    pub fn values(self, values: Values) -> Self {
        Self { values, ..self }
    }

    /// When writes are claimed.
    #[must_use]
    pub fn writes(self, writes: Writes) -> Self {
        Self { writes, ..self }
    }

    /// Whether a commit claims up to ten variables of one server by one message; so it is by default.
    #[must_use]
    pub fn batched(self, is_batched: bool) -> Self {
        Self { is_batched, ..self }
    }

    /// Whether servers decide conflicts, or participants themselves.
    #[must_use]
    pub fn form(self, form: Form) -> Self {
        Self { form, ..self }
    }

    /// The lock of the buckets of the shared form: among threads any, `auto` by default; among processes `word`, which survives
    /// its holder, and no other one unless [`Form::Messages`] is named.
    #[must_use]
    pub fn lock(self, lock: Algorithm) -> Self {
        Self { lock: Some(lock), ..self }
    }

    /// The number of variables, as words: a block of 3 takes 4, one of 5 to 7 takes 8. 65,536 by default. A participant whose
    /// transactions free variables keeps up to 32 blocks of each size for its own next ones, which others do not find: leave room
    /// for those.
    #[must_use]
    pub fn variables(self, variables: usize) -> Self {
        Self { variables, ..self }
    }

    /// Keeps `2^shift` neighbours at one server, so that transactions on neighbours ask fewer servers; 0 by default.
    #[must_use]
    pub fn neighbours(self, shift: u32) -> Self {
        Self { server_shift: shift.min(31), ..self }
    }

    /// The most values of one transaction that others can complete when its process is killed while it stores them; 1,024 by
    /// default. A larger transaction poisons the instance then.
    #[must_use]
    pub fn log_entries(self, entries: usize) -> Self {
        Self { log_entries: entries.clamp(1, MOST_LOG_ENTRIES as usize) as u32, ..self }
    }

    /// How participants wait for messages.
    #[must_use]
    pub fn wait(self, wait: Wait) -> Self {
        Self { wait, ..self }
    }

    /// An instance for the threads of this process.
    ///
    /// # Errors
    /// [`OpenError`] if the choices are impossible, or there is no memory.
    pub fn build(self) -> Result<Tm, OpenError> {
        let config = |form| Ok::<_, OpenError>(Config { log_entries: 0, ..self.config(form, Algorithm::Auto)? });
        let (form, choice) = self.settle()?;
        let config = config(form)?;
        let tm = Tm::among_threads(config, &seats::cpus(self.machine, &config))?;
        Ok(tm.chosen(choice))
    }

    /// An instance for processes that get a descriptor: see [`Tm::share`] and [`Tm::attach_fd`].
    ///
    /// # Errors
    /// [`OpenError`] if the choices are impossible, or there is no memory.
    pub fn create(self) -> Result<Tm, OpenError> {
        let (region, choice) = self.region()?;
        Ok(Tm::in_region(region, None)?.chosen(choice))
    }

    /// An instance for processes that find it by a name: see [`Tm::attach`].
    ///
    /// # Errors
    /// [`OpenError`] if the choices are impossible, there is no memory, or the name is taken.
    pub fn create_named(self, dir: &SocketDir, name: &str) -> Result<Tm, OpenError> {
        let (region, choice) = self.region()?;
        let hosted = rendezvous::host(dir, name, region.clone())?;
        Ok(Tm::in_region(region, Some(hosted))?.chosen(choice))
    }

    fn region(&self) -> Result<(SharedRegion, Option<Choice>), OpenError> {
        // Whatever form the machine prefers: the same program is refused everywhere.
        let refused = self.lock.filter(|&lock| self.form != Form::Messages && !BucketLocks::survives_its_holder(lock));
        if let Some(lock) = refused {
            return Err(OpenError::Lock(lock));
        }
        let (form, choice) = self.settle()?;
        let config = self.config(form, Algorithm::Word)?;
        let region = SharedRegion::memfd(&plan(&config)?)?;
        // Before anybody else can join.
        Memory::open(region.clone())?.place(&seats::cpus(self.machine, &config));
        Ok((region, choice))
    }

    /// The form that was named, or the one that is faster: by a race, among threads of this process also where participants will
    /// be processes.
    fn settle(&self) -> Result<(Form, Option<Choice>), OpenError> {
        if self.form != Form::Auto {
            return Ok((self.form, None));
        }
        if self.values == Values::AtServers {
            return Ok((Form::Messages, Some(Choice::without_alternative())));
        }
        if self.participants < 2 {
            return Ok((Form::Shared, Some(Choice::without_servers())));
        }
        let config = self.config(Form::Messages, self.lock.unwrap_or(Algorithm::Auto))?;
        let prediction = Prediction::of(&seats::placement(self.machine, &config)?);
        let outcome = race(&Config { log_entries: 0, ..config }, &seats::cpus(self.machine, &config))?;
        let choice = Choice::new(prediction, outcome);
        Ok((choice.form, Some(choice)))
    }

    /// The choices as all participants keep them.
    fn config(&self, form: Form, lock: Algorithm) -> Result<Config, OpenError> {
        let is_shared = form == Form::Shared;
        let least = if is_shared { 1 } else { 2 };
        let &Self { participants, .. } = self;
        if !(least..=MAX_PARTICIPANTS).contains(&participants) {
            return Err(OpenError::Participants(participants));
        }
        let every = self.every.unwrap_or(SERVERS_EVERY.min(participants.max(2)));
        if !is_shared && !(2..=participants).contains(&every) {
            return Err(OpenError::ServersEvery { every, participants });
        }
        if !(1..=MOST_VARIABLES as usize).contains(&self.variables) {
            return Err(OpenError::Variables(self.variables));
        }
        if is_shared && self.values == Values::AtServers {
            return Err(OpenError::Options("values at servers need servers: the shared form has none"));
        }
        let variables = self.variables as u32;
        Ok(Config {
            participants,
            every,
            manager: self.manager,
            values: self.values,
            writes: self.writes,
            is_batched: self.is_batched,
            is_shared,
            lock: self.lock.unwrap_or(lock),
            variables,
            buckets: variables.next_power_of_two().min(MOST_BUCKETS),
            log_entries: self.log_entries,
            server_shift: self.server_shift,
            wait: self.wait,
        })
    }
}
