//! A set of clients: one bit for each, as many as may take part.

use crate::status::ClientId;

/// The most participants of one instance. Their numbers are below it.
pub const MAX_PARTICIPANTS: usize = 1024;
const WORDS: usize = MAX_PARTICIPANTS / 64;

/// A set of clients, without allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ClientSet([u64; WORDS]);

impl ClientSet {
    /// The set of a bit set's words, as [`insert_words`](Self::insert_words) reads them.
    #[inline]
    #[must_use]
    pub fn from_words(words: &[u64]) -> Self {
        let mut set = Self::default();
        set.insert_words(words);
        set
    }

    /// The words of the set: bit `b` of word `w` is client `64 * w + b`.
    #[inline]
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// Adds a client.
    ///
    /// # Panics
    /// If its number is not below [`MAX_PARTICIPANTS`].
    #[inline]
    pub fn insert(&mut self, client: ClientId) {
        self.0[usize::from(client.0 / 64)] |= 1 << (client.0 % 64);
    }

    /// Takes a client out, if it is in.
    #[inline]
    pub fn remove(&mut self, client: ClientId) {
        if let Some(word) = self.0.get_mut(usize::from(client.0 / 64)) {
            *word &= !(1 << (client.0 % 64));
        }
    }

    /// Adds the clients `64 * at + b` for each bit `b` of the word; none if these are beyond the largest client.
    #[inline]
    pub fn insert_word(&mut self, at: usize, word: u64) {
        if let Some(mine) = self.0.get_mut(at) {
            *mine |= word;
        }
    }

    /// Adds the clients of a part of a bit set: bit `b` of word `w` is client `64 * w + b`. Words beyond the largest client are
    /// left out.
    #[inline]
    pub fn insert_words(&mut self, words: &[u64]) {
        self.0.iter_mut().zip(words).for_each(|(mine, more)| *mine |= more);
    }

    /// Whether the client is in.
    #[must_use]
    pub fn contains(&self, client: ClientId) -> bool {
        self.0.get(usize::from(client.0 / 64)).is_some_and(|word| word >> (client.0 % 64) & 1 == 1)
    }

    /// Whether nobody is in.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// The clients, the smallest first.
    pub fn iter(self) -> impl Iterator<Item = ClientId> {
        self.0.into_iter().zip(0u16..).flat_map(|(word, at)| bits(word).map(move |bit| ClientId(at * 64 + bit)))
    }
}

/// The bits of a word that are set, the lowest first.
fn bits(word: u64) -> impl Iterator<Item = u16> {
    std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)))
        .take_while(|rest| *rest != 0)
        .map(|rest| rest.trailing_zeros() as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_clients_in_order() {
        let mut set = ClientSet::default();
        for number in [1023, 64, 0, 63, 700] {
            set.insert(ClientId(number));
        }
        set.remove(ClientId(700));
        set.remove(ClientId(5000));
        assert_eq!(set.iter().map(|client| client.0).collect::<Vec<_>>(), [0, 63, 64, 1023]);
        assert!(set.contains(ClientId(64)) && !set.contains(ClientId(700)) && !set.contains(ClientId(5000)));
        assert!(!set.is_empty() && ClientSet::default().is_empty());
    }

    #[test]
    fn takes_words_of_another_set() {
        let mut set = ClientSet::from_words(&[0b101]);
        set.insert_words(&[0, 1 << 63]);
        assert_eq!(ClientSet::from_words(set.words()), set);
        assert_eq!(set.iter().map(|client| client.0).collect::<Vec<_>>(), [0, 2, 127]);
    }
}
