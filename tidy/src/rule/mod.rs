//! The rules, one file each, and their registry.

use crate::report::Report;
use crate::workspace::Workspace;

mod changelog;
mod circles;
mod forbid_unsafe;
mod inherited_lints;
mod layers;
mod length;
mod links;
mod markers;
mod models;
mod module_doc;
mod names;
mod orderings;
mod prose;
mod published;
mod rivals;
mod sync_door;
mod unwraps;

/// One house rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name, as it stands in a violation.
    pub name: &'static str,
    /// Tells the report where the workspace breaks the rule.
    pub check: fn(&Workspace, &mut Report),
}

/// Every rule.
pub const RULES: &[Rule] = &[
    Rule { name: layers::NAME, check: layers::check },
    Rule { name: circles::NAME, check: circles::check },
    Rule { name: rivals::NAME, check: rivals::check },
    Rule { name: inherited_lints::NAME, check: inherited_lints::check },
    Rule { name: published::NAME, check: published::check },
    Rule { name: forbid_unsafe::NAME, check: forbid_unsafe::check },
    Rule { name: sync_door::NAME, check: sync_door::check },
    Rule { name: orderings::NAME, check: orderings::check },
    Rule { name: models::NAME, check: models::check },
    Rule { name: length::NAME, check: length::check },
    Rule { name: links::NAME, check: links::check },
    Rule { name: module_doc::NAME, check: module_doc::check },
    Rule { name: names::NAME, check: names::check },
    Rule { name: markers::NAME, check: markers::check },
    Rule { name: prose::NAME, check: prose::check },
    Rule { name: unwraps::NAME, check: unwraps::check },
    Rule { name: changelog::NAME, check: changelog::check },
];
