//! `pip` as a line types it: packages of the working directory, by the same way as `drydock py add`.
//!
//! It installs where the session may, and otherwise says what to do; what it lists is what is there.

use drydock_contract::port::Clock as _;
use drydock_embed::{
    Dock, HostOutput, StandIn, SystemClock,
    packages::{Lock, Packages, Requirement},
};

use crate::{FetchLimits, provide::CatalogProvider, wheels::PipWheels};

/// What a command line asks for.
enum Request {
    Install(Vec<String>),
    Uninstall(Vec<String>),
    List {
        freeze: bool,
    },
    Show(Vec<String>),
    Version,
    /// Something else, which is refused in these words.
    Other(String),
}

pub(crate) async fn run(provider: &CatalogProvider, dock: &Dock, call: &StandIn) -> HostOutput {
    let request = parse(&call.args);
    if let Request::Version = request {
        let text =
            format!("pip (drydock {}) from /usr/lib/drydock (python 3.12)\n", env!("CARGO_PKG_VERSION"));
        return HostOutput::from(text);
    }
    let Some(files) = &call.files else {
        return failed("there are no files here to install packages into; give --workspace or --dir");
    };
    let packages = Packages::of(dock, files, &call.cwd, SystemClock.now());
    let lock = match packages.list() {
        Ok(lock) => lock,
        Err(error) => return failed(&error.to_string()),
    };
    match request {
        Request::List { freeze } => HostOutput::from(listed(&lock, freeze)),
        Request::Show(names) => shown(&lock, &names),
        Request::Uninstall(names) => {
            let mut told = String::new();
            for name in &names {
                match packages.remove(name) {
                    Ok(gone) => {
                        told.push_str(&format!("Successfully uninstalled {}-{}\n", gone.name, gone.version))
                    }
                    Err(error) => return failed(&error.to_string()),
                }
            }
            HostOutput::from(told)
        }
        Request::Install(words) => install(provider, dock, call, &packages, &lock, &words).await,
        Request::Version => HostOutput::default(),
        Request::Other(why) => failed(&why),
    }
}

async fn install(
    provider: &CatalogProvider,
    dock: &Dock,
    call: &StandIn,
    packages: &Packages<'_>,
    lock: &Lock,
    words: &[String],
) -> HostOutput {
    let mut wanted = Vec::new();
    let mut told = String::new();
    for word in words {
        match Requirement::parse(word) {
            // pip itself is always there.
            Ok(it)
                if it.name() == "pip" || (it.as_str() == it.name() && lock.package(it.name()).is_some()) =>
            {
                told.push_str(&format!("Requirement already satisfied: {}\n", it.name()));
            }
            Ok(it) => wanted.push(it),
            Err(error) => return failed(&error.to_string()),
        }
    }
    if wanted.is_empty() {
        return HostOutput::from(told);
    }
    if !call.may_install {
        let names: Vec<&str> = wanted.iter().map(Requirement::as_str).collect();
        return failed(&format!(
            "{} may not be installed from here; `drydock py add {}` does it, or start with --install-missing",
            names.join(", "),
            names.join(" ")
        ));
    }
    let source = PipWheels {
        environment: provider.catalog().environment.clone(),
        root: dock.home().root().join("catalog"),
        limits: FetchLimits::default(),
    };
    let names: Vec<&str> = wanted.iter().map(Requirement::as_str).collect();
    let name = format!("pip {}", names.join(" "));
    match call.time.of(&name, packages.add(&wanted, &source)).await {
        Ok(added) => {
            let names: Vec<String> = added.iter().map(|it| format!("{}-{}", it.name, it.version)).collect();
            HostOutput::from(format!("{told}Successfully installed {}\n", names.join(" ")))
        }
        Err(error) => failed(&format!("{}: {error}", error.code())),
    }
}

fn failed(text: &str) -> HostOutput {
    HostOutput { status: 1, stdout: Vec::new(), stderr: format!("ERROR: {text}\n").into_bytes() }
}

/// Options of `pip install` that say where packages come from.
const INDEXES: [&str; 5] = ["-i", "--index-url", "--extra-index-url", "-f", "--find-links"];

