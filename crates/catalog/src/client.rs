//! The one place of this room that starts native programs: the package clients that the machine has configured
//! fetch one archive each, and install nothing.
//!
//! Arguments are fixed but for a name and a version that were parsed before; no script of a package runs (npm is
//! told so, pip takes wheels only, cargo fetches and does not build). A client starts in an empty directory with
//! the variables it needs and no others, in a process group of its own. That group is killed when its time is up,
//! when it has written too much, and when nobody waits for it any more.
//!
//! Which mirror is asked is the machine's own configuration; no host is named here.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use drydock_embed::packages::Requirement;

use crate::source::{Package, PackageRegistry};

/// How often a running client is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// The end of what a client said that is shown.
const SAID_BYTES_MAX: usize = 800;
/// A disk with less room than this is full.
const ROOM_BYTES: usize = 64 << 10;
/// The most files that are counted; a client with more has written too much.
const FILES_MAX: u64 = 20_000;

/// What fetching one archive may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// Wall clock.
    pub wall_max: Duration,
    /// The size of the archive.
    pub archive_bytes_max: u64,
    /// Everything the client writes into its directory: its cache, temporary files, the archive.
    pub scratch_bytes_max: u64,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self { wall_max: Duration::from_secs(600), archive_bytes_max: 256 << 20, scratch_bytes_max: 1 << 30 }
    }
}

/// Variables that a client may need, taken from the caller's environment once.
#[derive(Debug, Clone, Default)]
pub struct ClientEnvironment(Vec<(OsString, OsString)>);

/// What every client needs: to find itself, its configuration, and the way out.
const COMMON: [&str; 17] = [
    "PATH",
    "HOME",
    "USER",
    "XDG_CONFIG_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
];

impl ClientEnvironment {
    /// What of these variables any client may need.
    pub fn of(all: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let any = |name: &OsStr| {
            [PackageRegistry::Npm, PackageRegistry::Pypi, PackageRegistry::Crate]
                .iter()
                .any(|it| needs(*it, name))
        };
        Self(all.into_iter().filter(|(name, _)| any(name)).collect())
    }

    fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.iter().find(|it| it.0 == name).map(|it| it.1.as_os_str())
    }

    fn of_client(&self, registry: PackageRegistry) -> impl Iterator<Item = &(OsString, OsString)> {
        self.0.iter().filter(move |(name, _)| needs(registry, name))
    }
}

fn needs(registry: PackageRegistry, name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let own: &[&str] = match registry {
        PackageRegistry::Npm => &["NPM_CONFIG_", "npm_config_"],
        PackageRegistry::Pypi => &["PIP_", "PYENV_"],
        PackageRegistry::Crate => &["CARGO_REGISTR", "CARGO_HTTP_", "CARGO_NET_", "CARGO_SOURCE_", "RUSTUP_"],
    };
    let home = registry == PackageRegistry::Crate && name == "CARGO_HOME";
    COMMON.contains(&name) || home || own.iter().any(|start| name.starts_with(start))
}

/// An archive could not be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// There is no such program.
    #[error("{client} is not installed, and {package} comes by it")]
    ClientAbsent {
        /// The program.
        client: &'static str,
        /// What was wanted.
        package: String,
    },
    /// It ended with an error.
    #[error("{client} could not fetch {package}: {said}")]
    ClientFailed {
        /// The program.
        client: &'static str,
        /// What was wanted.
        package: String,
        /// The end of what it said.
        said: String,
    },
    /// It took too long, and was ended.
    #[error("{client} took longer than {} s for {package} and was ended", .wall_max.as_secs())]
    TooLate {
        /// The program.
        client: &'static str,
        /// What was wanted.
        package: String,
        /// How long it might.
        wall_max: Duration,
    },
    /// It wrote too much, and was ended.
    #[error("{client} wrote more than {} MiB for {package} and was ended", .bytes_max >> 20)]
    TooLarge {
        /// The program.
        client: &'static str,
        /// What was wanted.
        package: String,
        /// How much it might.
        bytes_max: u64,
    },
    /// Its directory could not be made or read.
    #[error("could not use `{path}`")]
    Scratch {
        /// Which one.
        path: PathBuf,
        /// What the disk said.
        #[source]
        cause: io::Error,
    },
}

