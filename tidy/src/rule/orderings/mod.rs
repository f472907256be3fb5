//! Every memory ordering says why it is enough, and names its partner.
//!
//! `// ORDERING: Release, pairs with the Acquire in try_recv [slot-full]` stands above the statement, and the same label
//! stands at the other end. [`site`] finds the statements and their comments, this file judges them: each ordering is
//! named, everything but Relaxed carries a label, Relaxed carries a reason, and each label joins a side that releases
//! with a side that acquires in the same crate.
//!
//! A read-modify-write that several threads run may be both ends at once; then its comment says `pairs with itself`.
//!
//! Why in the same crate: two ends in two crates would be a protocol without a home, that no one loom test covers.

use std::collections::BTreeMap;

use crate::report::Report;
use crate::workspace::{Package, Workspace};

mod site;

use site::{Site, sites};

pub(super) const NAME: &str = "orderings";

/// The fewest words that can be a reason, the name of the ordering not counted.
const REASON_WORDS: usize = 3;

pub(super) fn check(workspace: &Workspace, report: &mut Report) {
    for package in &workspace.packages {
        check_package(package, report);
    }
}

fn check_package(package: &Package, report: &mut Report) {
    let mut labels: BTreeMap<String, Vec<(&str, Site)>> = BTreeMap::new();
    for source in &package.sources {
        for line in site::hidden(source) {
            let message = "write `Ordering::Acquire` and the like in full: a short name hides from this rule";
            report.violation(NAME, &source.path, line + 1, message);
        }
        for site in sites(source) {
            for message in faults(&site) {
                report.violation(NAME, &source.path, site.line + 1, message);
            }
            for label in site.labels() {
                labels.entry(label).or_default().push((&source.path, site.clone()));
            }
        }
    }
    for (label, ends) in labels {
        check_pair(&label, &ends, report);
    }
}

/// The faults of one site, taken alone.
fn faults(site: &Site) -> Vec<String> {
    if site.comment.is_empty() {
        let orders = site.orders.join(" and ");
        return vec![format!("{orders} without a comment `// ORDERING: ...` on the statement")];
    }
    let named = |order: &str| site.words().any(|word| word == order);
    let mut faults: Vec<String> = Vec::new();
    for order in site.orders.iter().filter(|order| !named(order)) {
        faults.push(format!("the ORDERING comment does not speak of {order}"));
    }
    if site.synchronises() && site.labels().is_empty() {
        faults.push(format!("{} needs the [label] of its pair", site.orders.join(" and ")));
    }
    let is_relaxed = |word: &&str| *word == "Relaxed";
    if !site.synchronises() && site.words().filter(|word| !is_relaxed(word)).count() < REASON_WORDS {
        faults.push("Relaxed needs a reason: why does nothing have to be ordered here?".to_owned());
    }
    faults
}

