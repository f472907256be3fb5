//! A fork between opening an end and using it.

use corecast::channel::mcast::{self, Policy};
use corecast::channel::{RecvError, SendError, TryRecvError, TrySendError, ump};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::{Stage, check, message};

/// True if `f` returns true in a forked child.
fn in_child(f: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs nothing but `f`, which takes no lock that another thread may hold, and ends without unwinding.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let is_fine = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_or(false);
        // SAFETY: ends the child, running nothing of this program.
        unsafe { libc::_exit(i32::from(!is_fine)) };
    }
    let (_, status) = waitpid(Pid::from_raw(pid), WaitOptions::empty()).expect("our child").expect("it ended");
    status.exit_status() == Some(0)
}

#[test]
fn a_child_is_told_so_and_the_parent_goes_on() {
    let stage = Stage::new();
    let (mut tx, mut rx) = (
        ump::bytes::sender(stage.region(), "ump").expect("the only one"),
        ump::bytes::receiver(stage.region(), "ump").expect("the only one"),
    );
    let (mut to_all, of_all) = (
        mcast::bytes::sender(stage.region(), "mcast").expect("the only one"),
        mcast::bytes::receiver(stage.region(), "mcast", Policy::Reliable).expect("a place"),
    );
    tx.send(&message(1)).expect("room");
    to_all.send(&message(2)).expect("room");
    assert!(in_child(|| {
        let refused = [tx.try_send(b"x"), to_all.try_send(b"x")];
        let nothing = [rx.try_recv().err(), of_all.try_recv().err()];
        refused == [Err(TrySendError::Failed(SendError::Forked(()))); 2]
            && nothing == [Some(TryRecvError::Failed(RecvError::Forked)); 2]
    }));
    assert_eq!(rx.recv().map(|got| check(&got.to_vec())), Ok(1));
    assert_eq!(of_all.recv().map(|got| check(&got.to_vec())), Ok(2));
    drop((tx, rx, to_all, of_all));
    stage.end();
}
