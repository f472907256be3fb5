//! The engine under every MPI that is installed. Tests launch this very program, whose function `play` then has a role.

mod launch;
mod ranks;
mod roles;

use std::process::Command;

use corecast_mpi_engine::SURVIVAL_FLAGS;
use corecast_testing::actor::Role;
use launch::{Mpi, STANDARD, installed, run, run_with};

#[test]
fn play() {
    if let Some(role) = Role::of_this_process() {
        roles::play(&role);
    }
}

/// The MPIs that go on after the death of a process.
fn survivors(what: &str) -> Vec<Mpi> {
    let survivors: Vec<Mpi> = installed(what).into_iter().filter(|mpi| mpi.survives).collect();
    if survivors.is_empty() {
        corecast_testing::skipped(what, "no MPI that survives deaths is among the folders to test");
    }
    survivors
}

#[test]
fn steps_give_what_they_promise() {
    for mpi in installed("steps") {
        for ranks in [1, 2, 3] {
            let told = run(&mpi, "steps", ranks, &[]);
            assert!(told.is_success == Some(true) && told.count("ok") == ranks, "{mpi}, {ranks} ranks: {told:?}");
        }
    }
}

#[test]
fn ranks_of_one_machine_are_members_of_one_node() {
    for mpi in installed("ranks") {
        for ranks in [1, 3] {
            let told = run(&mpi, "ranks", ranks, &[]);
            assert!(told.is_success == Some(true) && told.count("ok") == ranks, "{mpi}, {ranks} ranks: {told:?}");
        }
    }
}

#[test]
fn words_reach_all_nodes_and_the_engine_goes_on() {
    for mpi in installed("words") {
        for ranks in [2, 4] {
            let told = run(&mpi, "words", ranks, &[]);
            let is_done = told.count("ok") == ranks && told.count("closed") == ranks;
            assert!(told.is_success == Some(true) && is_done, "{mpi}, {ranks} ranks: {told:?}");
        }
    }
}

#[test]
fn a_process_that_does_not_wait_for_the_end_of_others_says_so() {
    for mpi in installed("the end of MPI") {
        for role in ["open late", "rank late"] {
            let told = run(&mpi, role, 2, &[("CORECAST_MPI_END_TIMEOUT", "0.05")]);
            let said = "MPI_Finalize was not finished within 0.05 s";
            assert!(told.is_success.is_some() && told.output.contains(said), "{mpi}, {role}: {told:?}");
        }
    }
}

#[test]
fn a_node_that_gives_up_remaking_is_not_waited_for() {
    for mpi in installed("giving up") {
        let options: &[&str] = if mpi.survives { &["", SURVIVAL_FLAGS] } else { &[""] };
        for options in options {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().to_str().expect("a name that is text");
            let told = run_with(&mpi, options, "late", 3, &[("CORECAST_TEST_FOLDER", path)]);
            // A process that ends after a fault does not wait for the end of MPI, which some launchers report.
            let least = if options.is_empty() { 1 } else { 3 };
            assert!(told.is_success.is_some() && told.count("ok") >= least, "{mpi}: {told:?}");
            assert!(!told.output.contains("panicked"), "{mpi}: {told:?}");
        }
    }
}

#[test]
fn nodes_that_survive_deaths_end() {
    for mpi in survivors("survivors") {
        let told = run_with(&mpi, SURVIVAL_FLAGS, "deaths", 4, &[]);
        assert!(told.is_success.is_some() && told.count("closed") == 2, "{mpi}: {told:?}");
        let is_quiet = ["panicked", "MPI_Finalize was not finished"].iter().all(|words| !told.output.contains(words));
        assert!(is_quiet, "{mpi}: {told:?}");
    }
}

#[test]
fn nodes_that_lose_another_one_while_they_leave_one_behind_go_on() {
    for mpi in survivors("deaths in remake") {
        let told = run_with(&mpi, SURVIVAL_FLAGS, "deaths in remake", 4, &[]);
        assert!(told.is_success.is_some() && told.count("closed") == 2, "{mpi}: {told:?}");
        assert!(!told.output.contains("panicked"), "{mpi}: {told:?}");
    }
}

