//! Options that no benchmark has: exit code 2, and an error that names what was expected.

use crate::program::Program;

#[test]
fn operations_and_numbers_that_no_race_of_messages_has() {
    let program = Program::new();
    for (arguments, words) in [
        (&["collectives", "--op", "stream"][..], "[possible values: barrier"),
        (&["collectives", "--members", "1"], "2 to 4096 participants, not 1"),
        (&["collectives", "--n", "2,1"], "2 to 4096 participants, not 1"),
        (&["collectives", "--contenders", "std,smoke"], "no contender is called 'smoke': there are corecast, "),
        (
            &["collectives", "--op", "reduce", "--size", "7"],
            "carries whole words of 8 bytes, up to 67108864 bytes, not 7",
        ),
        (&["collectives", "--contenders", "nobody"], "no contender is called 'nobody': there are corecast, "),
        (&["collectives", "--n", "1"], "2 to 4096 participants, not 1"),
        (&["collectives", "--size", "7"], "carries whole words of 8 bytes, up to 67108864 bytes, not 7"),
        (&["collectives", "--size", "65Mi"], "up to 67108864 bytes, not 68157440"),
        (&["collectives", "--size", "4K"], "'4K' is no number of bytes such as 56, 4Ki, 1Mi or 1M"),
        (&["collectives", "--threads", "--processes"], "cannot be used with"),
        (
            &["collectives", "--leaf-echo", "--op", "barrier,allreduce"],
            "--leaf-echo times operations with a root, expected one in --op barrier,allreduce",
        ),
        (&["acknowledged", "--arity", "0"], "0 is not in 1..=4096"),
        (&["acknowledged", "--n", "1"], "2 to 4096 participants, not 1"),
        (&["acknowledged", "--bursts", "0"], "0 is not in 1..="),
        (&["ump", "--wait", "often"], "[possible values: adaptive"),
        (&["idle", "--late", "0"], "0 is not in 1..=60000"),
        (&["channels", "--contenders", "ump,smoke"], "no contender is called 'smoke': there are mcast, "),
        (&["channels", "--sizes", "0"], "a message has 1 to 1073741824 bytes, not 0"),
        (&["channels", "--sizes", "1.1Gi"], "'1.1Gi' is no number of bytes such as 56, 4Ki, 1Mi or 1M"),
        (&["channels", "--sizes", "2G"], "a message has 1 to 1073741824 bytes, not 2000000000"),
        (&["channels", "--receivers", "1025"], "a channel has 1 to 1024 receivers, not 1025"),
        (&["channels", "--seconds", "0"], "0 s is not between 0.001 and 604800"),
        (&["channels", "--macro", "raft"], "[possible values: paxos, checkpoint]"),
        (&["channels", "--paper", "--quick"], "cannot be used with"),
        (&[], "Usage: corecast bench"),
    ] {
        let run = program.run(arguments).failed(2, words);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn locks_and_numbers_that_no_benchmark_of_synchronization_has() {
    let program = Program::new();
    for (arguments, words) in [
        (&["locks", "--contenders", "mcs,futex"][..], "no contender is called 'futex': there are tas, "),
        (&["locks", "--threads", "10001"], "10001 is not in 1..=10000"),
        (&["locks", "--locks", "0"], "0 is not in 1..="),
        (&["locks", "--hold", "-1"], "unexpected argument '-1'"),
        (&["locks", "--placement", "here"], "[possible values: pinned, unpinned]"),
        (&["atomics", "--contenders", "cas,xor"], "no contender is called 'xor': there are cas, tas, fai, "),
        (&["atomics", "--threads", "2,0"], "0 is not in 1..=10000"),
        (&["atomics", "--pause", "long"], "invalid value 'long' for '--pause <NS>'"),
        (&["messages", "--contenders", "ump,zimp"], "no contender is called 'zimp': there are ump, one-line, "),
        (&["messages", "--pairs", "0"], "0 is not in 1..=128"),
        (&["messages", "--bytes", "5k"], "5000 is not in 1..=4096"),
        (&["messages", "--bytes", "56,4097"], "4097 is not in 1..=4096"),
        (&["messages", "--clients", "none"], "invalid value 'none' for '--clients <LIST>'"),
        (&["messages", "--every", "1"], "1 is not in 2..=255"),
        (&["messages", "--work", "1000001"], "1000001 is not in 0..=1000000"),
        (&["messages", "--block", "0"], "0 is not in 1..=60000"),
        (&["table", "--contenders", "mcs,btree"], "no contender is called 'btree': there are tas, "),
        (&["table", "--threads", "0"], "0 is not in 1..=256"),
        (&["table", "--buckets", "12,0"], "0 is not in 1..=65536"),
        (&["table", "--elements", "many"], "invalid value 'many' for '--elements <LIST>'"),
        (&["table", "--block", "0"], "0 is not in 1..=60000"),
        (&["table", "--every", "1"], "1 is not in 2..=256"),
        (&["table", "--every", "3,257"], "257 is not in 2..=256"),
        (&["table", "--batch", "8"], "8 is not in 1..=7"),
        (&["table", "--zipf", "0"], "expected a number above 0, up to 8"),
        (&["table", "--zipf", "NaN"], "expected a number above 0, up to 8"),
        (&["tm", "--contenders", "shared-fair-cm,htm"], "no contender is called 'htm': there are messages-none, "),
        (
            &["tm", "--workloads", "bank,tree"],
            "[possible values: bank, table, list, map, queue, map-reduce, writes, mp]",
        ),
        (&["tm", "--managers", "karma"], "[possible values: none, back-off, wholly, offset-greedy, fair-cm]"),
        (&["tm", "--preset", "scc"], "[possible values: bank, read-all, list, table]"),
        (&["epcc", "--preset", "smelt"], "[possible values: smelt-epcc]"),
        (&["streamcluster", "--preset", "smelt-epcc"], "[possible values: smelt-streamcluster]"),
        (&["mpi", "--preset", "smelt"], "[possible values: smelt-mpi]"),
        (&["memcached", "--preset", "ssync"], "[possible values: ssync-memcached]"),
        (&["tm", "--participants", "0"], "0 is not in 1..=1024"),
        (&["tm", "--every", "1"], "1 is not in 2..=1024"),
        (&["tm", "--participants", "2,4", "--every", "5"], "one of 5 is no server of 4 participants, expected 2 to 4"),
        (&["tm", "--participants", "2", "--readers", "2"], "of 2 participants none would transfer, expected fewer"),
        (&["tm", "--checks", "101"], "101 is not in 0..=100"),
        (&["tm", "--file", "/no/such/file"], "--file /no/such/file: No such file"),
        (&["tm", "--file", "/"], "--file /: it is no regular file"),
        (&["tm", "--block", "0"], "0 is not in 1..=60000"),
    ] {
        let run = program.run(arguments).failed(2, words);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn locks_that_nobody_can_race() {
    let program = Program::new();
    let locks = |options: &[&str]| program.run(&[&["locks", "--quick"], options].concat());
    let long = locks(&["--hold", "0,1000000000", "--gap", "0,1000"]);
    long.failed(2, "with --hold 1000000000 and --gap 1000").failed(2, "1000000000 ns at most");
    locks(&["--hold", "500000001", "--gap", "1"]).failed(2, "with --hold 500000001 and --gap 1");
    locks(&["--contenders", "combine,delegate", "--threads", "1"]).failed(2, "closures are sent by 2 threads or more");
}
