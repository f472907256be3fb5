//! The modes that windows favour, when the mode changes, and why.

use std::collections::BTreeMap;

use corecast_base::CpuId;
use corecast_machine::{Cpu, Machine, Topology};

use super::*;

/// A window of 1000 ticks in which `waits` threads waited for 100 each.
fn window(waits: u16, sleeps: u16) -> Ledger {
    let tally = 100.0 * f32::from(waits);
    Ledger { waits: waits.into(), window_waits: waits, tally, sleeps, ..Ledger::EMPTY }
}

/// Ticks that are over two windows, of any counter.
fn two_windows() -> u64 {
    (2 * Clock::get().ticks_in(WINDOW)) >> GRAIN << GRAIN
}

fn favours_of(ledger: &Ledger, mode: Mode, ticks: u64) -> (Mode, Why) {
    ledger.favours(&ledger.seen(mode, ticks), 0, &params_of(2))
}

/// Of a machine with this number of CPUs.
fn params_of(cpus: u32) -> Params {
    let cpus = (0..cpus).map(|id| Cpu::flat(CpuId::new(id))).collect();
    Params::of(&Machine::from_topology(&Topology { cpus, ..Topology::default() }))
}

/// The mode favoured by a window where `waiting` threads waited at a time, and sections took `hold_ns` beside hand-overs.
fn favours(mode: Mode, waiting: f64, hold_ns: f64, params: &Params) -> Mode {
    let period_ns = hold_ns + params.hand_over_ns(mode, waiting);
    Ledger::EMPTY.favours(&Seen { mode, waiting, period_ns, asleep: 0.0 }, 0, params).0
}

#[test]
fn how_many_wait_follows_from_how_often_and_how_long() {
    let seen = window(40, 10).seen(Mode::Spin, 1000);
    assert_eq!((seen.waiting, seen.asleep), (4.0, 0.25));
    assert_eq!(seen.period_ns, Clock::get().ns(1000) / 40.0);
    assert_eq!(Ledger::EMPTY.seen(Mode::Spin, 1000).waiting, 0.0);
}

#[test]
fn many_queue_few_spin_and_numbers_in_between_change_nothing() {
    let at = |mode, waiting| favours(mode, waiting, 0.0, &Params::ASSUMED);
    let modes = [2.0, 5.0, 6.0, 60.0].map(|waiting| at(Mode::Spin, waiting));
    assert_eq!(modes, [Mode::Spin, Mode::Spin, Mode::Queue, Mode::Queue]);
    let modes = [0.0, 2.0, 3.5, 60.0].map(|waiting| at(Mode::Queue, waiting));
    assert_eq!(modes, [Mode::Spin, Mode::Spin, Mode::Queue, Mode::Queue]);
    let modes = [0.0, 5.0, 6.0].map(|waiting| at(Mode::Park, waiting));
    assert_eq!(modes, [Mode::Spin, Mode::Spin, Mode::Queue]);
}

#[test]
fn on_a_machine_of_64_cpus_twenty_queue_unless_it_was_measured_to_be_dear() {
    let cpu = |id| Cpu { l3: Some(id / 8), ..Cpu::flat(CpuId::new(id)) };
    let mut machine = Machine::from_topology(&Topology { cpus: (0..64).map(cpu).collect(), ..Topology::default() });
    assert_eq!(favours(Mode::Spin, 20.0, 100.0, &Params::of(&machine)), Mode::Queue);
    let curve = |mode: Mode, ns: f64| (mode.name().to_owned(), vec![(1, ns), (16, ns), (63, ns)]);
    machine.extended.lock_hand_over_ns = BTreeMap::from([curve(Mode::Spin, 200.0), curve(Mode::Queue, 190.0)]);
    assert_eq!(favours(Mode::Spin, 20.0, 100.0, &Params::of(&machine)), Mode::Spin);
    machine.extended.lock_hand_over_ns.extend([curve(Mode::Spin, 500.0)]);
    assert_eq!(favours(Mode::Spin, 20.0, 100.0, &Params::of(&machine)), Mode::Queue);
}

#[test]
fn where_sections_are_long_hand_overs_do_not_matter() {
    let at = |mode, hold_ns| favours(mode, 20.0, hold_ns, &Params::ASSUMED);
    assert_eq!([at(Mode::Spin, 500.0), at(Mode::Spin, 5000.0)], [Mode::Queue, Mode::Spin]);
    assert_eq!(at(Mode::Queue, 5000.0), Mode::Queue);
    assert_eq!(favours(Mode::Queue, 0.5, 5000.0, &Params::ASSUMED), Mode::Spin, "a queue of nobody");
}

