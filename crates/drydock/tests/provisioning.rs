//! Who fetches, and when: pip with its fixed arguments, `drydock py add`, seeding while something else is served,
//! and a missing name that is installed and then called. The clients are scripts of ours; no registry is asked.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    ffi::OsString,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use common::room::{Member, Packed, Room, module, tar, zeros, zip, zip_of};
use drydock_catalog::{Catalog, CatalogProvider, ClientEnvironment, Table};
use drydock_embed::{Dock, DockSettings, Setup, ShellSetup, WorkerProgram};

/// Nothing here takes so long unless it hangs.
const HANG: Duration = Duration::from_secs(120);

/// The arguments that the client was given, with its own directory as `SCRATCH`.
fn arguments(room: &Room) -> String {
    let saw = room.npm_saw().unwrap();
    let (first, cwd) = (saw.lines().next().unwrap(), saw.lines().last().unwrap());
    first.replace(cwd.strip_suffix("/work").unwrap(), "SCRATCH")
}

#[test]
fn pip_downloads_the_wheel_of_a_row_with_fixed_arguments_and_it_is_taken_apart_as_a_zip() {
    let room = Room::new();
    let module = module("row-wheel", 0);
    // The data directory is shared with earlier runs of this test, whose archive is another one.
    let place = room.shell.path("x").display().to_string();
    let wheel = zip(&[("x/readme", place.as_bytes()), ("x/x.wasm", &module)]);
    let file = room.shell.file("x.whl", &wheel);
    room.row("row-wheel", "pypi:some-x==1.2.3#x/x.wasm", &wheel, &module, "");
    let row = room.shell.path("rows/row-wheel.toml");
    let text = fs::read_to_string(&row).unwrap().replace("[[sources]]\n", "[[sources]]\nbytes = 1000\n");
    fs::write(&row, text).unwrap();
    for (script, code) in [
        // A source distribution is no wheel, whatever pip was told.
        (
            format!("cp {file} $out/some-x-1.2.3.tar.gz"),
            "fetch_failed: pip could not fetch some-x 1.2.3: it left no",
        ),
        (format!("ln -s {file} $out/some_x-1.2.3-py3-none-any.whl"), "fetch_failed"),
        (
            "echo no such thing >&2; exit 1".into(),
            "fetch_failed: pip could not fetch some-x 1.2.3: no such thing",
        ),
        ("cat /dev/zero > $out/x.whl".into(), "fetch_too_large"),
        ("exec sleep 1000".into(), "fetch_timed_out"),
    ] {
        room.client("pip3", "--dest", &script);
        let timeout = if code == "fetch_timed_out" { "1s" } else { "5m" };
        let said = room.catalog(&["add", "--fetch-timeout", timeout, "row-wheel"]);
        assert!(said.status == 1 && said.stderr.contains(code), "{script}: {}", said.all());
        room.holds_nothing_of("row-wheel", &wheel);
    }
    room.client("pip3", "--dest", &format!("cp {file} $out/some_x-1.2.3-py3-none-any.whl"));
    let said = room.catalog(&["add", "row-wheel"]);
    assert_eq!(said.status, 0, "{}", said.all());
    assert_eq!(room.run(&["run", "row-wheel"]).stdout, "row-wheel\n");
    assert_eq!(
        arguments(&room),
        "download --no-deps --only-binary=:all: --no-input --quiet --disable-pip-version-check --no-cache-dir \
         --dest SCRATCH/out some-x==1.2.3"
    );
    let saw = room.npm_saw().unwrap();
    assert!(!saw.contains("SECRET") && !saw.contains("DRYDOCK_HOME"), "{saw}");
    room.catalog(&["remove", "row-wheel"]);
}

#[test]
fn py_add_downloads_wheels_for_any_machine_locks_them_and_survives_those_that_mean_harm() {
    let room = Room::new();
    fs::create_dir(room.shell.path("project")).unwrap();
    let metadata: (&str, &[u8]) = ("tiny-1.0.dist-info/METADATA", b"Name: tiny\nVersion: 1.0\n");
    let wheel = |text: &str| zip(&[("tiny/__init__.py", text.as_bytes()), metadata]);
    let good = room.shell.file("good", wheel("x = 1\n"));
    room.client("pip3", "--dest", &format!("cp {good} $out/tiny-1.0-py3-none-any.whl"));
    let py = |words: &[&str]| {
        let mut all = vec!["py", "--dir", "project:rw"];
        all.extend(words);
        room.run(&all)
    };
    let said = py(&["add", "tiny==1.0"]);
    assert!(said.status == 0 && said.stdout.starts_with("added tiny 1.0 (sha256 "), "{}", said.all());
    assert_eq!(
        arguments(&room),
        "download --only-binary=:all: --no-input --quiet --no-cache-dir --disable-pip-version-check \
         --python-version 3.12 --implementation py --abi none --platform any --dest SCRATCH/out tiny==1.0"
    );
    let saw = room.npm_saw().unwrap();
    assert!(!saw.contains("SECRET") && !saw.contains("DRYDOCK_HOME"), "{saw}");
    let place = room.shell.path("project/.drydock/site-packages/tiny/__init__.py");
    assert_eq!(fs::read_to_string(&place).unwrap(), "x = 1\n");
    assert!(room.shell.path("project/drydock-py.lock").is_file());
    assert!(py(&["list"]).stdout.starts_with("tiny 1.0 sha256 "));

    let (packed, sum) = zeros(2 << 30);
    let info = Packed(metadata.0, 0, b"", 0, 0);
    let bomb = zip_of(&[Packed("bomb/data", 8, &packed, sum, 2 << 30), info]);
    let bomb = room.shell.file("bomb", bomb);
    let native = room.shell.file("native", zip(&[("sly/_x.so", b""), metadata]));
    for (what, words, script, code) in [
        ("a bomb", "bomb", format!("cp {bomb} $out/bomb-1.0-py3-none-any.whl"), "bad_archive: bomb-1.0-"),
        (
            "native code",
            "sly",
            format!("cp {native} $out/sly-1.0-py3-none-any.whl"),
            "native_wheel: sly: `sly/_x.so`",
        ),
        (
            "nothing that fits",
            "odd",
            "echo No matching distribution found >&2; exit 1".into(),
            "and nothing else",
        ),
        ("an option", "--index-url=x", "exit 0".into(), ""),
        ("an address", "https://x/y.whl", "exit 0".into(), "bad_requirement"),
    ] {
        fs::remove_file(room.shell.path("bin/said")).unwrap_or_default();
        room.client("pip3", "--dest", &script);
        let said = py(&["add", words]);
        assert!(said.status != 0 && said.stderr.contains(code), "{what}: {}", said.all());
        assert_eq!(room.npm_saw().is_some(), script != "exit 0", "{what}");
        // What was there before still is, and nothing else.
        assert_eq!(fs::read_to_string(&place).unwrap(), "x = 1\n", "{what}");
        assert_eq!(py(&["list"]).stdout.lines().count(), 1, "{what}");
    }
}