/// Options of `pip install` that take a word.
const WITH_WORD: [&str; 9] = [
    "-t",
    "--target",
    "--prefix",
    "--root",
    "--timeout",
    "--retries",
    "--progress-bar",
    "--cache-dir",
    "--log",
];

fn parse(args: &[String]) -> Request {
    let (mut words, mut skip) = (Vec::new(), false);
    for arg in args {
        if std::mem::take(&mut skip) {
            continue;
        }
        match arg.as_str() {
            "-V" | "--version" => return Request::Version,
            "-r" | "--requirement" | "-e" | "--editable" | "-c" | "--constraint" => {
                return Request::Other(format!("`{arg}` is not answered here; name the packages"));
            }
            // Left out, it would be fetched from somewhere else than was asked for.
            index if INDEXES.iter().any(|it| index.split('=').next() == Some(it)) => {
                return Request::Other(format!(
                    "`{index}` is not answered here: the machine's own index is used"
                ));
            }
            option if WITH_WORD.contains(&option) => skip = true,
            option if option.starts_with('-') => {}
            _ => words.push(arg.clone()),
        }
    }
    let rest = words.get(1..).unwrap_or_default().to_vec();
    match words.first().map(String::as_str) {
        Some("install") if rest.is_empty() => Request::Other("nothing was asked for: name packages".into()),
        Some("install") => Request::Install(rest),
        Some("uninstall") => Request::Uninstall(rest),
        Some("list") => Request::List { freeze: args.iter().any(|it| it == "--format=freeze") },
        Some("freeze") => Request::List { freeze: true },
        Some("show") => Request::Show(rest),
        Some(other) => {
            let other: String = other.chars().take(40).collect();
            Request::Other(format!(
                "`{other}` is not answered here; install, uninstall, list, freeze and show are"
            ))
        }
        None => Request::Other(
            "nothing was asked for; install, uninstall, list, freeze and show are answered here".into(),
        ),
    }
}

fn listed(lock: &Lock, freeze: bool) -> String {
    if freeze {
        return lock.packages.iter().map(|it| format!("{}=={}\n", it.name, it.version)).collect();
    }
    let width = lock.packages.iter().map(|it| it.name.len()).max().unwrap_or(0).max("Package".len());
    let rows = lock.packages.iter().map(|it| format!("{:<width$} {}\n", it.name, it.version));
    let rule = "-".repeat(width);
    format!("{:<width$} Version\n{rule} -------\n{}", "Package", rows.collect::<String>())
}

fn shown(lock: &Lock, names: &[String]) -> HostOutput {
    let mut text = String::new();
    for name in names {
        let asked = Requirement::parse(name).ok();
        let Some(it) = asked.and_then(|it| lock.package(it.name()).cloned()) else {
            return HostOutput {
                status: 1,
                stdout: text.into_bytes(),
                stderr: format!("WARNING: Package(s) not found: {}\n", name.escape_default()).into_bytes(),
            };
        };
        text.push_str(&format!("Name: {}\nVersion: {}\nsha256: {}\n", it.name, it.version, it.sha256));
    }
    HostOutput::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pip_is_asked_for_is_understood_or_refused() {
        let asked = |line: &str| {
            let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            match parse(&args) {
                Request::Install(names) => format!("install {}", names.join(" ")),
                Request::Uninstall(names) => format!("uninstall {}", names.join(" ")),
                Request::List { freeze } => format!("list {freeze}"),
                Request::Show(names) => format!("show {}", names.join(" ")),
                Request::Version => "version".into(),
                Request::Other(why) => format!("no: {}", why.split(';').next().unwrap_or_default()),
            }
        };
        for (line, want) in [
            ("install --quiet --break-system-packages rich six==1.16", "install rich six==1.16"),
            ("install --target x rich", "install rich"),
            ("install -i x rich", "no: `-i` is not answered here: the machine's own index is used"),
            ("install -r requirements.txt", "no: `-r` is not answered here"),
            ("install", "no: nothing was asked for: name packages"),
            ("uninstall -y rich", "uninstall rich"),
            ("list", "list false"),
            ("freeze", "list true"),
            ("show rich", "show rich"),
            ("--version", "version"),
            ("wheel .", "no: `wheel` is not answered here"),
            ("", "no: nothing was asked for"),
        ] {
            assert_eq!(asked(line), want, "{line}");
        }
    }
}
