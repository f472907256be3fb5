//! Transactions on words, as C runs them.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use corecast_c::lock::LockAlgorithm;
use corecast_c::status::Status;
use corecast_c::tm::instance::*;
use corecast_c::tm::participant::*;

use crate::calling::{object, output, owned, status, words};

fn config(participants: u32, form: TmForm) -> TmConfig {
    TmConfig {
        size: size_of::<TmConfig>(),
        participants,
        servers_every: 0,
        manager: TmManager::Wholly as u32,
        form: form as u32,
        writes: 0,
        values: 0,
        words: 16,
        wait: 0,
        is_unbatched: 0,
        log_entries: 0,
        neighbours: 0,
        lock: 0,
        reserved: 0,
    }
}

fn create(config: &TmConfig) -> &'static mut TmInstance {
    // SAFETY: parameters with their size.
    object(output(|tm| unsafe { corecast_tm_create(config, tm) }))
}

/// A body's words, and what it is to return.
struct Sum {
    from: u32,
    to: u32,
    returns: c_int,
    calls: u32,
}

fn read(tx: *mut Transaction<'_, '_>, word: u32) -> Result<u64, Status> {
    let mut value = MaybeUninit::uninit();
    // SAFETY: the library passes an attempt that nobody else uses meanwhile.
    let tx = unsafe { tx.as_mut() };
    match corecast_tx_read_for_update(tx, word, Some(&mut value)) {
        // SAFETY: a call that succeeds writes its output.
        Status::Ok => Ok(unsafe { value.assume_init() }),
        status => Err(status),
    }
}

fn write(tx: *mut Transaction<'_, '_>, word: u32, value: u64) -> Result<(), Status> {
    // SAFETY: the library passes an attempt that nobody else uses meanwhile.
    let tx = unsafe { tx.as_mut() };
    match corecast_tx_write(tx, word, value) {
        Status::Ok => Ok(()),
        status => Err(status),
    }
}

/// Moves one from one word to another.
unsafe extern "C" fn move_one(tx: *mut Transaction<'_, '_>, context: *mut c_void) -> c_int {
    // SAFETY: the tests pass a sum that lives.
    let sum = unsafe { &mut *context.cast::<Sum>() };
    sum.calls += 1;
    let moved = read(tx, sum.from)
        .and_then(|value| write(tx, sum.from, value - 1))
        .and_then(|()| read(tx, sum.to))
        .and_then(|value| write(tx, sum.to, value + 1));
    moved.map_or_else(|status| status as c_int, |()| sum.returns)
}

fn run(participant: &TmParticipant, sum: &mut Sum) -> c_int {
    let context = std::ptr::from_mut(sum).cast();
    // SAFETY: a body and what it expects.
    output(|outcome| unsafe { corecast_tm_run(Some(participant), Some(move_one), context, outcome) })
}

fn load(tm: &TmInstance, word: u32) -> u64 {
    output(|value| corecast_tm_load(Some(tm), word, value))
}

#[test]
fn participants_have_cpus_where_there_are_as_many() {
    let cpu = |tm: &TmInstance, id| output(|cpu| corecast_tm_cpu(Some(tm), id, cpu));
    let (few, many) = (create(&config(1, TmForm::Shared)), create(&config(256, TmForm::Shared)));
    assert!(cpu(few, 0) >= 0 && cpu(few, 1) == -1, "there is one participant");
    assert_eq!(cpu(many, 0), -1, "there are more participants than CPUs");
    corecast_tm_close(owned(few));
    corecast_tm_close(owned(many));
}

#[test]
fn a_body_commits_or_gives_up() {
    let tm = create(&config(1, TmForm::Shared));
    let [from, to] = [10, 0].map(|value| output(|word| corecast_tm_new_word(Some(tm), value, word)));
    let participant = object(output(|participant| corecast_tm_participant_open(Some(tm), 0, participant)));
    let mut sum = Sum { from, to, returns: 0, calls: 0 };
    assert_eq!((run(participant, &mut sum), sum.calls), (0, 1));
    assert_eq!((load(tm, from), load(tm, to)), (9, 1));
    sum.returns = 42;
    assert_eq!(run(participant, &mut sum), 42);
    assert_eq!((load(tm, from), load(tm, to)), (9, 1), "nothing was written");
    sum = Sum { to: 999, returns: 0, ..sum };
    let context = std::ptr::from_mut(&mut sum).cast();
    // SAFETY: a body and what it expects.
    let refused = status(|outcome| unsafe { corecast_tm_run(Some(participant), Some(move_one), context, outcome) });
    assert_eq!(refused, Status::InvalidArgument);
    assert!(words().contains("999"), "{}", words());
    assert_eq!(load(tm, from), 9);
    corecast_tm_participant_close(owned(participant));
    corecast_tm_close(owned(tm));
}

