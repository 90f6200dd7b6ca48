//! `drydock toolkit show | verify | sign | add`: what an agent's toolkit is, asks for, and who answers for it.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand};
use drydock_embed::{
    Dock, SecretName,
    agent::{
        LoadToolkitError, ReadFolderError, read_folder,
        toolkit::{
            CommandSource, Did, Origin, Provenance, ResolveError, Toolkit, ToolkitSet, Trust, Unsigned,
            grants_file,
        },
    },
    contract::{SignAlgorithm, Tenant, port::Signer as _},
};
use serde_json::{Value, json};

use crate::{exit, home, show};

#[derive(Debug, Args)]
#[command(after_help = "\
A toolkit is a folder with a manifest.org, skills and commands, or an Agent Skill: a folder with a SKILL.md.
What it asks for is granted by nobody but a person: --grants prints it as a file of grants.

Examples:
  drydock toolkit show ./papers
  drydock toolkit show ./papers --grants > papers.json && drydock sh --grants papers.json
  drydock secret generate AUTHOR && drydock toolkit sign ./papers --key AUTHOR
  drydock toolkit verify ./papers")]
pub(crate) struct ToolkitCommand {
    #[command(subcommand)]
    act: Act,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Show what it has, what it asks for, and what is wrong with it
    Show {
        /// Its folder
        dir: PathBuf,
        /// Print what it asks for as a file of grants, and nothing else
        #[arg(long)]
        grants: bool,
    },
    /// Say whether it is what its author signed
    Verify {
        /// Its folder
        dir: PathBuf,
        /// Only if it was this one: did:key:z…
        #[arg(long, value_name = "DID")]
        author: Vec<Did>,
    },
    /// Sign every file of it with a kept key pair, in its manifest or in a file SIGNATURE
    Sign {
        /// Its folder
        dir: PathBuf,
        /// The key pair, of `drydock secret generate`
        #[arg(long, value_name = "NAME")]
        key: SecretName,
        /// Whose key pair
        #[arg(long, value_name = "T", default_value_t)]
        tenant: Tenant,
    },
    /// Compile and register its commands, and keep its files for agents that name it
    Add {
        /// Its folder
        dir: PathBuf,
        /// It is somebody else's: only if it is signed
        #[arg(long)]
        third_party: bool,
        /// Only if it is signed by this one
        #[arg(long, value_name = "DID")]
        author: Vec<Did>,
    },
    /// List the toolkits that are kept
    List,
    /// Forget the files of one that is kept; its commands stay until `drydock commands rm`
    Remove {
        /// Its id
        id: String,
    },
}

/// Where the toolkits are that were added: agents find them here by their ids.
pub(super) fn kept(dock: &Dock) -> PathBuf {
    dock.home().tenant(dock.tenant()).root().join("toolkits")
}

pub(crate) fn run(toolkit: ToolkitCommand) -> anyhow::Result<ExitCode> {
    let json = toolkit.json;
    let done = match toolkit.act {
        Act::Show { dir, grants } => show_one(&dir, grants, json),
        Act::Verify { dir, author } => verify(&dir, author, json),
        Act::Sign { dir, key, tenant } => sign(&dir, &key, &tenant, json),
        Act::Add { dir, third_party, author } => add(&dir, third_party, author, json),
        Act::List => list(json),
        Act::Remove { id } => remove(&id, json),
    };
    let Err(error) = done else { return Ok(ExitCode::SUCCESS) };
    let code = error.downcast_ref::<LoadToolkitError>().map(LoadToolkitError::code);
    let code = code.or_else(|| error.downcast_ref::<ReadFolderError>().map(ReadFolderError::code));
    match code {
        Some(code) => exit::report_code(code, &error, json),
        None => Err(error),
    }
}

fn read(dock: &Dock, dir: &std::path::Path, trust: &Trust) -> anyhow::Result<Toolkit> {
    Ok(dock.read_toolkit(read_folder(dir)?, trust)?)
}

fn authors(all: Vec<Did>) -> Option<Vec<Did>> {
    (!all.is_empty()).then_some(all)
}

