//! What a person configures for the trusted tools, once and before any agent runs: programs, remotes, endpoints.
//!
//! The only place where a [`Configured`] text is made. Nothing in it is an agent's.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use drydock_egress::{ParseUrlError, Target};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::KeyRef;

/// How long a native program may take where nobody says.
const WALL_MAX_S: u64 = 120;

/// A text of a person's configuration, good as an argument of a native program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Configured(OsString);

impl Configured {
    /// Takes it over.
    fn new(text: impl Into<OsString>) -> Self {
        Self(text.into())
    }

    pub(super) fn as_os(&self) -> &OsStr {
        &self.0
    }
}

impl fmt::Display for Configured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_string_lossy())
    }
}

/// What is configured for the trusted tools, as a file of settings has it. The default has none of them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct ExecSettings {
    /// How `git` commits and where it pushes to.
    pub git: GitSettings,
    /// What `publish` does.
    pub publish: Option<PublishSettings>,
    /// Who draws for `image`.
    pub image: Option<ImageSettings>,
    /// Files that say what runs may do, such as the one that this is from: no directory that a run writes may hold one.
    #[serde(skip)]
    pub guarded: Vec<PathBuf>,
}

/// How commits are made, and where they go.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct GitSettings {
    /// The program: a path, or a name that is looked up in `path`.
    pub program: String,
    /// `PATH` of the program and of what it starts.
    pub path: String,
    /// Whose commits they are.
    pub author_name: String,
    /// Their address.
    pub author_email: String,
    /// The URL that is pushed to; without one commits stay here.
    pub remote: Option<String>,
    /// The branch there; the branch that is checked out if it is not said.
    pub branch: Option<String>,
    /// More of its environment, such as `SSH_AUTH_SOCK` or `GIT_ASKPASS`.
    pub env: BTreeMap<String, String>,
    /// How long one step of it may take, in seconds.
    pub timeout_s: u64,
}

impl Default for GitSettings {
    fn default() -> Self {
        Self {
            program: "git".into(),
            path: "/usr/local/bin:/usr/bin:/bin".into(),
            author_name: "Drydock agent".into(),
            author_email: "agent@localhost".into(),
            remote: None,
            branch: None,
            env: BTreeMap::new(),
            timeout_s: WALL_MAX_S,
        }
    }
}

/// What publishing is: folders that are copied, or a program that does it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PublishSettings {
    /// Folders of the working directory that are copied; `content` and `blog` if it is not said.
    #[serde(default = "published_folders")]
    pub folders: Vec<String>,
    /// The directory that they are copied into.
    pub into: Option<PathBuf>,
    /// A program with its arguments, started in the working directory; it is none of that directory's files.
    #[serde(default)]
    pub command: Vec<String>,
    /// Its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// How long it may take, in seconds.
    #[serde(default = "usual_wall")]
    pub timeout_s: u64,
}

fn published_folders() -> Vec<String> {
    vec!["content".into(), "blog".into()]
}

fn usual_wall() -> u64 {
    WALL_MAX_S
}

/// A server that speaks OpenAI's images API.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ImageSettings {
    /// Where it is, without `/images/generations`.
    pub base_url: String,
    /// Where its key comes from: `env:VARIABLE`, `file:/PATH` or `secret:NAME`.
    pub key: Option<KeyRef>,
    /// What it calls the model.
    pub model: String,
    /// How it names the size of an aspect; the names are `16:9`, `1:1` and `3:1`.
    #[serde(default)]
    pub sizes: BTreeMap<String, String>,
    /// Members of every request, in the place of ours.
    #[serde(default)]
    pub extra: Map<String, Value>,
    /// Members that the server does not take.
    #[serde(default)]
    pub omit: Vec<String>,
    /// How long it may take, in seconds.
    #[serde(default = "usual_wall")]
    pub timeout_s: u64,
}

