//! Programs from packages, with equal results.

use std::path::Path;
use std::process::{Command, Stdio};

use super::object::{output, plain, preloaded};
use corecast_testing::skipped;

const LOCKS: [&str; 4] = ["pthread", "auto", "mcs", "ticket"];

/// Whether this program is here; a word about it if not.
pub(crate) fn is_installed(program: &str) -> bool {
    let run = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let is_here = run.is_ok();
    if !is_here {
        skipped(&format!("{program} under the object"), "it is not installed");
    }
    is_here
}

/// A file of 6 MB that can be compressed, but not to nothing.
fn input(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("input");
    let mut random = 7_u32;
    let words = (0..1_500_000).flat_map(|_| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 22).to_le_bytes()
    });
    std::fs::write(&path, words.collect::<Vec<u8>>()).expect("a temporary file");
    path
}

#[track_caller]
fn compresses_equally(program: &str, arguments: &[&str]) {
    if !is_installed(program) {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let input = input(folder.path());
    let expected = output(plain(program).args(arguments).arg(&input)).stdout;
    for lock in LOCKS {
        let same = output(preloaded(program, lock).args(arguments).arg(&input)).stdout;
        assert!(same == expected, "{program} with {lock}");
    }
}

#[test]
fn pigz() {
    compresses_equally("pigz", &["-n", "-p", "4", "-c"]);
}

#[test]
fn xz() {
    compresses_equally("xz", &["-1", "-T4", "--block-size=500000", "-c"]);
}

#[test]
fn python() {
    if !is_installed("python3") {
        return;
    }
    let script = "import threading, queue\n\
        q = queue.Queue(4); r = []\n\
        def work():\n\
        \x20for x in iter(q.get, None): r.append(x * x)\n\
        ts = [threading.Thread(target=work) for _ in range(4)]\n\
        [t.start() for t in ts]; [q.put(x) for x in range(5000)]; [q.put(None) for _ in ts]; [t.join() for t in ts]\n\
        print(sum(r))";
    for lock in LOCKS {
        let told = output(preloaded("python3", lock).args(["-c", script])).stdout;
        assert_eq!(String::from_utf8_lossy(&told), "41654167500\n", "{lock}");
    }
}

/// The virtual machine locks its heap, its compiler and the program's monitors by pthread's mutexes and condition variables.
#[test]
fn java() {
    const SOURCE: &str = r#"
import java.util.concurrent.*;
public class Sum {
    static long count;
    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        CompletionService<Long> done = new ExecutorCompletionService<>(pool);
        for (int task = 0; task < 16; task++)
            done.submit(() -> {
                long bytes = 0;
                for (int i = 0; i < 5000; i++) {
                    bytes += new byte[500 + i % 3000].length;
                    synchronized (Sum.class) { count++; Sum.class.notifyAll(); }
                }
                synchronized (Sum.class) { Sum.class.wait(1); }
                return bytes;
            });
        long bytes = 0;
        for (int task = 0; task < 16; task++) bytes += done.take().get();
        pool.shutdown();
        System.gc();
        System.out.println(bytes + " " + count);
    }
}
"#;
    if !is_installed("java") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = folder.path().join("Sum.java");
    std::fs::write(&source, SOURCE).expect("a file in it");
    // A runtime without a compiler takes no source.
    if !plain("java").arg(&source).output().is_ok_and(|run| run.status.success()) {
        return skipped("java under the object", "it has no compiler");
    }
    // Not those that only poll: its threads are more than the CPUs.
    for lock in ["pthread", "auto"] {
        let told = output(preloaded("java", lock).arg(&source)).stdout;
        assert_eq!(String::from_utf8_lossy(&told), "143960000 80000\n", "{lock}");
    }
}

#[test]
fn sysbench() {
    if !is_installed("sysbench") {
        return;
    }
    for lock in LOCKS {
        let mutexes = ["mutex", "--threads=4", "--mutex-num=8", "--mutex-locks=3000", "--mutex-loops=10", "run"];
        let told = output(preloaded("sysbench", lock).args(mutexes)).stdout;
        let told = String::from_utf8_lossy(&told);
        let events = told.lines().find(|line| line.contains("total number of events")).expect("it tells the events");
        assert!(events.trim_end().ends_with(" 4"), "{events}");
    }
}
