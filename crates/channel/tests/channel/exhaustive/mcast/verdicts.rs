//! The protocols that hold, and the slips that break them.

use super::{Crash, FALSE_CORRUPT, LOST_BLOCK, NO_WAY_ON, OVERRUN, Policy, Ring, Role, Senders, Setup, Slip, WRONG};
use crate::exhaustive::checker::{STUCK, explore};

/// A reader stays in line 0 while another one joins in line 1.
const JOINER: Setup = Setup { readers: [Some(Role::STAYS), Some(Role::JOINS)], ..Setup::PLAIN };

/// The same with the lines swapped: the joiner's is scanned first.
const JOINER_FIRST: Setup =
    Setup { readers: [Some(Role { line: 1, ..Role::STAYS }), Some(Role { line: 0, ..Role::JOINS })], ..Setup::PLAIN };

/// Payloads in blocks, and one sender may die.
const BLOCKS: Setup = Setup { has_blocks: true, crash: Crash::Sender, ..Setup::PLAIN };

const LOSSY: Setup = Setup {
    ring: Ring::Overwrite,
    readers: [Some(Role { policy: Policy::Lossy, ..Role::STAYS }), None],
    ..Setup::PLAIN
};

/// A reader that is overwritten, but not what it leases.
const LEASES: Setup = Setup {
    has_blocks: true,
    readers: [Some(Role { policy: Policy::Lossy, leases: true, ..Role::STAYS }), None],
    ..LOSSY
};

const SINGLE: Setup = Setup { senders: Senders::Single, ..Setup::PLAIN };

fn slip(setup: Setup, slip: Slip) -> Setup {
    Setup { slip, ..setup }
}

#[test]
fn two_senders_and_a_reader() {
    explore(&Setup { messages: [3, 3], ..Setup::PLAIN }).holds("mcast, two senders, one reader");
}

#[test]
fn a_reader_joins() {
    explore(&JOINER).holds("mcast, a reader joins");
    explore(&Setup { messages: [1, 4], ..JOINER_FIRST }).holds("mcast, a reader joins in the line scanned first");
    explore(&Setup { messages: [2, 3], ..JOINER_FIRST })
        .holds("mcast, the same with more messages of the other sender");
}

#[test]
fn a_reader_leaves_and_another_one_takes_its_line() {
    let readers = [Some(Role { leaves_after: 1, ..Role::STAYS }), Some(Role { line: 0, ..Role::JOINS })];
    explore(&Setup { readers, messages: [2, 2], ..Setup::PLAIN }).holds("mcast, a line changes hands");
}

#[test]
fn a_sender_dies() {
    explore(&Setup { crash: Crash::Sender, ..Setup::PLAIN }).holds("mcast, a sender dies");
}

#[test]
fn a_sender_dies_while_a_reader_joins() {
    explore(&Setup { crash: Crash::Sender, ..JOINER }).holds("mcast, a sender dies, a reader joins");
    explore(&Setup { crash: Crash::Sender, ..JOINER_FIRST }).holds("mcast, the same in the line scanned first");
}

#[test]
fn a_reader_dies() {
    explore(&Setup { crash: Crash::Reader, messages: [1, 2], ..JOINER }).holds("mcast, a reader dies");
}

#[test]
fn blocks_are_accounted_for() {
    explore(&BLOCKS).holds("mcast, blocks, a sender dies");
}

#[test]
fn blocks_are_accounted_for_when_the_reaper_dies_too() {
    explore(&Setup { reaper_may_die: true, messages: [1, 3], ..BLOCKS }).holds("mcast, blocks, sender and reaper die");
}

#[test]
fn blocks_are_accounted_for_while_a_reader_joins() {
    let setup = Setup { messages: [1, 2], readers: JOINER_FIRST.readers, ..BLOCKS };
    explore(&setup).holds("mcast, blocks, a sender dies, a reader joins");
}

#[test]
fn lossy_readers_are_overrun_and_go_on() {
    explore(&Setup { messages: [3, 3], ..LOSSY }).holds("mcast, overwritten, lossy");
    explore(&Setup { messages: [2, 2], crash: Crash::Sender, ..LOSSY }).holds("mcast, overwritten, a sender dies");
    explore(&Setup { messages: [6, 0], senders: Senders::Single, ..LOSSY }).holds("mcast, overwritten, single sender");
}

#[test]
fn readers_with_a_deadline_are_evicted_and_join_again() {
    let readers = [Some(Role { policy: Policy::Deadline, ..Role::STAYS }), None];
    explore(&Setup { ring: Ring::Overwrite, readers, ..Setup::PLAIN }).holds("mcast, eviction");
}

