//! `corecast kv bench`: load on a store from many clients.

use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::store_arg::StoreArg;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::kv::client::{Client, ClientError};
use crate::output::Output;
use crate::{bytes_arg, number_arg};

/// The most bytes of values that one client has under way: a server lets 64 MiB of requests wait, and a client that sends more
/// before it reads a reply would wait for ever.
const CLIENT_BYTES: usize = 48 << 20;
/// The same of all clients, which this process keeps in memory.
const ALL_BYTES: usize = 1 << 30;

/// Options of `kv bench`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreArg,
    /// Use N clients, each with a connection and a thread of its own.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = number_arg::within::<usize>(1..=1000))]
    clients: usize,
    /// Send N requests before the first reply is awaited.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = number_arg::within::<usize>(1..=10_000))]
    pipeline: usize,
    /// Of 100 requests this many are gets, the others sets.
    #[arg(long, value_name = "PERCENT", default_value_t = 80, value_parser = number_arg::within::<u64>(0..=100))]
    gets: u64,
    /// Use N different keys, `bench:0` and so on, which stay in the store.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = number_arg::within::<u64>(1..=1_000_000_000))]
    keys: u64,
    /// Set values of this many bytes.
    #[arg(long, value_name = "BYTES", default_value = "16", value_parser = bytes_arg::within(0..=16 << 20))]
    bytes: usize,
    /// Go on for S seconds.
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = number_arg::within::<u64>(1..=3600))]
    seconds: u64,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Load {
    clients: usize,
    pipeline: usize,
    gets_percent: u64,
    value_bytes: usize,
    requests: u64,
    requests_per_s: f64,
    /// From the first request of a pipeline to its last reply, in microseconds.
    median_us: f64,
    p99_us: f64,
    longest_us: f64,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    arguments.check()?;
    let interrupt = Interrupt::watch()?;
    let path = arguments.store.path()?;
    let clients: Result<Vec<Client>, ClientError> = (0..arguments.clients).map(|_| Client::connect(&path)).collect();
    let (times, took) = arguments.load(clients?, &interrupt)?;
    interrupt.check()?;
    let result = arguments.summarise(times, took);
    if output.is_json() { output.json(&result) } else { output.text(&text_of(&result, &path)) }
}

impl Arguments {
    /// Checks what the reader of the command line cannot know.
    fn check(&self) -> Result<(), Failure> {
        let of_client = self.pipeline * self.bytes;
        let of_all = self.clients * of_client;
        if of_client <= CLIENT_BYTES && of_all <= ALL_BYTES {
            return Ok(());
        }
        Err(Failure::input(format!(
            "--pipeline {} --bytes {}: values of {of_client} bytes at once for each client, {of_all} for all; expected at most {} MiB and \
             {} MiB",
            self.pipeline,
            self.bytes,
            CLIENT_BYTES >> 20,
            ALL_BYTES >> 20
        )))
    }

    /// The time of every pipeline, and of all of it.
    fn load(&self, clients: Vec<Client>, interrupt: &Interrupt) -> Result<(Vec<Duration>, Duration), Failure> {
        let start = Barrier::new(clients.len() + 1);
        thread::scope(|scope| {
            let start = &start;
            let play = |(number, client)| {
                scope.spawn(move || {
                    start.wait();
                    self.play(client, number, interrupt)
                })
            };
            let clients: Vec<_> = clients.into_iter().enumerate().map(play).collect();
            start.wait();
            let begun = Instant::now();
            let mut times = Vec::new();
            for client in clients {
                times.extend(client.join().expect("a client does not panic")?);
            }
            Ok((times, begun.elapsed()))
        })
    }

    /// The times of one client.
    fn play(&self, mut client: Client, number: usize, interrupt: &Interrupt) -> Result<Vec<Duration>, ClientError> {
        let (mut random, value) = (number as u64, vec![b'x'; self.bytes]);
        let (begun, longest, mut times) = (Instant::now(), Duration::from_secs(self.seconds), Vec::new());
        while begun.elapsed() < longest && !interrupt.is_raised() {
            for _ in 0..self.pipeline {
                let key = format!("bench:{}", next(&mut random) % self.keys);
                if next(&mut random) % 100 < self.gets {
                    client.add(&[b"GET", key.as_bytes()]);
                } else {
                    client.add(&[b"SET", key.as_bytes(), &value]);
                }
            }
            let sent = Instant::now();
            client.flush()?;
            for _ in 0..self.pipeline {
                client.reply()?;
            }
            times.push(sent.elapsed());
        }
        Ok(times)
    }

    fn summarise(&self, mut times: Vec<Duration>, took: Duration) -> Load {
        times.sort_unstable();
        let at = |share: f64| {
            let place = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
            times.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
        };
        let requests = times.len() as u64 * self.pipeline as u64;
        Load {
            clients: self.clients,
            pipeline: self.pipeline,
            gets_percent: self.gets,
            value_bytes: self.bytes,
            requests,
            requests_per_s: requests as f64 / took.as_secs_f64(),
            median_us: at(0.5),
            p99_us: at(0.99),
            longest_us: at(1.0),
        }
    }
}

/// The generator of Steele, Lea and Flood (SplitMix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

fn text_of(result: &Load, path: &Path) -> String {
    let Load { clients, pipeline, gets_percent, value_bytes, requests, .. } = result;
    format!(
        "{requests} requests to {}: {:.0} per second\n{clients} clients, {pipeline} requests at once, {gets_percent} % gets, \
         values of {value_bytes} bytes\nfrom the first request to the last reply: median {:.0} us, p99 {:.0} us, longest {:.0} us\n",
        path.display(),
        result.requests_per_s,
        result.median_us,
        result.p99_us,
        result.longest_us
    )
}
