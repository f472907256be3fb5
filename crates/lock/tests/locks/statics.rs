//! Mutexes that are statics, of every lock of which a free one is a constant.

use std::thread;

use corecast_lock::{Auto, Byte, Mcs, Mutex, Qword, RawConst, RawLock, Tas, Ticket, Ttas, Word};

use crate::pair::add;

const THREADS: usize = 4;
const ROUNDS: usize = 2000;

fn all_add<L: RawConst>(mutex: &'static Mutex<(usize, usize), L>) {
    let threads = [(); THREADS].map(|()| thread::spawn(|| (0..ROUNDS).for_each(|_| mutex.with(add))));
    threads.into_iter().for_each(|thread| thread.join().expect("it adds"));
    assert_eq!(mutex.with(|pair| *pair), (THREADS * ROUNDS, THREADS * ROUNDS), "{}", L::FACTS.name);
}

macro_rules! statics {
    ($($lock:ident)*) => {
        $(
            #[test]
            #[allow(non_snake_case, reason = "the registry's names")]
            fn $lock() {
                static MUTEX: Mutex<(usize, usize), $lock> = Mutex::from_raw($lock::INIT, (0, 0));
                all_add(&MUTEX);
            }
        )*
    };
}

statics!(Tas Ttas Ticket Mcs Word Auto Byte Qword);

#[test]
fn a_constant_is_what_new_makes() {
    fn same<L: RawConst + std::fmt::Debug>() {
        let made = format!("{:?}", L::new(&corecast_lock::Setup::default()));
        assert_eq!(format!("{:?}", L::INIT), made, "{}", <L as RawLock>::FACTS.name);
    }
    same::<Tas>();
    same::<Ttas>();
    same::<Ticket>();
    same::<Mcs>();
    same::<Word>();
    same::<Auto>();
    same::<Byte>();
    same::<Qword>();
}
