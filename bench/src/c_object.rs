//! Small C and C++ sources that are built as shared objects when a benchmark runs, and loaded into it.
//!
//! So a library that may be missing is no dependency of the build: its contender is skipped with the compiler's first error.

use std::ffi::{CStr, CString, c_void};
use std::path::Path;
use std::process::Command;

/// A source and how it is built.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub(crate) text: &'static str,
    /// The name under which the compiler sees it.
    pub(crate) file: &'static str,
    /// The first of these that can builds it.
    pub(crate) compilers: &'static [&'static str],
    pub(crate) flags: &'static [&'static str],
    /// The name by which `pkg-config` knows what to link; empty if there is nothing to ask for.
    pub(crate) package: &'static str,
}

/// The handle that `dlopen` returned. It is loaded for as long as the process lives.
#[derive(Clone, Copy)]
pub(crate) struct Object(*mut c_void);

// SAFETY: the system's functions may use it on any thread.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

impl Source {
    /// Builds and loads it.
    ///
    /// # Errors
    /// The first error of the last compiler that is there, or why the object cannot be loaded.
    pub(crate) fn build(&self) -> Result<Object, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let (source, object) = (folder.path().join(self.file), folder.path().join("object.so"));
        std::fs::write(&source, self.text).map_err(|error| error.to_string())?;
        let asked = self.asked_flags();
        let mut why = String::new();
        for compiler in self.compilers {
            let mut command = Command::new(compiler);
            command.args(["-O3", "-fPIC", "-shared", "-pthread", "-o"]).arg(&object).arg(&source);
            match command.args(self.flags).args(&asked).output() {
                Ok(done) if done.status.success() => return load(&object),
                Ok(done) => {
                    let words = String::from_utf8_lossy(&done.stderr);
                    let first = words.lines().find(|line| line.contains("error")).unwrap_or("it does not build");
                    // Without the folder, which has another name in each run.
                    why = first.replace(&format!("{}/", folder.path().display()), "");
                }
                Err(error) if why.is_empty() => why = format!("{compiler}: {error}"),
                Err(_) => {}
            }
        }
        Err(why)
    }

    /// The flags to link with, if `pkg-config` knows them: else the headers have to be enough.
    fn asked_flags(&self) -> Vec<String> {
        if self.package.is_empty() {
            return Vec::new();
        }
        let asked = Command::new("pkg-config").args(["--cflags", "--libs", self.package]).output();
        let words = asked.ok().filter(|done| done.status.success()).map(|done| done.stdout).unwrap_or_default();
        String::from_utf8_lossy(&words).split_whitespace().map(str::to_owned).collect()
    }
}

impl Object {
    /// The address of one of its functions, never null.
    ///
    /// # Errors
    /// If there is none of this name.
    pub(crate) fn find(self, name: &str) -> Result<*mut c_void, String> {
        let name = CString::new(name).expect("names have no zero byte");
        // SAFETY: the object is loaded and never unloaded.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        if found.is_null() { Err(reason()) } else { Ok(found) }
    }
}

fn load(object: &Path) -> Result<Object, String> {
    let path = CString::new(object.as_os_str().as_encoded_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: a path that ends with a zero byte; what the object runs at its start is the library's own.
    let loaded = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if loaded.is_null() { Err(reason()) } else { Ok(Object(loaded)) }
}

/// Why the last call failed.
fn reason() -> String {
    // SAFETY: the text is this thread's until its next call.
    let words = unsafe { libc::dlerror() };
    if words.is_null() {
        return "it cannot be loaded".to_owned();
    }
    // SAFETY: not null, so a text that ends with a zero byte.
    unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned()
}
