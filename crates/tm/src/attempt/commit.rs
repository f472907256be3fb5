//! How the writes of an attempt become visible: all at once.

use corecast_base::wait::Spinner;

use super::state::{Attempt, Failed, Touched};
use crate::access::Access;
use crate::crash_point;
use crate::error::RunError;

impl Attempt {
    /// Ends an attempt whose closure is content. True if it committed.
    pub(crate) fn commit(&mut self) -> Result<(), Failed> {
        self.check()?;
        if self.written == 0 {
            return if self.status().try_commit_reads(self.epoch) { Ok(()) } else { Err(self.aborted()) };
        }
        if self.is_unclaimed {
            self.claim_all()?;
        }
        self.log();
        if !self.status().try_persist(self.epoch) {
            return Err(self.aborted());
        }
        crash_point::here("persisting");
        self.store_all();
        crash_point::here("stored");
        self.release_stored();
        self.status().commit(self.epoch);
        crash_point::here("committed");
        Ok(())
    }

    /// The words that are written.
    #[inline]
    fn writes(&self) -> impl Iterator<Item = (u32, &Touched)> {
        let writes = self.touched.entries().iter().filter(|(_, touched)| touched.is_written);
        writes.map(|(word, touched)| (*word, touched))
    }

    /// The write locks of all variables that were only buffered.
    fn claim_all(&mut self) -> Result<(), Failed> {
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.clear();
        for (word, &Touched { lock, mode, .. }) in self.writes() {
            let mode = if word == lock { mode } else { self.mode(lock) };
            if !mode.is_write() {
                wanted.push(lock);
            }
        }
        let claimed = if wanted.is_empty() { Ok(()) } else { self.claim_groups(&mut wanted) };
        self.wanted = wanted;
        claimed
    }

    fn claim_groups(&mut self, wanted: &mut Vec<u32>) -> Result<(), Failed> {
        self.access.group(wanted);
        // A block is written word by word.
        wanted.dedup();
        let mut rest = &wanted[..];
        while !rest.is_empty() {
            let (group, later) = rest.split_at(self.access.group_len(rest, self.memory.config.is_batched));
            self.check()?;
            if self.access.try_take(group[0], true) {
                self.counts.requests += 1;
            } else {
                self.claim_group(group)?;
            }
            crash_point::here("claimed");
            group.iter().for_each(|&lock| self.note(lock, true));
            rest = later;
        }
        Ok(())
    }

    /// Asks for write locks until the answer is final.
    fn claim_group(&mut self, group: &[u32]) -> Result<(), Failed> {
        self.has_met |= self.access.asks_for_held_only();
        let mut spinner = Spinner::new();
        loop {
            let by = self.request();
            self.counts.requests += 1;
            let reply = self.access.store_group(by, group);
            if self.is_granted(reply, &mut spinner)? {
                return Ok(());
            }
            self.check()?;
        }
    }

    /// In the shared form, gives all locks back before the status ends the attempt: while it persists nobody takes them away, so
    /// that stores will do. By messages the status alone ends them.
    #[inline]
    fn release_stored(&mut self) {
        let Access::Shared(client) = &self.access else { return };
        if self.memory.is_among_processes() {
            // Others may write these variables from now on: what is in the log must not be stored once more.
            self.memory.log(self.me).clear(self.epoch);
        }
        for (lock, Touched { mode, .. }) in self.touched.entries() {
            if mode.is_held() {
                client.release_stored(*lock, mode.is_write());
                crash_point::here("leaving");
            }
        }
        self.has_left = true;
    }

    /// Writes down what is about to be stored, where this process may be killed in between.
    #[inline]
    fn log(&mut self) {
        if self.memory.is_among_processes() {
            let writes = self.writes().map(|(word, touched)| (word, touched.value));
            self.memory.log(self.me).write(self.epoch, self.written, writes);
            crash_point::here("logged");
        }
    }

    /// Stores the values, which nothing undoes any more: where a server has ended with a part of them, this participant stores
    /// all of them in its place, as another one does for it if it dies. A server that is late stores the same before it grants
    /// their locks to others.
    #[inline]
    fn store_all(&mut self) {
        if !self.are_values_here && self.send_all().is_ok() {
            return;
        }
        for (word, touched) in self.writes() {
            self.memory.store(word, touched.value);
            crash_point::here("storing");
        }
    }

