//! The forms of corecast's transactional memory that are raced.

use corecast::tm::structures::Search;
use corecast::tm::{Builder, Form, Manager, Tm, Values, Writes};

use super::bank::ACCOUNTS;
use super::host::Setting;
use super::queue::CHECKED;
use super::steps::VARIABLES;
use super::workload::Work;
use corecast_race::failure::Failure;

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) form: Form,
    pub(super) manager: Manager,
    pub(super) values: Values,
    pub(super) writes: Writes,
    /// Whether a commit claims many variables by one message.
    pub(super) is_batched: bool,
    /// The locks that searches of sets take on their way.
    pub(super) search: Search,
}

impl Variant {
    pub(super) const fn of(form: Form, manager: Manager) -> Self {
        Self { form, manager, values: Values::InMemory, writes: Writes::Lazy, is_batched: true, search: Search::Plain }
    }

    /// The share of servers where the setting's would be more than all participants.
    pub(super) fn every(setting: &Setting<'_>) -> usize {
        setting.every.clamp(2, setting.participants.max(2))
    }

    /// A new instance for this workload, for threads.
    pub(super) fn open(self, setting: &Setting<'_>) -> Result<Tm, Failure> {
        self.builder(setting).build().map_err(Failure::refused)
    }

    /// A new instance for this workload, for processes.
    pub(super) fn open_among_processes(self, setting: &Setting<'_>) -> Result<Tm, Failure> {
        self.builder(setting).create().map_err(Failure::refused)
    }

    fn builder<'a>(self, setting: &Setting<'a>) -> Builder<'a> {
        let builder = Tm::builder(setting.machine)
            .participants(setting.participants)
            .manager(self.manager)
            .values(self.values)
            .writes(self.writes)
            .batched(self.is_batched)
            .form(self.form)
            .variables(variables(setting))
            .wait(setting.wait);
        let is_served = self.form != Form::Shared && setting.participants > 1;
        if is_served { builder.servers_every(Self::every(setting)) } else { builder }
    }
}

/// Enough for the workload: a node of a set, and the head of a bucket, have four words.
fn variables(setting: &Setting<'_>) -> usize {
    let set = setting.work.set().map_or(0, |set| 4 * set.range() as usize + 5 * set.buckets());
    let most = match setting.work {
        Work::Bank(_) => ACCOUNTS,
        Work::Table(_) | Work::List(_) => set,
        // A node of the map has eight words; a value in the queue has two, and a client of the check puts in some hundreds.
        Work::Map(_) => 2 * set,
        Work::Queue => 2 * CHECKED * setting.participants,
        Work::MapReduce | Work::Writes | Work::Mp => VARIABLES,
    };
    2 * most + 1024
}
