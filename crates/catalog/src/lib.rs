//! The catalog: programs as rows of data, fetched by the package clients of the machine, checked by hash,
//! unpacked in a guest, compiled and registered.
//!
//! A row says everything about a program; nothing here knows one by name. Bytes of strangers are never read by
//! this room beyond their hash: archives are taken apart by guests of ours, modules run as guests.
//!
//! One file, `client`, starts native programs, and tidy knows it.

mod archive;
mod client;
mod error;
mod install;
mod installed;
pub mod lane_c;
pub mod lane_js;
mod language;
mod pip;
pub mod progress;
mod prove;
mod provide;
pub mod read;
pub mod row;
mod scratch;
pub mod source;
mod stand_in;
mod table;
pub mod unpack;
mod wheels;

pub use archive::ArchiveError;
pub use client::{ClientEnvironment, FetchError, FetchLimits};
pub use error::CatalogError;
pub use install::Catalog;
pub use installed::Installed;
pub use lane_c::{BuildError, Built, Project, build_project, needs_exceptions};
pub use lane_js::{Bundle, RegisterScriptError, bundle, register_script};
pub use language::BuildLanguage;
pub use progress::{Progress, Watcher};
pub use prove::State;
pub use provide::CatalogProvider;
pub use read::BadRow;
pub use row::Row;
pub use source::Source;
pub use table::{Table, own_files};
pub use unpack::UnpackError;
pub use wheels::PipWheels;
