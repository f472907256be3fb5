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

    /// The oldest that was not taken. It stays where it is until all are taken: moving one takes longer than carrying it out.
    #[inline]
    pub fn take(&mut self) -> Option<&mut Effect<B>> {
        if self.next == self.all.len() {
            self.all.clear();
            self.next = 0;
            return None;
        }
        self.next += 1;
        self.all.get_mut(self.next - 1)
    }
}

/// Adds an effect of the common case: where there is room, it is made in its place, and not moved there.
#[inline(always)]
pub(super) fn want<B>(effects: &mut Vec<Effect<B>>, effect: impl FnOnce() -> Effect<B>) {
    if effects.len() < effects.capacity() {
        effects.push(effect());
    } else {
        grow(effects, effect());
    }
}

#[cold]
#[inline(never)]
fn grow<B>(effects: &mut Vec<Effect<B>>, effect: Effect<B>) {
    effects.push(effect);
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
            let &mut Effect::Apply(count) = effect else { panic!("{effect:?}") };
            taken.push(count);
            if count < 3 {
                effects.sink().push(Effect::Apply(count + 2));
            }
        }
        assert_eq!(taken, [1, 2, 3, 4]);
        assert!(effects.take().is_none() && effects.sink().is_empty());
    }
}
