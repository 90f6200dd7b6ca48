//! The catalog from the outside: rows of a directory, a package client that is a script of ours, and archives that
//! mean harm. No registry and no network; the real rows are proven by `cargo xtask catalog`.
#![allow(clippy::unwrap_used)]

mod common;

use std::{fs, path::PathBuf, process::Command};

use common::{
    Shell,
    room::{Member, Room, module, tar},
};

#[test]
fn a_row_is_fetched_by_its_client_checked_unpacked_registered_and_kept_for_later() {
    let room = Room::new();
    let module = module("row-fetched", 0);
    // The data directory is shared with earlier runs of this test, whose archive is another one.
    let place = room.shell.path("x.tgz").display().to_string();
    let archive =
        tar(&[Member("package/readme", b'0', place.as_bytes()), Member("package/x.wasm", b'0', &module)]);
    let file = room.shell.file("x.tgz", &archive);
    room.row("row-fetched", "npm:@some/x@1.2.3#package/x.wasm", &archive, &module, "");
    room.npm(&format!("cp {file} $out/some-x-1.2.3.tgz"));
    let said = room.catalog(&["add", "row-fetched"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(
        said.stdout.starts_with("row-fetched 1.0: row-fetched from npm:@some/x@1.2.3#package/x.wasm, in ")
    );
    assert_eq!(said.stderr, "", "a pipe has no bars");
    assert_eq!(room.run(&["run", "row-fetched"]).stdout, "row-fetched\n");

    let saw = room.npm_saw().unwrap();
    assert!(saw.starts_with("pack --ignore-scripts "), "{saw}");
    assert!(saw.lines().next().unwrap().ends_with(" @some/x@1.2.3"), "{saw}");
    assert!(!saw.contains("SECRET") && !saw.contains("DRYDOCK_HOME"), "{saw}");
    let cwd = saw.lines().last().unwrap();
    assert!(cwd.contains("/catalog/scratch/") && !PathBuf::from(cwd).exists(), "{cwd}");

    // The second time nobody is asked.
    fs::remove_file(room.shell.path("bin/npm")).unwrap();
    assert!(room.cached(&archive).is_file());
    assert_eq!(room.catalog(&["remove", "row-fetched"]).status, 0);
    assert_eq!(room.run(&["run", "row-fetched"]).status, 127);
    assert_eq!(room.catalog(&["add", "--offline", "row-fetched"]).status, 0);
    let said = room.catalog(&["verify", "--run", "row-fetched"]);
    assert_eq!((said.status, said.stdout.contains("proven")), (0, true), "{}", said.all());

    // What is changed on disk afterwards is refused, by the check and by the run.
    let hash = drydock_embed::contract::Digest::of(&module).to_string();
    let place = room.shell.home().join("commands").join(format!("{hash}.wasm"));
    let mut bytes = fs::read(&place).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&place, bytes).unwrap();
    let said = room.catalog(&["verify", "row-fetched"]);
    assert!(said.status == 1 && said.stdout.contains("artifact_integrity"), "{}", said.all());
    let said = room.run(&["run", "row-fetched"]);
    assert!(said.status == 125 && said.stderr.contains("artifact_integrity"), "{}", said.all());
    assert_eq!(room.catalog(&["add", "--offline", "row-fetched"]).status, 0);
    assert_eq!(room.run(&["run", "row-fetched"]).stdout, "row-fetched\n");
}

#[test]
fn a_wrong_hash_at_either_level_keeps_nothing() {
    let room = Room::new();
    let (module, other) = (module("row-hash", 0), module("row-hash-2", 0));
    let good = tar(&[Member("x.wasm", b'0', &module)]);
    let bad = tar(&[Member("x.wasm", b'0', &other)]);
    // The archive is another one.
    let file = room.shell.file("bad.tgz", &bad);
    room.row("row-hash", "npm:x@1.0.0#x.wasm", &good, &module, "");
    room.npm(&format!("cp {file} $out/x.tgz"));
    let said = room.catalog(&["add", "row-hash"]);
    assert!(
        said.status == 1 && said.stderr.contains("sha_mismatch: npm:x@1.0.0#x.wasm: expected"),
        "{}",
        said.all()
    );
    room.holds_nothing_of("row-hash", &bad);
    // The archive is right, and the module inside another one.
    let from = room.file("y.tgz", &bad);
    room.row("row-hash", &format!("{from}#x.wasm"), &bad, &module, "");
    let said = room.catalog(&["add", "row-hash"]);
    assert!(said.status == 1 && said.stderr.contains("sha_mismatch: `x.wasm` inside"), "{}", said.all());
    room.holds_nothing_of("row-hash", &[]);
    let said = room.catalog(&["--json", "add", "row-hash"]);
    assert!(said.stdout.contains("\"code\":\"sha_mismatch\""), "{}", said.stdout);
}

#[test]
fn a_download_that_is_cut_or_never_ends_is_given_up_and_nothing_of_it_stays() {
    let room = Room::new();
    let module = module("row-cut", 0);
    let archive = tar(&[Member("x.wasm", b'0', &module)]);
    let file = room.shell.file("x.tgz", &archive);
    room.row("row-cut", "npm:x@1.0.0#x.wasm", &archive, &module, "");
    for (script, code) in [
        (format!("head -c 700 {file} > $out/x.tgz"), "sha_mismatch"),
        (
            format!("head -c 700 {file} > $out/x.tgz; echo gone away >&2; exit 7"),
            "fetch_failed: npm could not fetch x 1.0.0: gone away",
        ),
        ("exit 0".into(), "fetch_failed: npm could not fetch x 1.0.0: it left no archive"),
        ("cat /dev/zero > $out/x.tgz".into(), "fetch_too_large"),
        (
            format!("sleep 1000 & echo $! > {}/child; wait", room.shell.path("bin").display()),
            "fetch_timed_out",
        ),
    ] {
        room.npm(&script);
        let timeout = if code == "fetch_timed_out" { "1s" } else { "5m" };
        let said = room.catalog(&["add", "--fetch-timeout", timeout, "row-cut"]);
        assert!(said.status == 1 && said.stderr.contains(code), "{script}: {}", said.all());
        room.holds_nothing_of("row-cut", &archive);
        let cwd = room.npm_saw().unwrap().lines().last().unwrap().to_owned();
        assert!(!PathBuf::from(&cwd).exists(), "{script}: {cwd} is still there");
    }
    // What the client started went with it.
    let child = fs::read_to_string(room.shell.path("bin/child")).unwrap();
    let state = PathBuf::from(format!("/proc/{}/stat", child.trim()));
    let ended = (0..1_000_000).any(|_| {
        std::thread::yield_now();
        fs::read_to_string(&state).map_or(true, |it| it.contains(") Z "))
    });
    assert!(ended, "a child of the client still runs");
}

#[test]
fn where_a_client_is_absent_the_next_source_is_tried_and_the_message_says_which_would_help() {
    let room = Room::new();
    let module = module("row-absent", 0);
    let archive = tar(&[Member("x.wasm", b'0', &module)]);
    room.row("row-absent", "npm:x@1.0.0#x.wasm", &archive, &module, "");
    let nowhere = room.shell.path("empty");
    let rows = room.shell.path("rows");
    let add = |room: &Room| {
        let mut command = room.command(&["catalog", "--rows", rows.to_str().unwrap(), "add", "row-absent"]);
        command.env("PATH", &nowhere);
        room.shell.said(command.output().unwrap())
    };
    let said = add(&room);
    assert!(
        said.stderr.contains("client_absent: npm is not installed, and x 1.0.0 comes by it"),
        "{}",
        said.all()
    );
    // A host is asked where it was granted.
    let path = room.shell.path("rows/row-absent.toml");
    let text = fs::read_to_string(&path).unwrap();
    let from = "[[sources]]\nfrom = \"https://example.com/x.wasm\"\n";
    fs::write(&path, format!("{text}{from}")).unwrap();
    let said = add(&room);
    assert!(
        said.stderr.contains("npm is not installed")
            && said.stderr.contains("--allow-host example.com grants it"),
        "{}",
        said.all()
    );
    let from = room.file("x.wasm", &module);
    fs::write(&path, format!("{text}[[sources]]\nfrom = \"{from}\"\n")).unwrap();
    let said = add(&room);
    assert!(
        said.status == 0 && said.stdout.contains(&format!("from {}", "file:TMP/x.wasm")),
        "{}",
        said.all()
    );
    assert_eq!(room.run(&["run", "row-absent"]).stdout, "row-absent\n");
}

#[test]
fn archives_that_mean_harm_meet_the_walls_of_the_guest_that_unpacks_them() {
    let room = Room::new();
    let module = module("row-harm", 0);
    let cases: [(&str, Vec<u8>, &str); 5] = [
        (
            "a member that is a link out",
            tar(&[Member("x.wasm", b'2', b"/etc/passwd")]),
            "wasm_not_in_archive",
        ),
        (
            "a link out, and a member through it",
            tar(&[Member("d", b'2', b"/../../../tmp"), Member("d/x.wasm", b'0', &module)]),
            "bad_archive",
        ),
        ("a name that leads out", tar(&[Member("../x.wasm", b'0', &module)]), "bad_archive"),
        ("no archive at all", b"hello".to_vec(), "bad_archive"),
        ("cut in the middle", tar(&[Member("x.wasm", b'0', &module)])[..600].to_vec(), "bad_archive"),
    ];
    for (what, archive, code) in cases {
        let from = room.file("x.tgz", &archive);
        room.row("row-harm", &format!("{from}#x.wasm"), &archive, &module, "");
        let said = room.catalog(&["add", "row-harm"]);
        assert!(said.status == 1 && said.stderr.contains(code), "{what}: {}", said.all());
        room.holds_nothing_of("row-harm", &archive);
    }
}

#[test]
fn an_archive_that_unpacks_to_more_than_it_may_is_given_up() {
    let room = Room::new();
    let module = module("row-bomb", 0);
    // One member of 2 GiB of zeros, written by hand up to its first zero and packed by our own gzip.
    let mut head = tar(&[Member("x.wasm", b'0', b"")])[..512].to_vec();
    head[124..136].copy_from_slice(format!("{:011o}\0", 2_u64 << 30).as_bytes());
    head[148..156].fill(b' ');
    let sum: u32 = head.iter().map(|it| u32::from(*it)).sum();
    head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let file = room.shell.file("head", &head);
    let bomb = room.shell.path("bomb.tgz");
    let line = format!("(cat {file}; head -c 2147483648 /dev/zero) | gzip -1 > {}", bomb.display());
    assert!(Command::new("sh").args(["-c", &line]).status().unwrap().success());
    let archive = fs::read(&bomb).unwrap();
    assert!(archive.len() < 16 << 20);
    room.row("row-bomb", &format!("file:{}#x.wasm", bomb.display()), &archive, &module, "");
    let said = room.catalog(&["add", "row-bomb"]);
    assert!(said.status == 1 && said.stderr.contains("archive_too_large"), "{}", said.all());
    room.holds_nothing_of("row-bomb", &archive);
}

#[test]
fn names_features_and_licences_are_refused_before_anything_is_fetched() {
    let room = Room::new();
    let module = module("row-refused", 0);
    let archive = tar(&[Member("x.wasm", b'0', &module)]);
    room.npm("exit 9");
    let reserved = "\n[[commands]]\nname = \"jq\"\n";
    room.row("row-refused", "npm:x@1.0.0#x.wasm", &archive, &module, reserved);
    let path = room.shell.path("rows/row-refused.toml");
    let text = fs::read_to_string(&path).unwrap().replace("argv = [\"row-refused\"]", "argv = [\"jq\"]");
    fs::write(&path, text).unwrap();
    let said = room.catalog(&["add", "row-refused"]);
    assert!(said.stderr.contains("reserved_name: `jq` is built in"), "{}", said.all());

    room.row("row-refused", "npm:x@1.0.0#x.wasm", &archive, &module, "features = [\"threads\"]");
    assert!(room.catalog(&["add", "row-refused"]).stderr.contains("bad_row: row `row-refused`"));

    room.row("row-refused", "npm:x@1.0.0#x.wasm", &archive, &module, "licence = \"GPL-2.0-or-later\"");
    // What an earlier run of this test accepted is forgotten with the row.
    room.catalog(&["remove", "row-refused"]);
    let said = room.catalog(&["add", "row-refused"]);
    let want =
        "licence_not_accepted: `row-refused` is under GPL-2.0-or-later; --accept-licence row-refused says";
    assert!(said.status == 1 && said.stderr.contains(want), "{}", said.all());
    assert_eq!(room.npm_saw(), None, "nothing was fetched");

    let from = room.file("x.tgz", &archive);
    room.row("row-refused", &format!("{from}#x.wasm"), &archive, &module, "licence = \"GPL-2.0-or-later\"");
    let said = room.catalog(&["add", "--accept-licence", "row-refused", "row-refused"]);
    assert_eq!(said.status, 0, "{}", said.all());
    assert_eq!(room.catalog(&["add", "row-refused"]).status, 0, "it was accepted once");

    // A module that needs a feature which its row does not name.
    let throws = wat::parse_str("(module (tag) (func (export \"_start\") (throw 0)))").unwrap();
    let from = room.file("throws.wasm", &throws);
    room.row("row-throws", &from, &[], &throws, "");
    let said = room.catalog(&["add", "row-throws"]);
    assert!(said.status == 1 && said.stderr.contains("bad_module"), "{}", said.all());
    room.holds_nothing_of("row-throws", &throws);
}

#[test]
fn a_disk_that_takes_no_more_loses_nothing_that_was_there() {
    let room = Room::new();
    let small = module("row-small", 0);
    let from = room.file("small.wasm", &small);
    room.row("row-small", &from, &[], &small, "");
    assert_eq!(room.catalog(&["add", "row-small"]).status, 0);
    let big = module("row-big", 4 << 20);
    let from = room.file("big.wasm", &big);
    room.row("row-big", &from, &[], &big, "");
    // Every file of the process may have one mebibyte; what is longer fails to be written.
    let line = format!(
        "trap '' XFSZ; ulimit -f 2048; exec {} catalog --rows {} add row-big",
        env!("CARGO_BIN_EXE_drydock"),
        room.shell.path("rows").display()
    );
    let mut command = Command::new("sh");
    command
        .args(["-c", &line])
        .env_clear()
        .env("DRYDOCK_HOME", room.shell.home())
        .env("PATH", "/usr/bin:/bin");
    let said = room.shell.said(command.output().unwrap());
    assert!(said.status == 1 && said.stderr.contains("write_failed: could not write"), "{}", said.all());
    assert_eq!(room.run(&["run", "row-big"]).status, 127);
    assert_eq!(room.run(&["run", "row-small"]).stdout, "row-small\n");
    let said = room.catalog(&["verify", "--run", "row-small"]);
    assert!(said.status == 0 && said.stdout.contains("proven"), "{}", said.all());
}

#[test]
fn a_name_of_the_catalog_that_is_not_installed_says_how_it_would_be() {
    let shell = Shell::sharing();
    let want = "python3: not installed; drydock catalog add python";
    for (args, status) in [
        (&["run", "python3", "-c", "1"][..], 127),
        (&["sh", "-c", "python3 -c 1"], 127),
        (&["explain", "python3 -c 1"], 0),
        (&["js", "-e", "(await commands.sh({line: 'python3 -c 1'})).stderr"], 0),
    ] {
        let said = shell.run(args);
        assert!(said.status == status && said.all().contains(want), "{args:?}: {}", said.all());
    }
    let said = shell.run(&["run", "--json", "python3"]);
    assert!(
        said.stdout.contains("\"hint\":\"not installed; drydock catalog add python\""),
        "{}",
        said.stdout
    );
    assert_eq!(
        shell.run(&["sh", "-c", "command -v python3"]).status,
        1,
        "it is not there, so it is not found"
    );
}

#[test]
fn what_would_be_built_natively_says_that_its_lane_is_unavailable_and_why() {
    let shell = Shell::sharing();
    for (line, want) in [
        (
            "cargo install ripgrep",
            "cargo: lane_unavailable: rust_crate_native_build: `cargo install` would run",
        ),
        ("go get example.com/x", "go: lane_unavailable: go_package_native_build: `go get` would run"),
        ("go install example.com/x@latest", "go: lane_unavailable: go_package_native_build"),
        ("zig cc -o x x.c", "zig: lane_unavailable: zig_native_build: `zig cc` would run natively"),
    ] {
        let said = shell.run(&["sh", "-c", line]);
        assert!(said.status == 127 && said.stderr.contains(want), "{line}: {}", said.all());
        let words: Vec<&str> = line.split(' ').collect();
        let said = shell.run(&[&["run", "--json"], &words[..]].concat());
        let reason = want.split_once(": ").unwrap().1;
        assert!(said.status == 127 && said.stdout.contains(reason), "{line}: {}", said.all());
    }
}

#[test]
fn a_missing_name_is_installed_only_where_that_was_granted() {
    let room = Room::new();
    room.npm("echo no such place >&2; exit 1");
    let said = room.run(&["sh", "-c", "esbuild --version"]);
    assert!(said.status == 127 && room.npm_saw().is_none(), "{}", said.all());
    for args in [&["run", "--install-missing", "esbuild"][..], &["sh", "--install-missing", "-c", "esbuild"]]
    {
        let said = room.run(args);
        assert!(
            said.status == 127 && said.stderr.contains("esbuild: not installed: fetch_failed"),
            "{}",
            said.all()
        );
        assert!(room.npm_saw().is_some_and(|it| it.contains("@esbuild/wasi-preview1@")));
    }
    // A grant that does not name it installs nothing.
    fs::remove_file(room.shell.path("bin/said")).unwrap();
    let said = room.run(&["run", "--install-missing", "--allow", "jq", "esbuild"]);
    assert!(said.status == 126 && room.npm_saw().is_none(), "{}", said.all());
}

#[test]
fn package_managers_in_a_line_are_honest() {
    let room = Room::new();
    room.npm("exit 3");
    for (line, status, want) in [
        (
            "apt-get update -qq && apt-get install -y --no-install-recommends jq ripgrep=14.1",
            0,
            "ripgrep is already here",
        ),
        ("apt update", 0, "nothing to update"),
        (
            "apt-get install -y ruby",
            100,
            "ruby is in the catalog and may not be installed from here; drydock catalog add ruby",
        ),
        ("apt-get install -y jq frobnicate", 100, "frobnicate is neither built in nor in the catalog"),
        ("apt-get install -y sqlite", 100, "the nearest here is `"),
        ("apt-get -o a=b install -y", 0, ""),
        ("apt-get download x", 100, "`download` is not answered here"),
        ("npm install esbuild@0.27.2", 100, "drydock catalog add esbuild"),
        ("npm install -g left-pad", 100, "left-pad is neither built in nor in the catalog"),
        ("npm test", 100, "`test` is not answered here"),
    ] {
        let said = room.run(&["sh", "-c", line]);
        assert!(said.status == status && said.all().contains(want), "{line}: {}", said.all());
    }
    let said = room.run(&["sh", "--install-missing", "-c", "apt-get install -y ruby"]);
    assert!(said.status == 100 && said.stderr.contains("apt-get: ruby: fetch_failed"), "{}", said.all());
    // What the session may not run is not installed for it either, and an argument begins no line of its own.
    let said = room.run(&["sh", "--allow", "apt-get", "--install-missing", "-c", "apt-get install -y ruby"]);
    assert!(
        said.status == 100 && said.stderr.contains("no command that this session may run"),
        "{}",
        said.all()
    );
    let said = room.run(&["sh", "-c", "apt-get install $'x\\ndrydock: forged'"]);
    assert!(said.status == 100 && !said.stderr.contains("forged"), "{}", said.all());
    let said = room.run(&["sh", "--dir", ".", "-c", "pip install --index-url=here six"]);
    assert!(said.status == 1 && said.stderr.contains("`--index-url=here` is not answered"), "{}", said.all());
}

#[test]
fn rows_are_listed_searched_and_shown() {
    let room = Room::new();
    let module = module("row-shown", 0);
    let from = room.file("x.wasm", &module);
    room.row("row-shown", &from, &[], &module, "");
    let said = room.catalog(&["search", "row-shown"]);
    insta::assert_snapshot!(said.all(), @r"
    [0]
    NAME       VERSION  LANE      STATE  LICENCE  SUMMARY
    row-shown  1.0      prebuilt  -      MIT      a test
    ---
    ");
    let said = room.catalog(&["show", "row-shown"]);
    assert!(said.stdout.contains("sources     file:TMP/x.wasm\n"), "{}", said.all());
    let list = room.catalog(&["--json", "list"]).stdout;
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let python = list.as_array().unwrap().iter().find(|it| it["name"] == "python").unwrap();
    assert_eq!((&python["commands"][1], &python["copyleft"]), (&"python3".into(), &false.into()));
    let said = room.catalog(&["add", "pyhton"]);
    assert_eq!(
        said.stderr,
        "drydock: unknown_row: there is no row `pyhton` in the catalog; did you mean `python`?\n"
    );
    let said = room.catalog(&["remove", "row-shown"]);
    assert_eq!(said.stderr, "drydock: not_installed: `row-shown` is not installed\n");
    let said = room.catalog(&["verify", "row-shown"]);
    assert_eq!((said.status, said.stdout.contains("not installed")), (1, true), "{}", said.all());
}