/// A label has two ends, of which one releases and one acquires.
fn check_pair(label: &str, ends: &[(&str, Site)], report: &mut Report) {
    let (path, first) = &ends[0];
    let missing = if ends.len() < 2 && !first.pairs_with_itself() {
        "stands at one end only"
    } else if !ends.iter().any(|(_, site)| site.releases()) {
        "has no end that releases"
    } else if !ends.iter().any(|(_, site)| site.acquires()) {
        "has no end that acquires"
    } else {
        return;
    };
    report.violation(NAME, path, first.line + 1, format!("[{label}] {missing} in this crate"));
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::planted::{check_file, check_workspace, workspace};

    fn found(text: &str) -> Vec<String> {
        check_file(check, "src/ump.rs", text)
    }

    /// A statement that completes the pair [a] by acquiring.
    const ACQUIRE_A: &str = "\n// ORDERING: Acquire, pairs with the Release in send [a]\nx.load(Ordering::Acquire);\n";

    #[test]
    fn an_ordering_without_a_comment_is_caught() {
        let caught = found("fn f() {\n    x.load(Ordering::Relaxed);\n}\n");
        assert!(caught.len() == 1 && caught[0].starts_with("crates/channel/src/ump.rs:2: orderings"), "{caught:?}");
        assert_eq!(found("// Relaxed is enough, I feel.\nx.load(atomic::Ordering::Relaxed);\n").len(), 1);
    }

    #[test]
    fn a_comment_covers_one_statement_only() {
        let text = "// ORDERING: Relaxed, only this thread writes it\nx.load(Ordering::Relaxed);\ny.load(Ordering::Relaxed);\n";
        let caught = found(text);
        assert!(caught.len() == 1 && caught[0].contains("ump.rs:3:"), "{caught:?}");
    }

    #[test]
    fn a_label_at_one_end_only_is_caught() {
        let release = "// ORDERING: Release, pairs with the Acquire in recv [a]\nx.store(1, Ordering::Release);\n";
        let caught = found(release);
        assert!(caught.len() == 1 && caught[0].contains("[a] stands at one end only"), "{caught:?}");
        assert_eq!(found(&format!("{release}{ACQUIRE_A}")), [""; 0]);
        let two_releases = found(&format!("{release}\n{release}"));
        assert!(two_releases.len() == 1 && two_releases[0].contains("no end that acquires"), "{two_releases:?}");
        let two_acquires = found(&format!("{ACQUIRE_A}{ACQUIRE_A}"));
        assert!(two_acquires.len() == 1 && two_acquires[0].contains("no end that releases"), "{two_acquires:?}");
    }

    #[test]
    fn a_statement_can_be_both_ends_if_it_says_so() {
        let itself = "// ORDERING: AcqRel, pairs with itself at the other members [a]\nx.swap(1, Ordering::AcqRel);\n";
        assert_eq!(found(itself), [""; 0]);
        assert_eq!(found(&itself.replace("itself", "something")).len(), 1);
        assert_eq!(found(&itself.replace("AcqRel", "Release")).len(), 1);
    }

    #[test]
    fn the_ends_have_to_be_in_the_same_crate() {
        let release = "// ORDERING: Release, pairs with the Acquire in recv [a]\nx.store(1, Ordering::Release);\n";
        let mut two = workspace("corecast-base", "crates/base", "", &[("src/a.rs", release)]);
        two.packages.extend(workspace("corecast-channel", "crates/channel", "", &[("src/b.rs", ACQUIRE_A)]).packages);
        assert_eq!(check_workspace(check, &two).len(), 2);
        let one = [("src/a.rs", release), ("src/b.rs", ACQUIRE_A)];
        assert_eq!(check_workspace(check, &workspace("corecast-base", "crates/base", "", &one)), [""; 0]);
    }

    #[test]
    fn orderings_need_what_their_strength_asks_for() {
        let unlabelled = found("// ORDERING: Release, so that the payload is seen\nx.store(1, Ordering::Release);\n");
        assert!(unlabelled.len() == 1 && unlabelled[0].contains("needs the [label]"), "{unlabelled:?}");
        let unreasoned = found("// ORDERING: Relaxed\nx.load(Ordering::Relaxed);\n");
        assert!(unreasoned.len() == 1 && unreasoned[0].contains("needs a reason"), "{unreasoned:?}");
        let other = found(&format!("// ORDERING: Release [a]\nx.swap(1, Ordering::AcqRel);\n{ACQUIRE_A}"));
        assert!(other.len() == 1 && other[0].contains("does not speak of AcqRel"), "{other:?}");
    }

    #[test]
    fn one_comment_covers_a_statement_over_several_lines() {
        let text = "
            // ORDERING: Release on success, pairs with the Acquire in recv [a];
            // Relaxed on failure, for the value is only tried again.
            match self.word.compare_exchange(
                old,
                new,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                // ORDERING: Acquire, pairs with the Release above [a]
                Ok(_) => self.word.load(Ordering::Acquire),
            }\n";
        assert_eq!(found(text), [""; 0]);
        let trailing = "x.load(Ordering::Relaxed); // ORDERING: Relaxed, only this thread writes it\n";
        assert_eq!(found(trailing), [""; 0]);
    }

    #[test]
    fn short_names_are_caught() {
        for text in [
            "use corecast_base::sync::Ordering::Acquire;",
            "use corecast_base::sync::Ordering::{Acquire, Release};",
            "use corecast_base::sync::Ordering::*;",
            "use corecast_base::sync::Ordering as O;",
        ] {
            assert!(!found(text).is_empty(), "{text}");
        }
        assert_eq!(found("use corecast_base::sync::{AtomicU64, Ordering};\nuse std::cmp::Ordering::*;\n"), [""; 0]);
    }

    #[test]
    fn tests_documents_and_comparisons_are_exempt() {
        let bare = "x.load(Ordering::SeqCst);\n";
        assert_eq!(check_file(check, "tests/loom.rs", bare), [""; 0]);
        assert_eq!(found(&format!("#[cfg(test)]\nmod tests {{\n{bare}}}\n")), [""; 0]);
        assert_eq!(found(&format!("//! ```\n//! {bare}//! ```\n")), [""; 0]);
        assert_eq!(found("a.cmp(b) == Ordering::Less;\n"), [""; 0]);
    }
}