/// The settings of the trusted tools cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadExec {
    /// The working directory is not there.
    #[error("the working directory `{path}` cannot be used: {cause}")]
    Workdir {
        /// As it was given.
        path: String,
        /// Why not.
        cause: std::io::Error,
    },
    /// It is the whole machine, or holds the engine's own data or settings.
    #[error(
        "the working directory `{0}` is too much: it would hold all of the machine, or Drydock's own data or settings"
    )]
    TooMuch(String),
    /// The remote is no URL that is pushed to.
    #[error(
        "`git.remote` is an https, ssh or file URL without a password, or an absolute path outside of the working directory"
    )]
    Remote,
    /// The branch has a name that git would read otherwise.
    #[error(
        "`git.branch` is the name of a branch: letters, digits and `._/-`, and it begins with none of these marks"
    )]
    Branch,
    /// A text has a NUL or a line's end in it, or is empty.
    #[error("`{0}` is empty, or has a NUL or a line's end in it")]
    Text(&'static str),
    /// A time makes no sense.
    #[error("`timeout-s` is 1 to 3600")]
    Timeout,
    /// Publishing is neither or both.
    #[error("`publish` has either `into` or a `command`")]
    Publish,
    /// A folder leads out of the working directory.
    #[error("`publish.folders`: `{0}` is no folder below the working directory")]
    Folder(String),
    /// The program is one that the agent could have written.
    #[error("`{0}` lies in the working directory, where an agent writes; name a program that lies outside")]
    ProgramInside(String),
    /// The program is no absolute path.
    #[error("`{0}` is not an absolute path")]
    ProgramRelative(String),
    /// What trusted code starts or goes by lies where the agent writes, or the agent writes in it.
    #[error(
        "{what}: `{path}` and `{dir}`, which the run may write, are one inside the other; name one that lies outside"
    )]
    Writable {
        /// Which setting.
        what: &'static str,
        /// What it names.
        path: String,
        /// The directory.
        dir: String,
    },
    /// Where images are drawn is no URL.
    #[error("`image.base-url` cannot be used")]
    ImageUrl(#[source] ParseUrlError),
}

/// Git as it will be started.
#[derive(Debug)]
pub(super) struct Git {
    pub(super) program: Configured,
    pub(super) path: Configured,
    pub(super) author: [Configured; 2],
    pub(super) remote: Option<GitRemote>,
    pub(super) env: Vec<(Configured, Configured)>,
    pub(super) wall_max: Duration,
    /// `--git-dir=…` and `--work-tree=…`.
    pub(super) places: [Configured; 2],
    /// `--file=…` of the repository's own configuration.
    pub(super) configuration: Configured,
}

/// Where commits go.
#[derive(Debug)]
pub(super) struct GitRemote {
    pub(super) url: Configured,
    /// `HEAD:refs/heads/NAME`; none for the branch that is checked out.
    pub(super) refspec: Option<Configured>,
    /// The only scheme that git may speak.
    pub(super) scheme: &'static str,
}

/// Publishing as it will be done.
#[derive(Debug)]
pub(super) enum Publish {
    Copy { folders: Vec<String>, into: PathBuf },
    Run { program: Configured, args: Vec<Configured>, env: Vec<(Configured, Configured)>, wall_max: Duration },
}

/// A server of images as it will be asked.
#[derive(Debug)]
pub(super) struct Images {
    pub(super) target: Target,
    pub(super) settings: ImageSettings,
    pub(super) wall_max: Duration,
}

impl GitSettings {
    pub(super) fn judge(&self, workdir: &Path) -> Result<Git, BadExec> {
        let place = |flag: &str, path: &Path| {
            let mut text = OsString::from(flag);
            text.push(path);
            Configured::new(text)
        };
        let remote = self.remote.as_deref().map(|url| self.judge_remote(url, workdir)).transpose()?;
        let program = if self.program.contains('/') {
            outside("git.program", &self.program, workdir)?
        } else {
            plain("git.program", &self.program)?
        };
        Ok(Git {
            program,
            path: plain("git.path", &self.path)?,
            author: [
                plain("git.author-name", &self.author_name)?,
                plain("git.author-email", &self.author_email)?,
            ],
            remote,
            env: variables("git.env", &self.env)?,
            wall_max: wall(self.timeout_s)?,
            configuration: place("--file=", &workdir.join(".git/config")),
            places: [place("--git-dir=", &workdir.join(".git")), place("--work-tree=", workdir)],
        })
    }

