//! The fields of documented JSON.

use serde_json::Value;

/// The object has these fields and no others.
#[track_caller]
pub(crate) fn assert_fields(value: &Value, fields: &[&str]) {
    let found: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(found.len(), fields.len(), "{found:?}");
    assert!(fields.iter().all(|field| found.contains(field)), "{found:?}");
}
