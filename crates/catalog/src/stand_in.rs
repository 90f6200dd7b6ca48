//! `apt`, `apt-get` and `npm` as a line types them (and `pip`, in a file of its own): honest stand-ins that install from the catalog or say what is
//! missing. Status 0 means that everything asked for can be called afterwards, and nothing else.

use drydock_contract::{Cap, port::Registry as _};
use drydock_embed::{Dock, HostOutput, StandIn, catalog};

use crate::provide::CatalogProvider;

/// What is answered here.
pub(crate) const NAMES: [&str; 5] = ["apt", "apt-get", "npm", "pip", "pip3"];

/// Packages of Debian and of npm whose programs have other names here, or are part of something built in.
const OTHER_NAMES: [(&str, &[&str]); 32] = [
    ("python3-minimal", &["python3"]),
    ("python3-pip", &["python3"]),
    ("python3-venv", &["python3"]),
    ("python3-dev", &["python3"]),
    ("python-is-python3", &["python"]),
    ("lua5.4", &["lua"]),
    ("lua5.3", &["lua"]),
    ("php-cli", &["php"]),
    ("swi-prolog", &["prolog"]),
    ("libsqlite3-dev", &["sqlite3"]),
    ("build-essential", &["gcc", "make"]),
    ("g++", &["gcc"]),
    ("libc6-dev", &["gcc"]),
    ("lld", &["wasm-ld"]),
    ("llvm", &["clang"]),
    ("ripgrep", &["rg"]),
    ("gawk", &["awk"]),
    ("mawk", &["awk"]),
    ("coreutils", &["ls"]),
    ("findutils", &["find"]),
    ("diffutils", &["diff"]),
    ("moreutils", &["sponge"]),
    ("bsdmainutils", &["column"]),
    ("util-linux", &["column"]),
    ("xz-utils", &["xz"]),
    ("libxml2-utils", &["xmllint"]),
    ("uuid-runtime", &["uuidgen"]),
    ("bash", &["bash"]),
    ("git-core", &["git"]),
    ("gnupg", &["gpg"]),
    ("nodejs", &["node"]),
    ("quickjs", &["qjs"]),
];

/// Names that the shell answers itself.
const SHELLS: [&str; 2] = ["bash", "sh"];

/// One package that was asked for.
enum Asked<'a> {
    /// Its programs can be called already.
    Here,
    /// This row has them.
    Row(&'a str),
    /// Nothing here has them.
    Missing,
}