    fn judge_remote(&self, url: &str, workdir: &Path) -> Result<GitRemote, BadExec> {
        let scheme = match url.split_once("://") {
            Some(("https", rest)) if !user_of(rest).contains(':') => "https",
            Some(("ssh", rest)) if !user_of(rest).contains(':') && !rest.starts_with('-') => "ssh",
            Some(("file", rest)) if rest.starts_with('/') => "file",
            None if url.starts_with('/') => "file",
            _ => return Err(BadExec::Remote),
        };
        // A repository that an agent writes could have hooks of its own.
        let path = Path::new(url.strip_prefix("file://").unwrap_or(url));
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if scheme == "file" && (real.starts_with(workdir) || path.starts_with(workdir)) {
            return Err(BadExec::Remote);
        }
        let branch = self.branch.as_deref();
        let refspec = branch.map(|name| match is_branch(name) {
            true => Ok(Configured::new(format!("HEAD:refs/heads/{name}"))),
            false => Err(BadExec::Branch),
        });
        Ok(GitRemote { url: plain("git.remote", url)?, refspec: refspec.transpose()?, scheme })
    }
}

impl PublishSettings {
    pub(super) fn judge(&self, workdir: &Path) -> Result<Publish, BadExec> {
        match (&self.into, self.command.split_first()) {
            (Some(into), None) => {
                let inside =
                    |it: &&String| it.is_empty() || it.starts_with('/') || it.split('/').any(|it| it == "..");
                if let Some(bad) = self.folders.iter().find(inside) {
                    return Err(BadExec::Folder(bad.clone()));
                }
                Ok(Publish::Copy { folders: self.folders.clone(), into: into.clone() })
            }
            (None, Some((program, args))) => Ok(Publish::Run {
                program: outside("publish.command", program, workdir)?,
                args: args.iter().map(|it| plain("publish.command", it)).collect::<Result<_, _>>()?,
                env: variables("publish.env", &self.env)?,
                wall_max: wall(self.timeout_s)?,
            }),
            _ => Err(BadExec::Publish),
        }
    }
}

impl ImageSettings {
    pub(super) fn judge(&self) -> Result<Images, BadExec> {
        let url = format!("{}/images/generations", self.base_url.trim_end_matches('/'));
        let target = url.parse().map_err(BadExec::ImageUrl)?;
        Ok(Images { target, settings: self.clone(), wall_max: wall(self.timeout_s)? })
    }
}

fn user_of(rest: &str) -> &str {
    let authority = rest.split('/').next().unwrap_or_default();
    authority.rsplit_once('@').map_or("", |it| it.0)
}

fn is_branch(name: &str) -> bool {
    let plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_' | b'/' | b'-');
    let marked =
        name.starts_with(['.', '_', '/', '-']) || name.ends_with(['.', '/']) || name.ends_with(".lock");
    (1..=200).contains(&name.len())
        && name.bytes().all(plain)
        && !marked
        && !name.contains("..")
        && !name.contains("//")
}

fn plain(what: &'static str, text: &str) -> Result<Configured, BadExec> {
    match text.is_empty() || text.contains(['\0', '\n', '\r']) {
        true => Err(BadExec::Text(what)),
        false => Ok(Configured::new(text)),
    }
}

/// A program by its absolute path, which is none of the files that an agent can write.
fn outside(what: &'static str, program: &str, workdir: &Path) -> Result<Configured, BadExec> {
    let path = Path::new(program);
    if !path.is_absolute() {
        return Err(BadExec::ProgramRelative(program.to_owned()));
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if real.starts_with(workdir) || path.starts_with(workdir) {
        return Err(BadExec::ProgramInside(program.to_owned()));
    }
    plain(what, program)
}

fn variables(
    what: &'static str,
    all: &BTreeMap<String, String>,
) -> Result<Vec<(Configured, Configured)>, BadExec> {
    let pair = |(name, value): (&String, &String)| {
        let (name_text, value_text) = (plain(what, name)?, Configured::new(value));
        match name.contains('=') || value.contains('\0') {
            true => Err(BadExec::Text(what)),
            false => Ok((name_text, value_text)),
        }
    };
    all.iter().map(pair).collect()
}

fn wall(seconds: u64) -> Result<Duration, BadExec> {
    match seconds {
        1..=3600 => Ok(Duration::from_secs(seconds)),
        _ => Err(BadExec::Timeout),
    }
}
