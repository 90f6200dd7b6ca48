//! Guests as lists of preview 1 calls: each with its arguments and the errno it must answer. The guest
//! exits with 0, or with the number of the first step that went otherwise.

use std::fmt::Write as _;

/// An argument of a call.
#[derive(Debug, Clone)]
pub enum Arg {
    I(i64),
    L(i64),
    /// A number kept in memory, such as a descriptor.
    At(u32),
    /// The place and the length of some bytes: two arguments.
    Bytes(Vec<u8>),
}

/// A path, or anything else that is passed as a place and a length.
pub fn text(it: impl AsRef<[u8]>) -> Arg {
    Arg::Bytes(it.as_ref().to_vec())
}

#[derive(Debug, Clone)]
enum Step {
    Call(&'static str, Vec<Arg>, i32),
    Holds32(u32, i32),
    Holds64(u32, i64),
    HoldsBytes(u32, Vec<u8>),
}

/// A guest in the making.
#[derive(Debug, Default)]
pub struct Script {
    steps: Vec<Step>,
}

/// Where [`Script`] keeps what it points at; tests use what is below.
const BYTES_AT: usize = 65_536;

impl Script {
    pub fn call(mut self, name: &'static str, args: impl Into<Vec<Arg>>, errno: i32) -> Self {
        self.steps.push(Step::Call(name, args.into(), errno));
        self
    }

    pub fn holds32(mut self, at: u32, value: i32) -> Self {
        self.steps.push(Step::Holds32(at, value));
        self
    }

    pub fn holds64(mut self, at: u32, value: i64) -> Self {
        self.steps.push(Step::Holds64(at, value));
        self
    }

    pub fn holds(mut self, at: u32, bytes: impl AsRef<[u8]>) -> Self {
        self.steps.push(Step::HoldsBytes(at, bytes.as_ref().to_vec()));
        self
    }

    /// Opens a path below the root and keeps its descriptor at `into`.
    pub fn open(self, path: &str, oflags: i64, into: u32, errno: i32) -> Self {
        self.open_bytes(path.as_bytes(), oflags, into, errno)
    }

    /// The same for a path that need not be text.
    pub fn open_bytes(self, path: &[u8], oflags: i64, into: u32, errno: i32) -> Self {
        // To read and to write, unless it is a directory, which is no file to be written.
        let rights = if oflags & 2 == 0 { 0x1fff_ffff } else { 1 << 14 };
        let args = [
            Arg::I(3),
            Arg::I(0),
            text(path),
            Arg::I(oflags),
            Arg::L(rights),
            Arg::L(rights),
            Arg::I(0),
            Arg::I(i64::from(into)),
        ];
        self.call("path_open", args, errno)
    }

    /// Writes bytes at an offset.
    pub fn pwrite(self, fd_at: u32, offset: i64, bytes: &[u8], errno: i32) -> Self {
        self.vectored("fd_pwrite", fd_at, Some(offset), bytes, errno)
    }

    /// Writes bytes at the descriptor's position, or appends.
    pub fn write(self, fd_at: u32, bytes: &[u8], errno: i32) -> Self {
        self.vectored("fd_write", fd_at, None, bytes, errno)
    }

    /// Reads up to `len` bytes at an offset to `into`; the count goes to `into - 4`.
    pub fn pread(self, fd_at: u32, offset: i64, into: u32, len: u32) -> Self {
        let list = [into.to_le_bytes(), len.to_le_bytes()].concat();
        let args = [Arg::At(fd_at), Arg::Bytes(list), Arg::L(offset), Arg::I(i64::from(into - 4))];
        self.call("fd_pread", args, 0)
    }

    fn vectored(self, name: &'static str, fd_at: u32, offset: Option<i64>, bytes: &[u8], errno: i32) -> Self {
        // The list points at the bytes right behind it, which only `wat` knows the place of.
        let mut args = vec![Arg::At(fd_at), Arg::Bytes([b"\0LIST\0\0\0", bytes].concat())];
        args.extend(offset.map(Arg::L));
        args.push(Arg::I(48));
        self.call(name, args, errno)
    }

    /// The module.
    pub fn wat(&self) -> String {
        let (mut imports, mut data, mut body) = (String::new(), String::new(), String::new());
        let (mut at, mut linked) = (BYTES_AT, Vec::new());
        for (number, step) in (1..).zip(&self.steps) {
            let failed = format!("(then (call $exit (i32.const {})))", 1 + (number - 1) % 250);
            match step {
                Step::Holds32(place, value) => {
                    let _ = writeln!(
                        body,
                        "(if (i32.ne (i32.load (i32.const {place})) (i32.const {value})) {failed})"
                    );
                }
                Step::Holds64(place, value) => {
                    let _ = writeln!(
                        body,
                        "(if (i64.ne (i64.load (i32.const {place})) (i64.const {value})) {failed})"
                    );
                }
                Step::HoldsBytes(place, bytes) => {
                    for (offset, byte) in bytes.iter().enumerate() {
                        let place = *place as usize + offset;
                        let _ = writeln!(
                            body,
                            "(if (i32.ne (i32.load8_u (i32.const {place})) (i32.const {byte})) {failed})"
                        );
                    }
                }
                Step::Call(name, args, errno) => {
                    let (mut pushed, mut types) = (String::new(), String::new());
                    for arg in args {
                        match arg {
                            Arg::I(it) => {
                                (pushed, types) = (pushed + &format!("(i32.const {it})"), types + " i32")
                            }
                            Arg::L(it) => {
                                (pushed, types) = (pushed + &format!("(i64.const {it})"), types + " i64")
                            }
                            Arg::At(it) => {
                                pushed += &format!("(i32.load (i32.const {it}))");
                                types += " i32";
                            }
                            Arg::Bytes(bytes) => {
                                let vectored =
                                    matches!(*name, "fd_pwrite" | "fd_write" | "fd_pread" | "fd_read");
                                let mut bytes = bytes.clone();
                                if bytes.starts_with(b"\0LIST") {
                                    let len = (bytes.len() - 8) as u32;
                                    let list = [((at + 8) as u32).to_le_bytes(), len.to_le_bytes()].concat();
                                    bytes[..8].copy_from_slice(&list);
                                }
                                let quoted: String = bytes.iter().map(|it| format!("\\{it:02x}")).collect();
                                let _ = writeln!(data, "(data (i32.const {at}) \"{quoted}\")");
                                let len = if vectored { 1 } else { bytes.len() };
                                pushed += &format!("(i32.const {at}) (i32.const {len})");
                                types += " i32 i32";
                                at += bytes.len().next_multiple_of(8).max(8);
                            }
                        }
                    }
                    if !linked.contains(name) {
                        linked.push(name);
                        let space = if name.starts_with("host_") { "env" } else { "wasi_snapshot_preview1" };
                        let _ = writeln!(
                            imports,
                            "(import \"{space}\" \"{name}\" (func ${name} (param{types}) (result i32)))"
                        );
                    }
                    let _ =
                        writeln!(body, "(if (i32.ne (call ${name} {pushed}) (i32.const {errno})) {failed})");
                }
            }
        }
        format!(
            r#"(module {imports}
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 32) {data}
  (func (export "_start") {body}))"#
        )
    }
}
