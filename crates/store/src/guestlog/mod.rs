//! What extensions logged: for each a file of JSON lines below its tenant's folder, and the one before it. What was
//! written first goes first; whoever wants it all has it sent elsewhere.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
};

use drydock_contract::CommandName;

use crate::{
    TenantHome,
    home::{open_regular, read_capped},
};

/// A file of this size becomes the one before.
const LOG_BYTES_MAX: u64 = 1 << 20;
/// Nothing that was written in one go is longer.
const APPEND_BYTES_MAX: u64 = 4 << 20;

/// The logs of a tenant's extensions.
#[derive(Debug, Clone)]
pub struct GuestLogs {
    tenant: TenantHome,
}

impl GuestLogs {
    /// Those of this tenant.
    pub fn of(tenant: &TenantHome) -> Self {
        Self { tenant: tenant.clone() }
    }

    /// Adds lines, each of which ends with a newline.
    pub fn append(&self, extension: &CommandName, lines: &[u8]) -> io::Result<()> {
        let (now, before) = self.paths(extension);
        self.tenant.make(&self.dir())?;
        if fs::metadata(&now).is_ok_and(|it| it.len() >= LOG_BYTES_MAX) {
            fs::rename(&now, &before)?;
        }
        OpenOptions::new().create(true).append(true).mode(0o600).open(&now)?.write_all(lines)
    }

    /// The newest whole lines, `lines_max` of them, oldest first.
    pub fn tail(&self, extension: &CommandName, lines_max: usize) -> io::Result<Vec<String>> {
        let (now, before) = self.paths(extension);
        let mut text = Vec::new();
        for path in [before, now] {
            let read = open_regular(&path, LOG_BYTES_MAX + APPEND_BYTES_MAX)
                .and_then(|(file, len)| read_capped(&file, len, LOG_BYTES_MAX + APPEND_BYTES_MAX));
            match read {
                Ok(bytes) => text.extend(bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        let text = String::from_utf8_lossy(&text);
        let whole: Vec<&str> = text.split_inclusive('\n').filter(|it| it.ends_with('\n')).collect();
        let from = whole.len().saturating_sub(lines_max);
        Ok(whole[from..].iter().map(|it| it.trim_end_matches('\n').to_owned()).collect())
    }

    /// Forgets what an extension logged.
    pub fn remove(&self, extension: &CommandName) -> io::Result<()> {
        let (now, before) = self.paths(extension);
        for path in [before, now] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn dir(&self) -> PathBuf {
        self.tenant.root().join("extension-logs")
    }

    /// A name is nothing but a file's, and has no `@`.
    fn paths(&self, extension: &CommandName) -> (PathBuf, PathBuf) {
        let dir = self.dir();
        (dir.join(format!("{extension}.jsonl")), dir.join(format!("{extension}@before.jsonl")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Home;

    #[test]
    fn a_log_keeps_its_newest_lines_within_two_files() {
        let temp = tempfile::tempdir().unwrap();
        let logs = GuestLogs::of(&Home::open(temp.path()).unwrap().tenant(&"acme".parse().unwrap()));
        let name: CommandName = "shop".parse().unwrap();
        assert!(logs.tail(&name, 9).unwrap().is_empty());
        let line = format!("{}\n", "x".repeat(1023));
        for round in 0..3 {
            for _ in 0..1024 {
                logs.append(&name, line.as_bytes()).unwrap();
            }
            logs.append(&name, format!("{round}\n").as_bytes()).unwrap();
        }
        let files: u64 =
            fs::read_dir(logs.dir()).unwrap().map(|it| it.unwrap().metadata().unwrap().len()).sum();
        assert!(files <= 2 * (LOG_BYTES_MAX + 2048), "{files}");
        assert_eq!(logs.tail(&name, 1).unwrap(), ["2"]);
        logs.append(&name, b"half").unwrap();
        assert_eq!(logs.tail(&name, 1).unwrap(), ["2"], "what is not whole is not told");
        logs.remove(&name).unwrap();
        logs.remove(&name).unwrap();
        assert!(logs.tail(&name, 9).unwrap().is_empty());
    }
}
