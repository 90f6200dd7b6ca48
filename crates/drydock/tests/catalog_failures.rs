//! Installations that fail at every step, each over a row that was installed before: the code says what happened,
//! nothing is bound that was not, and the older version still runs.
#![allow(clippy::unwrap_used)]

mod common;

use std::{fs, process::Command};

use common::room::{Member, Packed, Room, module, tar, zeros, zip, zip_of};
use drydock_embed::contract::Digest;

/// Prints how often it was initialised and the first letter of the last text that it ran. With no argument it asks
/// for input before that, where it is snapshotted.
const STARTS_SLOWLY: &str = r#"
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args (param i32 i32) (result i32)))
  (memory (export "memory") 2)
  (global $stack (mut i32) (i32.const 512))
  (func (export "_start")
    (if (i32.eqz (i32.load (i32.const 1028))) (then
      (i32.store (i32.const 1028) (i32.const 1))
      (i32.store8 (i32.const 2000) (i32.add (i32.load8_u (i32.const 2000)) (i32.const 1)))))
    (drop (call $args (i32.const 1040) (i32.const 1044)))
    (if (i32.eq (i32.load (i32.const 1040)) (i32.const 1)) (then
      (i32.store (i32.const 1048) (i32.const 3000))
      (i32.store (i32.const 1052) (i32.const 1))
      (drop (call $read (i32.const 0) (i32.const 1048) (i32.const 1) (i32.const 1056)))))
    (i32.store (i32.const 1048) (i32.const 2000))
    (i32.store (i32.const 1052) (i32.const 3))
    (drop (call $write (i32.const 1) (i32.const 1048) (i32.const 1) (i32.const 1056))))
  (func (param i32 i32) (result i32)
    (i32.store8 (i32.const 2001) (i32.load8_u (local.get 0)))
    (i32.const 0))
  (func)
  (data (i32.const 2000) "0-\n"))
"#;

/// The row's part about the snapshot; function 4 takes a text.
fn snapshot(run: u32) -> String {
    format!(
        "interrupt = \"tick\"\n[snapshot]\nargv = [\"program\"]\nbefore = [5]\nrun = {run}\ntext_at = 16\n\
         resume = \"Text\"\nwords = []\ndead_from = 0\ndead_to = 512\n"
    )
}

/// The hash of the module that a name starts from.
fn image(room: &Room, name: &str) -> Option<String> {
    let text = fs::read(room.shell.home().join("tenants/dev/registry.json")).unwrap();
    let names: serde_json::Value = serde_json::from_slice(&text).unwrap();
    names["commands"][name]["options"]["image"]["module"].as_str().map(str::to_owned)
}

#[test]
fn a_snapshot_that_fails_binds_no_name_and_an_older_version_keeps_running() {
    let room = Room::new();
    let slow = wat::parse_str(STARTS_SLOWLY).unwrap();
    let from = room.file("slow.wasm", &slow);
    let two = "[[commands]]\nname = \"row-image\"\n[[commands]]\nname = \"row-image-2\"\n";
    // A recipe that names a function which is not there.
    room.row("row-image", &from, &[], &slow, &format!("{}{two}", snapshot(99)));
    // The data directory may be that of an earlier run of these tests.
    room.catalog(&["remove", "row-image"]);
    let said = room.catalog(&["add", "row-image"]);
    assert!(said.status == 1 && said.stderr.contains("bad_module: "), "{}", said.all());
    for name in ["row-image", "row-image-2"] {
        assert_eq!(room.run(&["run", name]).status, 127, "{name} is bound");
    }
    let said = room.catalog(&["remove", "row-image"]);
    assert!(said.stderr.contains("not_installed"), "there is a record: {}", said.all());

    // An older version stays as it is, record and all, where the newer one cannot be made ready.
    let older = module("row-image", 0);
    let from = room.file("older.wasm", &older);
    room.row("row-image", &from, &[], &older, two);
    let row = room.shell.path("rows/row-image.toml");
    let text = fs::read_to_string(&row).unwrap();
    assert_eq!(room.catalog(&["add", "row-image"]).status, 0);
    let from = room.file("slow.wasm", &slow);
    // It ends before it asks for anything.
    let ends = snapshot(4).replace("[\"program\"]", "[\"program\", \"x\"]");
    for recipe in [snapshot(99), ends] {
        room.row("row-image", &from, &[], &slow, &format!("{recipe}{two}"));
        let said = room.catalog(&["add", "row-image"]);
        let told = ["bad_module: ", "snapshot_program: "].iter().any(|it| said.stderr.contains(it));
        assert!(said.status == 1 && told, "{}", said.all());
    }
    for name in ["row-image", "row-image-2"] {
        assert_eq!(room.run(&["run", name]).stdout, "row-image\n");
    }
    fs::write(&row, text).unwrap();
    let said = room.catalog(&["verify", "--run", "row-image"]);
    assert!(said.status == 0 && said.stdout.contains("proven"), "{}", said.all());

    // With the right recipe both names start from the snapshot, and nothing of the one before is left.
    room.row("row-image", &from, &[], &slow, &format!("{}{two}", snapshot(4)));
    let said = room.catalog(&["add", "row-image"]);
    assert_eq!(said.status, 0, "{}", said.all());
    for name in ["row-image", "row-image-2"] {
        assert_eq!(room.run(&["run", name, "x"]).stdout, "1T\n");
    }
}

