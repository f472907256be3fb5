//! A queue of effects: the protocol adds at its end while the runtime carries out those at its front.

use super::Effect;

/// Effects that are carried out first in, first out. The protocol adds some while others are carried out.
#[derive(Debug)]
pub struct Effects<B> {
    all: Vec<Effect<B>>,
    /// Those before this one were taken.
    next: usize,
}

impl<B> Default for Effects<B> {
    fn default() -> Self {
        Self { all: Vec::new(), next: 0 }
    }
}

impl<B> Effects<B> {
    /// Where the protocol puts what it wants.
    #[inline]
    pub fn sink(&mut self) -> &mut Vec<Effect<B>> {
        &mut self.all
    }

    /// The oldest that was not taken.
    #[inline]
    pub fn take(&mut self) -> Option<Effect<B>> {
        let Some(effect) = self.all.get_mut(self.next) else {
            self.all.clear();
            self.next = 0;
            return None;
        };
        self.next += 1;
        Some(std::mem::replace(effect, Effect::Lagging))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_taken_in_the_order_in_which_they_were_wanted() {
        let mut effects = Effects::<()>::default();
        effects.sink().extend([Effect::Apply(1), Effect::Apply(2)]);
        let mut taken = Vec::new();
        while let Some(effect) = effects.take() {
            let Effect::Apply(count) = effect else { panic!("{effect:?}") };
            taken.push(count);
            if count < 3 {
                effects.sink().push(Effect::Apply(count + 2));
            }
        }
        assert_eq!(taken, [1, 2, 3, 4]);
        assert!(effects.take().is_none() && effects.sink().is_empty());
    }
}
