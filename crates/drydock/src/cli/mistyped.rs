//! What clap cannot guess: a mistyped flag before words that belong to somebody else, and a subcommand with two letters
//! swapped.

use clap::{
    CommandFactory as _,
    error::{ContextKind, ContextValue, ErrorKind},
};
use drydock_embed::catalog;

use super::Arguments;

/// Ends the process as for any unknown flag. From its first word on a line belongs to what is run, so clap takes a
/// mistyped flag for that word.
pub(crate) fn flag(subcommand: &str, typed: &str) -> ! {
    let mut command = Arguments::command();
    let flags = command.find_subcommand(subcommand).into_iter().flat_map(clap::Command::get_arguments);
    let known: Vec<String> = flags.filter_map(|it| it.get_long()).map(str::to_owned).collect();
    let bare = typed.trim_start_matches('-').split('=').next().unwrap_or_default();
    let hint = match catalog::nearest(bare, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `--{near}`?"),
        None => format!("`drydock help {subcommand}` lists the flags"),
    };
    command.error(ErrorKind::UnknownArgument, format!("unexpected argument '{typed}' found; {hint}")).exit()
}

/// The same error, with the subcommand that was perhaps meant where clap had none to offer.
pub(crate) fn with_subcommand(mut error: clap::Error) -> clap::Error {
    let offered = error.get(ContextKind::SuggestedSubcommand).is_some();
    if let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand)
        && !offered
    {
        let command = Arguments::command();
        let names = command.get_subcommands().filter(|it| !it.is_hide_set()).map(clap::Command::get_name);
        if let Some(near) = catalog::nearest(typed, names).map(str::to_owned) {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near]));
        }
    }
    error
}
