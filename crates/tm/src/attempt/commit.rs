//! How the writes of an attempt become visible: all at once.

use corecast_base::wait::Spinner;

use super::state::{Attempt, Failed, Failure, Mode, Write};
use crate::access::Access;
use crate::crash_point;

impl Attempt {
    /// Ends an attempt whose closure is content. True if it committed.
    pub(crate) fn commit(&mut self) -> Result<(), Failed> {
        self.check()?;
        if self.writes.is_empty() {
            return if self.status().try_commit_reads(self.epoch) { Ok(()) } else { Err(self.aborted()) };
        }
        self.claim_all()?;
        self.log();
        if !self.status().try_persist(self.epoch) {
            return Err(self.aborted());
        }
        crash_point::here("persisting");
        self.store_all()?;
        crash_point::here("stored");
        self.status().commit(self.epoch);
        crash_point::here("committed");
        Ok(())
    }

    /// The write locks of all variables that were only buffered.
    #[inline]
    fn claim_all(&mut self) -> Result<(), Failed> {
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.clear();
        for (_, Write { lock, .. }) in self.writes.entries() {
            if !matches!(self.locks.get(*lock), Some(Mode::Write | Mode::ReadWrite)) && wanted.last() != Some(lock) {
                wanted.push(*lock);
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
            let mut spinner = Spinner::new();
            loop {
                self.check()?;
                let by = self.request();
                self.counts.requests += 1;
                let reply = self.access.store_group(by, group);
                if self.is_granted(reply, &mut spinner)? {
                    break;
                }
            }
            crash_point::here("claimed");
            group.iter().for_each(|&lock| self.note(lock, true));
            rest = later;
        }
        Ok(())
    }

    /// Writes down what is about to be stored, where this process may be killed in between.
    #[inline]
    fn log(&mut self) {
        if self.memory.is_among_processes() {
            let writes = self.writes.entries().iter().map(|&(word, Write { value, .. })| (word, value));
            self.memory.write_log(self.me, self.epoch, writes);
            crash_point::here("logged");
        }
    }

    #[inline]
    fn store_all(&mut self) -> Result<(), Failed> {
        if !self.are_values_here() {
            return self.send_all();
        }
        for &(word, Write { value, .. }) in self.writes.entries() {
            self.memory.store(word, value);
            crash_point::here("storing");
        }
        Ok(())
    }

    /// Sends the values to their servers. If one of those has died, the instance is poisoned.
    fn send_all(&mut self) -> Result<(), Failed> {
        self.outgoing.clear();
        let writes = self.writes.entries().iter().map(|&(word, Write { value, lock })| (word, value, lock));
        self.outgoing.extend(writes);
        let Access::Messages(client) = &mut self.access else { unreachable!("values at servers need messages") };
        let sent = client.put_all(self.epoch, &mut self.outgoing);
        sent.map_err(|error| self.fail(Failure::Fatal(error)))
    }
}
