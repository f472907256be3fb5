//! A trace has each line that moves and each wait of a window, and changes nothing.

use std::ops::Range;

use corecast_sim_core::{Answerer, LineState, Preemption, Reason, Report, Run, Ticks, Trace, Word, published, units};

use crate::memory::Line;

const LIMIT: Ticks = units(1_000_000_000);
const ALL: Range<Ticks> = 0..Ticks::MAX;

/// CPUs of the first die, of its package and of another one add to a word, and poll a flag that the first sets. With a window the
/// first thread asks for a trace of up to `most` events.
fn additions(window: Option<Range<Ticks>>, most: usize) -> Report {
    let [word, flag] = [Line::new().word(), Line::new().word()];
    let mut run = Run::new(&published::opteron_4x12());
    for (thread, cpu) in [0, 1, 7, 13].into_iter().enumerate() {
        let window = window.clone().filter(|_| thread == 0);
        run.spawn(cpu, 0, move |me| {
            window.into_iter().for_each(|window| me.trace(window, most));
            for _ in 0..20 {
                let begin = me.clock();
                me.update(word, |value| Some(value + 1));
                me.trace_phase("adds", begin);
                me.work(100);
            }
            if thread == 0 {
                me.work(5000);
                me.store(flag, 1);
            }
            while me.load(flag) == 0 {
                me.pause();
            }
        })
        .expect("there is memory");
    }
    run.finish(LIMIT).expect("all come to their ends")
}

fn traced(window: Range<Ticks>) -> Trace {
    additions(Some(window), 10_000).trace.expect("it was asked for")
}

#[test]
fn every_line_that_moves_is_in_the_trace_of_a_whole_run() {
    let report = additions(Some(ALL), 10_000);
    let trace = report.trace.expect("it was asked for");
    let mut transfers = vec![0; report.counts.transfers.len()];
    let sources = || trace.requests.iter().filter_map(|request| request.source);
    sources().filter(|source| source.answerer != Answerer::Memory).for_each(|source| transfers[source.distance] += 1);
    assert_eq!(transfers, report.counts.transfers);
    let from_memory = sources().filter(|source| source.answerer == Answerer::Memory).count() as u64;
    assert_eq!((from_memory, trace.is_cut), (report.counts.from_memory, false));
    let is_of_memory = |answerer| answerer == Some(Answerer::Memory);
    assert!(trace.requests.iter().all(|request| {
        is_of_memory(request.source.map(|source| source.answerer)) == (request.before.state == LineState::Invalid)
    }));
    assert!(trace.requests.iter().all(|request| request.asked <= request.served && request.served < request.comes));
    assert_eq!(trace.phases.iter().filter(|phase| phase.name == "adds").count(), 80);
    assert_eq!(trace.lines.iter().map(|line| line.stack).collect::<Vec<_>>(), [None, None], "the word and the flag");
}

#[test]
fn the_holders_of_a_line_follow_from_its_requests() {
    let trace = traced(ALL);
    for line in &trace.lines {
        let requests: Vec<_> = trace.requests.iter().filter(|request| request.line == line.number).collect();
        assert_eq!(requests[0].before.state, LineState::Invalid, "{line:?}");
        assert!(requests.len() > 3, "{line:?}");
        for pair in requests.windows(2) {
            assert_eq!((pair[1].before.owner, pair[1].before.copies), (pair[0].after.owner, pair[0].after.copies));
            assert!(pair[0].served <= pair[1].served, "one after the other");
        }
    }
}

#[test]
fn recording_changes_nothing_else() {
    let recorded = Report { trace: None, ..additions(Some(ALL), 10_000) };
    assert_eq!(recorded, additions(None, 0));
}

#[test]
fn a_window_has_what_overlaps_it_and_a_limit_cuts_it() {
    let all = traced(ALL);
    let window = units(1000)..units(2000);
    let part = traced(window.clone());
    let overlaps = |begin: Ticks, end: Ticks| begin < window.end && end >= window.start;
    let requests: Vec<_> = all.requests.into_iter().filter(|request| overlaps(request.asked, request.comes)).collect();
    assert!(!requests.is_empty() && requests.len() < 60, "{}", requests.len());
    assert_eq!((part.requests, part.is_cut), (requests, false));
    let cut = additions(Some(ALL), 10).trace.expect("it was asked for");
    assert_eq!((cut.requests.len() + cut.waits.len() + cut.phases.len(), cut.is_cut), (10, true));
}