fn show_one(dir: &std::path::Path, grants: bool, json: bool) -> anyhow::Result<()> {
    let toolkit = read(&home::dock()?, dir, &Trust { origin: Origin::Own, authors: None })?;
    if grants {
        return Ok(show::json(&grants_file(&toolkit.asks))?);
    }
    if json {
        return Ok(show::json(&described(&toolkit))?);
    }
    show::line(&format!("{}: {}", toolkit.id, toolkit.tagline))?;
    let facts = [("title", &toolkit.title), ("version", &toolkit.version), ("status", &toolkit.status)];
    for (name, value) in facts.iter().filter_map(|it| it.1.as_ref().map(|value| (it.0, value))) {
        show::line(&format!("{name:<9}{value}"))?;
    }
    show::line(&format!("{:<9}{}", "signed", signer(&toolkit).unwrap_or_else(|| "by nobody".into())))?;
    show::line(&format!("{:<9}{}", "digest", toolkit.digest))?;
    if !toolkit.requires.is_empty() {
        show::line(&format!("{:<9}{}", "requires", toolkit.requires.join(" ")))?;
    }
    for command in &toolkit.commands {
        show::line(&format!("{:<9}{} ({})", "command", command.name, command.mode.as_str()))?;
    }
    for skill in &toolkit.skills {
        show::line(&format!("{:<9}{}: {}", "skill", skill.name, skill.summary))?;
    }
    tell_asks(&toolkit)?;
    for note in &toolkit.notes {
        show::line(&format!("{:<9}{note}", "note"))?;
    }
    Ok(())
}

/// Each thing that is asked for on a line, as a file of grants holds it, and who wants it.
fn tell_asks(toolkit: &Toolkit) -> anyhow::Result<()> {
    for ask in &toolkit.asks {
        for grant in &ask.grants {
            show::line(&format!("{:<9}{} wants {}", "asks", ask.wanted_by, grant.to_json()))?;
        }
    }
    Ok(())
}

fn signer(toolkit: &Toolkit) -> Option<String> {
    match &toolkit.provenance {
        Provenance::Signed { author } => Some(author.to_string()),
        Provenance::Unsigned => None,
    }
}

fn described(toolkit: &Toolkit) -> Value {
    let commands = toolkit.commands.iter().map(|it| {
        let (source, sha256) = match &it.source {
            CommandSource::Module { path, sha256 } => (path, Some(sha256)),
            CommandSource::Source { path, .. } => (path, None),
        };
        json!({ "name": it.name, "mode": it.mode.as_str(), "source": source, "sha256": sha256,
                "grants": it.grants, "preopen": it.preopen })
    });
    let skills = toolkit.skills.iter().map(|it| json!({ "name": it.name, "summary": it.summary }));
    json!({ "id": toolkit.id, "title": toolkit.title, "version": toolkit.version, "status": toolkit.status,
            "tagline": toolkit.tagline, "requires": toolkit.requires, "signed_by": signer(toolkit),
            "digest": toolkit.digest, "commands": commands.collect::<Vec<_>>(),
            "skills": skills.collect::<Vec<_>>(), "asks": toolkit.asks, "notes": toolkit.notes })
}

fn verify(dir: &std::path::Path, author: Vec<Did>, json: bool) -> anyhow::Result<()> {
    let trust = Trust { origin: Origin::Foreign, authors: authors(author) };
    let toolkit = read(&home::dock()?, dir, &trust)?;
    let by = signer(&toolkit).unwrap_or_default();
    match json {
        true => show::json(&json!({ "id": toolkit.id, "signed_by": by, "digest": toolkit.digest }))?,
        false => show::line(&format!("{} is what {by} signed ({})", toolkit.id, toolkit.digest))?,
    }
    Ok(())
}

fn sign(dir: &std::path::Path, key: &SecretName, tenant: &Tenant, json: bool) -> anyhow::Result<()> {
    let dock = home::dock()?;
    let folder = read_folder(dir)?;
    let signed = |data: &[u8]| {
        let signature = dock.vault().sign(tenant, key, Some(SignAlgorithm::Ed25519), data);
        signature.map_err(|error| {
            anyhow!("secret `{key}` cannot sign: {error}; `drydock secret generate` makes one that can")
        })
    };
    // The key tells its public half with every signature, and the author is part of what is signed.
    let public_key = signed(b"drydock toolkit: whose key is it?")?.public_key;
    let author = Did::of(public_key.with_context(|| format!("secret `{key}` has no public half"))?);
    let unsigned = Unsigned::of(&folder, author.clone()).map_err(LoadToolkitError::from)?;
    let message = unsigned.message().map_err(LoadToolkitError::from)?;
    let (path, text) = unsigned.finish(&signed(&message)?.bytes).map_err(LoadToolkitError::from)?;
    let (place, beside) = (dir.join(path), dir.join(format!(".{path}.new")));
    // In one step: a disk that is full leaves the manifest as it was.
    std::fs::write(&beside, text)
        .and_then(|()| std::fs::rename(&beside, &place))
        .with_context(|| format!("could not write `{}`", place.display()))?;
    match json {
        true => {
            show::json(&json!({ "id": folder.name(), "signed_by": author.to_string(), "written": path }))?
        }
        false => show::line(&format!("{} is signed by {author} in {path}", folder.name()))?,
    }
    Ok(())
}

