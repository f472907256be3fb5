//! Models of locks that hand over to a near thread, in made-up domains.

use corecast_base::sync::Arc;
use corecast_lock::{Domains, Mutex, RawLock, Setup};
use loom::thread;

use super::{once, tries, twice};

type Use<L> = fn(&Mutex<u32, L>) -> u32;

/// Each newcomer is of the next domain of the tree, which hands over this often in turn.
fn all_add<L: RawLock + 'static, const OTHERS: usize>(
    tree: &'static [usize],
    hand_overs: u32,
    mine: Use<L>,
    theirs: Use<L>,
) {
    loom::model(move || {
        let mut setup = Setup::of_threads(3);
        setup.domains = Domains::dealt(tree);
        setup.hand_overs = hand_overs;
        let mutex: Arc<Mutex<u32, L>> = Arc::new(Mutex::for_setup(0, &setup));
        let others = [(); OTHERS].map(|()| {
            let shared = Arc::clone(&mutex);
            thread::spawn(move || theirs(&shared))
        });
        let added = mine(&mutex) + others.map(|other| other.join().expect("it adds")).iter().sum::<u32>();
        assert_eq!(mutex.with(|value| *value), added);
    });
}

macro_rules! every {
    ($($lock:ident)*) => {
        $(
            #[allow(non_snake_case, reason = "the registry's names")]
            mod $lock {
                use super::*;

                #[test]
                fn a_domain_that_hands_over_once() {
                    all_add::<corecast_lock::$lock, 2>(&[1], 1, once, once);
                }

                #[test]
                fn a_domain_that_never_hands_over() {
                    all_add::<corecast_lock::$lock, 2>(&[1], 0, once, once);
                }

                #[test]
                fn two_domains() {
                    all_add::<corecast_lock::$lock, 2>(&[2], 1, once, once);
                }

                #[test]
                fn a_thread_that_comes_again() {
                    all_add::<corecast_lock::$lock, 1>(&[2], 1, twice, once);
                    all_add::<corecast_lock::$lock, 1>(&[1], 1, twice, once);
                }

                #[test]
                fn a_thread_that_comes_again_behind_others() {
                    all_add::<corecast_lock::$lock, 2>(&[2], 1, twice, once);
                }

                #[test]
                fn a_try_past_the_domains() {
                    all_add::<corecast_lock::$lock, 1>(&[2], 1, tries, twice);
                    all_add::<corecast_lock::$lock, 1>(&[2], 1, twice, tries);
                }
            }
        )*
    };
}

every!(Hmcs);
#[cfg(feature = "hierarchical")]
every!(Hticket Hclh);