#[test]
fn a_loop_that_polls_waits_from_its_first_rounds_until_the_flag_is_set() {
    let trace = traced(ALL);
    let polls: Vec<_> = trace.waits.iter().filter(|wait| wait.waiting.reason == Reason::Polls).collect();
    assert_eq!(polls.len(), 3, "{:?}", trace.waits);
    let flag = trace.lines[1].number;
    let set = trace.requests.iter().find(|request| request.line == flag && request.thread.is_none());
    let set = set.expect("a store sets it").served;
    for poll in polls {
        assert_eq!(poll.waiting.lines, [flag]);
        assert!(poll.time.start < set && poll.time.end > set && poll.time.end < set + units(500), "{poll:?} at {set}");
    }
}

/// The waits for this reason of a thread on CPU 0, beside one on the same CPU and one that wakes it.
fn waits(reason: Reason) -> Vec<Range<Ticks>> {
    let [word, other] = [Line::new().word(), Line::new().word()];
    let mut run = Run::new(&published::opteron_4x12());
    run.spawn(0, 0, move |me| {
        me.trace(ALL, 1000);
        me.sleep_while(word, 0, u64::MAX);
        me.store(other, 1);
        me.wait_for_stores();
    })
    .expect("there is memory");
    run.spawn(0, 0, |me| me.work(100_000)).expect("there is memory");
    run.spawn(13, 0, move |me| {
        me.work(40_000);
        me.store(word, 1);
        me.wake(word, 1);
    })
    .expect("there is memory");
    run.preempt(Preemption::At { thread: 0, access: 1, time: units(777) });
    let trace = run.finish(LIMIT).expect("it is woken").trace.expect("it was asked for");
    let own = trace.waits.into_iter().filter(|wait| wait.waiting.thread == 0 && wait.waiting.reason == reason);
    own.map(|wait| wait.time).collect()
}

#[test]
fn waits_have_their_reasons() {
    let one = |reason: Reason| {
        let waits = waits(reason);
        assert_eq!(waits.len(), 1, "{reason:?}: {waits:?}");
        waits[0].clone()
    };
    let sleep = one(Reason::Sleeps);
    assert!(sleep.start < units(40_000) && sleep.end > units(40_000), "{sleep:?}");
    let stop = one(Reason::Stopped);
    assert_eq!((stop.end - stop.start, stop.start > sleep.end), (units(777), true));
    let stores = one(Reason::Stores);
    assert!(stores.start >= stop.end && stores.end - stores.start > units(100), "{stores:?}");
    let cpu = waits(Reason::Cpu);
    assert!(cpu.iter().any(|wait| wait.start == sleep.end), "{cpu:?} after {sleep:?}");
}

/// The second of two stores asks for its line after the first, so the thread waits; and it has its CPU to itself.
#[test]
fn a_thread_that_is_alone_waits_for_its_stores_and_is_stopped() {
    let words = [Line::new().word(), Line::new().word()];
    let mut run = Run::new(&published::opteron_4x12());
    run.spawn(0, 0, move |me| {
        me.trace(ALL, 100);
        words.into_iter().for_each(|word| me.store(word, 1));
        me.wait_for_stores();
        me.work(100);
        me.store(words[0], 2);
    })
    .expect("there is memory");
    run.preempt(Preemption::At { thread: 0, access: 2, time: units(777) });
    let trace = run.finish(LIMIT).expect("it comes to its end").trace.expect("it was asked for");
    let waits: Vec<_> = trace.waits.iter().map(|wait| (wait.waiting.reason, wait.time.clone())).collect();
    let [(Reason::Stores, stores), (Reason::Stopped, stop)] = &waits[..] else { panic!("{waits:?}") };
    assert_eq!(stores.end, trace.requests[1].comes, "{waits:?}");
    assert_eq!((stop.start, stop.end), (stores.end + units(100), stores.end + units(877)));
}

#[test]
fn a_line_on_a_stack_tells_whose_it_is() {
    let mut run = Run::new(&published::opteron_4x12());
    run.spawn(0, 0, |me| me.work(1)).expect("there is memory");
    run.spawn(1, 0, |me| {
        me.trace(ALL, 100);
        let mut own = 0_u64;
        // SAFETY: the thread waits until the store is done, and nobody else knows the word.
        let word = unsafe { Word::of(&raw mut own) };
        me.store(word, 3);
        me.wait_for_stores();
    })
    .expect("there is memory");
    let trace = run.finish(LIMIT).expect("both come to their ends").trace.expect("it was asked for");
    assert_eq!(trace.lines.iter().map(|line| line.stack).collect::<Vec<_>>(), [Some(1)]);
    let request = trace.requests[0];
    assert!(request.byte.is_some_and(|byte| byte % 8 == 0 && byte < 64), "{request:?}");
}
