//! How the writes of an attempt become visible: all at once.

use corecast_base::wait::Spinner;

use super::state::{Attempt, Failed, Failure, Touched};
use crate::access::Access;
use crate::crash_point;

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
        self.store_all()?;
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
            if !mode.is_write() && wanted.last() != Some(&lock) {
                wanted.push(lock);
            }
        }
        let claimed = if wanted.is_empty() { Ok(()) } else { self.claim_groups(&mut wanted) };
        self.wanted = wanted;
        claimed
    }

    fn claim_groups(&mut self, wanted: &mut [u32]) -> Result<(), Failed> {
        self.access.group(wanted);
        let mut rest = &*wanted;
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
        self.has_asked = true;
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

    #[inline]
    fn store_all(&mut self) -> Result<(), Failed> {
        if !self.are_values_here {
            return self.send_all();
        }
        for (word, touched) in self.writes() {
            self.memory.store(word, touched.value);
            crash_point::here("storing");
        }
        Ok(())
    }

    /// Sends the values to their servers. If one of those has died, the instance is poisoned.
    fn send_all(&mut self) -> Result<(), Failed> {
        let mut outgoing = std::mem::take(&mut self.outgoing);
        outgoing.clear();
        outgoing.extend(self.writes().map(|(word, touched)| (word, touched.value, touched.lock)));
        let Access::Messages(client) = &mut self.access else { unreachable!("values at servers need messages") };
        let sent = client.put_all(self.epoch, &mut outgoing);
        self.outgoing = outgoing;
        sent.map_err(|error| self.fail(Failure::Fatal(error)))
    }
}
