//! `git`: everything in the working directory becomes a commit, which is pushed where a person said.
//!
//! The repository is the person's and out of an agent's reach (`workdir`), and all the same nothing in it may start a
//! program: hooks are off, nobody else's configuration is read, and the repository's own may only have keys that are known
//! to be data. The message is read from stdin.

use std::path::Path;

use super::{
    ToolError,
    native::{Ended, Native, NativeError, Word},
    settings::{Configured, Git},
};

/// The longest message.
const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// How much of what git says is told.
const TOLD_BYTES_MAX: usize = 4 << 10;

/// Settings that hold for each step, whatever a repository says.
const ALWAYS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=",
    "credential.helper=",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "advice.addEmbeddedRepo=false",
];

/// The environment of each step.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("LANG", "C.UTF-8"),
    ("HOME", "/nonexistent"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Keys of a repository's configuration that are data: with a star for a name in the middle. Any other may name a program,
/// or a file with such names, now or in a later git.
const DATA: &[&str] = &[
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.safecrlf",
    "core.quotepath",
    "extensions.objectformat",
    "extensions.refstorage",
    "init.defaultbranch",
    "user.name",
    "user.email",
    "pull.rebase",
    "pull.ff",
    "push.default",
    "push.autosetupremote",
    "fetch.prune",
    "remote.*.url",
    "remote.*.pushurl",
    "remote.*.fetch",
    "remote.*.prune",
    "remote.*.tagopt",
    "branch.*.remote",
    "branch.*.merge",
    "branch.*.rebase",
    "branch.*.description",
];

/// Commits what changed, and pushes it if there is where to.
pub(super) async fn commit(git: &Git, workdir: &Path, message: &str) -> Result<String, ToolError> {
    if message.trim().is_empty() || message.contains('\0') || message.len() > MESSAGE_BYTES_MAX {
        let why = format!("`message` is a text of 1 to {MESSAGE_BYTES_MAX} bytes");
        return Err(ToolError::new("bad_arguments", why));
    }
    // A file in its place leads to a repository elsewhere, whose configuration would be another one than is judged here.
    if !workdir.join(".git").symlink_metadata().is_ok_and(|it| it.is_dir()) {
        let why =
            "the working directory is no git repository of its own; a person makes it one with `git init`";
        return Err(ToolError::new("no_repository", why));
    }
    let step = Step { git, workdir };
    step.judge_configuration().await?;
    step.done(&["add", "--all"], "").await?;
    let tree = step.done(&["write-tree"], "").await?;
    // Before the first commit there is no HEAD, and so no tree that could be the same.
    let before = step.run(&["rev-parse", "--verify", "--quiet", "HEAD^{tree}"], "").await?;
    if text(&before.stdout) == text(&tree.stdout) {
        return Ok("nothing to commit (working tree clean)".into());
    }
    let how = ["commit", "--no-verify", "--no-gpg-sign", "--cleanup=whitespace", "--file=-"];
    let done = step.done(&how, message).await?;
    let committed = format!("committed: {}", told(&done.stdout));
    match &git.remote {
        None => Ok(format!("{committed}\nnot pushed: no remote is configured for this run")),
        Some(_) => Ok(format!("{committed}\n{}", step.push().await?)),
    }
}

struct Step<'a> {
    git: &'a Git,
    workdir: &'a Path,
}

