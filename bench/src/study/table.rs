//! The study as comma-separated values, a line for each case.

use corecast::plan::{Effort, SHAPES, planners};

use super::{Case, Tried};

/// The whole text, with a header line; costs in the machine's unit, times in milliseconds, nothing where something was
/// not tried.
#[must_use]
pub fn csv(cases: &[Case]) -> String {
    let shapes: Vec<&str> = SHAPES.iter().map(|shape| shape.name()).collect();
    let planners: Vec<&str> = planners().into_iter().map(|(name, _)| name).collect();
    let mut header: Vec<String> =
        ["machine", "provenance", "unit", "selection", "members", "operation"].map(String::from).to_vec();
    header.extend(["bound", "proven", "bound_ms"].map(String::from));
    header.extend(
        Effort::ALL
            .iter()
            .flat_map(|effort| [format!("{effort}"), format!("{effort}_ms"), format!("{effort}_planner")]),
    );
    header.extend(planners.iter().flat_map(|name| [(*name).to_owned(), format!("{name}_ms")]));
    header.extend(shapes.iter().map(|name| (*name).to_owned()));
    let mut text = header.join(",");
    text.push('\n');
    for case in cases {
        text += &row(case, &shapes, &planners).join(",");
        text.push('\n');
    }
    text
}

fn row(case: &Case, shapes: &[&str], planners: &[&str]) -> Vec<String> {
    let ms = |tried: &Tried| format!("{:.3}", tried.time_ms);
    let cost = |cost: f64| format!("{cost:.3}");
    let find = |list: &[Tried], name: &str| list.iter().find(|tried| tried.name == name).cloned();
    let mut row = vec![
        quoted(&case.machine),
        case.provenance.clone(),
        case.unit.clone(),
        case.selection.name().to_owned(),
        case.members.to_string(),
        case.operation.to_string(),
        if case.bound > 0.0 { cost(case.bound) } else { String::new() },
        case.is_proven.to_string(),
        format!("{:.3}", case.bound_ms),
    ];
    for effort in Effort::ALL {
        let of = |part: &dyn Fn(&Tried) -> String| case.effort(effort).map_or_else(String::new, part);
        row.extend([of(&|tried| cost(tried.cost)), of(&ms), of(&|tried| tried.name.clone())]);
    }
    for name in planners {
        let found = find(&case.planners, name);
        let of = |part: &dyn Fn(&Tried) -> String| found.as_ref().map_or_else(String::new, part);
        row.extend([of(&|tried| cost(tried.cost)), of(&ms)]);
    }
    row.extend(shapes.iter().map(|name| find(&case.shapes, name).map_or_else(String::new, |tried| cost(tried.cost))));
    row
}

/// A text as one value.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