#[test]
fn an_explanation_tells_the_last_window_and_the_last_change() {
    let mut ledger = Ledger::EMPTY;
    let quiet = ledger.explain(Mode::Spin, &Params::ASSUMED);
    assert_eq!((quiet.periods_ns.len(), quiet.last_switch, quiet.is_measured), (0, None, false));
    let long = two_windows();
    ledger = Ledger { waits: 800, window_waits: 800, tally: 8.0 * long as f32, ..ledger };
    assert_eq!(ledger.look(Mode::Spin, long, &Params::ASSUMED), (Mode::Spin, Why::Cheaper));
    assert_eq!(ledger.decide(Mode::Spin, false, true, 1), Mode::Park);
    ledger.pin(Some(Mode::Park));
    let told = ledger.explain(Mode::Park, &Params::ASSUMED);
    assert!(told.is_pinned, "{told}");
    assert!((told.waiting - 8.0).abs() < 0.1, "{told}");
    assert_eq!(told.periods_ns.iter().map(|&(mode, _)| mode).collect::<Vec<_>>(), Mode::ALL);
    let spin = told.periods_ns[0].1; // as it was seen, as the window was one of Spin
    let expected = Clock::get().ns(long) / 800.0;
    assert!((spin / expected - 1.0).abs() < 1e-3 && told.periods_ns[1].1 < spin, "{told}");
    let (why, ago) = told.last_switch.expect("it has changed");
    assert!(why == Why::Overdue && ago < Duration::from_secs(60), "{told}");
}

#[test]
fn a_window_in_which_somebody_slept_favours_sleep() {
    for mode in Mode::ALL {
        assert_eq!(favours_of(&window(80, 1), mode, 1000), (Mode::Park, Why::Slept));
    }
}

#[test]
fn where_each_has_a_cpu_those_that_sleep_try_a_queue() {
    let favours = |ledger: &Ledger, mode, [waiting, period_ns]: [f64; 2], cpus| {
        let seen = Seen { mode, waiting, period_ns, asleep: 0.5 };
        ledger.favours(&seen, Clock::get().ticks(), &params_of(cpus))
    };
    let slept = Ledger { sleeps: 9, ..Ledger::EMPTY };
    assert_eq!(favours(&slept, Mode::Park, [20.0, 5e3], 64), (Mode::Queue, Why::EachHasCpu));
    let parks = (Mode::Park, Why::Slept);
    assert_eq!(favours(&slept, Mode::Park, [20.0, 5e3], 2), parks, "20 threads on two CPUs");
    assert_eq!(favours(&slept, Mode::Park, [3.0, 5e3], 2), parks, "nothing is tried on two CPUs");
    assert_eq!(favours(&slept, Mode::Park, [20.0, 5e3], 8), parks, "more threads than CPUs");
    assert_eq!(favours(&slept, Mode::Park, [20.0, 5e4], 64), parks, "sections are long");
    assert_eq!(favours(&slept, Mode::Spin, [20.0, 5e3], 64), parks, "it has not been in Park");
    assert_eq!(favours(&Ledger { yields: 1, ..slept }, Mode::Park, [20.0, 5e3], 64), parks, "not all of them run");
    let often = Ledger { sleeps: 9, switches: 20, switched: moment(Clock::get().ticks()), ..Ledger::EMPTY };
    assert_eq!(favours(&often, Mode::Park, [20.0, 5e3], 64), parks, "it has been tried a moment ago");
}

#[test]
fn a_crowd_that_polls_tries_a_queue_where_each_has_a_cpu_and_nothing_was_measured() {
    let favours = |ledger: &Ledger, [waiting, period_ns]: [f64; 2], cpus| {
        let seen = Seen { mode: Mode::Spin, waiting, period_ns, asleep: 0.0 };
        ledger.favours(&seen, Clock::get().ticks(), &params_of(cpus)).0
    };
    let at = |seen, cpus| favours(&Ledger::EMPTY, seen, cpus);
    assert_eq!(at([2.5, 2e3], 64), Mode::Queue, "its reckoned cost is too much for the sections to tell");
    assert_eq!(at([4.0, 2e3], 2), Mode::Spin, "nothing is tried on two CPUs");
    assert_eq!(at([2.4, 2e3], 64), Mode::Spin, "few");
    assert_eq!(at([4.0, 3e4], 64), Mode::Spin, "sections are long");
    let stays_away = Ledger { manner: Manner::BacksOff, ..Ledger::EMPTY };
    assert_eq!(favours(&stays_away, [4.0, 2e3], 64), Mode::Spin);
}

