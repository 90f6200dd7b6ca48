//! What std's prelude has and core's has not.
//!
//! The guest does without std: its panics and its formatting are functions that every instance would have to
//! make room for in its table, which must not grow past a page.

pub use alloc::{
    borrow::ToOwned,
    ffi::CString,
    format,
    string::{String, ToString},
    vec::Vec,
};
