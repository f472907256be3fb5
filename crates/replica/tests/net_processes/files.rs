//! Groups that keep files, all of whose nodes are killed.

use corecast_replica::Level;
use rustix::process::Signal;

use crate::returning::wait_until_dead;
use crate::{CALM, Crew, FILES, spreads};

#[test]
fn all_nodes_die_and_a_group_begins_with_their_files() {
    let mut folder = tempfile::tempdir().expect("a temporary folder");
    let mut sum = 0;
    for spread in spreads(3).into_iter().cycle().take(6) {
        let mut crew = Crew::start_in(folder, 3, spread.clone(), CALM, |_| FILES);
        let (found, count) = crew.node.read(Level::Local, &()).expect("never waits").0;
        assert!((found == sum || found == sum + 1) && count == found, "{spread:?}: {found} after {sum}");
        crew.sum = found;
        crew.add(30);
        sum = crew.sum;
        // One more is under way when all go.
        crew.session.start(&1).expect("there is room");
        crew.actors.iter().for_each(|actor| actor.signal(Signal::KILL));
        crew.actors.iter().for_each(wait_until_dead);
        folder = crew.folder;
    }
}
