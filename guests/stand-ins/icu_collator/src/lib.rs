//! Stands in for the `icu_collator` crate under coreutils: every language sorts by bytes.
//!
//! A guest runs without a locale, where POSIX wants the order of bytes anyway; the tables for all
//! languages would be a third of each module. Only what `uucore::i18n::collator` calls exists.

use icu_locale_core::Locale;
use options::CollatorOptions;
use std::cmp::Ordering;
use std::convert::Infallible;

/// Compares by bytes.
#[derive(Debug)]
pub struct CollatorBorrowed;

impl CollatorBorrowed {
    /// For any language.
    pub fn try_new(_language: Locale, _options: CollatorOptions) -> Result<Self, Infallible> {
        Ok(Self)
    }

    /// The order of the bytes.
    pub fn compare_utf8(&self, left: &[u8], right: &[u8]) -> Ordering {
        left.cmp(right)
    }

    /// The text is its own key.
    pub fn write_sort_key_utf8_to(&self, text: &[u8], key: &mut Vec<u8>) -> Result<(), Infallible> {
        key.extend_from_slice(text);
        Ok(())
    }
}

/// What can be asked for, without effect.
pub mod options {
    /// How much of a difference counts.
    #[derive(Debug, Clone, Copy)]
    pub enum Strength {
        Primary,
        Secondary,
        Tertiary,
        Quaternary,
        Identical,
    }

    /// Whether punctuation counts.
    #[derive(Debug, Clone, Copy)]
    pub enum AlternateHandling {
        NonIgnorable,
        Shifted,
    }

    /// Whether case has a level of its own.
    #[derive(Debug, Clone, Copy)]
    pub enum CaseLevel {
        Off,
        On,
    }

    /// Which signs are ignorable.
    #[derive(Debug, Clone, Copy)]
    pub enum MaxVariable {
        Space,
        Punctuation,
        Symbol,
        Currency,
    }

    /// All of them.
    #[derive(Debug, Clone, Copy, Default)]
    pub struct CollatorOptions {
        pub strength: Option<Strength>,
        pub alternate_handling: Option<AlternateHandling>,
        pub case_level: Option<CaseLevel>,
        pub max_variable: Option<MaxVariable>,
    }
}
