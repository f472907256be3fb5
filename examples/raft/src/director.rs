//! Starts the hosts, writes while one of them stands still, kills the one that leads, and compares all replicas with what was
//! acknowledged.

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

/// All clients write. One host stands still until half of the writes are acknowledged, and by then needs a snapshot; after three
/// quarters, the host that leads is killed.
fn write_and_kill(addresses: &[SocketAddr], hosts: &mut [Host], writes: usize) -> Outcome<Vec<Written>> {
    let acknowledged = AtomicUsize::new(0);
    let still = (leader(addresses)? + 1) % hosts.len();
    hosts[still].stop();
    thread::scope(|scope| {
        let acknowledged = &acknowledged;
        let write = |client: usize| scope.spawn(move || write(addresses, client, writes, acknowledged));
        let clients: Vec<_> = (0..CLIENTS).map(write).collect();
        let is_over = || clients.iter().all(thread::ScopedJoinHandle::is_finished);
        // ORDERING: Relaxed, as the number alone says when, and nothing else is read.
        let count = || acknowledged.load(Ordering::Relaxed);
        let wait_for = |number: usize| {
            while count() < number && !is_over() {
                thread::sleep(Duration::from_millis(1));
            }
        };
        wait_for(CLIENTS * writes / 2);
        println!("{} stood still for {} writes", hosts[still].name, count());
        hosts[still].go_on();
        wait_for(CLIENTS * writes * 3 / 4);
        let leader = leader(addresses).map(|leader| &mut hosts[leader])?;
        leader.kill();
        println!("{} leads, and is killed after {} writes", leader.name, count());
        clients.into_iter().map(|client| client.join().map_err(|_| "a client has panicked")?).collect()
    })
}

/// The host that leads, from 0.
fn leader(addresses: &[SocketAddr]) -> Outcome<usize> {
    let mut client = Client::new(addresses.to_vec());
    client.read("")?;
    Ok(client.host())
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
    let (mut is_equal, mut all_installed) = (true, 0);
    for host in hosts.iter_mut().filter(|host| host.lives) {
        for told in host.tell_of(last, REPLICAS)? {
            let (replica, told) = told.split_once(' ').ok_or("expected a state")?;
            is_equal &= told.starts_with(&expected);
            let words: Vec<&str> = told.split(' ').collect();
            let [count, sum] = words[..2] else { return Err("expected a number and a digest".into()) };
            let [first, second] = words[2..] else { return Err("expected two more numbers".into()) };
            let about = match replica {
                "voter" => {
                    all_installed += second.parse::<u64>()?;
                    format!("{first} snapshots made and {second} installed")
                }
                _ => format!("{first} local reads of {second} ns each"),
            };
            println!("{} {replica}: {count} texts, digest {}, {about}", host.name, &sum[..8]);
        }
    }
    println!("the replicas of the living hosts are {}", if is_equal { "equal, and have every write" } else { "wrong" });
    match (is_equal, all_installed) {
        (false, _) => Err(format!("expected {expected}").into()),
        (true, 0) => Err("the host that stood still was to get a snapshot".into()),
        (true, _) => Ok(()),
    }
}