#[test]
fn leased_blocks_are_not_written_to() {
    explore(&LEASES).holds("mcast, leases");
    explore(&Setup { crash: Crash::Reader, ..LEASES }).holds("mcast, leases, the reader dies");
    explore(&slip(LEASES, Slip::LeaseWithoutLook)).breaks("mcast, a lease without a second look", WRONG);
    explore(&slip(LEASES, Slip::FillLeased)).breaks("mcast, leases are not looked for", WRONG);
}

#[test]
fn a_late_reader_misses_the_first_messages() {
    let setup = Setup { readers: [None, Some(Role::JOINS)], messages: [3, 3], ..Setup::PLAIN };
    explore(&setup).holds("mcast, nobody listens at first");
    let judged = explore(&slip(setup, Slip::JudgeJoining));
    judged.breaks("mcast, the cursor of a joining reader is judged", FALSE_CORRUPT);
}

#[test]
fn a_single_sender() {
    explore(&Setup { messages: [5, 0], ..SINGLE }).holds("mcast, single sender");
    let joiner = Setup { messages: [5, 0], readers: JOINER.readers, ..SINGLE };
    explore(&joiner).holds("mcast, single sender, a reader joins");
}

#[test]
fn a_single_sender_dies_and_another_one_takes_over() {
    let setup = Setup { messages: [3, 3], crash: Crash::Sender, ..SINGLE };
    explore(&setup).holds("mcast, a single sender dies");
    explore(&Setup { ring: Ring::Overwrite, ..setup }).holds("mcast, overwritten, a single sender dies");
    let blocks = Setup { has_blocks: true, reaper_may_die: true, ..setup };
    explore(&blocks).holds("mcast, blocks, a single sender and the reaper die");
    explore(&Setup { ring: Ring::Overwrite, readers: LEASES.readers, ..blocks }).holds("mcast, the same with leases");
    let blind = explore(&slip(setup, Slip::TakeOverWithoutScan));
    blind.breaks("mcast, a sender takes over without a scan", WRONG);
    explore(&slip(setup, Slip::KeepTail)).breaks("mcast, the tail of a dead single sender is kept", FALSE_CORRUPT);
}

#[test]
fn a_claim_by_the_tail_alone_lets_two_senders_meet() {
    let setup = slip(LOSSY, Slip::ClaimByTail);
    explore(&setup).breaks("mcast, claim by the tail alone", WRONG);
}

#[test]
fn a_join_at_the_first_tail_is_overrun() {
    explore(&slip(JOINER, Slip::JoinAtFirstTail)).breaks("mcast, join at the first tail", OVERRUN);
}

#[test]
fn a_scan_of_active_readers_only_overruns_a_joiner() {
    explore(&slip(JOINER, Slip::ScanWithoutJoining)).breaks("mcast, scan without joining readers", OVERRUN);
}

#[test]
fn a_least_cursor_beyond_the_tail_before_the_scan_overruns_a_joiner() {
    let setup = Setup { messages: [1, 4], ..slip(JOINER_FIRST, Slip::UncappedMinimum) };
    explore(&setup).breaks("mcast, the least cursor is not capped", OVERRUN);
}

#[test]
fn an_overrun_reader_that_goes_on_one_ticket_too_early_is_overrun_again() {
    explore(&slip(LOSSY, Slip::OverrunOffByOne)).breaks("mcast, overrun off by one", NO_WAY_ON);
}

#[test]
fn a_copy_without_a_second_look_is_torn() {
    explore(&slip(LOSSY, Slip::CopyWithoutLook)).breaks("mcast, copy without a second look", WRONG);
}

#[test]
fn writing_without_marking_the_slot_tears_a_copy() {
    let setup = Setup { messages: [6, 0], senders: Senders::Single, ..slip(LOSSY, Slip::WriteWithoutMark) };
    explore(&setup).breaks("mcast, write without a mark", WRONG);
}

#[test]
fn skipping_before_the_block_is_settled_loses_it() {
    explore(&slip(BLOCKS, Slip::SkipBeforeBlock)).breaks("mcast, skip before the block is settled", LOST_BLOCK);
}

#[test]
fn forgetting_the_exchange_after_the_skip_loses_a_block_if_the_reaper_dies() {
    let setup = Setup { reaper_may_die: true, ..slip(BLOCKS, Slip::ForgetAfterSkip) };
    explore(&setup).breaks("mcast, the exchange is forgotten after the skip", LOST_BLOCK);
}

#[test]
fn skipping_without_helping_the_tail_makes_a_reader_look_corrupt() {
    let setup = Setup { crash: Crash::Sender, ..slip(Setup::PLAIN, Slip::SkipWithoutTail) };
    explore(&setup).breaks("mcast, skip without helping the tail", FALSE_CORRUPT);
}

#[test]
fn a_dead_reader_that_goes_on_gating_stops_everybody() {
    let setup = Setup { crash: Crash::Reader, ..slip(Setup::PLAIN, Slip::KeepDeadReader) };
    explore(&setup).breaks("mcast, a dead reader keeps its line", STUCK);
}
