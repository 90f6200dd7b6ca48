//! `drydock grants`, `--grants FILE`, and what a denial shows of the grant that would have helped.

use std::{io::Read as _, path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use drydock_embed::{
    Dock, Setup, StoredGrant, StoredGrantsError,
    contract::{
        BadGrants, Cap, DenialDetails, GRANTS_BYTES_MAX, GrantFile, GrantId, GrantSpec, Principal, Tenant,
    },
    gate::DenialLog,
    judge_terms,
};
use serde_json::json;

use super::run;
use crate::{exit, home, show};

#[derive(Debug, Args)]
#[command(after_help = "\
A file holds {\"grants\": [...]}. A grant names a capability (see `drydock profiles`) and may name
  id        what it is called, so that it can be revoked
  subjects  what it is good for: names, hosts, paths or tools, with * for any text
  rules     what must be true of arguments: {\"argument\": \"/1\", \"one_of\": [\"log\", \"show\"]}; also equal,
            starts_with, at_least, at_most, length_at_most and if_absent. An argument of a command is
            /1, /2 or /* for every one, of a tool a JSON pointer into its input
  until     when it ends, such as 2026-12-31T00:00:00Z
  uses      how often it may be used
  parent    another grant of the file that it narrows
  review    true for a grant that admits nothing by itself: a call that no other grant admits is refused as
            review_needed, and a person is shown the grant for that one call

Sessions of the principal that are opened on the command line hold its grants besides those of their
profile, unless --grants FILE says what they hold. A refused call prints the grant it lacked as a file
would hold it.

Examples:
  echo '{\"grants\":[{\"id\":\"git\",\"cap\":\"exec\",\"subjects\":[\"git\"],\"uses\":10}]}' > git.json
  drydock grants add git.json --principal mcp
  drydock run --grants git.json git log
  drydock grants revoke git")]
pub(crate) struct Grants {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the grants that are kept, revoked ones too
    List {
        /// Of this principal only
        #[arg(long, value_name = "NAME")]
        principal: Option<Principal>,
        #[command(flatten)]
        of: Of,
    },
    /// Show one as a file would hold it
    Show {
        /// Its id
        id: GrantId,
        #[command(flatten)]
        of: Of,
    },
    /// Keep the grants of a file for a principal
    Add {
        /// The file; `-` for stdin
        file: PathBuf,
        /// Whose sessions hold them: `cli` is run, sh, js and py, `mcp` is mcp
        #[arg(long, value_name = "NAME", default_value = run::PRINCIPAL)]
        principal: Principal,
        #[command(flatten)]
        of: Of,
    },
    /// Take one back for good, and what hangs from it, from every session of every process
    Revoke {
        /// Its id
        id: GrantId,
        #[command(flatten)]
        of: Of,
    },
}

#[derive(Debug, Args)]
struct Of {
    /// Whose principals
    #[arg(long, value_name = "NAME", default_value_t)]
    tenant: Tenant,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Action {
    fn of(&self) -> &Of {
        match self {
            Self::List { of, .. }
            | Self::Show { of, .. }
            | Self::Add { of, .. }
            | Self::Revoke { of, .. } => of,
        }
    }
}

pub(crate) fn run(grants: Grants) -> anyhow::Result<ExitCode> {
    let json = grants.action.of().json;
    match act(grants.action) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => match error.downcast_ref::<StoredGrantsError>().map(StoredGrantsError::code) {
            Some(code) => exit::report_code(code, &error, json),
            None => Err(error),
        },
    }
}

fn act(action: Action) -> anyhow::Result<()> {
    // A file that makes no sense is told before anything is opened.
    let bytes = match &action {
        Action::Add { file, .. } => read(file)?,
        _ => Vec::new(),
    };
    let dock = home::dock()?;
    let Of { tenant, json } = action.of();
    let stored = dock.stored_grants(tenant.clone());
    match &action {
        Action::List { principal, .. } => {
            let all = stored
                .all()?
                .into_iter()
                .filter(|it| principal.as_ref().is_none_or(|of| it.principal == *of));
            let all: Vec<StoredGrant> = all.collect();
            match json {
                true => show::json(&all)?,
                false if all.is_empty() => {
                    show::line("no grants are kept; `drydock grants add FILE` keeps some")?
                }
                false => show::table(["ID", "PRINCIPAL", "STATE", "GRANT"], all.iter().map(row))?,
            }
        }
        Action::Show { id, .. } => {
            let found = stored.find(id)?;
            match json {
                true => show::json(&found)?,
                false => show::line(&found.grant.to_json())?,
            }
        }
        Action::Add { principal, file, .. } => {
            let added = stored.add(principal, &bytes, dock.gate().now());
            let added = added.with_context(|| format!("grants of `{}` were not added", file.display()))?;
            match json {
                true => show::json(&added)?,
                false => {
                    for grant in &added {
                        show::line(&format!("added {} for {principal}", named(grant)))?;
                    }
                }
            }
        }
        Action::Revoke { id, .. } => {
            let newly = stored.revoke(id, dock.gate().now())?;
            // A session may hold one of a file; somebody who mistyped should see it all the same.
            let kept = stored.all()?.iter().any(|it| it.grant.id.as_ref() == Some(id));
            let state = match (newly, kept) {
                (false, _) => "was revoked already",
                (true, true) => "revoked",
                (true, false) => "revoked; none of that id is kept, only sessions of a file can have it",
            };
            match json {
                true => show::json(&json!({ "id": id, "revoked": true, "newly": newly, "kept": kept }))?,
                false => show::line(&format!("{id} {state}"))?,
            }
        }
    }
    Ok(())
}

fn named(grant: &GrantSpec) -> &str {
    grant.id.as_ref().map_or("", GrantId::as_str)
}

fn row(it: &StoredGrant) -> [String; 4] {
    let state = match (it.revoked, it.used, it.grant.uses) {
        (true, ..) => "revoked".into(),
        (false, Some(used), Some(uses)) => format!("{used} of {uses} uses"),
        _ => "held".into(),
    };
    [named(&it.grant).into(), it.principal.to_string(), state, it.grant.to_json()]
}

fn read(path: &std::path::Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let told = || format!("could not read grants from `{}`", path.display());
    let from: Box<dyn std::io::Read> = match path.as_os_str() == "-" {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(std::fs::File::open(path).with_context(told)?),
    };
    from.take(GRANTS_BYTES_MAX + 1).read_to_end(&mut bytes).with_context(told)?;
    Ok(bytes)
}

/// The file of `--grants`, read and judged while arguments are parsed, so that every command says the same of it.
pub(super) fn file(path: &str) -> Result<GrantFile, String> {
    let played = crate::taped::is_played();
    // A pipe can be read once, and flags are looked at more than once.
    if path == "-" || (!played && std::fs::metadata(path).is_ok_and(|it| !it.is_file())) {
        return Err(
            "it is no regular file; write the grants into one, or keep them with `drydock grants add -`"
                .into(),
        );
    }
    let bytes = crate::taped::text(&format!("grants {path}"), || read(path.as_ref()));
    let bytes = bytes.map_err(|error| format!("{error:#}"))?;
    let judged = GrantFile::parse(&bytes).and_then(|it| it.check(judge_terms));
    judged.map_err(|bad: BadGrants| bad.to_string())
}

/// Adds what was given to the principal before, unless a file says what the session holds.
pub(super) fn add_stored(dock: &Dock, principal: &str, setup: &mut Setup) -> anyhow::Result<()> {
    if setup.only_grants {
        return Ok(());
    }
    if crate::taped::is_played() {
        setup.stored = crate::taped::stored()?;
        return Ok(());
    }
    setup.stored = dock.stored_grants(dock.tenant().clone()).of(&principal.parse()?)?;
    Ok(())
}

/// What was refused meanwhile.
pub(super) fn refused(log: Option<&DenialLog>) -> Vec<DenialDetails> {
    log.map(DenialLog::take).unwrap_or_default()
}

/// Prints the grants that would have allowed what was refused, as a file would hold them.
pub(super) fn tell(denials: &[DenialDetails]) {
    let mut told: Vec<&GrantSpec> = Vec::new();
    for it in denials {
        let Some(grant) = it.grant.as_ref().filter(|it| !told.contains(it)) else { continue };
        told.push(grant);
        // Whoever asks a broker from inside a module gets a number, and may say nothing of it.
        if is_of_a_file_alone(it) {
            let what = it.subject.as_ref().map(|it| format!(" `{it}`")).unwrap_or_default();
            exit::warn(&format!("denied: {}{what}: {}", grant.cap, it.why));
        }
        exit::warn(&format!("grant: {}", grant.to_json()));
    }
    let mut flags: Vec<&str> = denials.iter().filter_map(|it| it.flag.as_deref()).collect();
    flags.dedup();
    for flag in flags {
        exit::warn(&format!("hint: {flag} grants it"));
    }
}

/// The same for a session that holds what is kept for a principal, and how to keep those that have no flag.
pub(super) fn tell_to(principal: &str, denials: &[DenialDetails]) {
    tell(denials);
    if denials.iter().any(is_of_a_file_alone) {
        let whose = match principal {
            run::PRINCIPAL => String::new(),
            other => format!(" --principal {other}"),
        };
        exit::warn(&format!(
            "hint: put it in a file, {{\"grants\": [...]}}, and keep it with `drydock grants add FILE{whose}`; or name the \
             file with --grants"
        ));
    }
}

/// Whether it lacked a grant that no flag of a command gives.
fn is_of_a_file_alone(denial: &DenialDetails) -> bool {
    let of_a_file = |it: &GrantSpec| {
        matches!(it.cap, Cap::Kv | Cap::Queue | Cap::Llm | Cap::Browse | Cap::Search | Cap::Tool)
    };
    denial.flag.is_none() && denial.grant.as_ref().is_some_and(of_a_file)
}

/// The text of a JSON object with what was refused added, and everything else as it was.
pub(super) fn with_denials(object: String, denials: &[DenialDetails]) -> String {
    match (object.strip_suffix('}'), serde_json::to_string(denials)) {
        (Some(open), Ok(list)) if !denials.is_empty() => format!("{open},\"denials\":{list}}}"),
        _ => object,
    }
}