impl FetchError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ClientAbsent { .. } => "client_absent",
            Self::ClientFailed { .. } => "fetch_failed",
            Self::TooLate { .. } => "fetch_timed_out",
            Self::TooLarge { .. } => "fetch_too_large",
            Self::Scratch { .. } => "write_failed",
        }
    }
}

/// Fetches the archive of a package into `scratch`, an empty directory that the caller removes, and answers where
/// it lies. `seen` is told how much is there, now and then.
pub(crate) async fn fetch(
    package: &Package,
    environment: &ClientEnvironment,
    scratch: &Path,
    limits: FetchLimits,
    seen: &(dyn Fn(u64) + Send + Sync),
) -> Result<PathBuf, FetchError> {
    let failed = |cause| FetchError::Scratch { path: scratch.to_owned(), cause };
    prepare(package, environment, scratch).map_err(failed)?;
    let child = start(package, environment, scratch)?;
    watch(package, child, scratch, limits, seen).await?;
    found(package, scratch).map_err(failed)?.ok_or_else(|| FetchError::ClientFailed {
        client: package.registry.client(),
        package: named(package),
        said: "it left no archive".into(),
    })
}

/// Downloads the wheels of Python requirements into `scratch`, with what they depend on if `dependencies`, and
/// answers where they lie. They are wheels for any machine and any Python 3; nothing is built and nothing
/// installed. The requirements were parsed: none of them is an option, a path or an address.
pub(crate) async fn fetch_wheels(
    requirements: &[Requirement],
    dependencies: bool,
    environment: &ClientEnvironment,
    scratch: &Path,
    limits: FetchLimits,
) -> Result<Vec<PathBuf>, FetchError> {
    let failed = |cause| FetchError::Scratch { path: scratch.to_owned(), cause };
    // Errors name the first; pip says which one it was.
    let name = requirements.first().map(|it| it.as_str().to_owned()).unwrap_or_default();
    let package = Package {
        registry: PackageRegistry::Pypi,
        name,
        version: "for any machine".into(),
        inside: String::new(),
    };
    prepare(&package, environment, scratch).map_err(failed)?;
    let words = |all: &[&str]| all.iter().map(OsString::from).collect::<Vec<_>>();
    let mut args = words(&["download", "--only-binary=:all:", "--no-input", "--quiet", "--no-cache-dir"]);
    args.extend(words(&[
        "--disable-pip-version-check",
        "--python-version",
        "3.12",
        "--implementation",
        "py",
    ]));
    args.extend(words(&["--abi", "none", "--platform", "any", "--dest"]));
    args.push(scratch.join("out").into());
    if !dependencies {
        args.push("--no-deps".into());
    }
    args.extend(requirements.iter().map(|it| it.as_str().into()));
    let module = [words(&["-m", "pip"]), args.clone()].concat();
    let invocations = vec![("pip3", args.clone()), ("pip", args), ("python3", module)];
    let child = start_any(invocations, &package, environment, scratch)?;
    watch(&package, child, scratch, limits, &|_| ()).await?;
    let regular = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    let mut all: Vec<PathBuf> = fs::read_dir(scratch.join("out"))
        .map_err(failed)?
        .flatten()
        .map(|it| it.path())
        .filter(|it| it.extension() == Some(OsStr::new("whl")) && regular(it))
        .collect();
    all.sort();
    Ok(all)
}

fn named(package: &Package) -> String {
    format!("{} {}", package.name, package.version)
}