#[test]
fn acquisitions_in_a_row_are_entered_as_one_by_one() {
    let (mut row, mut single) = (Ledger { waits: 60, ..Ledger::EMPTY }, Ledger { waits: 60, ..Ledger::EMPTY });
    let asks = [row.enter_waits(3, 10), row.enter_waits(32, 10), row.enter_waits(0, 10)];
    assert_eq!(asks, [false, true, false], "the 64th asks");
    (0..35).for_each(|_| _ = single.enter_waits(1, 0));
    assert_eq!((row.waits, row.window_waits), (single.waits, single.window_waits));
    assert_eq!(row.tally, 350.0);
}

#[test]
fn threads_that_do_not_run_all_the_time_do_not_queue() {
    for mode in Mode::ALL {
        assert_eq!(favours_of(&Ledger { yields: 1, ..window(80, 0) }, mode, 1000), (Mode::Spin, Why::Yielded));
        assert_eq!(favours_of(&Ledger { yields: 1, ..window(80, 1) }, mode, 1000), (Mode::Park, Why::Slept));
    }
}

#[test]
fn a_mode_changes_when_three_windows_agree() {
    let mut ledger = Ledger::EMPTY;
    let long = two_windows();
    let mut at = |waiting: u64, number: u64| {
        (ledger.waits, ledger.window_waits, ledger.tally) = (4000, 4000, (waiting * long) as f32);
        ledger.look(Mode::Spin, number * long, &Params::ASSUMED).0
    };
    assert_eq!([at(9, 1), at(9, 2), at(9, 3)], [Mode::Spin, Mode::Spin, Mode::Queue]);
    assert_eq!([at(9, 4), at(0, 5), at(9, 6), at(9, 7)], [Mode::Queue, Mode::Spin, Mode::Spin, Mode::Spin]);
    assert_eq!(at(9, 7), Mode::Spin, "the window is not over");
    assert_eq!(at(9, 8), Mode::Queue);
}

#[test]
fn a_window_that_favours_spin_begins_a_trial_of_back_off_and_one_that_favours_a_queue_does_not() {
    let long = two_windows();
    let manner = |waiting: f64| {
        let tally = (waiting * long as f64) as f32;
        let mut ledger = Ledger { waits: 4000, window_waits: 4000, tally, ..Ledger::EMPTY };
        assert_eq!(ledger.look(Mode::Spin, long, &Params::ASSUMED).0, Mode::Spin);
        ledger.manner
    };
    assert_eq!([0.2, 9.0].map(manner), [Manner::TriesPolling, Manner::Polls]);
}

/// Windows in which 20 waited and this was the time from one acquisition that waited to the next, until the mode
/// changes or `most` are over.
fn windows(ledger: &mut Ledger, now: &mut u64, mode: Mode, period_ns: f64, most: usize) -> (usize, Mode) {
    let clock = Clock::get();
    let waits = 2000_u16;
    let ticks = clock.ticks_in(Duration::from_nanos((f64::from(waits) * period_ns) as u64));
    for count in 1..=most {
        *now += ticks;
        (ledger.waits, ledger.window_waits) = (waits.into(), waits);
        ledger.tally = (20.0 * ticks as f64) as f32;
        let (next, why) = ledger.look(mode, *now, &Params::ASSUMED);
        if next != mode {
            ledger.enter_switch(why, *now);
            return (count, next);
        }
    }
    (most, mode)
}

#[test]
fn a_mode_that_was_thought_to_be_cheaper_and_is_not_is_left_for_a_while() {
    let (mut ledger, mut now) = (Ledger::EMPTY, 1 << 30);
    windows(&mut ledger, &mut now, Mode::Spin, 800.0, 1);
    assert_eq!(windows(&mut ledger, &mut now, Mode::Spin, 800.0, 9), (3, Mode::Queue));
    assert_eq!(windows(&mut ledger, &mut now, Mode::Queue, 900.0, 9), (3, Mode::Spin), "it takes longer");
    assert_eq!(ledger.why, Why::InVain);
    assert_eq!(windows(&mut ledger, &mut now, Mode::Spin, 800.0, 9), (9, Mode::Spin), "it was tried a moment ago");
    now += Clock::get().ticks_in(RELUCTANCE);
    assert_eq!(windows(&mut ledger, &mut now, Mode::Spin, 800.0, 9).1, Mode::Queue, "that is long ago");
}

