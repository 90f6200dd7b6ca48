//! Lane js: JavaScript and TypeScript become a command. esbuild bundles the sources in the sandbox into one module,
//! which is kept as a read-only directory of the store; the command is `qjs`, started with that file.
//!
//! The program reads stdin, its arguments and the files of its caller, as any command does. It finds the globals that
//! such programs expect (`process`, `args`, `readStdin`) and a small `fs`; see `prelude.mjs`.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_contract::{
    Digest, Limits, Meter, Outcome, Sink, Source, Streams,
    port::{Entry, EntryDir, EntryOptions, Registry as _},
};
use drydock_embed::{
    Dock, Setup,
    store::{MemoryFiles, Registration, TreeBounds, TreeStore},
};

use crate::{
    lane_c::{BuildError, Project},
    language::BuildLanguage,
};

const BUNDLER: &str = "esbuild";
const RUNTIME: &str = "qjs";
const PRINCIPAL: &str = "build";

const MEMORY_BYTES_MAX: u64 = 1 << 30;
const TREE_BYTES_MAX: u64 = 256 << 20;
const WALL_MAX: Duration = Duration::from_secs(120);
const SAID_BYTES_MAX: u64 = 1 << 20;

const PLACE: &str = "work";
const ENTRY: &str = "drydock-entry.mjs";
/// Where the command sees its program, and the program's name there.
const PROGRAM_AT: &str = "/program";
const PROGRAM: &str = "main.mjs";

const OWN: [(&str, &str); 2] = [
    ("drydock-prelude.mjs", include_str!("lane_js/prelude.mjs")),
    ("drydock-fs.mjs", include_str!("lane_js/fs.mjs")),
];

/// A program in one file, and what the bundler said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// The program.
    pub text: Bytes,
    /// Warnings.
    pub said: String,
}

/// Bundles the first source of a project and all that it imports.
pub async fn bundle(dock: &Dock, project: &Project, language: BuildLanguage) -> Result<Bundle, BuildError> {
    installed(dock, BUNDLER)?;
    let first = project.sources.first().ok_or(BuildError::EmptySource)?;
    let tree = tree(project, first)?;
    let mut setup = Setup::allowing([BUNDLER])?;
    setup.limits = Some(Limits {
        memory_bytes_max: MEMORY_BYTES_MAX,
        wall_max: WALL_MAX,
        fuel_max: u64::MAX,
        stdout_bytes_max: SAID_BYTES_MAX,
        stderr_bytes_max: SAID_BYTES_MAX,
        ..Limits::default()
    });
    setup.files = Some(Arc::clone(&tree) as _);
    setup.env = vec![("PWD".into(), format!("/{PLACE}"))];
    let session = dock.session(PRINCIPAL, setup)?;
    let streams = Streams {
        stdin: Source::Empty,
        stdout: Sink::Discard,
        stderr: Sink::capture(),
        ..Streams::default()
    };
    let done = session.run_with(BUNDLER, &arguments(project, language), streams).await;
    let (report, streams) = done.map_err(|error| BuildError::Start(Box::new(error)))?;
    let said = String::from_utf8_lossy(&streams.stderr.into_captured()).into_owned();
    match report.outcome {
        Outcome::Exited(0) => {}
        Outcome::Exited(_) => return Err(BuildError::Failed { step: first.clone(), said }),
        other => return Err(BuildError::Limit { step: first.clone(), limit: other.code() }),
    }
    let text = tree.read(&format!("{PLACE}/out/{PROGRAM}"));
    let text =
        text.map_err(|_| BuildError::Failed { step: first.clone(), said: "it made no program".into() })?;
    Ok(Bundle { text: text.into(), said })
}

/// Registers a bundle as a command.
pub async fn register_script(dock: &Dock, name: &str, bundle: &Bundle) -> Result<Entry, RegisterScriptError> {
    let runtime = installed(dock, RUNTIME).map_err(RegisterScriptError::Build)?;
    let digest = Digest::of(&bundle.text);
    let trees = TreeStore::new(dock.home());
    if !trees.contains(digest) {
        let mut tree = trees.begin(digest, TreeBounds::default())?;
        tree.file(PROGRAM, &bundle.text, 0o644)?;
        tree.finish()?;
    }
    let mut options = EntryOptions::clone(&runtime.options);
    options.argv0 = Some(name.to_owned());
    options.argv = vec![format!("{PROGRAM_AT}/{PROGRAM}")];
    options.dirs.push(EntryDir { tree: digest, path: PROGRAM_AT.into() });
    let how = Registration { options, ..Registration::default() };
    Ok(dock.registry().register_again(name, runtime.digest, how)?)
}