/// Writes a word that there is, and goes on where it is told that there is no other one.
unsafe extern "C" fn ignore(tx: *mut Transaction<'_, '_>, context: *mut c_void) -> c_int {
    // SAFETY: the test passes a word that lives.
    let word = unsafe { *context.cast::<u32>() };
    assert_eq!(write(tx, word, 7), Ok(()));
    assert_eq!(write(tx, 999, 7), Err(Status::InvalidArgument));
    0
}

#[test]
fn a_body_that_ignores_a_wrong_word_commits_nothing() {
    let tm = create(&config(1, TmForm::Shared));
    let mut word: u32 = output(|word| corecast_tm_new_word(Some(tm), 1, word));
    let participant = object(output(|participant| corecast_tm_participant_open(Some(tm), 0, participant)));
    let context = std::ptr::from_mut(&mut word).cast();
    // SAFETY: a body and what it expects.
    let refused = status(|outcome| unsafe { corecast_tm_run(Some(participant), Some(ignore), context, outcome) });
    assert_eq!(refused, Status::InvalidArgument);
    assert!(words().contains("999"), "{}", words());
    assert_eq!(load(tm, word), 1);
    corecast_tm_participant_close(owned(participant));
    corecast_tm_close(owned(tm));
}

/// A participant, and the words of the calls inside its transaction.
struct Nested {
    participant: *mut TmParticipant,
    told: Vec<String>,
}

/// Calls with the participant whose transaction it is.
unsafe extern "C" fn nest(tx: *mut Transaction<'_, '_>, context: *mut c_void) -> c_int {
    // SAFETY: the test passes a participant that lives.
    let nested = unsafe { &mut *context.cast::<Nested>() };
    // SAFETY: as above; the library uses it by shared references only.
    let participant = unsafe { nested.participant.as_ref() };
    // SAFETY: a body that is not called.
    let inner = status(|outcome| unsafe { corecast_tm_run(participant, Some(nest), context, outcome) });
    nested.told.push(words());
    let mut aborts = MaybeUninit::uninit();
    let counts = status(|commits| corecast_tm_participant_counts(participant, commits, Some(&mut aborts)));
    assert_eq!([inner, counts], [Status::Panic; 2]);
    write(tx, 0, 5).map_or_else(|status| status as c_int, |()| 0)
}

#[test]
fn a_body_calls_with_its_own_participant_in_vain() {
    let tm = create(&config(1, TmForm::Shared));
    let word = output(|word| corecast_tm_new_word(Some(tm), 0, word));
    let participant = output(|participant| corecast_tm_participant_open(Some(tm), 0, participant));
    let mut nested = Nested { participant, told: Vec::new() };
    let context = std::ptr::from_mut(&mut nested).cast();
    // SAFETY: a participant that lives.
    let shared = unsafe { participant.as_ref() };
    // SAFETY: a body and what it expects.
    assert_eq!(output(|outcome| unsafe { corecast_tm_run(shared, Some(nest), context, outcome) }), 0);
    assert_eq!(nested.told, ["transactions do not nest: one of this participant is under way"]);
    assert_eq!(load(tm, word), 5, "the outer one goes on");
    corecast_tm_participant_close(owned(participant));
    corecast_tm_close(owned(tm));
}

#[test]
fn threads_move_and_a_server_decides() {
    const EACH: u64 = 500;
    let tm = create(&config(3, TmForm::Messages));
    let [from, to] = [2 * EACH, 0].map(|value| output(|word| corecast_tm_new_word(Some(tm), value, word)));
    let server = object(output(|server| corecast_tm_server_open(Some(tm), 0, server)));
    let participants =
        [1, 2].map(|id| object(output(|participant| corecast_tm_participant_open(Some(tm), id, participant))));
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(corecast_tm_server_serve(Some(server)), Status::Ok));
        for participant in participants {
            scope.spawn(move || {
                let mut sum = Sum { from, to, returns: 0, calls: 0 };
                (0..EACH).for_each(|_| assert_eq!(run(participant, &mut sum), 0));
                let participant = owned(participant);
                corecast_tm_participant_close(participant);
            });
        }
    });
    assert_eq!((load(tm, from), load(tm, to)), (0, 2 * EACH));
    assert_eq!(corecast_tm_server_serve(Some(server)), Status::InvalidArgument);
    assert_eq!(words(), "argument 'server': has served already");
    corecast_tm_server_close(owned(server));
    corecast_tm_close(owned(tm));
}

