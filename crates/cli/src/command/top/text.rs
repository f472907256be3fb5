//! The regions as text, for people.

use super::seen::{ChannelSeen, EndSeen, How, Inside, RegionSeen, State};
use crate::{printable, table};

/// All regions, one after the other.
pub(super) fn describe(regions: &[RegionSeen]) -> String {
    regions.iter().map(describe_region).collect::<Vec<_>>().join("\n")
}

fn describe_region(region: &RegionSeen) -> String {
    let how = match region.how {
        How::Named => "named",
        How::Hosted => "hosted",
    };
    let head = printable::line(&format!("{}: {how}, {}", region.name, region.path)).into_owned();
    match &region.inside {
        None => format!("{head}\n {}\n", region.trouble.as_deref().unwrap_or_default()),
        Some(inside) => {
            let size = table::bytes(inside.bytes as u64);
            let deserted = if inside.is_alive() { "" } else { " nobody is there: `corecast gc` removes it\n" };
            format!(
                "{head}, {size}, made by process {}\n{deserted}{}\n{}",
                inside.creator_pid,
                participants(inside),
                channels(&inside.channels)
            )
        }
    }
}

fn participants(inside: &Inside) -> String {
    let mut table = table::table(&[">seat", ">pid", "process", "state"]);
    for participant in &inside.participants {
        let state = if participant.is_alive { "alive" } else { "dead" };
        let name = participant.process.as_deref().map(printable::line).unwrap_or_default().into_owned();
        table.add_row([participant.seat.to_string(), participant.pid.to_string(), name, state.to_owned()]);
    }
    table::text(&table)
}

fn channels(channels: &[ChannelSeen]) -> String {
    let headings =
        ["channel", "?kind", "?>slots", "end", ">pid", "state", "policy", ">position", ">behind", ">per s", ""];
    let mut table = table::table(&headings);
    for channel in channels {
        let rows = channel.state.as_ref().map(rows).unwrap_or_default();
        let mut kind = channel
            .state
            .as_ref()
            .map_or([const { String::new() }; 2], |state| [state.kind.to_owned(), state.slots.to_string()]);
        let mut name = printable::line(&channel.name).into_owned();
        for row in rows {
            let lead = [std::mem::take(&mut name)].into_iter().chain(kind.each_mut().map(std::mem::take));
            table.add_row(lead.chain(row));
        }
    }
    let troubles = channels.iter().filter_map(|channel| channel.trouble.as_ref());
    table::text(&table) + &troubles.map(|trouble| format!(" {trouble}\n")).collect::<String>()
}

/// A row for each end, or for the channel alone: from the end on.
fn rows(state: &State) -> Vec<[String; 8]> {
    let rate = |rate: Option<f64>| rate.map_or_else(String::new, |rate| format!("{rate:.0}"));
    let position = |position: Option<u64>| position.map_or_else(String::new, |position| position.to_string());
    let row = |what: &str, end: Option<&EndSeen>, rest: [String; 4]| {
        let pid = end.and_then(|end| end.pid).map_or_else(String::new, |pid| pid.to_string());
        let [policy, position, behind, rate] = rest;
        let state_text = end.map_or("", |end| end.state).to_owned();
        [what.to_owned(), pid, state_text, policy, position, behind, rate, state.counts.to_owned()]
    };
    // The number of messages sent is known of all senders together.
    let mut totals = Some([String::new(), position(state.sent), String::new(), rate(state.sent_per_s)]);
    let mut rows = Vec::new();
    for end in &state.senders {
        rows.push(row("sender", Some(end), totals.take().unwrap_or_default()));
    }
    if let Some(totals) = totals {
        rows.push(row("no sender", None, totals));
    }
    for receiver in &state.receivers {
        let policy = receiver.deadline_ms.map_or_else(|| receiver.policy.to_owned(), |ms| format!("deadline {ms} ms"));
        let behind = receiver.behind.map_or_else(|| "?".to_owned(), |behind| behind.to_string());
        let rest = [policy, position(receiver.cursor), behind, rate(receiver.received_per_s)];
        rows.push(row("receiver", Some(&receiver.end), rest));
    }
    rows
}
