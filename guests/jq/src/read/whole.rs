//! Texts that are read as a whole.

use super::json::Reader;
use crate::value::Value;

/// All values of a text.
pub fn parse_all(text: Vec<u8>) -> Result<Vec<Value>, String> {
    let mut reader = Reader::new(text, false);
    std::iter::from_fn(|| reader.next_value()).collect()
}

/// The only value of a text.
pub fn parse_one(text: Vec<u8>) -> Result<Value, String> {
    let mut reader = Reader::new(text, false);
    let Some(first) = reader.next_value() else { return Err("Expected JSON value".to_owned()) };
    let first = first?;
    match reader.next_value() {
        None => Ok(first),
        Some(Ok(_)) => Err("Unexpected extra JSON values".to_owned()),
        Some(Err(problem)) => Err(problem),
    }
}
