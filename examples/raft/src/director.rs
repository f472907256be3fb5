//! Starts the hosts, writes, kills the one that leads, and compares all replicas with what was acknowledged.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use corecast::base::sync::{AtomicUsize, Ordering};
use openraft::BasicNode;

use crate::Outcome;
use crate::client::Client;
use crate::hosts::{self, Host};
use crate::network::{Reply, Request};
use crate::state::digest;
use crate::voter::READERS;

const CLIENTS: usize = 4;
/// Replicas of a host: those of its voter and of its readers.
const REPLICAS: usize = READERS + 1;

/// The writes of a client.
struct Written {
    texts: BTreeMap<String, String>,
    /// The last entry of Raft's log that was acknowledged.
    last: u64,
    /// The longest time of a write.
    longest: Duration,
}

/// Everything, with this number of writes of each client.
pub(crate) fn direct(writes: usize) -> Outcome {
    let mut hosts = hosts::start()?;
    let addresses: Vec<SocketAddr> = hosts.iter().map(|host| host.address).collect();
    begin(&addresses)?;
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    println!("three hosts, {}, each with a voter and {} readers", names.join(", "), READERS);
    let begin = Instant::now();
    let written = write_and_kill(&addresses, &mut hosts, writes)?;
    let longest = written.iter().map(|written| written.longest).max().unwrap_or_default();
    let last = written.iter().map(|written| written.last).max().unwrap_or_default();
    let texts: BTreeMap<String, String> = written.into_iter().flat_map(|written| written.texts).collect();
    println!("{} writes acknowledged in {:.1?}; the longest took {longest:.1?}", texts.len(), begin.elapsed());
    ask_the_leader(&addresses, writes)?;
    compare(&mut hosts, last, &texts)
}

/// Names the voters to the first of them.
fn begin(addresses: &[SocketAddr]) -> Outcome {
    let node = |(place, address): (usize, &SocketAddr)| (place as u64 + 1, BasicNode::new(address));
    let voters = addresses.iter().enumerate().map(node).collect();
    match Client::new(addresses[..1].to_vec()).ask(&Request::Begin(voters))? {
        Reply::Text(_) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

/// All clients write. When half of the writes are acknowledged, the host that leads is killed.
fn write_and_kill(addresses: &[SocketAddr], hosts: &mut [Host], writes: usize) -> Outcome<Vec<Written>> {
    let acknowledged = AtomicUsize::new(0);
    thread::scope(|scope| {
        let acknowledged = &acknowledged;
        let write = |client: usize| scope.spawn(move || write(addresses, client, writes, acknowledged));
        let clients: Vec<_> = (0..CLIENTS).map(write).collect();
        let is_over = || clients.iter().all(thread::ScopedJoinHandle::is_finished);
        // ORDERING: Relaxed, as the number alone says when, and nothing else is read.
        while acknowledged.load(Ordering::Relaxed) < CLIENTS * writes / 2 && !is_over() {
            thread::sleep(Duration::from_millis(1));
        }
        let mut client = Client::new(addresses.to_vec());
        client.read("")?;
        let leader = &mut hosts[client.host()];
        leader.kill();
        // ORDERING: Relaxed, as above.
        println!("{} leads, and is killed after {} writes", leader.name, acknowledged.load(Ordering::Relaxed));
        clients.into_iter().map(|client| client.join().map_err(|_| "a client has panicked")?).collect()
    })
}

/// The writes of one client.
fn write(addresses: &[SocketAddr], client: usize, writes: usize, acknowledged: &AtomicUsize) -> Outcome<Written> {
    let mut hosts = Client::new(addresses.to_vec());
    let mut written = Written { texts: BTreeMap::new(), last: 0, longest: Duration::ZERO };
    for write in 0..writes {
        let (name, text) = (format!("client {client}, write {write}"), format!("text {}", write * CLIENTS + client));
        let begin = Instant::now();
        written.last = hosts.write(&name, &text)?;
        written.longest = written.longest.max(begin.elapsed());
        written.texts.insert(name, text);
        // ORDERING: Relaxed, as the number alone says when, and nothing else is read.
        acknowledged.fetch_add(1, Ordering::Relaxed);
    }
    Ok(written)
}

/// A read over all hosts shows the last write.
fn ask_the_leader(addresses: &[SocketAddr], writes: usize) -> Outcome {
    let (name, text) = (format!("client 0, write {}", writes - 1), format!("text {}", (writes - 1) * CLIENTS));
    let found = Client::new(addresses.to_vec()).read(&name)?;
    if found.as_deref() == Some(&*text) { Ok(()) } else { Err(format!("{name} is {found:?}, not {text}").into()) }
}

/// All replicas of the hosts that live have what was acknowledged, and nothing else.
fn compare(hosts: &mut [Host], last: u64, texts: &BTreeMap<String, String>) -> Outcome {
    let expected = format!("{} {:032x}", texts.len(), digest(texts));
    let mut is_equal = true;
    for host in hosts.iter_mut().filter(|host| host.lives) {
        for told in host.tell_of(last, REPLICAS)? {
            let (replica, told) = told.split_once(' ').ok_or("expected a state")?;
            is_equal &= told.starts_with(&expected);
            let words: Vec<&str> = told.split(' ').collect();
            let [count, sum] = words[..2] else { return Err("expected a number and a digest".into()) };
            let reads = match words[2..] {
                [reads, mean_ns] => format!(", {reads} local reads of {mean_ns} ns each"),
                _ => String::new(),
            };
            println!("{} {replica}: {count} texts, digest {}{reads}", host.name, &sum[..8]);
        }
    }
    println!("the replicas of the living hosts are {}", if is_equal { "equal, and have every write" } else { "wrong" });
    if is_equal { Ok(()) } else { Err(format!("expected {expected}").into()) }
}
