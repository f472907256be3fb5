//! The control communicator: every leader keeps a receive from any node posted, and fault words go down a binomial tree of nodes.
//!
//! The tree is rooted at the node that tells. A node that receives a word passes it on to its children there; in the place of a
//! child that is known to be lost, it sends to that node's own children. A leader that is told need not answer.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::ptr::NonNull;

use corecast_collective::nodes::{FaultWord, NodeSet};

use crate::abi::Handle;
use crate::error::MpiError;
use crate::library::{Library, Request};

const TAG: c_int = 2;
/// A word, and the node that told it.
const MESSAGE_BYTES: usize = FaultWord::BYTES + 4;

/// One message, in memory that the library uses. It stays there for good unless it is [taken](Message::take) back.
struct Message(NonNull<[u8; MESSAGE_BYTES]>);

// SAFETY: the message owns its memory.
unsafe impl Send for Message {}

impl Message {
    fn new(bytes: [u8; MESSAGE_BYTES]) -> Self {
        Self(NonNull::from(Box::leak(Box::new(bytes))))
    }

    /// The memory, for a request of the library.
    ///
    /// # Safety
    /// - No other reference to it is in use.
    unsafe fn lend<'m>(&self) -> &'m mut [u8] {
        // SAFETY: allocated in `new`, and the caller keeps other references away.
        unsafe { &mut *self.0.as_ptr() }
    }

    /// Takes the memory back, with what it holds.
    ///
    /// # Safety
    /// - The library has finished the request.
    unsafe fn take(self) -> [u8; MESSAGE_BYTES] {
        // SAFETY: allocated as a box in `new`, and nobody uses it any more.
        *unsafe { Box::from_raw(self.0.as_ptr()) }
    }
}

/// The end of a node at the control communicator.
pub(crate) struct Control {
    pub(crate) comm: Handle,
    node: usize,
    nodes: usize,
    lost: NodeSet,
    incoming: Option<(Request, Message)>,
    outgoing: Vec<(Request, Message)>,
    words: VecDeque<FaultWord>,
    /// The number of times that the engine was remade: words of later epochs are kept until then.
    epoch: u32,
}

impl Control {
    pub(crate) fn open(
        library: &Library,
        comm: Handle,
        node: usize,
        nodes: usize,
        epoch: u32,
    ) -> Result<Self, MpiError> {
        let mut control = Self {
            comm,
            node,
            nodes,
            epoch,
            lost: NodeSet::none(nodes),
            incoming: None,
            outgoing: Vec::new(),
            words: VecDeque::new(),
        };
        control.post(library)?;
        Ok(control)
    }

    fn post(&mut self, library: &Library) -> Result<(), MpiError> {
        let message = Message::new([0; MESSAGE_BYTES]);
        // SAFETY: nobody else has seen it.
        let memory = unsafe { message.lend() };
        // SAFETY: the message is taken back only when its request is done.
        let request = unsafe { library.receive(memory, None, TAG, self.comm) }?;
        self.incoming = Some((request, message));
        Ok(())
    }

    /// The next word of this epoch that was told. Lets the library proceed.
    pub(crate) fn listen(&mut self, library: &Library) -> Result<Option<FaultWord>, MpiError> {
        self.receive(library)?;
        self.forget_sent(library);
        if self.words.is_empty() {
            return Ok(None);
        }
        let epoch = self.epoch;
        self.words.retain(|word| word.epoch >= epoch);
        let place = self.words.iter().position(|word| word.epoch == epoch);
        Ok(place.and_then(|place| self.words.remove(place)))
    }

    /// True if a node has told a word of the next epoch already. Lets the library proceed.
    pub(crate) fn is_told_of_next(&mut self, library: &Library) -> bool {
        // An error is found by those who wait for more than words.
        let _ = self.receive(library);
        self.forget_sent(library);
        self.words.iter().any(|word| word.epoch > self.epoch)
    }

    /// Goes on to the next epoch.
    pub(crate) fn next_epoch(&mut self) {
        self.epoch += 1;
    }

    fn receive(&mut self, library: &Library) -> Result<(), MpiError> {
        let Some((request, _)) = &mut self.incoming else { return Ok(()) };
        if library.test(request)?.is_none() {
            return Ok(());
        }
        let (_, message) = self.incoming.take().expect("it was there above");
        // SAFETY: the test has said so.
        let message = unsafe { message.take() };
        self.post(library)?;
        let (word, origin) = message.split_at(FaultWord::BYTES);
        let word = FaultWord::from_bytes(word.try_into().expect("it was split there"));
        let origin = u32::from_le_bytes(origin.try_into().expect("the rest has 4 bytes")) as usize;
        // Anything else is no message of a leader.
        if let Some(word) = word.filter(|_| origin < self.nodes) {
            self.words.push_back(word);
            self.pass_on(library, word, origin);
        }
        Ok(())
    }

