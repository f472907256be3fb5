//! A file that the user names. Earlier measurements and notes win over what is found now.
//!
//! Its first character decides its form: `{` is a model file, which the source here reads; `<` is left to hwloc's XML.

use std::path::Path;

use super::error::DiscoverError;
use super::request::{DiscoveryRequest, Source};
use crate::bounded_file::read_bounded;
use crate::model_file::{self, ModelFileError};
use crate::topology::Topology;

/// An export of hwloc for 1024 CPUs has about two million.
const MAX_LEN_BYTES: u64 = model_file::MAX_LEN_BYTES;

/// The number of characters shown of a file of unknown form.
const SHOWN_CHARACTERS: usize = 40;

/// The forms that a file may have, with its text.
pub(super) enum Form {
    Model(String),
    HwlocXml(String),
}

/// The source `file`.
pub(super) struct ModelFile;

impl Source for ModelFile {
    fn name(&self) -> &'static str {
        "file"
    }

    fn discover(&self, request: &DiscoveryRequest) -> Result<Option<Topology>, DiscoverError> {
        let Some(path) = &request.file else { return Ok(None) };
        let Form::Model(text) = read(path)? else { return Ok(None) };
        let machine = model_file::parse(text).map_err(|problem| ModelFileError { path: path.clone(), problem })?;
        let notes = vec![format!("as told by the model of '{}'", machine.name)];
        Ok(Some(Topology { cpus: machine.cpus, notes, ..Topology::default() }))
    }
}

/// Reads the file that the user named.
pub(super) fn read(path: &Path) -> Result<Form, DiscoverError> {
    let bytes = read_bounded(path, MAX_LEN_BYTES)
        .map_err(|source| DiscoverError::Unreadable { path: path.to_owned(), source })?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match text.trim_start().chars().next() {
        Some('{') => Ok(Form::Model(text)),
        Some('<') => Ok(Form::HwlocXml(text)),
        _ => {
            let begin = text.chars().take(SHOWN_CHARACTERS).collect();
            Err(DiscoverError::UnknownFormat { path: path.to_owned(), begin })
        }
    }
}
