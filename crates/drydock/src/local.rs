//! The server of this data directory, as the command line finds it: a socket in the directory, which only its owner may
//! open. One request for one connection; the answer is JSON.

use std::{
    fs::{self, File, Permissions},
    io::{self, Read as _, Write as _},
    os::{
        fd::AsRawFd as _,
        unix::{
            fs::PermissionsExt as _,
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context as _, bail};
use drydock_embed::store::Home;
use serde_json::Value;

const NAME: &str = "serve.sock";
/// What the name of a socket may be long, on every system.
const PATH_BYTES_MAX: usize = 100;
/// The largest answer.
const ANSWER_BYTES_MAX: u64 = 16 << 20;
/// How long an answer may take: a kill waits until the process has ended.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// A socket that is listened on. Its name is gone when this is.
pub(crate) struct Listening {
    path: PathBuf,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Listens in the data directory, unless another server does already.
pub(crate) fn listen(home: &Home) -> io::Result<Option<(Listening, UnixListener)>> {
    let path = home.root().join(NAME);
    let (short, _held) = reachable(home.root())?;
    match UnixStream::connect(&short) {
        Ok(_) => return Ok(None),
        // What a server left that was killed.
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(&path)?,
        Err(_) => {}
    }
    let listener = UnixListener::bind(&short)?;
    // The directory is its owner's alone, and so is this.
    fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(Some((Listening { path }, listener)))
}

/// Asks the server of this data directory.
pub(crate) fn ask(home: &Home, method: &str, target: &str, body: Option<&Value>) -> anyhow::Result<Value> {
    let (short, _held) = reachable(home.root())?;
    let mut stream = match UnixStream::connect(&short) {
        Ok(stream) => stream,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            bail!("no server of this data directory runs; start one with `drydock serve`")
        }
        Err(error) => return Err(error).context("the server of this data directory cannot be asked"),
    };
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    let body = body.map(ToString::to_string).unwrap_or_default();
    let head = format!(
        "{method} {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    let mut answer = Vec::new();
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body.as_bytes()))
        .and_then(|()| (&mut stream).take(ANSWER_BYTES_MAX).read_to_end(&mut answer))
        .context("the server of this data directory did not answer")?;
    read(&answer)
}

/// The body of an answer, or what went wrong in its words.
fn read(answer: &[u8]) -> anyhow::Result<Value> {
    let broken = "the server of this data directory answered what makes no sense; is it of another version?";
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n").context(broken)?;
    let status = answer.get(9..12).and_then(|it| std::str::from_utf8(it).ok()).context(broken)?;
    let value: Value = serde_json::from_slice(&answer[end + 4..]).context(broken)?;
    match status {
        "200" => Ok(value),
        _ => bail!("{}", value["error"]["message"].as_str().unwrap_or(broken)),
    }
}

/// A name for the socket that is short enough, and what must be open as long as it is used.
fn reachable(root: &Path) -> io::Result<(PathBuf, Option<File>)> {
    let path = root.join(NAME);
    if path.as_os_str().len() <= PATH_BYTES_MAX {
        return Ok((path, None));
    }
    let folder = File::open(root)?;
    let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(NAME);
    Ok((short, Some(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_its_body_or_the_words_of_its_error() {
        let ok = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"a\":1}";
        assert_eq!(read(ok).unwrap()["a"], 1);
        let bad = b"HTTP/1.1 404 Not Found\r\n\r\n{\"error\":{\"code\":\"x\",\"message\":\"no such\"}}";
        assert_eq!(read(bad).unwrap_err().to_string(), "no such");
        for broken in [&b""[..], b"HTTP/1.1", b"\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n<html>"] {
            assert!(read(broken).unwrap_err().to_string().contains("makes no sense"));
        }
    }

    #[test]
    fn one_server_listens_and_what_a_killed_one_left_is_taken_over_however_long_the_path_is() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["short".to_owned(), "x".repeat(150)] {
            let home = Home::open(temp.path().join(name)).unwrap();
            let none = ask(&home, "GET", "/", None).unwrap_err();
            assert_eq!(
                none.to_string(),
                "no server of this data directory runs; start one with `drydock serve`"
            );
            let (first, listener) = listen(&home).unwrap().unwrap();
            assert!(listen(&home).unwrap().is_none());
            let mode = fs::metadata(home.root().join(NAME)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            // As a server that is killed leaves it.
            drop(listener);
            std::mem::forget(first);
            assert!(ask(&home, "GET", "/", None).unwrap_err().to_string().contains("drydock serve"));
            let (again, _listener) = listen(&home).unwrap().unwrap();
            drop(again);
            assert!(!home.root().join(NAME).exists());
        }
    }
}
