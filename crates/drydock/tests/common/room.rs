//! A place with rows of a catalog, archives that mean well or harm, and package clients that are scripts of ours.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use super::{Said, Shell};

/// A program that says so, and some bytes that make it longer.
pub fn module(says: &str, padding: usize) -> Vec<u8> {
    let mut bytes = wat::parse_str(format!(
        r#"(module
            (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
            (memory (export "memory") 1)
            (data (i32.const 16) "{says}\n")
            (data (i32.const 0) "\10\00\00\00\{:02x}\00\00\00")
            (func (export "_start") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#,
        says.len() + 1
    ))
    .unwrap();
    if padding > 0 {
        // A custom section: an id, a length, and a name of no length.
        bytes.push(0);
        let mut length = padding + 1;
        while length > 0x7f {
            bytes.push((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        bytes.push(length as u8);
        bytes.push(0);
        bytes.extend((0..padding).map(|it| (it * 7919 % 251) as u8));
    }
    bytes
}

/// A member of a tar file: its name, its type and what it says or leads to.
pub struct Member<'a>(pub &'a str, pub u8, pub &'a [u8]);

/// A tar file with any names, also those that no tar would write.
pub fn tar(members: &[Member<'_>]) -> Vec<u8> {
    let mut all = Vec::new();
    for Member(name, kind, content) in members {
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[156] = *kind;
        let size = if *kind == b'0' { content.len() } else { 0 };
        header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
        if *kind != b'0' {
            header[157..157 + content.len()].copy_from_slice(content);
        }
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|it| u32::from(*it)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        all.extend(header);
        if *kind == b'0' {
            all.extend(*content);
            all.resize(all.len().next_multiple_of(512), 0);
        }
    }
    all.resize(all.len() + 1024, 0);
    all
}

/// A place with rows, archives and a `bin` for clients, whose data directory others share.
pub struct Room {
    pub shell: Shell,
}

impl Room {
    pub fn new() -> Self {
        let shell = Shell::sharing();
        for name in ["rows", "bin"] {
            fs::create_dir(shell.path(name)).unwrap();
        }
        Self { shell }
    }

    /// A row from the parts that matter; the rest is the same for all.
    pub fn row(&self, name: &str, from: &str, archive: &[u8], module: &[u8], more: &str) {
        let hash = |bytes: &[u8]| drydock_embed::contract::Digest::of(bytes).to_string();
        let archive =
            if archive.is_empty() { String::new() } else { format!("sha256 = \"{}\"\n", hash(archive)) };
        let text = format!(
            "name = \"{name}\"\nversion = \"1.0\"\nsummary = \"a test\"\nlane = \"prebuilt\"\nsha256 = \"{}\"\n{more}\n\
             [[sources]]\nfrom = \"{from}\"\n{archive}\n[[checks]]\nargv = [\"{name}\"]\nstdout = \"{name}\\n\"\n",
            hash(module)
        );
        let licence = if more.contains("licence") { "" } else { "licence = \"MIT\"\n" };
        let commands = if more.contains("[[commands]]") { "" } else { "\n[[commands]]\nname = \"" };
        let commands = if commands.is_empty() { String::new() } else { format!("{commands}{name}\"\n") };
        fs::write(self.shell.path(&format!("rows/{name}.toml")), format!("{licence}{text}{commands}"))
            .unwrap();
    }

    /// A file beside the rows, as a source.
    pub fn file(&self, name: &str, bytes: &[u8]) -> String {
        format!("file:{}", self.shell.file(name, bytes))
    }

    /// A client of ours in the place of npm: a script of the shell.
    pub fn npm(&self, script: &str) {
        self.client("npm", "--pack-destination", script);
    }

    /// A client of ours by any name. It notes what it was started with; `$out` is what follows `option`.
    pub fn client(&self, name: &str, option: &str, script: &str) {
        let path = self.shell.path(&format!("bin/{name}"));
        let text = format!(
            "#!/bin/sh\necho \"$@\" > {0}/saying\nenv >> {0}/saying\npwd >> {0}/saying\nmv {0}/saying {0}/said\n\
             while [ $# -gt 0 ]; do [ \"$1\" = {option} ] && out=$2; shift; done\n{script}\n",
            self.shell.path("bin").display()
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What the client saw, if it was started: its arguments, its variables, and where.
    pub fn npm_saw(&self) -> Option<String> {
        fs::read_to_string(self.shell.path("bin/said")).ok()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let path = format!("{}:/usr/bin:/bin", self.shell.path("bin").display());
        let mut command = self.shell.command(args);
        command.env("PATH", path).env("HOME", self.shell.path("nobody")).env("SECRET", "a secret");
        command.stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Said {
        self.shell.said(self.command(args).output().unwrap())
    }

    pub fn catalog(&self, args: &[&str]) -> Said {
        let rows = self.shell.path("rows");
        let mut all = vec!["catalog", "--rows", rows.to_str().unwrap()];
        all.extend(args);
        self.run(&all)
    }

    pub fn cached(&self, archive: &[u8]) -> PathBuf {
        let hash = drydock_embed::contract::Digest::of(archive).to_string();
        self.shell.home().join("catalog/archives").join(hash)
    }

    /// Nothing of a failed installation is left: no name, no archive, no directory of the client.
    pub fn holds_nothing_of(&self, name: &str, archive: &[u8]) {
        assert_eq!(self.run(&["run", name]).status, 127, "{name} can be called");
        assert!(!self.cached(archive).exists(), "{name}: the archive was kept");
    }
}

/// One member of a zip file: its name, how it is packed (0 is not at all, 8 is deflate), the bytes there are and
/// the checksum and length of those that come out.
pub struct Packed<'a>(pub &'a str, pub u16, pub &'a [u8], pub u32, pub u32);

/// A zip file whose members are stored as they are.
pub fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let stored: Vec<Packed<'_>> = members
        .iter()
        .map(|(name, bytes)| Packed(name, 0, bytes, checksum(bytes), bytes.len() as u32))
        .collect();
    zip_of(&stored)
}

/// A zip file of members that are packed already.
pub fn zip_of(members: &[Packed<'_>]) -> Vec<u8> {
    let (mut all, mut directory) = (Vec::new(), Vec::new());
    for Packed(name, method, bytes, sum, length) in members {
        let at = all.len() as u32;
        let mut facts = Vec::new();
        facts.extend([20, 0, 0, 0]);
        facts.extend(method.to_le_bytes());
        facts.extend([0, 0, 0x21, 0x5a]);
        for number in [*sum, bytes.len() as u32, *length] {
            facts.extend(number.to_le_bytes());
        }
        facts.extend((name.len() as u16).to_le_bytes());
        facts.extend([0, 0]);
        all.extend(b"PK\x03\x04");
        all.extend(&facts);
        all.extend(name.as_bytes());
        all.extend(*bytes);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&facts);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let at = all.len() as u32;
    all.extend(&directory);
    all.extend(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        all.extend((members.len() as u16).to_le_bytes());
    }
    all.extend((directory.len() as u32).to_le_bytes());
    all.extend(at.to_le_bytes());
    all.extend([0, 0]);
    all
}

fn checksum(bytes: &[u8]) -> u32 {
    let step = |sum: u32| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
    let byte = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum));
    !bytes.iter().fold(u32::MAX, byte)
}

/// So many zeros, deflated by the machine's gzip: the packed bytes and their checksum.
pub fn zeros(count: u64) -> (Vec<u8>, u32) {
    let line = format!("head -c {count} /dev/zero | gzip -1 -n");
    let gzip = Command::new("sh").args(["-c", &line]).output().unwrap().stdout;
    let (packed, end) = gzip[10..].split_at(gzip.len() - 18);
    (packed.to_vec(), u32::from_le_bytes(end[..4].try_into().unwrap()))
}