#[test]
fn a_node_whose_time_is_over_when_all_have_come_stays() {
    for mpi in survivors("slow nodes in remake") {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_str().expect("a name that is text");
        let told = run_with(&mpi, SURVIVAL_FLAGS, "slow in remake", 4, &[("CORECAST_TEST_FOLDER", path)]);
        assert!(told.is_success.is_some() && told.count("closed") == 3, "{mpi}: {told:?}");
        assert!(!told.output.contains("panicked"), "{mpi}: {told:?}");
    }
}

#[test]
fn a_rank_that_gives_up_shrinking_ends() {
    for mpi in installed("ranks that give up") {
        let options: &[&str] = if mpi.survives { &["", SURVIVAL_FLAGS] } else { &[""] };
        for options in options {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().to_str().expect("a name that is text");
            let told = run_with(&mpi, options, "ranks late", 3, &[("CORECAST_TEST_FOLDER", path)]);
            assert!(told.is_success.is_some() && told.count("ok") >= 1, "{mpi}: {told:?}");
            assert!(!told.output.contains("panicked"), "{mpi}: {told:?}");
        }
    }
}

#[test]
fn a_leader_that_computes_is_not_taken_for_dead() {
    for mpi in survivors("leaders that compute") {
        for ranks in [2, 3] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().to_str().expect("a name that is text");
            let told = run_with(&mpi, SURVIVAL_FLAGS, "computing", ranks, &[("CORECAST_TEST_FOLDER", path)]);
            assert!(told.is_success == Some(true) && told.count("ok") == ranks, "{mpi}, {ranks} ranks: {told:?}");
        }
    }
}

#[test]
fn ranks_go_on_without_one_that_dies() {
    for mpi in survivors("ranks that die") {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_str().expect("a name that is text");
        let told = run_with(&mpi, SURVIVAL_FLAGS, "rank killed", 3, &[("CORECAST_TEST_FOLDER", path)]);
        assert!(told.is_success.is_some() && told.count("went on") == 2, "{mpi}: {told:?}");
        assert!(!told.output.contains("panicked"), "{mpi}: {told:?}");
    }
}

#[test]
fn a_leader_that_dies_at_any_place_hangs_nobody() {
    // The places behind the reduction within a node, the start of messages between nodes, and their end, before the release.
    let places = ["far-combined:5", "far-started:5", "far-finished:5", "far-opening:1"];
    for mpi in installed("places of deaths") {
        for place in places {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().to_str().expect("a name that is text");
            let variables = [("CORECAST_TEST_FOLDER", path), ("CORECAST_TEST_PLACE_OF_DEATH", place)];
            let survives = mpi.survives && !place.starts_with("far-opening");
            let options = if mpi.survives { SURVIVAL_FLAGS } else { "" };
            let told =
                run_with(&mpi, options, "killed at", 6, &[&variables[..], &[("CORECAST_MPI_TIMEOUT", "5")]].concat());
            if survives {
                assert!(told.is_success.is_some() && told.count("went on") == 5, "{mpi}, {place}: {told:?}");
                assert!(!told.output.contains("panicked"), "{mpi}, {place}: {told:?}");
            } else {
                assert!(told.is_success == Some(false) && told.count("went on") == 0, "{mpi}, {place}: {told:?}");
            }
        }
    }
}

/// Ranks on two nodes of which some are lost, as [`ranks::led_anew`] reads it.
fn check_led_anew(cases: &[(usize, &str)]) {
    for mpi in survivors("ranks that lead") {
        for &(ranks, deaths) in cases {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().to_str().expect("a name that is text");
            let variables = [("CORECAST_TEST_FOLDER", path), ("CORECAST_TEST_DEATHS", deaths)];
            let told = run_with(&mpi, SURVIVAL_FLAGS, "led anew", ranks, &variables);
            let left = ranks - deaths.split([',', ';']).count();
            assert!(told.is_success.is_some() && told.count("went on") == left, "{mpi}, {ranks}, {deaths}: {told:?}");
            let is_quiet = ["panicked", "MPI_Finalize was not finished"].iter().all(|word| !told.output.contains(word));
            assert!(is_quiet, "{mpi}, {ranks}, {deaths}: {told:?}");
        }
    }
}

#[test]
fn the_lowest_rank_that_is_left_leads_its_node() {
    check_led_anew(&[(4, "2"), (4, "0"), (6, "3,4"), (6, "3;4"), (6, "3;0"), (6, "1")]);
}

#[test]
fn a_node_without_ranks_is_lost() {
    check_led_anew(&[(4, "2,3"), (4, "0;1")]);
}

