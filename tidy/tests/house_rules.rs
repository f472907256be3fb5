//! Runs every house rule over this workspace.

use std::path::Path;

use corecast_tidy::{RULES, Report, Violation, Workspace};

#[test]
fn this_workspace_keeps_the_house_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tidy lies in the workspace");
    let workspace = Workspace::load(root).expect("the workspace can be read");
    let mut report = Report::default();
    for rule in RULES {
        (rule.check)(&workspace, &mut report);
    }
    for (rule, reason) in &report.skipped {
        corecast_testing::skipped(&format!("the house rule {rule}"), reason);
    }
    let mut violations = report.violations;
    violations.sort();
    let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
    assert!(lines.is_empty(), "{} house rules broken:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn every_rule_has_a_name_of_its_own() {
    let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), RULES.len());
}
