//! Stands in for the `icu_datetime` crate under coreutils: it has the names of no language.
//!
//! coreutils then keeps the English names it writes itself, as it does in the C locale. Only what
//! `uucore::i18n::datetime` calls exists.

use icu_locale_core::Locale;
use std::convert::Infallible;
use std::fmt::Display;
use std::marker::PhantomData;

/// Cannot be made.
pub struct DateTimeFormatter<F>(Infallible, PhantomData<F>);

/// What a language prefers.
#[derive(Clone, Copy)]
pub struct Preferences;

impl From<Locale> for Preferences {
    fn from(_language: Locale) -> Self {
        Self
    }
}

/// Said of every language.
#[derive(Debug)]
pub struct Unknown;

impl<F> DateTimeFormatter<F> {
    /// Never succeeds.
    pub fn try_new(_language: Preferences, _fields: F) -> Result<Self, Unknown> {
        Err(Unknown)
    }

    /// Never called: there is no such value.
    pub fn format<D>(&self, _date: &D) -> impl Display {
        match self.0 {}
        #[allow(unreachable_code)]
        ""
    }
}

/// Which parts of a date are wanted.
pub mod fieldsets {
    /// The month.
    pub struct M;

    impl M {
        /// Its whole name.
        pub fn long() -> Self {
            Self
        }

        /// Its short name.
        pub fn medium() -> Self {
            Self
        }
    }

    /// The day of the week.
    pub struct E;

    impl E {
        /// Its whole name.
        pub fn long() -> Self {
            Self
        }

        /// Its short name.
        pub fn short() -> Self {
            Self
        }
    }
}