/// The directories and files that a client expects.
fn prepare(package: &Package, environment: &ClientEnvironment, scratch: &Path) -> io::Result<()> {
    for name in ["tmp", "out", "cache", "work"] {
        fs::create_dir_all(scratch.join(name))?;
    }
    let work = scratch.join("work");
    match package.registry {
        // Else npm looks for a project in the directories above.
        PackageRegistry::Npm => fs::write(work.join("package.json"), "{}\n"),
        PackageRegistry::Pypi => Ok(()),
        PackageRegistry::Crate => {
            fs::create_dir_all(work.join("src"))?;
            fs::write(work.join("src/lib.rs"), "")?;
            fs::write(work.join("Cargo.toml"), manifest(package))?;
            // A home of its own, where the archive is the only one of its name; the configuration is the user's.
            let home = environment.get("CARGO_HOME").map(PathBuf::from);
            let home = home.or_else(|| Some(Path::new(environment.get("HOME")?).join(".cargo")));
            let names = ["config.toml", "config", "credentials.toml", "credentials"];
            for (home, name) in home.iter().flat_map(|home| names.map(|name| (home, name))) {
                if home.join(name).is_file() {
                    std::os::unix::fs::symlink(home.join(name), scratch.join("cache").join(name))?;
                }
            }
            Ok(())
        }
    }
}

/// A package that depends on the one that is wanted and has no targets worth building.
fn manifest(package: &Package) -> String {
    // Build metadata is not part of a requirement.
    let version = package.version.split('+').next().unwrap_or_default();
    format!(
        "[package]\nname = \"fetched\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n\
         [dependencies]\nwanted = {{ package = \"{}\", version = \"={version}\", default-features = false }}\n",
        package.name
    )
}

