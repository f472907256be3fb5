//! A terminal without a screen, for what the program does only where there is one.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, tcgetattr};

/// The side of the terminal that a screen and a keyboard would be on.
pub(crate) struct Terminal {
    screen: File,
}

impl Terminal {
    /// A terminal, and the side of it that a program writes to.
    pub(crate) fn open() -> (Self, File) {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&screen).expect("granted");
        unlockpt(&screen).expect("unlocked");
        let name = ptsname(&screen, Vec::new()).expect("named").into_string().expect("UTF-8");
        let line = OpenOptions::new().read(true).write(true).open(name).expect("opened");
        (Self { screen: File::from(screen) }, line)
    }

    /// The settings that a program might change and must restore.
    pub(crate) fn settings(&self) -> String {
        let Termios { input_modes, output_modes, control_modes, local_modes, .. } =
            tcgetattr(&self.screen).expect("a terminal");
        format!("{input_modes:?} {output_modes:?} {control_modes:?} {local_modes:?}")
    }

    /// Presses these keys.
    pub(crate) fn press(&mut self, keys: &[u8]) {
        self.screen.write_all(keys).expect("a terminal");
    }

    /// The text that is shown up to these words, or until the program has closed its side.
    pub(crate) fn read_until(&mut self, words: Option<&str>) -> String {
        let mut shown = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            match self.screen.read(&mut chunk) {
                Ok(0) => break,
                Ok(len) => shown.extend_from_slice(&chunk[..len]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The system's way to say that nobody writes any more.
                Err(_) => break,
            }
            if words.is_some_and(|words| String::from_utf8_lossy(&shown).contains(words)) {
                break;
            }
        }
        String::from_utf8_lossy(&shown).into_owned()
    }
}
