//! The work of a process of a table: a server runs until its clients have left, and a client does the blocks it is given.

use std::io::Stdin;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use corecast::base::CpuId;
use corecast::base::region::SharedRegion;
use corecast::machine::pin;
use fastrand::Rng;
use serde::{Deserialize, Serialize};

use super::super::deal::Deal;
use super::super::draw::Mix;
use super::super::host::{Seat, Setting};
use super::super::play::{fill, random, record, verify};
use super::super::section::Section;
use super::client::ProcessClient;
use super::memory::Memory;
use super::server::Server;
use corecast_race::child::{Answer, attend, hear, say, tell};
use corecast_race::failure::Failure;
use corecast_race::place::Place;

/// The first message to a process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Assignment {
    participant: usize,
    cpu: Option<u32>,
    buckets: usize,
    mean: usize,
    threads: usize,
    every: usize,
    zipf: Option<f64>,
    writes_payload: bool,
    wait: String,
    seed: u64,
}

impl Assignment {
    pub(super) fn new(setting: &Setting<'_>, participant: usize, cpu: Option<CpuId>) -> Self {
        let &Setting { buckets, mean, threads, every, zipf, writes_payload, wait, seed, .. } = setting;
        let (cpu, wait) = (cpu.map(CpuId::get), wait.name().to_owned());
        Self { participant, cpu, buckets, mean, threads, every, zipf, writes_payload, wait, seed }
    }

    fn setting(&self) -> Result<Setting<'static>, Failure> {
        let &Self { buckets, mean, threads, every, zipf, writes_payload, seed, .. } = self;
        Ok(Setting {
            buckets,
            mean,
            threads,
            cpus: std::borrow::Cow::Borrowed(&[]),
            machine: None,
            is_pinned: false,
            cluster: &[],
            every,
            batch: 1,
            zipf,
            writes_payload,
            // A server has no sections.
            section: Section { is_fenced: false },
            place: &Place::Threads,
            wait: self.wait.parse().map_err(Failure::refused)?,
            time: Duration::ZERO,
            seed,
            original: None,
            user: None,
        })
    }
}

/// The later messages to a client.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) enum Duty {
    /// Put its share in.
    Fill,
    /// The experiment, from the begin to the end of all.
    Play,
    /// The checks.
    Record,
    /// Look at what all have recorded.
    Verify,
}

/// The work of a process that is a server or a client of a table, as standard input tells. For the hidden subcommand of a
/// program that races tables.
///
/// # Errors
/// Why the process cannot go on; its parent has been told.
pub fn table_member() -> Result<(), Failure> {
    attend(serve)
}

fn serve(control: &Stdin) -> Result<(), Failure> {
    let Some((assignment, fds)) = hear::<Assignment>(control)? else { return Ok(()) };
    if let Some(cpu) = assignment.cpu {
        pin::pin(CpuId::new(cpu)).map_err(Failure::refused)?.forever();
    }
    let region = region(fds)?;
    let (setting, memory) = (assignment.setting()?, Memory::open(&region)?);
    let deal = Deal::new(&setting);
    let place = |of: &[usize]| of.iter().position(|&participant| participant == assignment.participant);
    if let Some(number) = place(&deal.servers) {
        let server = Server::open(&setting, &deal, number, (&region, &memory))?;
        say(control, &Answer::Ready)?;
        return server.serve();
    }
    let rank = place(&deal.clients).ok_or_else(|| Failure::Refused("nobody of this number".to_owned()))?;
    let client = ProcessClient::open(&setting, &deal, rank, (&region, &memory))?;
    let share = if rank == 0 { setting.initial() } else { 0 };
    let seat = Seat { client: Box::new(client), participant: assignment.participant, share };
    let random = random(&setting, assignment.participant);
    let mut member = Member { seat, setting: &setting, memory: &memory, random, mix: None };
    say(control, &Answer::Ready)?;
    while let Some((duty, _)) = hear(control)? {
        match catch_unwind(AssertUnwindSafe(|| member.perform(duty, control))) {
            Ok(done) => done?,
            Err(payload) => {
                return Err(payload.downcast::<Failure>().map_or_else(|other| resume_unwind(other), |it| *it));
            }
        }
    }
    Ok(())
}

fn region(mut fds: Vec<OwnedFd>) -> Result<SharedRegion, Failure> {
    let fd = fds.pop().ok_or_else(|| Failure::Refused("no region came along".to_owned()))?;
    SharedRegion::from_fd(fd).map_err(Failure::refused)
}

/// A client and what it works with.
struct Member<'a> {
    seat: Seat<'a>,
    setting: &'a Setting<'a>,
    memory: &'a Memory,
    random: Rng,
    /// The operations to come, once the table is filled.
    mix: Option<Mix>,
}

impl Member<'_> {
    fn perform(&mut self, duty: Duty, control: &Stdin) -> Result<(), Failure> {
        let Self { seat, setting, memory, random, mix } = self;
        match duty {
            Duty::Fill => {
                fill(seat, random, setting.keys(), |_| None);
                *mix = Some(Mix::new(random.clone(), setting.keys(), setting.zipf));
            }
            Duty::Play => {
                let mix = mix.take().ok_or_else(|| Failure::Refused("the table was not filled".to_owned()))?;
                memory.await_begin();
                let tally = seat.client.play(setting.writes_payload, mix, memory.over());
                return tell(control, &tally);
            }
            Duty::Record => {
                let nets = record(seat, setting, || ())?;
                (0..).zip(nets).for_each(|(key, net)| memory.add_net(key, net));
            }
            Duty::Verify => verify(&mut *seat.client, setting, &|key| memory.net(key))?,
        }
        say(control, &Answer::Ready)
    }
}
