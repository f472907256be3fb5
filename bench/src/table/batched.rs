//! Servers as those of `messages`, and clients that have several operations under way: those of a client that go to one server
//! are one message of two lines, up to seven of them, and so are the replies.
//!
//! A client draws as many operations as a batch has, sends each server its part, and waits for all replies. An operation that
//! fails is tried again in the next batch, with a new key.

use corecast::base::Clock;
use corecast::base::sync::{AtomicU64, Ordering};
use corecast::lock::table::Bucket;

use super::deal::{self, Deal, Home};
use super::draw::{Kind, Mix};
use super::guarded::{Stored, bucket_of};
use super::host::{Client, Host, Setting, Words, Work};
use super::messages::{Line, Reply, Selecting, perform};
use super::play::{Tally, words_of};
use super::serving::{Serving, with_servers};
use corecast_race::failure::Failure;

/// The most operations of a message: with the header two lines.
pub(super) const MOST: usize = 7;
/// The bits of a bucket's number, below those of the kind.
const BUCKET_BITS: u32 = 30;

/// An operation in a message.
#[derive(Debug, Default)]
struct Asked {
    key: u32,
    /// The kind, and below it the bucket among those of the server.
    place: u32,
    /// The buffer to be put in, or the one for the copy of a get.
    buffer: Stored,
}

#[derive(Debug, Default)]
struct Batch {
    asked: [Asked; MOST],
    count: u8,
}

#[derive(Debug, Default)]
struct Replies {
    buffers: [Stored; MOST],
    /// A bit for each operation that was done.
    done: u8,
}

const _: () =
    assert!(size_of::<Batch>() == 120 && size_of::<Replies>() == 64, "with the header they fit into two lines");

/// See the [module](self).
pub(super) struct Batched;

impl Host for Batched {
    fn servers(setting: &Setting<'_>) -> usize {
        deal::servers(setting)
    }

    fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure> {
        let deal = Deal::new(setting);
        let client = |servers: Vec<Line<Batch, Replies>>| BatchedClient {
            homes: &deal.homes,
            batch: setting.batch,
            parts: servers.iter().map(|_| Part::default()).collect(),
            servers,
            lent: Vec::new(),
            free: Vec::new(),
        };
        with_servers::<BatchServer, _>(setting, &deal, work, client)
    }
}

struct BatchServer(Selecting<Batch, Replies>);

impl Serving for BatchServer {
    type Line = Line<Batch, Replies>;

    fn new(setting: &Setting<'_>, owned: usize) -> Self {
        Self(Selecting::of(setting, owned))
    }

    fn connect(&mut self, setting: &Setting<'_>) -> Self::Line {
        self.0.line(setting)
    }

    fn serve(self) {
        self.0.answer_all(answer);
    }
}

fn answer(buckets: &mut [Bucket<Stored>], batch: Batch) -> Replies {
    let mut replies = Replies::default();
    for (at, Asked { key, place, buffer }) in batch.asked.into_iter().take(usize::from(batch.count)).enumerate() {
        let bucket = &mut buckets[(place & ((1 << BUCKET_BITS) - 1)) as usize];
        let Reply { is_done, buffer } = perform(bucket, Kind::of(place >> BUCKET_BITS), u64::from(key), buffer);
        replies.done |= u8::from(is_done) << at;
        replies.buffers[at] = buffer;
    }
    replies
}

/// One operation of a batch, and its result.
#[derive(Debug, Clone, Copy)]
struct Step {
    kind: Kind,
    key: u64,
    /// Before a put what is written, if anything is, and after a get what was there.
    words: Option<Words>,
    is_done: bool,
}

impl Step {
    fn new(kind: Kind, key: u64, words: Option<Words>) -> Self {
        Self { kind, key, words, is_done: false }
    }
}

/// The part of a batch that goes to one server.
#[derive(Debug, Default)]
struct Part {
    batch: Batch,
    /// The numbers of its operations in the batch.
    steps: [u8; MOST],
}

/// A client of all servers.
struct BatchedClient<'a> {
    homes: &'a [Home],
    batch: usize,
    servers: Vec<Line<Batch, Replies>>,
    /// By the number of the server.
    parts: Vec<Part>,
    /// Buffers for gets.
    lent: Vec<Stored>,
    /// Buffers that were removed or refused.
    free: Vec<Stored>,
}

