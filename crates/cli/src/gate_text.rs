//! The demands on corecast's channels as text, each with the figure of this run.

use corecast_race::{Gate, Verdict};

use crate::table;

/// One line for each gate.
pub fn describe(gates: &[Gate]) -> String {
    let mut table = table::table(&["gate", ">asked", ">found", "verdict"]);
    for gate in gates {
        let asked = format!("{} {}", if gate.is_most { "<=" } else { ">=" }, gate.limit);
        let found = gate.measured.map_or_else(|| "-".to_owned(), |found| format!("{found:.2}"));
        let told = gate.told.as_ref().map_or_else(String::new, |told| format!("; {told}"));
        table.add_row([gate.gate.clone(), asked, found, verdict(gate) + &told]);
    }
    table::text(&table)
}

fn verdict(gate: &Gate) -> String {
    match (gate.verdict, &gate.needs) {
        (Verdict::Holds, _) => "holds".to_owned(),
        (Verdict::Missed, _) => "missed".to_owned(),
        (_, Some(needs)) => format!("not judged here: needs {needs}"),
        (_, None) => "not judged here".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_says_what_it_needs() {
        let gate = |verdict, needs: Option<&str>, told: Option<&str>| Gate {
            gate: "a / b".to_owned(),
            limit: 1.5,
            is_most: false,
            measured: None,
            verdict,
            needs: needs.map(str::to_owned),
            told: told.map(str::to_owned),
        };
        let gates =
            [gate(Verdict::Holds, None, Some("1.25 at night")), gate(Verdict::NotJudged, Some("24 CPUs"), None)];
        let text = describe(&gates);
        assert!(text.contains(">= 1.5") && text.contains("not judged here: needs 24 CPUs\n"), "{text}");
        assert!(text.contains("holds; 1.25 at night"), "{text}");
    }
}
