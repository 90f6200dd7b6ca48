//! `drydock models`: which models the user's own file configures, and whether each can be used as it is.

use std::process::ExitCode;

use clap::Args;
use drydock_embed::{ModelDialect, ModelSettings};
use serde::Serialize;

use crate::{config, exit, models, show};

#[derive(Debug, Args)]
#[command(after_help = "\
A model is a table of your own drydock.toml; a grant {\"cap\":\"llm\",\"subjects\":[\"small\"]} lets a session ask it:

  [models.small]
  base-url = \"https://models.example.com/v1\"
  key = \"env:MODEL_KEY\"

docs/specs/llm.md has every key.")]
pub(crate) struct Models {
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

/// One model, as a machine reads it. Of its key only where it comes from.
#[derive(Serialize)]
struct Row {
    name: String,
    dialect: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub(crate) fn run(wanted: Models) -> anyhow::Result<ExitCode> {
    if let Some(ignored) = models::ignored() {
        let own = config::user_place()
            .map_or_else(|| "your own file".to_owned(), |it| format!("`{}`", it.display()));
        exit::warn(&format!(
            "[models] in `{}` is ignored; a model is configured in {own}",
            ignored.display()
        ));
    }
    let rows: Vec<Row> = models::configured()?.into_iter().map(|(name, it)| row(name, &it)).collect();
    if wanted.json {
        show::json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        show::line("no model is configured; `drydock models --help` shows how")?;
        return Ok(ExitCode::SUCCESS);
    }
    for Row { name, dialect, server, key, problem } in &rows {
        let place = server.as_deref().map(|it| format!("   {it}")).unwrap_or_default();
        let key = key.as_ref().map(|it| format!("   key {it}")).unwrap_or_default();
        let why = problem.as_ref().map(|it| format!("   CANNOT BE USED: {it}")).unwrap_or_default();
        show::line(&show::plain(&format!("{name}   {dialect}{place}{key}{why}")))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(name: String, settings: &ModelSettings) -> Row {
    let dialect = match settings.dialect {
        ModelDialect::OpenAi => "openai",
        ModelDialect::Anthropic => "anthropic",
        ModelDialect::Scripted => "scripted",
        ModelDialect::Replay => "replay",
    };
    let server =
        settings.base_url.clone().or_else(|| settings.script.clone().or_else(|| settings.run.clone()));
    let (key, problem) =
        (settings.key.as_ref().map(ToString::to_string), models::open(&name, settings).err());
    Row { name, dialect, server, key, problem }
}
