//! The name of a row on the command line: any text, completed from the rows there are.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use drydock_catalog::Table;

/// Takes any text, because `--rows` may name further rows, and proposes the built-in ones.
#[derive(Debug, Clone)]
pub(super) struct RowNames;

impl TypedValueParser for RowNames {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Table::built_in_names().map(PossibleValue::new)))
    }
}