#[test]
fn seeding_goes_on_in_the_background_of_what_is_served() {
    let room = Room::new();
    let gate = room.shell.path("gate");
    // It ends when the session has been answered, so nothing can have waited for it.
    room.npm(&format!("while [ ! -e {} ]; do sleep 0.05; done; echo gone away >&2; exit 1", gate.display()));
    room.run(&["catalog", "remove", "esbuild"]);
    let mut command = room.command(&["mcp", "--catalog", "esbuild"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while room.npm_saw().is_none() {
        assert!(started.elapsed() < HANG, "npm was not started");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(arguments(&room).contains("pack --ignore-scripts "), "{}", arguments(&room));
    let mut input = child.stdin.take().unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    writeln!(input, "{hello}").unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("protocolVersion"), "{answer}");
    assert!(!gate.exists());
    fs::write(&gate, "").unwrap();
    // What fails is told, and the session goes on.
    let mut told = String::new();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    while !told.contains("not installed") {
        assert_ne!(errors.read_line(&mut told).unwrap(), 0, "it ended: {told}");
    }
    assert!(told.contains("esbuild: not installed: fetch_failed: npm could not fetch @esbuild/"), "{told}");
    assert!(told.contains("gone away"), "{told}");
    assert!(child.try_wait().unwrap().is_none(), "the session ended with it");
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// A dock whose provider has the rows of the room, and whose client is the room's npm.
fn dock(room: &Room) -> Dock {
    let rows = room.shell.path("rows");
    let path = OsString::from(format!("{}:/usr/bin:/bin", room.shell.path("bin").display()));
    let catalog = Catalog {
        table: Table::built_in().unwrap().with_directory(&rows).unwrap(),
        environment: ClientEnvironment::of([(OsString::from("PATH"), path)]),
        ..Catalog::default()
    };
    let settings = DockSettings {
        worker: Some(WorkerProgram::new(env!("CARGO_BIN_EXE_drydock"), ["compile-worker"])),
        provider: Some(Arc::new(CatalogProvider::new(catalog))),
        ..DockSettings::default()
    };
    Dock::open_with(room.shell.path("own-home"), settings).unwrap()
}

#[tokio::test]
async fn a_missing_name_is_fetched_installed_and_then_called_where_that_was_granted() {
    let room = Room::new();
    let module = module("row-missing", 0);
    let archive = tar(&[Member("x.wasm", b'0', &module)]);
    let file = room.shell.file("x.tgz", &archive);
    room.row("row-missing", "npm:x@1.0.0#x.wasm", &archive, &module, "");
    room.npm(&format!("cp {file} $out/x.tgz"));
    let dock = dock(&room);
    let session = |install_missing: bool| {
        dock.session("me", Setup { install_missing, ..Setup::profile("minimal") }).unwrap()
    };
    let refused = session(false).run("row-missing", &[], "").await;
    assert_eq!(refused.unwrap_err().code(), "unknown_command");
    assert_eq!(room.npm_saw(), None, "nothing was granted, and nothing fetched");
    let run = session(true).run("row-missing", &[], "").await.unwrap();
    assert_eq!(
        String::from_utf8_lossy(&run.stdout),
        "row-missing\n",
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(room.npm_saw().is_some());
    // Now it is a command like any other.
    fs::remove_file(room.shell.path("bin/npm")).unwrap();
    assert_eq!(session(false).run("row-missing", &[], "").await.unwrap().stdout, b"row-missing\n");
    // In a line, with what is before and after it.
    dock.registry().remove("row-missing").unwrap();
    let setup = Setup { install_missing: true, ..Setup::profile("minimal") };
    let line = "echo first; row-missing | tr a-z A-Z; row-missing";
    let done = dock.exec(line).with("me", setup).shell(ShellSetup::default()).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "first\nROW-MISSING\nrow-missing\n");
}
