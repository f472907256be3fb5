//! Messages on the two published machines, against figures 9 and 10 of David, Guerraoui and Trigonakis (SOSP 2013), in cycles.
//!
//! Their channel is one line with a flag, which the receiver clears; the sender fetches it for writing at once. Ours have rings of
//! lines. So the gate (0.7 to 1.4, order exact) is held by a channel like theirs, written here; those of ours are compared with
//! it as far as they are alike.

use std::cell::Cell;
use std::rc::Rc;

use corecast_sim::machine::{Machine, Run, Thread, Ticks, Word, published};
use corecast_sim::{Channel, MessageTimes, Pair, Server, SimError, messages, pairs_by_distance, server};

/// A machine with the published times of a message, one way and there and back, by distance.
struct Published {
    machine: Machine,
    cycles_per_ns: f64,
    times: &'static [[f64; 2]],
}

fn published_times() -> [Published; 2] {
    [
        Published {
            machine: published::opteron_4x12(),
            cycles_per_ns: 2.1,
            times: &[[262.0, 519.0], [472.0, 887.0], [506.0, 959.0], [660.0, 1567.0]],
        },
        Published {
            machine: published::xeon_8x10(),
            cycles_per_ns: 2.13,
            times: &[[214.0, 564.0], [914.0, 1968.0], [1167.0, 2660.0]],
        },
    ]
}

impl Published {
    /// The ratios of these simulated times, in nanoseconds by distance, to the published ones.
    fn ratios(&self, simulated: impl Fn((usize, usize)) -> [f64; 2]) -> Vec<[f64; 2]> {
        let ratio = |(pair, published): ((usize, usize), &[f64; 2])| {
            let simulated = simulated(pair);
            [0, 1].map(|trip| simulated[trip] * self.cycles_per_ns / published[trip])
        };
        pairs_by_distance(&self.machine).into_iter().zip(self.times).map(ratio).collect()
    }

    fn of_channel(&self, channel: Channel) -> Vec<[f64; 2]> {
        self.ratios(|(sender, receiver)| {
            let times = times(&self.machine, channel, Pair { sender, receiver, ..Pair::default() });
            [times.one_way_ns, times.round_trip_ns]
        })
    }
}

fn times(machine: &Machine, channel: Channel, pair: Pair) -> MessageTimes {
    messages(machine, channel, pair).unwrap_or_else(|error| panic!("{}: {error}", channel.name()))
}

/// A line with a flag, as libssmp has one in each direction.
#[derive(Clone, Copy)]
struct OneLine(Word);

#[repr(align(64))]
struct Line(u64);

impl OneLine {
    fn new() -> Self {
        let line = Box::leak(Box::new(Line(0)));
        // SAFETY: never freed, and threads of one run alone use it.
        Self(unsafe { Word::of(&raw mut line.0) })
    }

    fn send(self, me: &Thread) {
        // Fetches the line for writing.
        while me.update(self.0, |_| None) != 0 {
            me.pause();
        }
        me.store(self.0, 1);
    }

    fn recv(self, me: &Thread) {
        while me.load(self.0) == 0 {
            me.pause();
        }
        me.store(self.0, 0);
    }
}

const MESSAGES: u64 = 200;

/// Nanoseconds for a message of a stream, and for one there and back.
fn one_line(machine: &Machine, (sender, receiver): (usize, usize)) -> [f64; 2] {
    [false, true].map(|is_answered| {
        let (there, back, end) = (OneLine::new(), OneLine::new(), Rc::new(Cell::new(0)));
        let mut run = Run::new(machine);
        let last: Rc<Cell<Ticks>> = Rc::clone(&end);
        let ask = move |me: &Thread| {
            for _ in 0..MESSAGES {
                there.send(me);
                if is_answered {
                    back.recv(me);
                }
            }
            last.set(last.get().max(me.now()));
        };
        let last = Rc::clone(&end);
        let serve = move |me: &Thread| {
            for _ in 0..MESSAGES {
                there.recv(me);
                if is_answered {
                    back.send(me);
                }
            }
            last.set(last.get().max(me.now()));
        };
        run.spawn(sender, 0, ask).expect("there is memory");
        run.spawn(receiver, 0, serve).expect("there is memory");
        run.finish(machine.ticks(1_000_000)).expect("it ends");
        machine.ns(end.get()) / MESSAGES as f64
    })
}

#[test]
fn look() {
    for published in published_times() {
        println!(
            "{} one line {:.2?}",
            published.machine.name(),
            published.ratios(|pair| one_line(&published.machine, pair))
        );
        for &channel in Channel::ALL {
            println!("{} {} {:.2?}", published.machine.name(), channel.name(), published.of_channel(channel));
        }
    }
}
