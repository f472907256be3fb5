//! The steps in which slices go from one to all and from all to one: first their length, then part after part.
//!
//! Short slices travel in messages of the edges, long ones in [`chunks`](crate::chunks). A member passes a part on before
//! it receives the next, so all levels of a tree work at once, whatever the length. The way follows from the length, on
//! which all agree before the first part.

use corecast_channel::{Plain, zeroed};

use crate::chunks::{CHUNK_BYTES, Chunks};
use crate::core::Core;
use crate::error::{Error, Loss};
use crate::web::{LONGEST_MESSAGE, Link, Web};

/// Slices of this many bytes and more travel in chunks.
const LONG_BYTES: usize = if cfg!(loom) { 16 } else { 2048 };

/// The bytes of another member's values that are copied from a chunk at a time to be combined. With 504, which is too few
/// for the processor's copy instruction, a reduction of 256 KiB between two members took 1.85 times as long.
const PIECE_BYTES: usize = 8 << 10;

/// The number of values that follow, and the number of the first of their chunks, if they travel in chunks. It is an array,
/// as no part of a slice and hardly any user's value is one.
type Length = [u64; 2];

/// The progress of a slice at one member: its length and then its parts.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Steps done: the length, and each part.
    steps: usize,
    /// Links received from, or skipped, in the current step.
    received: usize,
    /// Links sent along, or skipped, in the current step.
    sent: usize,
}

impl Progress {
    /// Goes on with the next step.
    fn advance(&mut self) {
        *self = Self { steps: self.steps + 1, ..Self::default() };
    }
}

/// The progress of a reduction of a slice at one member.
#[derive(Debug)]
pub(crate) struct Reduction<T> {
    progress: Progress,
    /// Room for some of a neighbour's values.
    theirs: Vec<T>,
}

impl<T> Default for Reduction<T> {
    fn default() -> Self {
        Self { progress: Progress::default(), theirs: Vec::new() }
    }
}

/// Copies the root's `values` to all. If a wait ends at a limit, another call goes on where it ended.
pub(crate) fn broadcast<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    root: usize,
    values: &mut [T],
    progress: &mut Progress,
) -> Result<(), Error> {
    let source = web.towards(root);
    loop {
        let mut ways = Ways::of(core, web, values, progress.steps)?;
        if progress.steps == ways.steps::<T>() {
            return Ok(());
        }
        let mut part = ways.part_of(values, progress.steps);
        if let Some(source) = source.filter(|_| progress.received == 0) {
            ways.recv(core, source, part.as_deref_mut())?;
            progress.received = 1;
        }
        ways.send(core, part.as_deref(), |link| Some(link) != source, &mut progress.sent)?;
        progress.advance();
    }
}

/// Combines all members' values in those of the root. If a wait ends at a limit, another call goes on where it ended.
pub(crate) fn reduce<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    root: usize,
    values: &mut [T],
    reduction: &mut Reduction<T>,
    mut combine: impl FnMut(T, T) -> T,
) -> Result<(), Error> {
    reduce_runs(core, web, root, (values, 1), reduction, |own, theirs| {
        own.iter_mut().zip(theirs).for_each(|(own, their)| *own = combine(*own, *their));
    })
}

/// The same for values in runs of equal length that stay together: `each` gets whole runs of the own ones, and the values
/// received for them. A run fits into one message.
pub(crate) fn reduce_runs<T: Plain>(
    core: &mut Core,
    web: &mut Web,
    root: usize,
    (values, run): (&mut [T], usize),
    Reduction { progress, theirs }: &mut Reduction<T>,
    mut each: impl FnMut(&mut [T], &[T]),
) -> Result<(), Error> {
    let sink = web.towards(root);
    theirs.resize(whole_runs(piece_len::<T>(), run).min(values.len()), zeroed());
    loop {
        let mut ways = Ways { run, ..Ways::of(core, web, values, progress.steps)? };
        if progress.steps == ways.steps::<T>() {
            return Ok(());
        }
        let mut part = ways.part_of(values, progress.steps);
        while progress.received < ways.links.len() {
            if Some(progress.received) != sink {
                ways.combine(core, progress.received, part.as_deref_mut(), theirs, &mut each)?;
            }
            progress.received += 1;
        }
        ways.send(core, part.as_deref(), |link| Some(link) == sink, &mut progress.sent)?;
        progress.advance();
    }
}

/// The largest number of these values that is a number of whole runs.
fn whole_runs(values: usize, run: usize) -> usize {
    values - values % run
}

/// The way of a slice: messages of the edges, or chunks beside them.
struct Ways<'a> {
    links: &'a mut [Link],
    chunks: Option<&'a mut Chunks>,
    /// The number of values.
    len: usize,
    /// True if the values travel in chunks.
    is_long: bool,
    /// The values that stay together.
    run: usize,
}

impl<'a> Ways<'a> {
    /// The way of a step. The first long slice lays out the chunks, at all members alike: after its length is agreed on.
    fn of<T>(core: &mut Core, web: &'a mut Web, values: &[T], step: usize) -> Result<Self, Error> {
        let is_long = size_of_val(values) >= LONG_BYTES && size_of::<T>() <= CHUNK_BYTES;
        if is_long && step > 0 && web.chunks.is_none() {
            let (web, rank) = (&mut *web, core.rank);
            web.chunks = core.lay_out(|arena| Chunks::lay_out(web, rank, arena))?.map(Box::new);
        }
        let chunks = web.chunks.as_deref_mut();
        Ok(Self { is_long: is_long && chunks.is_some(), links: &mut web.links, chunks, len: values.len(), run: 1 })
    }