#[test]
fn ranks_that_die_while_others_are_left_behind_are_left_behind_as_well() {
    // The next leader of the node, another rank of it, and the leader of the other node.
    check_led_anew(&[(6, "3,4s"), (6, "3,5s"), (6, "3,0s")]);
}

#[test]
fn ranks_that_leave_and_end_are_not_waited_for() {
    check_led_anew(&[(4, "3l"), (4, "2l")]);
}

#[test]
fn a_leader_that_stands_still_is_named_and_goes_on() {
    for mpi in installed("leaders that stand still") {
        for ranks in [2, 3] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().to_str().expect("a name that is text");
            let told = run_with(&mpi, "", "stopped", ranks, &[("CORECAST_TEST_FOLDER", path)]);
            assert!(told.is_success == Some(true) && told.count("ok") == ranks, "{mpi}, {ranks} ranks: {told:?}");
        }
    }
}

#[test]
fn nodes_may_have_different_numbers_of_ranks() {
    for mpi in installed("uneven nodes") {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_str().expect("a name that is text");
        let told = run_with(&mpi, "", "uneven", 4, &[("CORECAST_TEST_FOLDER", path)]);
        assert!(told.is_success == Some(true) && told.count("ok") == 4, "{mpi}: {told:?}");
    }
}

#[test]
fn ranks_share_long_slices_by_lanes() {
    for mpi in installed("lanes") {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_str().expect("a name that is text");
        let told = run_with(&mpi, "", "lanes", 6, &[("CORECAST_TEST_FOLDER", path)]);
        assert!(told.is_success == Some(true) && told.count("ok") == 6, "{mpi}: {told:?}");
    }
}

#[test]
fn lanes_that_cannot_be_are_refused() {
    for mpi in installed("other lanes") {
        for role in ["other lanes", "too many lanes"] {
            let told = run(&mpi, role, 3, &[]);
            assert_eq!(told.count("ok"), 3, "{mpi}, {role}: {told:?}");
        }
    }
}

#[test]
fn a_rank_that_leads_a_lane_and_dies_hangs_nobody() {
    for mpi in installed("deaths of lanes") {
        for place in ["far-combined:3", "far-started:3", "far-finished:3"] {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().to_str().expect("a name that is text");
            let variables = [("CORECAST_TEST_FOLDER", path), ("CORECAST_TEST_PLACE_OF_DEATH", place)];
            let options = if mpi.survives { SURVIVAL_FLAGS } else { "" };
            let told = run_with(&mpi, options, "lane killed at", 6, &variables);
            if mpi.survives {
                assert!(told.is_success.is_some() && told.count("went on") == 5, "{mpi}, {place}: {told:?}");
                assert!(!told.output.contains("panicked"), "{mpi}, {place}: {told:?}");
            } else {
                // The launcher ends the job, and some of the others may have gone on before.
                assert!(told.is_success == Some(false), "{mpi}, {place}: {told:?}");
            }
        }
    }
}

#[test]
fn ranks_that_a_launcher_has_bound_are_no_crowd() {
    for mpi in installed("bound ranks") {
        let options = if mpi.is_open_mpi { "--bind-to hwthread --use-hwthread-cpus" } else { "-bind-to hwthread" };
        let told = run_with(&mpi, options, "bound", 2, &[]);
        if told.count("unbound") > 0 {
            corecast_testing::skipped(&format!("bound ranks under {mpi}"), "it binds no rank to a CPU here");
            continue;
        }
        assert!(told.is_success == Some(true) && told.count("ok") == 2, "{mpi}: {told:?}");
    }
}

#[test]
fn ranks_that_share_a_cpu_do_not_spin() {
    for mpi in installed("ranks on one CPU") {
        let options = if mpi.is_open_mpi { "--bind-to none" } else { "" };
        let told = run_with(&mpi, options, "sharing", 3, &[]);
        if told.count("one CPU") > 0 {
            corecast_testing::skipped(&format!("ranks on one CPU under {mpi}"), "there is no other one");
            continue;
        }
        assert!(told.is_success == Some(true) && told.count("ok") == 3, "{mpi}: {told:?}");
    }
}

#[test]
fn a_process_that_is_forked_from_a_rank_ends() {
    for mpi in installed("forked processes") {
        let told = run(&mpi, "forked", 2, &[]);
        assert!(told.is_success == Some(true) && told.count("ok") == 2, "{mpi}: {told:?}");
    }
}

