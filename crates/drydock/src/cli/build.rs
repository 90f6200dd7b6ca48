//! `drydock build LANG FILE…` and `drydock build-inline NAME LANG`: sources become commands, compiled in the sandbox.

use std::{
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context as _;
use bytes::Bytes;
use clap::Args;
use drydock_catalog::{
    BuildError, BuildLanguage, Project, RegisterScriptError, Watcher, build_project, bundle,
    needs_exceptions, register_script,
};
use drydock_embed::{
    Dock,
    contract::{
        Digest, Fault,
        port::{EntryOptions, WasmFeatures},
    },
    store::{PutArtifactError, RegisterError, Registration},
};
use serde_json::{Value, json};

use crate::{exit, home, show};

mod gather;
mod words;

/// The most source that is read from stdin.
const INLINE_BYTES_MAX: u64 = 16 << 20;

/// A result whose name ends so is a file.
const FILES: [&str; 3] = [".wasm", ".js", ".mjs"];

#[derive(Debug, Args)]
#[command(after_help = "\
The sources and the headers beside them and in -I directories are copied into a sandbox, compiled
there by clang, and registered as a command that holds no power its caller does not hold. With
-o FILE.wasm (of js and ts FILE.js) the result is written to that file instead. The same sources with the same flags are
compiled once.

C needs the catalog's row clang, js and ts need esbuild and qjs: `drydock catalog add clang`.
Flags are gcc's: -O2 -DNAME -IDIR -lm -std=c11 -Wall …

Exit status: 0 it was built, 1 it was not; the compiler's own words are on stderr.

Examples:
  drydock build c hello.c && drydock run hello
  drydock build c -O2 main.c parse.c -Iinclude -lm -o calc
  drydock build ts report.ts -o report")]
pub(crate) struct Build {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// c, c++, js or ts
    #[arg(value_name = "LANG")]
    language: String,
    /// Sources, `-o NAME`, and flags of the compiler
    #[arg(value_name = "FILE|FLAG", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  echo 'int main(void) { return 42; }' | drydock build-inline answer c; drydock run answer")]
pub(crate) struct BuildInline {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// A library it needs, such as m; may be repeated
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    dep: Vec<String>,
    /// The name to run it by
    name: String,
    /// c, c++, js or ts; the source is read from stdin
    #[arg(value_name = "LANG")]
    language: String,
}

/// What is built, and what becomes of it.
struct Order {
    language: BuildLanguage,
    project: Project,
    result: Destination,
}

enum Destination {
    Command(String),
    File(PathBuf),
}

pub(crate) fn run(build: Build) -> anyhow::Result<ExitCode> {
    finish(build.json, || {
        let language = BuildLanguage::named(&build.language)?;
        let words = words::read(&build.words, language)?;
        let result = match words.output.as_deref() {
            Some(path) if FILES.iter().any(|it| path.ends_with(it)) => Destination::File(path.into()),
            Some(name) => Destination::Command(name.to_owned()),
            None => Destination::Command(stem(&words.sources)),
        };
        let dock = opened(&result)?;
        let project = gather::project(&words)?;
        carry_out(&dock, Order { language, project, result })
    })
}

pub(crate) fn inline(inline: BuildInline) -> anyhow::Result<ExitCode> {
    finish(inline.json, || {
        // The name first: it is refused before anything is read or compiled.
        let result = Destination::Command(inline.name.clone());
        let dock = opened(&result)?;
        let language = BuildLanguage::named(&inline.language)?;
        let mut source = Vec::new();
        std::io::stdin().lock().take(INLINE_BYTES_MAX + 1).read_to_end(&mut source)?;
        if source.len() as u64 > INLINE_BYTES_MAX {
            anyhow::bail!("the source is longer than {}", show::size(INLINE_BYTES_MAX));
        }
        if source.trim_ascii().is_empty() {
            return Err(BuildError::EmptySource.into());
        }
        inline.dep.iter().try_for_each(|it| language.check_dependency(it))?;
        let path = format!("{}.{}", inline.name, language.ending());
        let project = Project {
            files: vec![(path.clone(), Bytes::from(source))],
            sources: vec![path],
            cflags: vec!["-O2".into()],
            ldflags: inline.dep.iter().map(|it| format!("-l{it}")).collect(),
            cxx: language == BuildLanguage::Cxx,
        };
        carry_out(&dock, Order { language, project, result })
    })
}

/// The machine, if the name may be registered at all.
fn opened(result: &Destination) -> anyhow::Result<Dock> {
    let dock = home::dock()?;
    if let Destination::Command(name) = result {
        dock.registry().may_register(name)?;
    }
    Ok(dock)
}

fn carry_out(dock: &Dock, order: Order) -> anyhow::Result<Value> {
    let Order { language, project, result } = order;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match language {
            BuildLanguage::C | BuildLanguage::Cxx => module(dock, &project, &result).await,
            BuildLanguage::JavaScript | BuildLanguage::TypeScript => {
                script(dock, &project, language, &result).await
            }
        }
    })
}

