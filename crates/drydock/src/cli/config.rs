//! `drydock config`: which defaults the files give, and where each comes from.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::{
    config::{self, NAME, Origin, SUBCOMMANDS, Setting},
    show,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Keys are long flags without the dashes, for every subcommand that has them, or in a table:

  timeout = \"20s\"
  dir = [\".\"]

  [sh]
  allow = [\"jq\", \"grep\", \"sort\"]

Your own file is drydock.toml in the platform's configuration directory (~/.config/drydock). A
project's is the nearest drydock.toml from the working directory upwards; it can only narrow.")]
pub(crate) struct Config {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Show every value that a file gives, where it comes from, and what is ignored
    Show {
        /// Print one JSON array
        #[arg(long)]
        json: bool,
    },
}

/// One value, as a machine reads it.
#[derive(Serialize)]
struct Row {
    subcommand: &'static str,
    flag: String,
    value: serde_json::Value,
    file: String,
    origin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignored: Option<String>,
}

pub(crate) fn run(config: Config) -> anyhow::Result<ExitCode> {
    let Act::Show { json } = config.act;
    let mut rows = Vec::new();
    for subcommand in SUBCOMMANDS {
        rows.extend(config::settings(subcommand)?.into_iter().map(|it| row(subcommand, it)));
    }
    if json {
        show::json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        show::line(&format!("no {NAME} says anything: every flag has its built-in default"))?;
        return Ok(ExitCode::SUCCESS);
    }
    for row in &rows {
        let value = match &row.value {
            serde_json::Value::Array(all) => {
                let all: Vec<&str> = all.iter().filter_map(|it| it.as_str()).collect();
                all.join(", ")
            }
            other => other.to_string(),
        };
        let why = row.ignored.as_ref().map(|why| format!("   IGNORED: {why}")).unwrap_or_default();
        let text = format!("{:<4} --{} = {value}   ({}){why}", row.subcommand, row.flag, row.file);
        show::line(&show::plain(&text))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(subcommand: &'static str, setting: Setting) -> Row {
    let Setting { entry, ignored } = setting;
    let value = match (entry.off, entry.values.is_empty()) {
        (off, true) => (!off).into(),
        _ => entry.values.into(),
    };
    let origin = match entry.origin {
        Origin::User => "user",
        Origin::Project => "project",
    };
    Row { subcommand, flag: entry.flag, value, file: entry.file, origin, ignored }
}