    /// Sends the values to their servers. The next request tells of a server that has ended.
    fn send_all(&mut self) -> Result<(), RunError> {
        let mut outgoing = std::mem::take(&mut self.outgoing);
        outgoing.clear();
        outgoing.extend(self.writes().map(|(word, touched)| (word, touched.value, touched.lock)));
        let Access::Messages(client) = &mut self.access else { unreachable!("values at servers need messages") };
        let sent = client.put_all(self.epoch, &mut outgoing);
        self.outgoing = outgoing;
        sent
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use corecast_base::region::SharedRegion;
    use corecast_base::wait::Wait;
    use corecast_lock::Algorithm;

    use super::*;
    use crate::config::{Config, Values, Writes};
    use crate::conflicts::Manager;
    use crate::messages::{Links, MessageClient, Server};
    use crate::plan::plan;
    use crate::region::Memory;
    use crate::status::{ClientId, State};

    /// Participants 0 and 2 are servers, and have the values.
    const CONFIG: Config = Config {
        participants: 3,
        every: 2,
        manager: Manager::FairCm,
        values: Values::AtServers,
        writes: Writes::Lazy,
        is_batched: true,
        is_shared: false,
        lock: Algorithm::Word,
        variables: 16,
        buckets: 16,
        log_entries: 0,
        server_shift: 0,
        wait: Wait::Adaptive,
    };

    /// Participants 0 and 2 serve, and 1 is the client.
    fn instance() -> (Arc<Memory>, [Server; 2], Attempt) {
        let region = SharedRegion::heap(&plan(&CONFIG).expect("a plan")).expect("memory");
        let memory = Arc::new(Memory::open(region).expect("an instance"));
        let links = Links::threads(&CONFIG);
        let servers = [0, 1].map(|number| Server::new(Arc::clone(&memory), &links, number).expect("it is free"));
        let client = MessageClient::new(Arc::clone(&memory), &links, 0).expect("it is free");
        let attempt = Attempt::new(Arc::clone(&memory), ClientId(1), Access::Messages(client));
        (memory, servers, attempt)
    }

    /// A client asks for every lock, and times one of 16 attempts all the same.
    #[test]
    fn a_server_that_is_asked_is_nobody_in_the_way() {
        let (memory, servers, mut attempt) = instance();
        let mut transfer = || {
            let is_timed = attempt.contention.wants_time(true);
            attempt.begin(true).expect("nobody died");
            let done = attempt.claim(0, 1).and_then(|_| attempt.write(0, 0, 7, 1)).and_then(|()| attempt.commit());
            attempt.finish();
            (is_timed, done.is_ok())
        };
        let found = thread::scope(|scope| {
            servers.into_iter().for_each(|server| drop(scope.spawn(|| server.serve())));
            let found = [(); 3].map(|()| transfer());
            memory.stop();
            found
        });
        assert_eq!(found, [(true, true), (false, true), (false, true)]);
    }

    /// The second server never answers.
    #[test]
    fn a_commit_is_finished_where_a_server_ends_amid_it() {
        let (memory, [first, _silent], mut attempt) = instance();
        let vars = [0, 1].map(|server| (0..16).find(|&var| CONFIG.server_of(var, 2) == server).expect("a share"));
        attempt.begin(true).expect("nobody died");
        for var in vars {
            attempt.note(var, true);
            attempt.write(var, var, 7, 1).expect("it runs");
        }
        thread::scope(|scope| {
            scope.spawn(|| first.serve());
            let committing = scope.spawn(|| attempt.commit().is_ok());
            while memory.load(vars[0]) != 7 {
                thread::yield_now();
            }
            memory.stop();
            assert!(committing.join().expect("no panic"), "one server has stored its value");
        });
        assert_eq!(vars.map(|var| memory.load(var)), [7, 7]);
        assert_eq!(memory.status(ClientId(1)).read(), (1, State::Committed));
    }
}
