//! The clients of one store for as long as a situation lasts: threads of this process, or this thread and processes.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use corecast::machine::pin;

use super::contenders::Contender;
use super::host::{Address, Client, Host, Setting};
use super::load::Load;
use super::member::{Assignment, Duty, Use};
use super::play::{self, Block, Tally};
use corecast_race::child::Child;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;

/// The program that processes run, and its arguments.
pub(super) type Program = (PathBuf, Vec<String>);

/// A store with its clients.
pub(super) struct Crew {
    /// Leaves first: a group whose other members have been killed would wait for them.
    host: Box<dyn Host>,
    children: Vec<Child>,
    setting: Setting,
}

impl Crew {
    /// Clients that are threads.
    pub(super) fn threads(contender: &Contender, setting: &Setting) -> Result<Self, Failure> {
        Ok(Self { children: Vec::new(), host: contender.open(setting)?, setting: setting.clone() })
    }

    /// Clients of which the first is a thread of this process, and the others are processes.
    pub(super) fn processes(
        contender: &Contender,
        setting: &Setting,
        (program, arguments): &Program,
        abort: &Arc<Abort>,
    ) -> Result<Self, Failure> {
        let host = contender.open_shared(setting)?;
        let start = |rank: usize| {
            let entrance = host.entrance()?;
            let given = Use {
                contender: contender.name.to_owned(),
                rank,
                members: setting.members,
                clients: setting.clients,
                cpus: setting.cpus.iter().map(|cpu| cpu.get()).collect(),
                wait: setting.wait.name().to_owned(),
                address: Address { path: entrance.path },
            };
            let fds: Vec<_> = entrance.fd.into_iter().collect();
            let who = format!("the process of client {rank}");
            Child::start(who, (program, arguments), &Assignment::Use(given), &fds, abort)
        };
        let mut children = (1..setting.clients).map(start).collect::<Result<Vec<_>, _>>()?;
        children.iter_mut().try_for_each(Child::await_ready)?;
        Ok(Self { children, host, setting: setting.clone() })
    }

    /// Fills the store, and lets each client read all of it.
    pub(super) fn check(&mut self) -> Result<(), Failure> {
        if self.children.is_empty() {
            return play::check(&self.setting, &*self.host);
        }
        let clients = self.setting.clients;
        self.all(Duty::Fill, |client| play::fill(client, 0, clients).map(|()| Tally::default()))?;
        self.all(Duty::Verify, |client| play::verify(client).map(|()| Tally::default())).map(drop)
    }

    /// One timed block.
    pub(super) fn block(&mut self, load: &Load) -> Result<Block, Failure> {
        if self.children.is_empty() {
            return play::block(&self.setting, &*self.host, load);
        }
        let clients = self.setting.clients;
        let tallies = self.all(Duty::Play(*load), |client| client.play(load, 0, clients))?;
        Ok(Block::of(&tallies))
    }

    /// The same duty of all processes, and of this one, whose work is `own`.
    fn all(
        &mut self,
        duty: Duty,
        own: impl FnOnce(&mut dyn Client) -> Result<Tally, Failure> + Send,
    ) -> Result<Vec<Tally>, Failure> {
        let (host, cpu) = (&*self.host, self.setting.cpus[0]);
        let children = &mut self.children;
        thread::scope(|scope| {
            children.iter_mut().try_for_each(|child| child.tell(&duty, &[]))?;
            let first = scope.spawn(move || {
                let _pinned = pin::pin(cpu).map_err(Failure::refused)?;
                own(&mut *host.client(0)?)
            });
            let first = first.join().expect("no client panics");
            let others: Result<Vec<Tally>, Failure> = children.iter_mut().map(Child::await_told).collect();
            Ok([first?].into_iter().chain(others?).collect())
        })
    }
}
