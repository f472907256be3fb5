//! The messages of clients: every word contains its client and its number, so that each can be checked where it
//! arrives.
//!
//! Seven words: with the word that every channel here adds of its own they fill one line of 64 bytes.

use crate::stream::sealed;
use corecast_race::failure::Failure;
use corecast_race::message::Message;

/// Messages of a client before its numbers run into those of the next.
const NUMBERS: u64 = 1 << 40;

/// The message of this number of this client.
#[inline(always)]
pub(super) fn message(client: usize, number: u64) -> Message {
    sealed(client as u64 * NUMBERS + number)
}

/// The number of messages that a server has received so far, by client.
#[derive(Debug)]
pub(super) struct Received(Vec<u64>);

impl Received {
    pub(super) fn nothing(clients: usize) -> Self {
        Self(vec![0; clients])
    }

    /// The client that sent the message, which must be the next of that client, and whole.
    #[inline(always)]
    pub(super) fn take_in(&mut self, found: &Message) -> Result<usize, Failure> {
        let client = (found[0] / NUMBERS) as usize;
        match self.0.get_mut(client) {
            Some(next) if *found == message(client, *next) => {
                *next += 1;
                Ok(client)
            }
            _ => Err(self.wrong(found)),
        }
    }

    #[cold]
    fn wrong(&self, found: &Message) -> Failure {
        let (client, number) = (found[0] / NUMBERS, found[0] % NUMBERS);
        if *found != sealed(found[0]) {
            return Failure::Wrong(format!("a message was torn: {found:?}"));
        }
        let expected = self.0.get(client as usize);
        Failure::Wrong(format!("message {number} of client {client} arrived, expected {expected:?}"))
    }
}

/// An answer must be what was asked.
#[inline(always)]
pub(super) fn check_answer(found: &Message, asked: &Message) -> Result<(), Failure> {
    if found == asked { Ok(()) } else { Err(Failure::Wrong(format!("{found:?} came back for {asked:?}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_doubled_torn_and_strange_messages_are_found() {
        let mut received = Received::nothing(2);
        assert_eq!(received.take_in(&message(1, 0)), Ok(1));
        assert_eq!(received.take_in(&message(0, 0)), Ok(0));
        assert_eq!(received.take_in(&message(1, 1)), Ok(1));
        let mut wrong = |found: Message| received.take_in(&found).expect_err("not the next").to_string();
        assert_eq!(wrong(message(1, 1)), "wrong result: message 1 of client 1 arrived, expected Some(2)");
        assert_eq!(wrong(message(0, 2)), "wrong result: message 2 of client 0 arrived, expected Some(1)");
        assert_eq!(wrong(message(2, 0)), "wrong result: message 0 of client 2 arrived, expected None");
        let mut torn = message(1, 2);
        torn[6] = message(1, 1)[6];
        assert!(wrong(torn).starts_with("wrong result: a message was torn"));
        assert_eq!(check_answer(&message(1, 2), &message(1, 2)), Ok(()));
        assert!(check_answer(&message(1, 3), &message(1, 2)).is_err());
    }
}
