//! LMDB, by the crate `heed`: a B+ tree in a file that processes map, one writer at a time, here in memory and without syncing.

use std::path::Path;

use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions};
use tempfile::TempDir;

use super::super::host::{Client, Entrance, Host, Setting, Value};
use corecast_race::failure::Failure;

const MAP_BYTES: usize = 64 << 20;
const READERS: u32 = 512;
/// Files there are in memory.
const MEMORY: &str = "/dev/shm";

struct Store {
    env: Env,
    entries: Database<Bytes, Bytes>,
    folder: Option<TempDir>,
}

/// Makes a store.
pub(in crate::replica) fn open(_setting: &Setting) -> Result<Box<dyn Host>, Failure> {
    let folder = tempfile::tempdir_in(MEMORY).map_err(Failure::while_doing("make a folder in memory"))?;
    let store = open_at(folder.path())?;
    Ok(Box::new(Store { folder: Some(folder), ..store }))
}

/// Comes to the store of another process.
pub(in crate::replica) fn join(_setting: &Setting, entrance: Entrance) -> Result<Box<dyn Host>, Failure> {
    let path = entrance.path.ok_or_else(|| Failure::Refused("no path of a store came".to_owned()))?;
    Ok(Box::new(open_at(&path)?))
}

/// Begins a write, which no other writer gets past, and ends it when `wait` returns.
pub(in crate::replica) fn hold_write(path: &Path, wait: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    let store = open_at(path)?;
    let mut writing = store.env.write_txn().map_err(Failure::refused)?;
    store.entries.put(&mut writing, &0_u64.to_be_bytes(), &[0; 16]).map_err(Failure::refused)?;
    wait()?;
    writing.commit().map_err(Failure::refused)
}

fn open_at(path: &Path) -> Result<Store, Failure> {
    let mut options = EnvOpenOptions::new();
    options.map_size(MAP_BYTES).max_readers(READERS);
    // SAFETY: nothing but LMDB writes the file; without syncing it may be lost with the machine, which nobody minds here.
    unsafe { options.flags(EnvFlags::NO_SYNC | EnvFlags::WRITE_MAP) };
    // SAFETY: nobody else changes the file while it is mapped.
    let env = unsafe { options.open(path) }.map_err(Failure::refused)?;
    let mut writing = env.write_txn().map_err(Failure::refused)?;
    let entries = env.create_database(&mut writing, None).map_err(Failure::refused)?;
    writing.commit().map_err(Failure::refused)?;
    Ok(Store { env, entries, folder: None })
}

impl Host for Store {
    fn client(&self, _rank: usize) -> Result<Box<dyn Client + '_>, Failure> {
        Ok(Box::new(LmdbClient(self)))
    }

    fn entrance(&self) -> Result<Entrance, Failure> {
        Ok(Entrance { fd: None, path: self.folder.as_ref().map(|folder| folder.path().to_owned()) })
    }
}

struct LmdbClient<'a>(&'a Store);

impl Client for LmdbClient<'_> {
    #[inline(always)]
    fn get(&mut self, key: u64) -> Result<Option<Value>, Failure> {
        let reading = self.0.env.read_txn().map_err(Failure::refused)?;
        let found = self.0.entries.get(&reading, &key.to_be_bytes()).map_err(Failure::refused)?;
        Ok(found.and_then(|bytes| bytes.try_into().ok()))
    }

    fn set(&mut self, key: u64, value: Value) -> Result<(), Failure> {
        let mut writing = self.0.env.write_txn().map_err(Failure::refused)?;
        self.0.entries.put(&mut writing, &key.to_be_bytes(), &value).map_err(Failure::refused)?;
        writing.commit().map_err(Failure::refused)
    }
}