/// C: a module of its own.
async fn module(dock: &Dock, project: &Project, result: &Destination) -> anyhow::Result<Value> {
    let built = build_project(dock, project, &Watcher::default()).await?;
    tell(&built.said);
    let facts = json!({ "sha256": built.sha256, "size": built.module.len(), "again": built.again });
    match result {
        Destination::File(path) => written(path, &built.module, facts),
        Destination::Command(name) => {
            let features = WasmFeatures { exceptions: needs_exceptions(&built.module) };
            let options = EntryOptions { features, ..EntryOptions::default() };
            // Compiled before it is named, so that what is registered can run, and starts at once.
            dock.check_as(built.module.clone(), &options).await?;
            let how = Registration { options, ..Registration::default() };
            let entry = dock.registry().register(name, built.module, how)?;
            Ok(with(facts, "name", entry.name.as_str()))
        }
    }
}

/// JavaScript: a program for qjs.
async fn script(
    dock: &Dock,
    project: &Project,
    language: BuildLanguage,
    result: &Destination,
) -> anyhow::Result<Value> {
    let bundle = bundle(dock, project, language).await?;
    tell(&bundle.said);
    let facts = json!({ "sha256": Digest::of(&bundle.text), "size": bundle.text.len(), "again": false });
    match result {
        Destination::File(path) => written(path, &bundle.text, facts),
        Destination::Command(name) => {
            let entry = register_script(dock, name, &bundle).await?;
            Ok(with(facts, "name", entry.name.as_str()))
        }
    }
}

fn written(path: &Path, bytes: &[u8], facts: Value) -> anyhow::Result<Value> {
    std::fs::write(path, bytes).with_context(|| format!("could not write `{}`", path.display()))?;
    Ok(with(facts, "file", &path.display().to_string()))
}

fn with(mut facts: Value, key: &str, value: &str) -> Value {
    facts[key] = value.into();
    facts
}

/// The name of a command made of these sources.
fn stem(sources: &[PathBuf]) -> String {
    let first = sources.first().and_then(|it| it.file_stem());
    first.unwrap_or_default().to_string_lossy().into_owned()
}

/// What a compiler says is shown as it is, but for what a terminal would obey.
fn tell(said: &str) {
    for line in said.lines() {
        let _ = writeln!(std::io::stderr(), "{}", show::plain(line));
    }
}

fn finish(json: bool, build: impl FnOnce() -> anyhow::Result<Value>) -> anyhow::Result<ExitCode> {
    match build() {
        Ok(told) if json => show::json(&told)?,
        Ok(told) => {
            let what = told["name"].as_str().or(told["file"].as_str()).unwrap_or_default();
            let again = if told["again"] == true { ", as before" } else { "" };
            let size = show::size(told["size"].as_u64().unwrap_or_default());
            show::line(&format!(
                "built {what} ({size}{again}, {})",
                told["sha256"].as_str().unwrap_or_default()
            ))?;
        }
        Err(error) => {
            let code = code_of(&error);
            if json {
                show::json(&json!({ "error": { "code": code, "message": format!("{error:#}") } }))?;
                return Ok(ExitCode::FAILURE);
            }
            if let Some(BuildError::Failed { step, said }) = error.downcast_ref() {
                tell(said);
                exit::warn(&format!("{code}: {step} failed"));
            } else {
                exit::warn(&format!("{code}: {error:#}"));
            }
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn code_of(error: &anyhow::Error) -> &'static str {
    if let Some(error) = error.downcast_ref::<BuildError>() {
        return error.code();
    }
    if let Some(error) = error.downcast_ref::<RegisterScriptError>() {
        return error.code();
    }
    if let Some(error) = error.downcast_ref::<RegisterError>() {
        return error.code();
    }
    if let Some(error) = error.downcast_ref::<PutArtifactError>() {
        return error.code();
    }
    error.downcast_ref::<Fault>().map_or("unreadable", Fault::code)
}