/// Single words are changed and read by the participant, in either form, also where servers have the values.
#[test]
fn single_words_are_changed_outside_transactions() {
    let at_servers = TmConfig { values: TmValues::AtServers as u32, ..config(2, TmForm::Messages) };
    let locked =
        TmConfig { lock: LockAlgorithm::Mcs as u32, neighbours: 2, log_entries: 4, ..config(1, TmForm::Shared) };
    for config in [at_servers, config(2, TmForm::Messages), locked] {
        let tm = create(&config);
        let word = output(|word| corecast_tm_new_word(Some(tm), 5, word));
        let is_served = config.form == TmForm::Messages as u32;
        let server = is_served.then(|| object(output(|server| corecast_tm_server_open(Some(tm), 0, server))));
        let id = u32::from(is_served);
        let participant = object(output(|participant| corecast_tm_participant_open(Some(tm), id, participant)));
        std::thread::scope(|scope| {
            if let Some(server) = server {
                scope.spawn(move || {
                    assert_eq!(corecast_tm_server_serve(Some(server)), Status::Ok);
                    corecast_tm_server_close(owned(server));
                });
            }
            let shared = Some(&*participant);
            assert_eq!(output(|old| corecast_tm_fetch_add(shared, word, 2, old)), 5);
            assert_eq!(output(|old| corecast_tm_swap(shared, word, 9, old)), 7);
            assert_eq!(output(|value| corecast_tm_participant_load(shared, word, value)), 9);
            assert_eq!(status(|old| corecast_tm_swap(shared, 999, 1, old)), Status::InvalidArgument);
            corecast_tm_participant_close(owned(participant));
        });
        corecast_tm_close(owned(tm));
    }
}

#[test]
fn the_form_is_told_and_why() {
    let explained = |tm: &TmInstance| {
        let mut text = [0u8; 400];
        // SAFETY: a buffer of that size.
        let len = output(|len| unsafe { corecast_tm_explain(Some(tm), text.as_mut_ptr().cast(), text.len(), len) });
        String::from_utf8_lossy(&text[..len.min(text.len() - 1)]).into_owned()
    };
    let named = create(&config(1, TmForm::Shared));
    assert_eq!(output(|form| corecast_tm_form_of(Some(named), form)), TmForm::Shared as u32);
    assert_eq!(explained(named), "");
    corecast_tm_close(owned(named));
    let alone = create(&config(1, TmForm::Auto));
    assert_eq!(output(|form| corecast_tm_form_of(Some(alone), form)), TmForm::Shared as u32);
    assert_eq!(explained(alone), "a single participant has no server to ask");
    corecast_tm_close(owned(alone));
}

#[test]
fn a_lock_that_dies_with_its_holder_is_refused_among_processes() {
    let locked = TmConfig { lock: LockAlgorithm::Mcs as u32, ..config(1, TmForm::Shared) };
    // SAFETY: parameters with their size.
    let refused = status(|tm| unsafe { corecast_tm_create_shared(&locked, tm) });
    assert_eq!(refused, Status::InvalidArgument, "{}", words());
}

#[test]
fn wrong_numbers_are_refused() {
    let tm = create(&config(3, TmForm::Messages));
    assert_eq!(status(|server| corecast_tm_server_open(Some(tm), 1, server)), Status::InvalidArgument);
    assert_eq!(words(), "argument 'id': participant 1 is no server");
    assert_eq!(status(|participant| corecast_tm_participant_open(Some(tm), 0, participant)), Status::InvalidArgument);
    assert_eq!(status(|participant| corecast_tm_participant_open(Some(tm), 3, participant)), Status::InvalidArgument);
    let participant = object(output(|participant| corecast_tm_participant_open(Some(tm), 2, participant)));
    assert_eq!(status(|again| corecast_tm_participant_open(Some(tm), 2, again)), Status::Taken);
    corecast_tm_participant_close(owned(participant));
    corecast_tm_close(owned(tm));
    for (wrong, name) in [
        (TmConfig { manager: 5, ..config(3, TmForm::Messages) }, "config.manager"),
        (TmConfig { form: 3, ..config(3, TmForm::Messages) }, "config.form"),
        (TmConfig { reserved: 1, ..config(3, TmForm::Messages) }, "config.reserved"),
        (TmConfig { servers_every: 9, ..config(3, TmForm::Messages) }, "9"),
    ] {
        // SAFETY: parameters with their size.
        assert_eq!(status(|tm| unsafe { corecast_tm_create(&wrong, tm) }), Status::InvalidArgument);
        assert!(words().contains(name), "{}", words());
    }
}