fn add(dir: &std::path::Path, third_party: bool, author: Vec<Did>, json: bool) -> anyhow::Result<()> {
    let dock = home::dock()?;
    let origin = if third_party { Origin::Foreign } else { Origin::Own };
    let toolkit = read(&dock, dir, &Trust { origin, authors: authors(author) })?;
    let alone = Toolkit { requires: Vec::new(), ..toolkit.clone() };
    let set = ToolkitSet::resolve(std::slice::from_ref(&toolkit.id), |_| {
        Ok::<_, LoadToolkitError>(Some(alone.clone()))
    });
    let set = set.map_err(|error| match error {
        ResolveError::Toolkit { cause, .. } => anyhow::Error::from(cause),
        other => anyhow!("{other}"),
    })?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(dock.enable_toolkits(&set))?;
    keep(&dock, &toolkit)?;
    if json {
        return Ok(show::json(&described(&toolkit))?);
    }
    for command in &toolkit.commands {
        show::line(&format!("added {} ({})", command.name, command.mode.as_str()))?;
    }
    if toolkit.commands.is_empty() {
        show::line(&format!("{} has no commands", toolkit.id))?;
    }
    tell_asks(&toolkit)
}

/// Keeps the files that were judged, in the place of those that an earlier one of that id had.
fn keep(dock: &Dock, toolkit: &Toolkit) -> anyhow::Result<()> {
    let root = kept(dock);
    let (place, beside) = (root.join(&toolkit.id), root.join(format!(".{}.new", toolkit.id)));
    let write = || -> std::io::Result<()> {
        forget(&beside)?;
        for (path, bytes) in toolkit.folder.files() {
            let file = beside.join(path);
            std::fs::create_dir_all(file.parent().unwrap_or(&beside))?;
            std::fs::write(file, &**bytes)?;
        }
        forget(&place)?;
        std::fs::rename(&beside, &place)
    };
    write().with_context(|| format!("could not keep the files of {} in `{}`", toolkit.id, place.display()))
}

/// Removes a folder, if it is there.
fn forget(folder: &std::path::Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The ids of those that are kept.
fn ids(dock: &Dock) -> anyhow::Result<Vec<String>> {
    let entries = match std::fs::read_dir(kept(dock)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let names = entries.filter_map(|it| it.ok()?.file_name().into_string().ok());
    let mut ids: Vec<String> = names.filter(|it| !it.starts_with('.')).collect();
    ids.sort();
    Ok(ids)
}

fn list(json: bool) -> anyhow::Result<()> {
    let dock = home::dock()?;
    let ids = ids(&dock)?;
    if json {
        return Ok(show::json(&ids)?);
    }
    if ids.is_empty() {
        return Ok(show::line("no toolkits; `drydock toolkit add DIR` keeps one")?);
    }
    Ok(ids.iter().try_for_each(|it| show::line(it))?)
}

fn remove(id: &str, json: bool) -> anyhow::Result<()> {
    let dock = home::dock()?;
    // Only a name that is listed: no text leads anywhere else.
    if !ids(&dock)?.iter().any(|it| it == id) {
        anyhow::bail!(
            "no toolkit `{}` is kept; `drydock toolkit list` names those that are",
            show::plain(id)
        );
    }
    forget(&kept(&dock).join(id)).with_context(|| format!("could not forget the files of {id}"))?;
    match json {
        true => show::json(&json!({ "removed": id }))?,
        false => show::line(&format!("removed {id}"))?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use drydock_embed::agent::toolkit::reserved;

    #[test]
    fn every_sub_command_of_the_binary_is_a_name_that_no_toolkit_can_claim() {
        let command = crate::cli::Arguments::command();
        for name in command.get_subcommands().map(clap::Command::get_name) {
            assert!(
                reserved::OWN.contains(&name),
                "`{name}` is missing in crates/agent/src/toolkit/reserved.rs"
            );
        }
    }
}
