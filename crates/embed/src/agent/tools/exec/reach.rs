//! What an agent must not reach by any directory that it writes: what trusted code starts, goes by, or is configured by.

use std::path::{Path, PathBuf};

use super::settings::{BadExec, ExecSettings};

/// Whether a thing that lies above a writable directory is out of reach all the same.
#[derive(Clone, Copy, PartialEq)]
enum Above {
    /// It is a directory whose contents count.
    Counts,
    /// It is only a place: what matters is what lies in it by name.
    IsFine,
}

impl ExecSettings {
    /// Refuses directories of the host that a run may write, if what the settings name lies in one of them.
    pub(in crate::agent) fn keep_out(&self, writable: &[PathBuf]) -> Result<(), BadExec> {
        let writable: Vec<PathBuf> = writable.iter().map(|it| real(it)).collect();
        for (what, path, above) in self.trusted() {
            let names = [real(&path), path];
            let reaches = |dir: &&PathBuf| {
                let is_above = |it: &PathBuf| above == Above::Counts && dir.starts_with(it);
                names.iter().any(|it| it.starts_with(dir) || is_above(it))
            };
            if let Some(dir) = writable.iter().find(reaches) {
                let [_, path] = &names;
                let (path, dir) = (path.display().to_string(), dir.display().to_string());
                return Err(BadExec::Writable { what, path, dir });
            }
        }
        Ok(())
    }

    /// Every path of the settings, with the member that it is of.
    fn trusted(&self) -> Vec<(&'static str, PathBuf, Above)> {
        let mut all = Vec::new();
        let mut texts = |what, text: &str, above| {
            all.extend(paths(text).map(|path| (what, path, above)));
        };
        let git = &self.git;
        texts("git.program", &git.program, Above::IsFine);
        texts("git.path", &git.path, Above::Counts);
        git.env.values().for_each(|it| texts("git.env", it, Above::IsFine));
        if let Some(remote) = &git.remote
            && (remote.starts_with('/') || remote.starts_with("file://"))
        {
            let path = remote.strip_prefix("file://").unwrap_or(remote);
            all.push(("git.remote", path.into(), Above::Counts));
        }
        if let Some(publish) = &self.publish {
            let mut texts = |what, text: &str| {
                all.extend(paths(text).map(|path| (what, path, Above::IsFine)));
            };
            publish.command.iter().for_each(|it| texts("publish.command", it));
            publish.env.values().for_each(|it| texts("publish.env", it));
            all.extend(publish.into.iter().map(|it| ("publish.into", it.clone(), Above::IsFine)));
        }
        all.extend(self.guarded.iter().map(|it| ("the settings themselves", it.clone(), Above::IsFine)));
        all
    }
}

/// The absolute paths in a text: a list as `PATH` has it, a command with options, or one path.
fn paths(text: &str) -> impl Iterator<Item = PathBuf> {
    let whole = Some(text).filter(|it| it.starts_with('/'));
    let parts = text.split(|it: char| it.is_whitespace() || ":=,;'\"".contains(it));
    whole.into_iter().chain(parts.filter(|it| it.starts_with('/'))).map(PathBuf::from)
}

/// The path without links, as far as it is there.
fn real(path: &Path) -> PathBuf {
    for there in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (there.canonicalize(), path.strip_prefix(there)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn no_directory_that_a_run_writes_holds_what_trusted_code_starts_or_goes_by() {
        let all = tempfile::tempdir().unwrap();
        let root = all.path().canonicalize().unwrap();
        for dir in ["open/hooks", "open/bin", "shut/conf"] {
            fs::create_dir_all(root.join(dir)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("open"), root.join("link")).unwrap();
        let at = |path: &str| root.join(path).display().to_string();
        let refused = |settings: Value, writable: &str| {
            let mut settings: ExecSettings = serde_json::from_value(settings).unwrap();
            settings.guarded.push(root.join("shut/conf/drydock.toml"));
            settings.keep_out(&[root.join(writable)]).is_err()
        };
        for named in ["open/new.git", "link/new.git"] {
            for settings in [
                json!({ "git": { "remote": at(named) } }),
                json!({ "git": { "remote": format!("file://{}", at(named)) } }),
                json!({ "git": { "program": at(named) } }),
                json!({ "git": { "path": format!("/usr/bin:{}", at(named)) } }),
                json!({ "git": { "env": { "GIT_ASKPASS": at(named) } } }),
                json!({ "git": { "env": { "GIT_SSH_COMMAND": format!("ssh -i {} -v", at(named)) } } }),
                json!({ "publish": { "command": [at(named)] } }),
                json!({ "publish": { "command": ["/bin/sh", at(named)] } }),
                json!({ "publish": { "into": at(named) } }),
            ] {
                assert!(refused(settings.clone(), "open"), "{settings}");
                assert!(refused(settings.clone(), "link"), "{settings}");
                assert!(!refused(settings.clone(), "shut/other"), "{settings}");
            }
        }
        assert!(refused(json!({ "git": { "remote": at("open") } }), "open/hooks"), "below it");
        assert!(refused(json!({ "git": { "path": at("open") } }), "open/bin"), "below it");
        assert!(!refused(json!({ "git": { "env": { "HOME": at("open") } } }), "open/bin"));
        assert!(refused(json!({}), "shut/conf") && refused(json!({}), "shut"), "the settings themselves");
        assert!(!refused(json!({ "git": { "remote": "ssh://a.test/r.git" } }), "open"));
    }
}