impl Step<'_> {
    /// One step of git with arguments of ours.
    async fn run(&self, args: &[&'static str], stdin: &str) -> Result<Ended, ToolError> {
        let args = args.iter().map(|it| Word::Fixed(it)).collect();
        self.start(Some(&self.git.places), args, stdin, "none").await
    }

    /// The same, which must succeed.
    async fn done(&self, args: &[&'static str], stdin: &str) -> Result<Ended, ToolError> {
        let ended = self.run(args, stdin).await?;
        match ended.status {
            Some(0) => Ok(ended),
            _ => Err(failed("git_failed", args.first().copied().unwrap_or_default(), &ended)),
        }
    }

    async fn start(
        &self,
        places: Option<&[Configured; 2]>,
        args: Vec<Word>,
        stdin: &str,
        protocol: &'static str,
    ) -> Result<Ended, ToolError> {
        let Git { program, path, author: [name, email], env, wall_max, .. } = self.git;
        let mut words: Vec<Word> =
            ALWAYS.iter().flat_map(|it| [Word::Fixed("-c"), Word::Fixed(it)]).collect();
        words.extend(places.into_iter().flatten().map(Word::from));
        words.extend(args);
        let fixed = ENVIRONMENT.iter().map(|(name, value)| (Word::Fixed(name), Word::Fixed(value)));
        let ours: [(&'static str, Word); 6] = [
            ("PATH", path.into()),
            ("GIT_ALLOW_PROTOCOL", protocol.into()),
            ("GIT_AUTHOR_NAME", name.into()),
            ("GIT_AUTHOR_EMAIL", email.into()),
            ("GIT_COMMITTER_NAME", name.into()),
            ("GIT_COMMITTER_EMAIL", email.into()),
        ];
        let nowhere = places.is_none().then_some(("GIT_DIR", Word::Fixed("/nonexistent")));
        let ours = ours.into_iter().chain(nowhere).map(|(name, value)| (Word::Fixed(name), value));
        let theirs = env.iter().map(|(name, value)| (name.into(), value.into()));
        let native = Native {
            program: program.clone(),
            args: words,
            env: fixed.chain(ours).chain(theirs).collect(),
            dir: self.workdir.to_owned(),
            stdin: stdin.as_bytes().to_vec(),
            wall_max: *wall_max,
        };
        native.run().await.map_err(ToolError::from)
    }

    /// Refuses a repository whose configuration could start a program. It is read as a file, by a git that is in no
    /// repository and goes by nothing in it.
    async fn judge_configuration(&self) -> Result<(), ToolError> {
        let fixed = ["config", "--no-includes", "--list", "--name-only", "-z"];
        let args = fixed.into_iter().map(Word::Fixed).chain([(&self.git.configuration).into()]).collect();
        let listed = self.start(None, args, "", "none").await?;
        if listed.status != Some(0) {
            return Err(failed("repository_config", "config", &listed));
        }
        let names = String::from_utf8_lossy(&listed.stdout);
        match names.split('\0').filter(|it| !it.is_empty()).find(|it| !is_data(it)) {
            None => Ok(()),
            Some(name) => {
                let shown: String = name.chars().take(100).collect::<String>().escape_debug().to_string();
                let why = format!(
                    "the repository's configuration has `{shown}`, which may start a program; a person commits there"
                );
                Err(ToolError::new("repository_config", why))
            }
        }
    }

    async fn push(&self) -> Result<String, ToolError> {
        let Some(remote) = &self.git.remote else { return Ok(String::new()) };
        let fixed = ["push", "--no-verify", "--no-signed", "--recurse-submodules=no", "--"];
        let mut args: Vec<Word> = fixed.into_iter().map(Word::Fixed).collect();
        args.push((&remote.url).into());
        args.push(remote.refspec.as_ref().map_or(Word::Fixed("HEAD"), Word::from));
        let ended = self.start(Some(&self.git.places), args, "", remote.scheme).await?;
        match ended.status {
            Some(0) => Ok(format!("pushed to {}", remote.url)),
            _ => Err(failed("push_failed", "push", &ended)),
        }
    }
}

/// Whether a key of a configuration is data.
fn is_data(name: &str) -> bool {
    DATA.iter().any(|known| match known.split_once('*') {
        None => *known == name,
        Some((head, tail)) => name
            .strip_prefix(head)
            .and_then(|it| it.strip_suffix(tail))
            .is_some_and(|middle| !middle.is_empty()),
    })
}

fn text(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii()
}

fn told(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    text[..text.floor_char_boundary(TOLD_BYTES_MAX)].to_owned()
}

fn failed(code: &'static str, step: &str, ended: &Ended) -> ToolError {
    let said = match told(&ended.stderr) {
        said if said.is_empty() => told(&ended.stdout),
        said => said,
    };
    ToolError::new(code, format!("`git {step}` failed; it says: {said}"))
}

impl From<NativeError> for ToolError {
    fn from(error: NativeError) -> Self {
        let code = match error {
            NativeError::Start { .. } => "not_started",
            NativeError::TimedOut { .. } => "timeout",
        };
        Self::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_are_known_to_be_data_pass() {
        for name in ["core.filemode", "remote.origin.url", "branch.a.b.merge", "user.name"] {
            assert!(is_data(name), "{name}");
        }
        for name in [
            "core.fsmonitor",
            "core.sshcommand",
            "core.hookspath",
            "core.worktree",
            "core.gitproxy",
            "core.alternaterefscommand",
            "filter.x.clean",
            "diff.external",
            "diff.x.textconv",
            "merge.x.driver",
            "include.path",
            "includeif.gitdir:/.path",
            "credential.helper",
            "gpg.program",
            "alias.add",
            "remote.origin.receivepack",
            "remote.origin.proxy",
            "remote.origin.vcs",
            "url.ext::sh.insteadof",
            "extensions.worktreeconfig",
            "protocol.ext.allow",
            "remote..url",
            "submodule.x.update",
        ] {
            assert!(!is_data(name), "{name}");
        }
    }
}
