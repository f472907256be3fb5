//! One line with many readers: the time from a write until the last of them has seen it.
//!
//! The CPU at position 0 writes a number, the readers poll the line, and each says on a line of its own that it has
//! seen it. The writer looks at all of those at once, so that the answers' lines come to it while it waits for the last
//! one. So a round trip is the write, its way to the last reader, and the way back of that reader's answer. No clock of
//! another CPU is read, so the way back is not seen: half of a round trip with the farthest reader alone is subtracted,
//! as both ways are the same then. Where the last to see it is a nearer one, the cost is too low by the difference; a
//! look at the answers that just missed one makes it too high by at most a miss.
//!
//! Tried and left: subtracting a bounce. On two cores of a Zen 5 a hand-over costs 28 ns while both write the one line,
//! and 50 ns where one only writes and the other only reads, as the writer has to take the line back each time.

use std::ops::RangeInclusive;
use std::sync::Arc;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering};

use super::crew::{Crew, Task};
use super::error::MeasureError;
use super::halt::Halted;
use super::meeting::Meeting;
use super::stats::median;
use super::visit::Batches;

/// The cost of one line that the CPUs at positions 1 to `readers` read, in nanoseconds; `farthest` is the one of them
/// that is farthest from the CPU at position 0.
pub(super) fn cost<'env>(
    crew: &Crew<'env>,
    batches: &'env Batches,
    readers: usize,
    farthest: usize,
) -> Result<f64, MeasureError> {
    let all_ns = round_trip_ns(crew, batches, 1..=readers)?;
    let alone_ns = if readers == 1 { all_ns } else { round_trip_ns(crew, batches, farthest..=farthest)? };
    // The way there is at least half, whatever a disturbance did to either measurement.
    Ok((all_ns - alone_ns / 2.0).max(all_ns / 2.0))
}

fn round_trip_ns<'env>(
    crew: &Crew<'env>,
    batches: &'env Batches,
    readers: RangeInclusive<usize>,
) -> Result<f64, MeasureError> {
    let line: Arc<ReadLine<'env>> = Arc::new(ReadLine::new(crew, readers.clone().count()));
    let writer: Task<'env, f64> = Box::new({
        let line = Arc::clone(&line);
        move || line.write_and_wait(batches)
    });
    let mut tasks = vec![(0, writer)];
    for (reader, position) in readers.enumerate() {
        let line = Arc::clone(&line);
        tasks.push((position, Box::new(move || line.read(reader, batches).map(|()| 0.0))));
    }
    Ok(crew.run(tasks)?[0])
}

/// A line that party 0 writes and the others read.
#[derive(Debug)]
struct ReadLine<'h> {
    meeting: Meeting<'h>,
    /// The number of the trip, from 1. Written by party 0, polled by the others.
    written: CacheLine<AtomicU64>,
    /// The last trip that a reader has seen. Each written by one reader, polled by party 0.
    seen: Box<[CacheLine<AtomicU64>]>,
}

impl<'h> ReadLine<'h> {
    fn new(crew: &Crew<'h>, readers: usize) -> Self {
        let seen = (0..readers).map(|_| CacheLine::default()).collect();
        Self { meeting: Meeting::new(readers + 1, crew.halt), written: CacheLine::default(), seen }
    }

    /// The writer's part: the time of a round trip in nanoseconds.
    fn write_and_wait(&self, batches: &Batches) -> Result<f64, Halted> {
        let mut trip = 0;
        let samples = self.meeting.seat(0).time(&batches.pace, |seat| {
            let start = batches.gauge.ticks();
            for _ in 0..batches.trips {
                trip += 1;
                // ORDERING: Release, pairs with the Acquire in read, as in a channel that would hand over data [read-line]
                self.written.store(trip, Ordering::Release);
                seat.halt.until(|| self.have_all_seen(trip).then_some(()))?;
            }
            Ok(batches.gauge.ns_since(start) / batches.trips as f64)
        })?;
        Ok(median(&samples).max(0.0))
    }

    /// Looks at every line, also after one that says no: their misses are to overlap.
    #[inline(always)]
    fn have_all_seen(&self, trip: u64) -> bool {
        self.seen.iter().fold(true, |all, seen| {
            // ORDERING: Acquire, pairs with the Release in read: the line may be written again [read-answer]
            all & (seen.load(Ordering::Acquire) == trip)
        })
    }

    /// The part of a reader, from 0.
    fn read(&self, reader: usize, batches: &Batches) -> Result<(), Halted> {
        let mut trip = 0;
        self.meeting.seat(reader + 1).accompany(|seat| {
            for _ in 0..batches.trips {
                trip += 1;
                seat.halt.until(|| {
                    // ORDERING: Acquire, pairs with the Release in write_and_wait [read-line]
                    (self.written.load(Ordering::Acquire) == trip).then_some(())
                })?;
                // ORDERING: Release, pairs with the Acquire in have_all_seen [read-answer]
                self.seen[reader].store(trip, Ordering::Release);
            }
            Ok(())
        })
    }
}
