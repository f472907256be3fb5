//! A set of the channels of a [`Select`](super::Select).

use super::Token;

/// The channels to receive from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subset {
    /// A bit for each channel.
    words: Vec<u64>,
    /// True for the set that has every channel, now and later.
    is_everything: bool,
}

static EVERYTHING: Subset = Subset { words: Vec::new(), is_everything: true };

impl Subset {
    /// Every channel, also those added later.
    #[must_use]
    pub fn everything() -> &'static Self {
        &EVERYTHING
    }

    /// True if the channel is in it.
    #[must_use]
    pub fn contains(&self, token: Token) -> bool {
        self.has(token.0)
    }

    #[inline(always)]
    pub(super) fn has(&self, at: usize) -> bool {
        self.is_everything || self.words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    /// Adds a channel.
    pub fn insert(&mut self, token: Token) {
        let word = token.0 / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (token.0 % 64);
    }
}

impl FromIterator<Token> for Subset {
    fn from_iter<I: IntoIterator<Item = Token>>(tokens: I) -> Self {
        let mut subset = Self::default();
        tokens.into_iter().for_each(|token| subset.insert(token));
        subset
    }
}
