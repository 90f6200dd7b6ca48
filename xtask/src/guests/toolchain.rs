//! The compiler for the guests: rustup's target if it is installed, else the one that
//! `guests/toolchain.sh` assembles.

use anyhow::{Context as _, Result, bail};
use std::path::Path;
use std::process::Command;

/// The target of all guests.
pub const TARGET: &str = "wasm32-wasip1";

/// A compiler, as the environment that selects it.
pub struct Toolchain {
    variables: Vec<(String, String)>,
}

impl Toolchain {
    /// Finds one, or makes one with the script in `guests`.
    pub fn find(guests: &Path) -> Result<Self> {
        if installed()? {
            return Ok(Self { variables: Vec::new() });
        }
        let script = guests.join("toolchain.sh");
        let made =
            Command::new(&script).arg("setup").status().context("could not run guests/toolchain.sh")?;
        if !made.success() {
            bail!("guests/toolchain.sh failed; `rustup target add {TARGET}` is the other way to a compiler");
        }
        let text = output(Command::new(&script).arg("env"))?;
        let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        Ok(Self { variables: text.lines().filter_map(pair).collect() })
    }

    /// A cargo that uses it, run in `folder`.
    pub fn cargo(&self, folder: &Path) -> Command {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(folder).envs(self.variables.iter().cloned());
        // What the surrounding cargo set for its own crates must not reach the guests.
        for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "CARGO_TARGET_DIR"] {
            cargo.env_remove(name);
        }
        cargo
    }

    /// Whether it is rustup's own, which has a standard library for every target that was added to it.
    pub fn is_rustups(&self) -> bool {
        self.variables.is_empty()
    }

    /// A C compiler for wasm: the one that was assembled, else the machine's.
    pub fn c_compiler(&self) -> Command {
        let own = self.variables.iter().find(|(name, _)| name.starts_with("CC_"));
        self.command(own.map_or("clang", |(_, path)| path))
    }

    /// Flags by which no path of this machine shows in a module: not the sources of the standard library, and not the
    /// folders of registries, whose names depend on the machine's settings.
    pub fn remapped(&self) -> Result<Vec<String>> {
        let home = std::env::var("HOME").unwrap_or_default();
        let cargo = std::env::var("CARGO_HOME").unwrap_or_else(|_| format!("{home}/.cargo"));
        let remap = |from: String, to: &str| format!("--remap-path-prefix={from}={to}");
        let mut flags = vec![remap(format!("{}/lib/rustlib/src/rust", self.sysroot()?), "/rust")];
        for registry in std::fs::read_dir(format!("{cargo}/registry/src")).into_iter().flatten().flatten() {
            flags.push(remap(registry.path().display().to_string(), "/registry"));
        }
        Ok(flags)
    }

    /// Compiler and linker, for the lock file.
    pub fn describe(&self) -> Result<String> {
        let rustc = self.rustc();
        let version = output(self.command(&rustc).arg("-V"))?;
        let libdir = output(self.command(&rustc).args(["--print", "target-libdir"]))?;
        let linker = Path::new(libdir.trim()).parent().map(|it| it.join("bin/rust-lld")).unwrap_or_default();
        let linker = output(self.command(&linker.to_string_lossy()).args(["-flavor", "wasm", "--version"]))?;
        Ok(format!("{}, {}", version.trim(), linker.trim()))
    }

    /// Where the standard library's source lies; its path must not show in a guest.
    pub fn sysroot(&self) -> Result<String> {
        Ok(output(self.command(&self.rustc()).args(["--print", "sysroot"]))?.trim().to_owned())
    }

    fn rustc(&self) -> String {
        let own = self.variables.iter().find(|(name, _)| name == "RUSTC");
        own.map_or_else(|| "rustc".to_owned(), |(_, path)| path.clone())
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.envs(self.variables.iter().cloned());
        command
    }
}

fn installed() -> Result<bool> {
    let folder = output(Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]))?;
    Ok(Path::new(folder.trim()).is_dir())
}

fn output(command: &mut Command) -> Result<String> {
    let done = command.output().with_context(|| format!("could not run {:?}", command.get_program()))?;
    if !done.status.success() {
        bail!("{:?} failed: {}", command.get_program(), String::from_utf8_lossy(&done.stderr));
    }
    Ok(String::from_utf8(done.stdout)?)
}