/// What a command line asks for.
enum Request {
    /// These packages.
    Install(Vec<String>),
    /// Nothing that would change anything here.
    Nothing(&'static str),
    /// Something else, which is refused in these words.
    Other(String),
}

pub(crate) async fn run(provider: &CatalogProvider, dock: &Dock, call: &StandIn) -> HostOutput {
    // What is said begins with the name; a line of its own in an argument would begin with anything.
    if call.args.iter().any(|it| it.chars().any(char::is_control)) {
        return failed(100, &format!("{}: an argument has a control character in it\n", call.name));
    }
    if call.name.starts_with("pip") {
        return crate::pip::run(provider, dock, call).await;
    }
    let request = if call.name == "npm" { npm(&call.args) } else { apt(&call.args) };
    let packages = match request {
        Request::Install(packages) => packages,
        Request::Nothing(text) => return HostOutput::from(format!("{text}\n")),
        Request::Other(why) => return failed(100, &format!("{}: {why}\n", call.name)),
    };
    let mut told = String::new();
    let mut problems = String::new();
    for package in &packages {
        match looked_up(provider, dock, package) {
            Asked::Here => told.push_str(&format!("{package} is already here\n")),
            Asked::Row(row) if call.may_install && !is_granted(provider, dock, call, row) => problems
                .push_str(&format!("{}: {package} is no command that this session may run\n", call.name)),
            Asked::Row(row) if call.may_install => {
                match call.time.of(row, provider.ensure(dock, row)).await {
                    Ok(()) => told.push_str(&format!("{package}: installed {row}\n")),
                    Err(why) => problems.push_str(&format!("{}: {package}: {why}\n", call.name)),
                }
            }
            Asked::Row(row) => problems.push_str(&format!(
                "{}: {package} is in the catalog and may not be installed from here; drydock catalog add {row}, or \
                 start with --install-missing\n",
                call.name
            )),
            Asked::Missing => problems.push_str(&missing(provider, dock, &call.name, package)),
        }
    }
    let status = if problems.is_empty() { 0 } else { 100 };
    HostOutput { status, stdout: told.into_bytes(), stderr: problems.into_bytes() }
}

/// Whether the session may run one of the row's commands: calling it would install the row as well.
fn is_granted(provider: &CatalogProvider, dock: &Dock, call: &StandIn, row: &str) -> bool {
    let rows = &provider.catalog().table;
    let mut commands = rows.rows().iter().filter(|it| it.name.as_str() == row).flat_map(|it| &it.commands);
    let now = dock.gate().now();
    commands.any(|it| call.grants.now().would_admit(Cap::Exec, it.name.as_str(), now))
}

fn failed(status: u8, text: &str) -> HostOutput {
    HostOutput { status, stdout: Vec::new(), stderr: text.as_bytes().to_vec() }
}

/// What apt-get would be asked to do.
fn apt(args: &[String]) -> Request {
    let (mut words, mut skip) = (Vec::new(), false);
    for arg in args {
        if std::mem::take(&mut skip) {
            continue;
        }
        match arg.as_str() {
            "-o" | "-c" | "-t" => skip = true,
            option if option.starts_with('-') => {}
            word => words.push(word),
        }
    }
    match words.split_first() {
        Some((&"install" | &"reinstall", packages)) => {
            // `name=1.2`, `name/stable` and `name:amd64` say which one of several; here there is one.
            let bare = |it: &&str| it.split(['=', '/', ':']).next().unwrap_or_default().to_owned();
            Request::Install(packages.iter().map(bare).filter(|it| !it.is_empty()).collect())
        }
        Some((&"update" | &"upgrade" | &"dist-upgrade" | &"full-upgrade", _)) => {
            Request::Nothing("The catalog comes with drydock; there is nothing to update.")
        }
        Some((&"clean" | &"autoclean" | &"autoremove", _)) => Request::Nothing("There is nothing to clean."),
        Some((other, _)) => Request::Other(format!("`{other}` is not answered here; install and update are")),
        None => Request::Other("nothing was asked for; install and update are answered here".into()),
    }
}

/// What npm would be asked to do. Packages of npm are no programs of ours, but for a few.
fn npm(args: &[String]) -> Request {
    let mut words = args.iter().map(String::as_str).filter(|it| !it.starts_with('-'));
    match words.next() {
        Some("install" | "i" | "add" | "ci") => {
            let bare = |it: &str| match it.get(1..).and_then(|rest| rest.find('@')) {
                Some(at) => it.get(..=at).unwrap_or(it).to_owned(),
                None => it.to_owned(),
            };
            match words.map(bare).collect::<Vec<_>>() {
                packages if packages.is_empty() => {
                    Request::Other("a package.json is not installed from; name rows of the catalog".into())
                }
                packages => Request::Install(packages),
            }
        }
        Some(other) => Request::Other(format!("`{other}` is not answered here; install is")),
        None => Request::Other("nothing was asked for; install is answered here".into()),
    }
}

/// Whether a package's programs are here, could be, or neither.
fn looked_up<'a>(provider: &'a CatalogProvider, dock: &Dock, package: &'a str) -> Asked<'a> {
    let other = OTHER_NAMES.iter().find(|it| it.0 == package).map(|it| it.1);
    let own = [package];
    let programs = other.unwrap_or(&own);
    let is_here = |it: &&&str| dock.registry().lookup(it, None).is_some() || SHELLS.contains(*it);
    let table = &provider.catalog().table;
    match programs.iter().find(|it| !is_here(it)) {
        None => Asked::Here,
        Some(program) => match table.offering(program).filter(|it| it.unavailable.is_none()) {
            Some(row) => Asked::Row(row.name.as_str()),
            None => Asked::Missing,
        },
    }
}

/// What is missing, and the nearest thing there is.
fn missing(provider: &CatalogProvider, dock: &Dock, name: &str, package: &str) -> String {
    let rows: Vec<&str> = provider.catalog().table.rows().iter().map(|it| it.name.as_str()).collect();
    let names: Vec<String> = dock.registry().names().iter().map(ToString::to_string).collect();
    let known = rows.iter().copied().chain(names.iter().map(String::as_str));
    // `libfoo-dev` and `python3-foo` are looked for by the part that says what they are.
    let bare = package.trim_start_matches("lib").trim_end_matches("-dev");
    let part = rows.iter().find(|row| bare.split('-').any(|it| it == **row)).copied();
    let near = part.or_else(|| catalog::nearest(package, known));
    let hint = match near {
        Some(near) => format!("; the nearest here is `{near}`"),
        None => "; `drydock catalog list` shows what there is".into(),
    };
    format!("{name}: {package} is neither built in nor in the catalog{hint}\n")
}
