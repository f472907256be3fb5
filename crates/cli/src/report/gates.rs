//! The demands on corecast, and whether it met them, on a page.

use corecast_race::{Gate, Verdict};
use maud::{Markup, html};

use super::number::significant;
use super::plain_table::{or_dash, table};

/// Nothing where nothing is asked.
pub fn section(gates: &[Gate]) -> Markup {
    let rows = gates.iter().map(|gate| {
        let asked = format!("{} {}", if gate.is_most { "≤" } else { "≥" }, significant(gate.limit));
        let verdict = match gate.verdict {
            Verdict::Holds => "holds".to_owned(),
            Verdict::Missed => "missed".to_owned(),
            Verdict::NotJudged => format!("not judged here, needs {}", gate.needs.as_deref().unwrap_or("more")),
        };
        let told = gate.told.as_ref().map_or_else(String::new, |told| format!("; {told}"));
        vec![gate.gate.clone(), asked, or_dash(gate.measured, significant), verdict + &told]
    });
    html! {
        @if !gates.is_empty() {
            section { h2 { "What is asked" } (table("", &["ratio", "asked", "found", "verdict"], rows)) }
        }
    }
}