    /// Tells all others a word.
    pub(crate) fn tell(&mut self, library: &Library, word: FaultWord) {
        self.pass_on(library, word, self.node);
    }

    /// Notes that a node is lost, so that its children in a tree are told by its parent.
    pub(crate) fn note_lost(&mut self, node: usize) {
        self.lost.insert(node);
    }

    fn pass_on(&mut self, library: &Library, word: FaultWord, origin: usize) {
        for child in children(self.node, origin, self.nodes, &self.lost) {
            let mut bytes = [0; MESSAGE_BYTES];
            bytes[..FaultWord::BYTES].copy_from_slice(&word.to_bytes());
            bytes[FaultWord::BYTES..].copy_from_slice(&(origin as u32).to_le_bytes());
            let message = Message::new(bytes);
            // SAFETY: nobody else has seen it.
            let memory = unsafe { message.lend() };
            // SAFETY: the message is taken back only when its request is done.
            let sent = unsafe { library.send(memory, child, TAG, self.comm) };
            // A word that cannot be sent is for a node that is lost.
            if let Ok(request) = sent {
                self.outgoing.push((request, message));
            }
        }
    }

    fn forget_sent(&mut self, library: &Library) {
        // A request with an error is done as well.
        let is_done = |(request, _): &mut (Request, Message)| !matches!(library.test(request), Ok(None));
        while let Some(place) = self.outgoing.iter_mut().position(is_done) {
            let (_, message) = self.outgoing.swap_remove(place);
            // SAFETY: the test has said so.
            unsafe { message.take() };
        }
    }

    /// True if every word that was to be sent has left.
    pub(crate) fn has_sent_all(&mut self, library: &Library) -> bool {
        self.forget_sent(library);
        self.outgoing.is_empty()
    }

    /// Takes the receive back. Words that have not left stay with the library.
    pub(crate) fn close(&mut self, library: &Library) {
        if let Some((request, _)) = self.incoming.take() {
            library.cancel(request);
        }
    }
}

/// The children of a node in the binomial tree that is rooted at another one, lost ones replaced by theirs.
fn children(node: usize, root: usize, nodes: usize, lost: &NodeSet) -> Vec<usize> {
    let mut found = Vec::new();
    let mut parents = vec![(node + nodes - root) % nodes];
    while let Some(parent) = parents.pop() {
        // A place's children add one bit above its highest.
        let bits = (usize::BITS - parent.leading_zeros())..usize::BITS;
        for child in bits.map(|bit| parent | 1 << bit).take_while(|&child| child < nodes) {
            let child_node = (child + root) % nodes;
            if lost.contains(child_node) { parents.push(child) } else { found.push(child_node) }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nodes that a word reaches, in any order, and the longest way to one.
    fn reached(root: usize, nodes: usize, lost: &NodeSet) -> (Vec<usize>, usize) {
        let mut waiting = vec![(root, 0)];
        let (mut told, mut longest) = (Vec::new(), 0);
        while let Some((node, way)) = waiting.pop() {
            longest = longest.max(way);
            for child in children(node, root, nodes, lost) {
                told.push(child);
                waiting.push((child, way + 1));
            }
        }
        told.sort_unstable();
        (told, longest)
    }

    #[test]
    fn every_node_is_told_once_and_soon() {
        for nodes in [1, 2, 3, 4, 5, 8, 13, 64, 100] {
            for root in [0, nodes / 2, nodes - 1] {
                let (told, longest) = reached(root, nodes, &NodeSet::none(nodes));
                let others: Vec<usize> = (0..nodes).filter(|&node| node != root).collect();
                assert_eq!(told, others, "{nodes} nodes, told by {root}");
                assert!(longest <= nodes.next_power_of_two().ilog2() as usize, "{nodes} nodes: {longest} messages");
            }
        }
    }

    #[test]
    fn the_children_of_lost_nodes_are_told_all_the_same() {
        let nodes = 16;
        let mut lost = NodeSet::none(nodes);
        [4, 8, 12].into_iter().for_each(|node| lost.insert(node));
        let (told, _) = reached(0, nodes, &lost);
        let living: Vec<usize> = (1..nodes).filter(|&node| !lost.contains(node)).collect();
        assert_eq!(told, living);
    }
}