#[test]
fn a_variable_that_is_no_time_is_refused() {
    for mpi in installed("bad times") {
        for variable in ["CORECAST_MPI_TIMEOUT", "CORECAST_MPI_END_TIMEOUT"] {
            let told = run(&mpi, "open", 1, &[(variable, "-1")]);
            let refused = format!("refused: {variable} is `-1`, which is no time in seconds");
            assert_eq!(told.count(&refused), 1, "{mpi}: {told:?}");
        }
    }
}

#[test]
fn a_leader_on_another_thread_gets_an_error_where_mpi_is_for_one() {
    for mpi in installed("MPI for one thread") {
        let library = mpi.library.to_str().expect("a name that is text");
        let told = run(&mpi, "funneled", 2, &[("CORECAST_MPI", library)]);
        assert!(told.is_success == Some(true) && told.count("ok") == 2, "{mpi}: {told:?}");
    }
}

#[test]
fn a_cluster_says_what_was_found() {
    for mpi in installed("words about the cluster") {
        let told = run(&mpi, "open", 2, &[]);
        assert_eq!(told.count("opened node"), 2, "{mpi}: {told:?}");
        let abi = match mpi.is_open_mpi {
            true => "Open MPI ABI",
            false if mpi.name.ends_with(STANDARD) => "standard (MPI 5) ABI",
            false => "MPICH ABI",
        };
        assert_eq!(told.output.matches(abi).count(), 2, "{mpi}: {told:?}");
    }
}

#[test]
fn a_library_of_another_launcher_is_refused() {
    let all = installed("wrong launchers");
    for launcher in &all {
        for other in all.iter().filter(|other| other.is_open_mpi != launcher.is_open_mpi) {
            let library = other.library.to_str().expect("a name that is text");
            let told = run(launcher, "open", 2, &[("CORECAST_MPI", library)]);
            let refused = told.count("refused: the launcher started 2 processes, and ");
            // MPICH 5 ends the process itself under a launcher of Open MPI.
            let is_ended = told.is_success == Some(false) && told.output.contains("unsupported PMI version PMIx");
            // The launcher of Intel MPI lets the loader find its own libraries first, which others may not be made for.
            let is_unloadable = told.count("refused: no MPI library was found (") == 2
                && told.output.contains(&format!("required by {library}"));
            assert!(refused == 2 || is_ended || is_unloadable, "{other} under {launcher}: {told:?}");
            assert!(
                told.count("opened") == 0 && !told.output.contains("panicked"),
                "{other} under {launcher}: {told:?}"
            );
        }
    }
}

#[test]
fn a_missing_library_is_named() {
    for mpi in installed("a missing library").iter().take(1) {
        let told = run(mpi, "open", 1, &[("CORECAST_MPI", "libnosuchmpi.so.7")]);
        let is_named = told.count("refused: no MPI library was found (libnosuchmpi.so.7") == 1;
        assert!(is_named, "{mpi}: {told:?}");
        let told = run(mpi, "open", 1, &[("CORECAST_MPI", "libm.so.6")]);
        assert!(told.output.contains("libm.so.6 has no function MPI_Init_thread"), "{mpi}: {told:?}");
    }
}

#[test]
fn a_rank_that_does_not_come_is_not_waited_for() {
    for mpi in installed("an absent rank") {
        let told = run(&mpi, "absent", 2, &[("CORECAST_MPI_TIMEOUT", "1")]);
        assert!(told.is_success.is_some(), "{mpi}: {told:?}");
        assert!(told.count("refused: MPI_Init_thread was not finished within 1000 ms") >= 1, "{mpi}: {told:?}");
    }
}

#[test]
fn members_that_do_not_lead_load_nothing_and_wait_as_long_as_their_leader() {
    let member = |role: &str| {
        let mut member = Command::new(std::env::current_exe().expect("a program has a path"));
        member.args(["--exact", "play", "--nocapture"]).env("CORECAST_RANK", "1").env("CORECAST_MPI", "nothing.so");
        member.env("CORECAST_TEST_ROLE", role).env("CORECAST_TEST_PLACE", "1").env("CORECAST_MPI_TIMEOUT", "77");
        String::from_utf8_lossy(&member.output().expect("it starts").stdout).into_owned()
    };
    let told = member("open");
    assert!(told.contains("opened a member whose leader is member 0"), "{told}");
    let told = member("connect");
    assert!(told.contains("leads: false, limit: 77s"), "{told}");
}
