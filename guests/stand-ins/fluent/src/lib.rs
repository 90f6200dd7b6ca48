//! Stands in for the `fluent` crate under coreutils, for English only.
//!
//! coreutils builds a bundle from `.ftl` text at every start, although a run seldom prints more
//! than one of its sentences. Here a bundle holds nothing: the command installs static tables made
//! at build time, a look-up is a binary search, and a pattern is read when it is printed.
//!
//! Only what `uucore::locale` calls exists. There are no terms, functions or attributes, because
//! the tables have none; `format` leaves anything it does not know as it stands.

mod args;
mod bundle;
mod format;

pub use args::{FluentArgs, FluentValue};
pub use bundle::{Catalogue, FluentBundle, FluentMessage, FluentResource, Pattern, install};
