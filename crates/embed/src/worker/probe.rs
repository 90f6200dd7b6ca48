//! Tries, behind the worker's walls, what a worker must not be able to do.

use std::{
    io::Write as _,
    net::{TcpListener, UdpSocket},
    os::unix::net::UnixDatagram,
    process::{Command, ExitCode},
};

use super::confine::{self, Walls};

/// What holds a compile worker on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// Whether system calls are filtered.
    pub seccomp: bool,
    /// Whether the kernel takes files and ports away.
    pub landlock: bool,
    /// What a worker could still do of what it tried: open files, sockets, start processes. Empty is right.
    pub open: Vec<String>,
}

impl Confinement {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(|line| line.split_once('='));
        let mut next = |key: &str| {
            lines.next().flatten().filter(|(it, _)| *it == key).map(|(_, value)| value.to_owned())
        };
        let (seccomp, landlock) = (next("seccomp")?, next("landlock")?);
        let open = next("open")?.split_whitespace().map(str::to_owned).collect();
        Some(Self { seccomp: seccomp == "true", landlock: landlock == "true", open })
    }
}

pub(super) fn run(walls: Walls) -> ExitCode {
    let standing = confine::raise(walls);
    let tries: [(&str, bool); 7] = [
        ("read", std::fs::File::open("/proc/self/status").is_ok()),
        ("list", std::fs::read_dir("/").is_ok()),
        ("write", std::fs::OpenOptions::new().write(true).open("/dev/null").is_ok()),
        ("tcp", TcpListener::bind("127.0.0.1:0").is_ok()),
        ("udp", UdpSocket::bind("127.0.0.1:0").is_ok()),
        ("unix", UnixDatagram::unbound().is_ok()),
        ("process", Command::new("/bin/true").spawn().and_then(|mut it| it.wait()).is_ok()),
    ];
    let open: Vec<&str> = tries.iter().filter(|(_, done)| *done).map(|(name, _)| *name).collect();
    let told =
        format!("seccomp={}\nlandlock={}\nopen={}\n", standing.seccomp, standing.landlock, open.join(" "));
    match std::io::stdout().write_all(told.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_tells_of_itself_is_read_back() {
        let told = Confinement::parse("seccomp=true\nlandlock=false\nopen=read tcp\n").unwrap();
        assert!(told.seccomp && !told.landlock && told.open == ["read", "tcp"]);
        assert_eq!(Confinement::parse("seccomp=true\n"), None);
        assert_eq!(Confinement::parse(""), None);
    }
}