#[test]
fn a_change_out_of_park_is_not_taken_back() {
    let (mut ledger, mut now) = (Ledger::EMPTY, 1 << 30);
    windows(&mut ledger, &mut now, Mode::Park, 5000.0, 1);
    assert_eq!(windows(&mut ledger, &mut now, Mode::Park, 5000.0, 9), (2, Mode::Spin));
    assert_eq!(ledger.why, Why::Awake);
    let queues = windows(&mut ledger, &mut now, Mode::Spin, 6000.0, 9);
    assert_eq!(queues, (9, Mode::Spin), "hand-overs do not matter, in a queue neither");
}

#[test]
fn a_clock_that_is_behind_and_years_without_anybody_begin_a_window() {
    let long = two_windows();
    let mut ledger = Ledger { window: (long >> GRAIN) as u32 + 1, tally: 1.0, ..window(80, 1) };
    assert_eq!(ledger.look(Mode::Spin, long, &Params::ASSUMED), (Mode::Spin, Why::FewWait));
    assert_eq!((ledger.window, ledger.window_waits, ledger.sleeps), ((long >> GRAIN) as u32, 0, 0));
    assert_eq!((ledger.agreeing, ledger.tally), (0, 0.0), "it was not judged");
    ledger.look(Mode::Spin, 2 * long, &Params::ASSUMED);
    assert_eq!(ledger.agreeing, 1);
    ledger.enter_switch(Why::Overdue, long + Clock::get().ticks_in(Duration::from_millis(4)));
    assert_eq!(ledger.since_switch(long), Duration::ZERO);
}

#[test]
fn a_sleeper_is_counted_once() {
    let mut ledger = Ledger::EMPTY;
    for _ in 0..100 {
        ledger.enter_sleeper();
        ledger.enter_waits(2, 0);
        ledger.enter_unrun(false, true);
    }
    let asleep = ledger.seen(Mode::Park, 1000).asleep;
    assert!((0.5..0.51).contains(&asleep), "{asleep}, and one more for a sleeper that is there at first");
    let mut overtaken = Ledger::EMPTY;
    overtaken.enter_sleeper();
    assert_eq!(favours_of(&overtaken, Mode::Park, 1000), (Mode::Park, Why::Slept));
}

#[test]
fn a_mode_that_has_proved_cheaper_stays_though_sections_get_longer() {
    let (mut ledger, mut now) = (Ledger::EMPTY, 1 << 30);
    windows(&mut ledger, &mut now, Mode::Spin, 800.0, 1);
    assert_eq!(windows(&mut ledger, &mut now, Mode::Spin, 800.0, 9), (3, Mode::Queue));
    windows(&mut ledger, &mut now, Mode::Queue, 300.0, 1);
    assert_eq!(windows(&mut ledger, &mut now, Mode::Queue, 2000.0, 9), (9, Mode::Queue));
}

#[test]
fn a_wait_in_vain_parks_at_once_and_a_pin_goes_before_all() {
    let before = Clock::get().ticks() - two_windows();
    let mut ledger = Ledger { window: (before >> GRAIN) as u32, ..Ledger::EMPTY };
    assert_eq!(ledger.decide(Mode::Spin, false, false, 1), Mode::Spin);
    assert_eq!((ledger.decide(Mode::Spin, true, true, 1), ledger.switches), (Mode::Park, 1));
    ledger.pin(Some(Mode::Queue));
    assert_eq!((ledger.decide(Mode::Park, true, true, 1), ledger.switches), (Mode::Queue, 2));
    assert_eq!((ledger.decide(Mode::Queue, false, true, 1), ledger.switches), (Mode::Queue, 2));
    assert_eq!(
        (ledger.judged, ledger.why),
        (Mode::Park, Why::Pinned),
        "its windows are judged, so that it can be explained"
    );
}