impl BatchedClient<'_> {
    /// Has all of them done.
    fn exchange(&mut self, steps: &mut [Step]) {
        for (at, step) in steps.iter().enumerate() {
            let Home { server, bucket } = self.homes[bucket_of(step.key, self.homes.len())];
            let (key, place) = (step.key as u32, (step.kind as u32) << BUCKET_BITS | bucket);
            let buffer = self.buffer(step);
            let part = &mut self.parts[server];
            let next = usize::from(part.batch.count);
            part.batch.asked[next] = Asked { key, place, buffer };
            part.batch.count += 1;
            part.steps[next] = at as u8;
        }
        let mut sent = [(0, 0); MOST];
        let mut messages = 0;
        for (server, (part, line)) in self.parts.iter_mut().zip(&mut self.servers).enumerate() {
            if part.batch.count > 0 {
                sent[messages] = (server, usize::from(part.batch.count));
                messages += 1;
                line.requests.send(std::mem::take(&mut part.batch)).expect("a server outlives its clients");
            }
        }
        sent[..messages].iter().for_each(|&(server, count)| self.take_replies((server, count), steps));
    }

    /// The buffer that goes along with an operation.
    fn buffer(&mut self, step: &Step) -> Stored {
        match step.kind {
            Kind::Get => Some(self.lent.pop().flatten().unwrap_or_default()),
            Kind::Put => {
                let mut buffer = self.free.pop().flatten().unwrap_or_default();
                if let Some(words) = step.words {
                    buffer.0 = words;
                }
                Some(buffer)
            }
            Kind::Remove => None,
        }
    }

    fn take_replies(&mut self, (server, count): (usize, usize), steps: &mut [Step]) {
        let replies = self.servers[server].replies.recv().expect("a server replies to every request");
        for (at, buffer) in replies.buffers.into_iter().take(count).enumerate() {
            let step = &mut steps[usize::from(self.parts[server].steps[at])];
            step.is_done = replies.done >> at & 1 == 1;
            match (step.kind, buffer) {
                (_, None) => {}
                (Kind::Get, Some(buffer)) => {
                    step.words = step.is_done.then_some(buffer.0);
                    self.lent.push(Some(buffer));
                }
                (_, Some(buffer)) => self.free.push(Some(buffer)),
            }
        }
    }

    fn one(&mut self, step: Step) -> Step {
        let mut steps = [step];
        self.exchange(&mut steps);
        steps[0]
    }
}

impl Client for BatchedClient<'_> {
    fn get(&mut self, key: u64, into: &mut Words) -> bool {
        let Step { words, is_done, .. } = self.one(Step::new(Kind::Get, key, None));
        words.into_iter().for_each(|words| *into = words);
        is_done
    }

    fn put(&mut self, key: u64, words: Option<&Words>) -> bool {
        self.one(Step::new(Kind::Put, key, words.copied())).is_done
    }

    fn remove(&mut self, key: u64) -> bool {
        self.one(Step::new(Kind::Remove, key, None)).is_done
    }

    fn play(&mut self, writes_payload: bool, mut mix: Mix, over: &AtomicU64) -> Tally {
        let clock = Clock::get();
        let mut tally = Tally::starting(clock.ticks());
        let mut kinds: Vec<Kind> = (0..self.batch).map(|_| mix.kind()).collect();
        let mut steps = Vec::with_capacity(self.batch);
        // ORDERING: Relaxed, the flag publishes nothing but itself
        while over.load(Ordering::Relaxed) != 1 {
            steps.clear();
            steps.extend(kinds.iter().map(|&kind| {
                let key = mix.key();
                Step::new(kind, key, (writes_payload && matches!(kind, Kind::Put)).then(|| words_of(key)))
            }));
            let begin = tally.times_one_of(self.batch).then(|| clock.ticks_in_order());
            self.exchange(&mut steps);
            std::hint::black_box(&steps);
            if let Some(begin) = begin {
                tally.time(clock.ticks_in_order().saturating_sub(begin));
            }
            for (kind, step) in kinds.iter_mut().zip(&steps) {
                tally.count(*kind, step.is_done);
                if step.is_done {
                    *kind = mix.kind();
                }
            }
        }
        tally.ending(clock.ticks())
    }
}