#[test]
fn verify_hashes_the_snapshot_that_runs_as_well_as_the_module() {
    let room = Room::new();
    let slow = wat::parse_str(STARTS_SLOWLY.replace("3000", "3001")).unwrap();
    let from = room.file("slow.wasm", &slow);
    room.row("row-kept", &from, &[], &slow, &snapshot(4));
    assert_eq!(room.catalog(&["add", "row-kept"]).status, 0);
    assert_eq!(room.catalog(&["verify", "row-kept"]).status, 0);
    let place =
        room.shell.home().join("commands").join(format!("{}.wasm", image(&room, "row-kept").unwrap()));
    let mut bytes = fs::read(&place).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&place, bytes).unwrap();
    let said = room.catalog(&["verify", "row-kept"]);
    assert!(said.status == 1 && said.stdout.contains("artifact_integrity"), "{}", said.all());
    // Adding it again mends it.
    assert_eq!(room.catalog(&["add", "row-kept"]).status, 0);
    assert_eq!(room.catalog(&["verify", "row-kept"]).status, 0);
    assert_eq!(room.run(&["run", "row-kept", "x"]).stdout, "1T\n");
}

#[test]
fn whatever_fails_what_was_installed_before_still_runs() {
    let room = Room::new();
    let before = module("row-before", 0);
    let from = room.file("before.wasm", &before);
    room.row("row-before", &from, &[], &before, "");
    let row = room.shell.path("rows/row-before.toml");
    let old = fs::read_to_string(&row).unwrap();
    assert_eq!(room.catalog(&["add", "row-before"]).status, 0);

    let new = module("row-before: the new one", 0);
    let files = tar(&[Member("lib/a", b'0', b"a")]);
    let dirs = |hash: &[u8]| {
        format!("[[dirs]]\npath = \"lib.tar\"\nat = \"/lib\"\nsha256 = \"{}\"\n", Digest::of(hash))
    };
    let with_dir = tar(&[Member("x.wasm", b'0', &new), Member("lib.tar", b'0', &files)]);
    let (packed, sum) = zeros(2 << 30);
    let bomb = zip_of(&[Packed("x.wasm", 8, &packed, sum, 2 << 30)]);
    let liar = zip_of(&[Packed("x.wasm", 8, &packed, sum, 100)]);
    let whole = zip(&[("x.wasm", &new)]);
    let cut = whole[..whole.len() - 30].to_vec();
    let wrong = zip_of(&[Packed("x.wasm", 0, &new, 7, new.len() as u32)]);
    let out = tar(&[Member("x.wasm", b'0', &new), Member("lib.tar", b'2', b"../../../../etc/passwd")]);
    let cases: [(&str, &str, &[u8], String, &str); 8] = [
        (
            "another hash of a directory",
            "a.tgz",
            &with_dir,
            dirs(b"another"),
            "sha_mismatch: `lib.tar` inside",
        ),
        ("a directory that is a link out", "b.tgz", &out, dirs(&files), "wasm_not_in_archive"),
        (
            "a directory that is no archive",
            "c.tgz",
            &with_dir,
            dirs(&files).replace("lib.tar", "x.wasm"),
            "sha_",
        ),
        ("a zip bomb", "d.zip", &bomb, String::new(), "archive_too_large"),
        ("a zip bomb that says it is small", "e.zip", &liar, String::new(), "bad_archive"),
        ("a zip cut at its end", "f.zip", &cut, String::new(), "bad_archive"),
        ("a zip with another checksum", "g.whl", &wrong, String::new(), "bad_archive"),
        ("a zip without the member", "h.zip", &zip(&[("y.wasm", &new)]), String::new(), "bad_archive"),
    ];
    for (what, file, archive, more, code) in cases {
        let from = room.file(file, archive);
        room.row("row-before", &format!("{from}#x.wasm"), archive, &new, &more);
        let said = room.catalog(&["add", "row-before"]);
        let told = said.stderr.strip_prefix("drydock: ").is_some_and(|it| it.starts_with(code));
        assert!(said.status == 1 && told, "{what}: {}", said.all());
        assert_eq!(room.run(&["run", "row-before"]).stdout, "row-before\n", "{what}");
    }
    // Clients that cut it short, or never end.
    let archive = tar(&[Member("x.wasm", b'0', &new)]);
    let file = room.shell.file("x.tgz", &archive);
    room.row("row-before", "npm:x@1.0.0#x.wasm", &archive, &new, "");
    for (script, code) in [
        (format!("head -c 700 {file} > $out/x.tgz"), "sha_mismatch"),
        ("exec sleep 1000".into(), "fetch_timed_out"),
    ] {
        room.npm(&script);
        let said = room.catalog(&["add", "--fetch-timeout", "1s", "row-before"]);
        assert!(said.status == 1 && said.stderr.contains(code), "{script}: {}", said.all());
        assert_eq!(room.run(&["run", "row-before"]).stdout, "row-before\n", "{script}");
    }
    fs::write(&row, old).unwrap();
    let said = room.catalog(&["verify", "--run", "row-before"]);
    assert!(said.status == 0 && said.stdout.contains("proven"), "{}", said.all());
    // The same, packed as a zip that is right.
    let from = room.file("whole.zip", &whole);
    room.row("row-before", &format!("{from}#x.wasm"), &whole, &new, "");
    assert_eq!(room.catalog(&["add", "row-before"]).status, 0);
    assert_eq!(room.run(&["run", "row-before"]).stdout, "row-before: the new one\n");
}

