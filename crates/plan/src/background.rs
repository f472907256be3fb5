//! Searches that nobody waits for: their plans are kept for later groups, while this program works with quicker ones.
//!
//! One thread of the process makes one plan after another, with no helpers, so that the program loses one CPU at most, for a
//! second or so. It ends with the last one. A program that ends first, or that the system refuses a thread, keeps no better
//! plan, and the next one tries again.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;

use crate::parallel;

/// A search, and the file that it fills.
struct Search {
    file: PathBuf,
    search: Box<dyn FnOnce() + Send>,
}

/// The searches of this process.
struct Searches {
    waiting: VecDeque<Search>,
    /// The file of the search at hand, while there is a thread.
    current: Option<PathBuf>,
}

static SEARCHES: Mutex<Searches> = Mutex::new(Searches { waiting: VecDeque::new(), current: None });

const UNPOISONED: &str = "nothing panics under this lock";

/// Runs the search when those asked for before are done, unless one for the same file is waiting or at work.
pub(crate) fn search(file: PathBuf, search: impl FnOnce() + Send + 'static) {
    let mut searches = SEARCHES.lock().expect(UNPOISONED);
    let is_known = searches.current.as_ref() == Some(&file) || searches.waiting.iter().any(|other| other.file == file);
    if is_known {
        return;
    }
    let first = file.clone();
    searches.waiting.push_back(Search { file, search: Box::new(search) });
    if searches.current.is_some() {
        return;
    }
    match thread::Builder::new().name("corecast-plans".to_owned()).spawn(work) {
        Ok(_) => searches.current = Some(first),
        Err(_) => searches.waiting.clear(),
    }
}

fn work() {
    // Dropped at the end, even by a panic, so that the next search gets a thread.
    let _end = End;
    while let Some(next) = next() {
        parallel::alone(next.search);
    }
}

fn next() -> Option<Search> {
    let mut searches = SEARCHES.lock().expect(UNPOISONED);
    let next = searches.waiting.pop_front();
    searches.current = next.as_ref().map(|next| next.file.clone());
    next
}

struct End;

impl Drop for End {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut searches = SEARCHES.lock().expect(UNPOISONED);
            (searches.current, searches.waiting) = (None, VecDeque::new());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn each_file_is_filled_once_at_a_time_and_all_are() {
        let (done, ends) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let search_for = |name: &str, done: mpsc::Sender<String>, wait: Option<mpsc::Receiver<()>>| {
            let told = name.to_owned();
            search(PathBuf::from(name), move || {
                wait.iter().for_each(|wait| wait.recv().expect("the test goes on"));
                done.send(told).expect("the test waits");
            });
        };
        search_for("first", done.clone(), Some(may_go_on));
        search_for("first", done.clone(), None);
        search_for("second", done.clone(), None);
        search_for("second", done.clone(), None);
        go_on.send(()).expect("it waits");
        drop(done);
        assert_eq!(ends.iter().collect::<Vec<_>>(), ["first", "second"]);
    }
}