/// A bundle could not be registered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterScriptError {
    /// What runs it is not there.
    #[error(transparent)]
    Build(BuildError),
    /// The program could not be kept.
    #[error(transparent)]
    Tree(#[from] drydock_embed::store::PutTreeError),
    /// The name could not be bound.
    #[error(transparent)]
    Register(#[from] drydock_embed::store::RegisterError),
}

impl RegisterScriptError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Build(error) => error.code(),
            Self::Tree(_) => "write_failed",
            Self::Register(error) => error.code(),
        }
    }
}

fn installed(dock: &Dock, name: &str) -> Result<Entry, BuildError> {
    dock.registry().lookup(name, None).ok_or_else(|| {
        let why = format!(
            "`{name}` is not installed; `drydock catalog add {BUNDLER} {RUNTIME}` brings what it needs"
        );
        BuildError::LaneUnavailable(why)
    })
}

fn tree(project: &Project, first: &str) -> Result<Arc<MemoryFiles>, BuildError> {
    let tree = MemoryFiles::with(Arc::new(Meter::new(TREE_BYTES_MAX)));
    let put = |path: &str, bytes: &[u8]| {
        let path = format!("{PLACE}/{path}");
        if let Some((folder, _)) = path.rsplit_once('/') {
            tree.create_dir_all(folder)?;
        }
        tree.write(&path, bytes)
    };
    let entry = format!("import './drydock-prelude.mjs';\nimport './{}';\n", escaped(first));
    let own = OWN.iter().map(|(path, text)| (*path, text.as_bytes()));
    let theirs = project.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_ref()));
    // Ours last, so that no file of the project takes the place of one.
    for (path, bytes) in theirs.chain(own).chain([(ENTRY, entry.as_bytes())]) {
        put(path, bytes).map_err(BuildError::TooLarge)?;
    }
    tree.create_dir_all(&format!("{PLACE}/out")).map_err(BuildError::TooLarge)?;
    Ok(Arc::new(tree))
}

/// A path inside a string of JavaScript.
fn escaped(path: &str) -> String {
    path.chars().flat_map(|it| matches!(it, '\\' | '\'').then_some('\\').into_iter().chain([it])).collect()
}

fn arguments(project: &Project, language: BuildLanguage) -> Vec<String> {
    let fs = format!("/{PLACE}/drydock-fs.mjs");
    let mut all = vec![
        format!("/{PLACE}/{ENTRY}"),
        "--bundle".into(),
        "--format=esm".into(),
        "--platform=neutral".into(),
        "--main-fields=module,main".into(),
        "--external:qjs:*".into(),
        "--target=es2023".into(),
        "--log-level=warning".into(),
        "--color=false".into(),
        format!("--alias:fs={fs}"),
        format!("--alias:node:fs={fs}"),
        format!("--outfile=/{PLACE}/out/{PROGRAM}"),
    ];
    if language == BuildLanguage::TypeScript {
        all.push("--loader:.js=ts".into());
    }
    // Such as --minify and --define:X=1; what decides where things go is ours.
    let ours = ["--out", "--alias", "--external", "--format", "--platform", "--serve", "--watch"];
    all.extend(
        project
            .cflags
            .iter()
            .filter(|it| it.starts_with("--") && !ours.iter().any(|at| it.starts_with(at)))
            .cloned(),
    );
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_the_user_are_passed_on_unless_they_say_where_things_go() {
        let flags = ["--minify", "--outfile=/x", "--serve=80", "-O2", "--define:A=1"];
        let project = Project { cflags: flags.map(str::to_owned).to_vec(), ..Project::default() };
        let all = arguments(&project, BuildLanguage::JavaScript);
        assert_eq!(all[all.len() - 2..], ["--minify", "--define:A=1"]);
        assert!(!all.iter().any(|it| it.contains("/x") || it.contains("serve")));
    }

    #[test]
    fn a_path_cannot_leave_its_string() {
        assert_eq!(escaped("a'b\\c.ts"), "a\\'b\\\\c.ts");
    }

    #[test]
    fn a_project_cannot_bring_a_prelude_of_its_own() {
        let hostile = ("drydock-prelude.mjs".to_owned(), Bytes::from_static(b"hostile"));
        let project = Project { files: vec![hostile, ("m.js".into(), Bytes::new())], ..Project::default() };
        let tree = tree(&project, "m.js").unwrap();
        assert_eq!(tree.read("work/drydock-prelude.mjs").unwrap(), OWN[0].1.as_bytes());
    }
}