#[test]
fn one_that_is_overtaken_makes_the_others_queue_and_one_that_waits_for_long_sections_sleeps() {
    let clock = Clock::get();
    let relieved_by = |is_overdue: bool, mode, waits: u16, us: u64, kept| {
        let began = clock.ticks() - clock.ticks_in(Duration::from_micros(us));
        let mut ledger = Ledger { window: (began >> GRAIN) as u32, ..window(waits, 0) };
        ledger.pin(kept);
        (ledger.relieve(mode, is_overdue, !is_overdue), ledger.why)
    };
    let relieved = |mode, waits, us, kept| relieved_by(true, mode, waits, us, kept);
    assert_eq!(relieved(Mode::Spin, 4000, 400, None), (Mode::Queue, Why::Overtaken));
    assert_eq!(relieved(Mode::Spin, 8, 800, None), (Mode::Park, Why::Overdue), "every 100 us");
    assert_eq!(relieved(Mode::Spin, 1, 200, None), (Mode::Park, Why::Overdue), "few");
    assert_eq!(relieved(Mode::Spin, 1, 0, None), (Mode::Spin, Why::FewWait), "too early to tell");
    let late = [Mode::Queue, Mode::Park].map(|mode| relieved(mode, 4000, 400, None));
    assert_eq!(late, [(Mode::Queue, Why::FewWait), (Mode::Park, Why::FewWait)], "nothing changes");
    assert_eq!(relieved(Mode::Spin, 4000, 400, Some(Mode::Spin)).0, Mode::Spin);
    let early = |waits, us| relieved_by(false, Mode::Spin, waits, us, None);
    assert_eq!(early(2, 20), (Mode::Queue, Why::Overtaken));
    assert_eq!(early(8, 400), (Mode::Queue, Why::Overtaken), "every 50 us");
    assert_eq!([early(1, 0), early(8, 800)], [(Mode::Spin, Why::FewWait); 2], "it has not waited for long itself");
}

#[test]
fn two_threads_that_overtake_each_other_are_no_crowd() {
    let clock = Clock::get();
    let relieved = |waiting: f32, is_expected| {
        let ticks = clock.ticks_in(Duration::from_micros(100));
        let window = ((clock.ticks() - ticks) >> GRAIN) as u32;
        let mut ledger = Ledger { window, window_waits: 100, tally: waiting * ticks as f32, ..Ledger::EMPTY };
        ledger.relieve(Mode::Spin, false, is_expected)
    };
    assert_eq!(relieved(1.0, false), Mode::Spin);
    assert_eq!(relieved(1.0, true), Mode::Queue, "the complaining thread comes from a crowd");
    assert_eq!(relieved(1000.0, false), Mode::Queue, "also if the test is stopped for 10 ms meanwhile");
}

#[test]
fn a_window_that_began_long_before_the_crowd_is_begun_again() {
    let clock = Clock::get();
    let began = clock.ticks() - clock.ticks_in(Duration::from_millis(2));
    let mut ledger = Ledger { window: (began >> GRAIN) as u32, ..window(8, 0) };
    assert_eq!(ledger.relieve(Mode::Spin, false, true), Mode::Spin);
    assert_eq!(ledger.window_waits, 0);
    (0..3).for_each(|_| _ = ledger.enter_waits(1, 0));
    assert_eq!(ledger.relieve(Mode::Spin, false, true), Mode::Queue);
}

#[test]
fn the_queue_of_a_crowd_stays_for_a_while_when_that_is_gone() {
    let now = Clock::get().ticks();
    let favours = |why, waiting, ago, cpus| {
        let switched = moment(now - Clock::get().ticks_in(ago));
        let seen = Seen { mode: Mode::Queue, waiting, period_ns: 5e3, asleep: 0.0 };
        Ledger { why, switched, ..Ledger::EMPTY }.favours(&seen, now, &params_of(cpus)).0
    };
    let soon = Duration::from_millis(20);
    for why in [Why::Overtaken, Why::EachHasCpu] {
        assert_eq!(favours(why, 0.1, soon, 64), Mode::Queue, "{why:?}");
        assert_eq!(favours(why, 0.1, soon, 2), Mode::Spin, "{why:?}, as before on two CPUs");
        assert_eq!(favours(why, 0.1, 2 * RELUCTANCE, 64), Mode::Spin, "{why:?}, and not for ever");
    }
    assert_eq!(favours(Why::Cheaper, 0.1, soon, 64), Mode::Spin);
}

#[test]
fn every_sixty_fourth_wait_asks() {
    let mut ledger = Ledger::EMPTY;
    let asked: Vec<u64> = (1..=128).filter(|_| ledger.enter_waits(1, 0)).collect();
    assert_eq!(asked, [64, 128]);
    assert_eq!((ledger.waits, ledger.window_waits), (128, 128));
}

#[test]
fn zeroes_are_an_empty_ledger() {
    // SAFETY: numbers, truth values and modes, all of which may be zero.
    let zeroes: Ledger = unsafe { std::mem::zeroed() };
    assert_eq!(format!("{zeroes:?}"), format!("{:?}", Ledger::EMPTY));
}