/// On a disk of three mebibytes, which a name space of our own may have.
#[test]
fn a_full_disk_is_disk_full_and_what_was_there_still_runs() {
    let room = Room::new();
    let small = module("row-little", 0);
    let from = room.file("small.wasm", &small);
    room.row("row-little", &from, &[], &small, "");
    let big = module("row-much", 4 << 20);
    let from = room.file("big.wasm", &big);
    room.row("row-much", &from, &[], &big, "");
    let archive = tar(&[Member("x.wasm", b'0', &big)]);
    let file = room.shell.file("x.tgz", &archive);
    room.row("row-fetch", "npm:x@1.0.0#x.wasm", &archive, &big, "");
    room.npm(&format!("cp {file} $out/x.tgz"));
    fs::create_dir(room.shell.path("disk")).unwrap();
    let script = r#"mount -t tmpfs -o size=3m,mode=700 tmpfs "$DRYDOCK_HOME" 2>/dev/null || exit 77
        "$0" catalog --rows rows add row-little || exit 1
        "$0" catalog --rows rows add row-much && exit 2
        "$0" catalog --rows rows add row-fetch && exit 3
        "$0" run row-much; "$0" run row-fetch
        "$0" catalog --rows rows verify --run row-little || exit 4
        exec "$0" run row-little"#;
    let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", room.shell.path("bin").display());
    let child = Command::new("unshare")
        .args(["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_drydock")])
        .env_clear()
        .env("PATH", path)
        .env("DRYDOCK_HOME", room.shell.path("disk"))
        .current_dir(room.shell.path(""))
        .output();
    // Not every machine lets us mount; `a_disk_that_takes_no_more_loses_nothing_that_was_there` stands in.
    let Ok(ended) = child else { return };
    let said = room.shell.said(ended);
    if said.status == 77 || said.stderr.contains("unshare:") {
        return;
    }
    let codes: Vec<&str> = said.stderr.lines().filter(|it| it.starts_with("drydock: disk_full: ")).collect();
    assert!(said.status == 0 && codes.len() == 2, "{}", said.all());
    assert!(codes[1].contains("/catalog/scratch/"), "{}", said.all());
    assert!(said.stdout.contains("proven") && said.stdout.ends_with("row-little\n"), "{}", said.all());
    assert!(!said.stdout.contains("row-much\n"), "{}", said.all());
}