    /// The way of a slice that travels in chunks.
    fn chunks(&mut self) -> &mut Chunks {
        self.chunks.as_mut().expect("a slice travels in chunks where there are some")
    }

    /// The values of a part.
    fn part_len<T>(&self) -> usize {
        whole_runs(if self.is_long { CHUNK_BYTES / size_of::<T>() } else { part_len::<T>() }, self.run)
    }

    /// The steps before the values: one for the length; and for chunks, which carry no type, one for a message of no
    /// values, which does.
    fn heading(&self) -> usize {
        1 + usize::from(self.is_long)
    }

    /// The number of steps: those of the heading, and one for each part.
    fn steps<T>(&self) -> usize {
        self.heading() + self.len.div_ceil(self.part_len::<T>())
    }

    /// True if these values travel in a chunk: no values are a message of the heading.
    fn is_chunk<T>(&self, part: &[T]) -> bool {
        self.is_long && !part.is_empty()
    }

    /// The values of a step; `None` in the first one, which carries the length.
    fn part_of<'v, T>(&self, values: &'v mut [T], step: usize) -> Option<&'v mut [T]> {
        let Some(place) = step.checked_sub(self.heading()) else {
            return (step > 0).then_some(&mut values[..0]);
        };
        let first = place * self.part_len::<T>();
        let end = values.len().min(first + self.part_len::<T>());
        Some(&mut values[first..end])
    }

    /// Receives a part, or the length.
    fn recv<T: Plain>(&mut self, core: &mut Core, link: usize, part: Option<&mut [T]>) -> Result<(), Error> {
        match part {
            None => self.expect_length(core, link),
            Some(part) if self.is_chunk(part) => self.chunks().recv(core, link, part),
            Some(part) => recv_part(core, &mut self.links[link], part),
        }
    }

    /// Receives a part, which `each` combines with the own one, through `room`, or the length.
    fn combine<T: Plain>(
        &mut self,
        core: &mut Core,
        link: usize,
        part: Option<&mut [T]>,
        room: &mut [T],
        mut each: impl FnMut(&mut [T], &[T]),
    ) -> Result<(), Error> {
        match part {
            None => self.expect_length(core, link),
            Some(part) if self.is_chunk(part) => self.chunks().recv_by_pieces(core, link, part, room, each),
            Some(part) => {
                let theirs = &mut room[..part.len()];
                recv_part(core, &mut self.links[link], theirs)?;
                each(part, theirs);
                Ok(())
            }
        }
    }

    /// Sends a part, or the length, along all links that are `to` carry it, after the links that were handled already.
    fn send<T: Plain>(
        &mut self,
        core: &mut Core,
        part: Option<&[T]>,
        to: impl Fn(usize) -> bool,
        sent: &mut usize,
    ) -> Result<(), Error> {
        if let Some(part) = part.filter(|part| self.is_chunk(part)) {
            return self.chunks().publish(core, part, to);
        }
        while let Some(link) = self.links.get_mut(*sent) {
            match part {
                _ if !to(*sent) => {}
                None => core.send::<Length>(
                    link,
                    &[self.len as u64, self.chunks.as_ref().map_or(0, |chunks| chunks.published())],
                )?,
                Some(part) => send_part(core, link, part)?,
            }
            *sent += 1;
        }
        Ok(())
    }

    /// Receives from a neighbour the number of values it is about to send, and the number of their first chunk. Makes the
    /// group fail if the number of values differs.
    fn expect_length(&mut self, core: &mut Core, link: usize) -> Result<(), Error> {
        let [len, first] = core.recv::<Length>(&mut self.links[link])?;
        if len != self.len as u64 {
            return Err(core.fail(self.links[link].rank, Loss::OtherLength));
        }
        if let Some(chunks) = &mut self.chunks {
            chunks.expect(link, first);
        }
        Ok(())
    }
}

/// The number of values in a message, at least one: a larger value travels by itself in several messages.
pub(crate) fn part_len<T>() -> usize {
    (LONGEST_MESSAGE / size_of::<T>().max(1)).max(1)
}

/// The number of values copied at a time to be combined: at least those of a message.
pub(crate) fn piece_len<T>() -> usize {
    (PIECE_BYTES / size_of::<T>().max(1)).max(1)
}

pub(crate) fn send_part<T: Plain>(core: &mut Core, link: &mut Link, part: &[T]) -> Result<(), Error> {
    match part {
        [value] if size_of::<T>() > LONGEST_MESSAGE => core.send(link, value),
        _ => core.send_part(link.rank, &mut link.tx, part),
    }
}

pub(crate) fn recv_part<T: Plain>(core: &mut Core, link: &mut Link, part: &mut [T]) -> Result<(), Error> {
    match part {
        [value] if size_of::<T>() > LONGEST_MESSAGE => *value = core.recv(link)?,
        _ => {
            let count = core.recv_part(link.rank, &mut link.rx, part)?;
            if count != part.len() && size_of::<T>() > 0 {
                return Err(core.fail(link.rank, Loss::Mismatched));
            }
        }
    }
    Ok(())
}