/// The program and its fixed arguments; more than one where it goes by several names.
fn invocations(package: &Package, scratch: &Path) -> Vec<(&'static str, Vec<OsString>)> {
    let words = |all: &[&str]| all.iter().map(OsString::from).collect::<Vec<_>>();
    match package.registry {
        PackageRegistry::Npm => {
            let mut args =
                words(&["pack", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
            args.extend(words(&["--loglevel=error", "--foreground-scripts=false", "--cache"]));
            args.push(scratch.join("cache").into());
            args.push("--pack-destination".into());
            args.push(scratch.join("out").into());
            args.push(format!("{}@{}", package.name, package.version).into());
            vec![("npm", args)]
        }
        PackageRegistry::Pypi => {
            let mut args = words(&["download", "--no-deps", "--only-binary=:all:", "--no-input", "--quiet"]);
            args.extend(words(&["--disable-pip-version-check", "--no-cache-dir", "--dest"]));
            args.push(scratch.join("out").into());
            args.push(format!("{}=={}", package.name, package.version).into());
            let module = [words(&["-m", "pip"]), args.clone()].concat();
            vec![("pip3", args.clone()), ("pip", args), ("python3", module)]
        }
        PackageRegistry::Crate => vec![("cargo", words(&["fetch", "--quiet"]))],
    }
}

fn start(package: &Package, environment: &ClientEnvironment, scratch: &Path) -> Result<Group, FetchError> {
    start_any(invocations(package, scratch), package, environment, scratch)
}

/// Starts the first of these programs that the machine has.
fn start_any(
    invocations: Vec<(&'static str, Vec<OsString>)>,
    package: &Package,
    environment: &ClientEnvironment,
    scratch: &Path,
) -> Result<Group, FetchError> {
    let failed = |cause| FetchError::Scratch { path: scratch.to_owned(), cause };
    let client = package.registry.client();
    for (program, args) in invocations {
        let Some(program) = found_on_path(program, environment) else { continue };
        let said = fs::File::create(scratch.join("said")).map_err(failed)?;
        let mut command = Command::new(program);
        command.args(args).env_clear().current_dir(scratch.join("work"));
        command.envs(environment.of_client(package.registry).map(|(name, value)| (name, value)));
        command.env("TMPDIR", scratch.join("tmp")).env("LC_ALL", "C.UTF-8").env("NO_COLOR", "1");
        if package.registry == PackageRegistry::Crate {
            command.env("CARGO_HOME", scratch.join("cache"));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        command.process_group(0).kill_on_drop(true);
        match command.spawn() {
            Ok(child) => return Ok(Group::of(child)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => {
                let said = format!("it could not be started: {cause}");
                return Err(FetchError::ClientFailed { client, package: named(package), said });
            }
        }
    }
    Err(FetchError::ClientAbsent { client, package: named(package) })
}

/// The program in the caller's PATH; this process may have another.
fn found_on_path(program: &str, environment: &ClientEnvironment) -> Option<PathBuf> {
    let path = environment.get("PATH")?;
    std::env::split_paths(path)
        .filter(|it| it.is_absolute())
        .map(|it| it.join(program))
        .find(|it| it.is_file())
}

/// A client and whatever it started. Dropped, it is killed.
struct Group {
    child: Child,
    leader: Option<Pid>,
}

impl Group {
    fn of(child: Child) -> Self {
        let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Self { child, leader }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Also after the leader ended: what it left running has no work here any more. The number is not given
        // to anybody else while the group has members, and an empty group is an error that nobody minds.
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

async fn watch(
    package: &Package,
    mut group: Group,
    scratch: &Path,
    limits: FetchLimits,
    seen: &(dyn Fn(u64) + Send + Sync),
) -> Result<(), FetchError> {
    let client = package.registry.client();
    let failed = |cause| FetchError::Scratch { path: scratch.to_owned(), cause };
    let bytes_max = limits.scratch_bytes_max;
    let until = Instant::now().checked_add(limits.wall_max);
    let status = loop {
        let waited = tokio::time::timeout(LOOK, group.child.wait()).await;
        let held = held_below(scratch);
        seen(held);
        if held > bytes_max {
            return Err(FetchError::TooLarge { client, package: named(package), bytes_max });
        }
        match waited {
            Ok(status) => break status.map_err(failed)?,
            Err(_) if until.is_some_and(|until| Instant::now() >= until) => {
                return Err(FetchError::TooLate {
                    client,
                    package: named(package),
                    wall_max: limits.wall_max,
                });
            }
            Err(_) => {}
        }
    };
    if status.success() {
        return Ok(());
    }
    // On a full disk a client cannot even say so: its words lie there, too.
    match fs::write(scratch.join("room"), [0; ROOM_BYTES]) {
        Err(cause) if cause.kind() == io::ErrorKind::StorageFull => return Err(failed(cause)),
        _ => {}
    }
    let said = fs::read(scratch.join("said")).unwrap_or_default();
    let end = said.get(said.len().saturating_sub(SAID_BYTES_MAX)..).unwrap_or_default();
    let said = match String::from_utf8_lossy(end).trim() {
        "" => format!("it ended with {status}"),
        text => text.to_owned(),
    };
    Err(FetchError::ClientFailed { client, package: named(package), said })
}

/// The bytes of all files below a directory. What vanishes meanwhile does not count.
fn held_below(directory: &Path) -> u64 {
    let mut open = vec![directory.to_owned()];
    let (mut bytes, mut files) = (0_u64, 0_u64);
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let Ok(facts) = entry.metadata() else { continue };
            files += 1;
            if files > FILES_MAX {
                return u64::MAX;
            }
            match facts.is_dir() {
                true => open.push(entry.path()),
                false => bytes = bytes.saturating_add(facts.len()),
            }
        }
    }
    bytes
}

/// The archive that the client left: one file, whatever the client calls it.
fn found(package: &Package, scratch: &Path) -> io::Result<Option<PathBuf>> {
    let regular = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    if package.registry == PackageRegistry::Crate {
        let name = format!("{}-{}.crate", package.name, package.version);
        let caches = fs::read_dir(scratch.join("cache/registry/cache"));
        let mut caches = caches.into_iter().flatten().flatten().map(|it| it.path().join(&name));
        return Ok(caches.find(regular));
    }
    let end = if package.registry == PackageRegistry::Npm { "tgz" } else { "whl" };
    let mut all = fs::read_dir(scratch.join("out"))?.flatten().map(|it| it.path());
    Ok(all.find(|it| it.extension() == Some(OsStr::new(end)) && regular(it)))
}
