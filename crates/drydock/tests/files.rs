//! Mounted directories and workspaces, as a user meets them.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::Shell;

#[test]
fn a_mounted_directory_is_read_and_never_written_unless_asked() {
    let shell = Shell::new();
    let dir = shell.path("project");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("a.txt"), "needle\nhay\n").unwrap();
    let at = dir.to_str().unwrap();
    let said = shell.run(&["run", "--dir", at, "grep", "-rn", "needle", "/project"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "/project/a.txt:1:needle\n"), "{}", said.stderr);

    let said = shell.run(&["run", "--dir", at, "rm", "/project/a.txt"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(dir.join("a.txt").exists(), "copy-on-write is the default");

    let read_only = format!("{at}:/data:ro");
    let said = shell.run(&["run", "--dir", &read_only, "touch", "/data/new"]);
    assert_ne!(said.status, 0);
    let writable = format!("{at}:/data:rw");
    let said = shell.run(&["run", "--dir", &writable, "cp", "/data/a.txt", "/data/b.txt"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert_eq!(fs::read_to_string(dir.join("b.txt")).unwrap(), "needle\nhay\n");
}

#[test]
fn the_seeds_spelling_of_a_mounted_directory_is_taken() {
    let shell = Shell::new();
    let dir = shell.path("project");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("a.txt"), "hay\n").unwrap();
    for place in ["::/data", ":/data", "::/data:ro"] {
        let mount = format!("{}{place}", dir.display());
        let said = shell.run(&["run", "--dir", &mount, "cat", "/data/a.txt"]);
        assert_eq!((said.status, said.stdout.as_str()), (0, "hay\n"), "{mount}: {}", said.stderr);
    }
    let said = shell.run(&["run", "--dir", &format!("{}:::/data", dir.display()), "true"]);
    assert_eq!(said.status, 2, "{}", said.stdout);
}

#[test]
fn a_link_out_of_a_mounted_directory_leads_nowhere() {
    let shell = Shell::new();
    let dir = shell.path("project");
    fs::create_dir(&dir).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.join("passwd")).unwrap();
    std::os::unix::fs::symlink("../../../../../../etc", dir.join("etc")).unwrap();
    for path in ["/project/passwd", "/project/etc/passwd", "/project/../../../etc/passwd", "/etc/passwd"] {
        let said = shell.run(&["run", "--dir", dir.to_str().unwrap(), "cat", path]);
        assert_eq!((said.status, said.stdout.as_str()), (1, ""), "{path}");
    }
}

#[test]
fn a_workspace_keeps_files_between_runs_and_can_be_looked_into() {
    let shell = Shell::new();
    let file = shell.file("in.txt", "b\na\n");
    assert_eq!(shell.run(&["ws", "put", "w", &file, "in.txt"]).status, 0);
    let said =
        shell.run(&["run", "--workspace", "w", "sort", "/workspace/in.txt", "-o", "/workspace/out.txt"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert_eq!(shell.run(&["ws", "cat", "w", "out.txt"]).stdout, "a\nb\n");
    let said = shell.run(&[
        "ws",
        "query",
        "w",
        "SELECT path, size FROM vfs WHERE volume = 'workspace' ORDER BY path",
    ]);
    assert_eq!(said.stdout, "path | size\nin.txt | 4\nout.txt | 4\n", "{}", said.stderr);
    let said = shell.run(&["ws", "query", "w", "DELETE FROM vfs"]);
    assert_ne!(said.status, 0, "a question changes nothing");

    assert_eq!(shell.run(&["ws", "snapshot", "w", "before"]).status, 0);
    shell.run(&["run", "--workspace", "w", "rm", "/workspace/in.txt"]);
    assert_eq!(
        shell.run(&["ws", "diff", "w", "--snapshot", "before"]).stdout,
        "diff --git a/in.txt b/in.txt\ndeleted file mode 100644\n--- a/in.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-b\n-a\n"
    );
    assert_eq!(shell.run(&["ws", "restore", "w", "before"]).status, 0);
    assert_eq!(shell.run(&["ws", "cat", "w", "in.txt"]).stdout, "b\na\n");
    assert_eq!(shell.run(&["ws", "fork", "w", "copy"]).status, 0);
    assert_eq!(shell.run(&["ws", "cat", "copy", "out.txt"]).stdout, "a\nb\n");
}

#[test]
fn changes_to_a_mounted_directory_wait_in_the_workspace_until_they_are_committed() {
    let shell = Shell::new();
    let dir = shell.path("project");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("keep"), "1").unwrap();
    let at = dir.to_str().unwrap();
    for args in [["cp", "/project/keep", "/project/new"], ["mv", "/project/keep", "/project/kept"]] {
        let said = shell.run(&[&["run", "--workspace", "w", "--dir", at][..], &args].concat());
        assert_eq!(said.status, 0, "{}", said.stderr);
    }
    assert!(!dir.join("new").exists());
    let said = shell.run(&["ws", "diff", "w", "--name-only", "--dir", at]);
    assert_eq!(said.stdout, "keep\nkept\nnew\n", "{}", said.stderr);
    assert_eq!(shell.run(&["ws", "commit", "w", "--dir", at]).stdout, "D keep\nA kept\nA new\n");
    assert_eq!(fs::read_to_string(dir.join("new")).unwrap(), "1");
    assert!(dir.join("kept").exists() && !dir.join("keep").exists());
    assert_eq!(shell.run(&["ws", "diff", "w", "--dir", at]).stdout, "nothing changed\n");
}

#[test]
fn a_workspace_can_be_looked_into_where_nothing_can_be_written() {
    let shell = Shell::new();
    let file = shell.file("in.txt", "b\na\n");
    assert_eq!(shell.run(&["ws", "put", "w", &file, "in.txt"]).status, 0);
    for (args, want) in [
        ("ws show w", "workspace"),
        ("ws ls w", "in.txt"),
        ("ws cat w in.txt", "b\na\n"),
        ("ws query w 'select path from vfs'", "in.txt"),
        ("ws list", "w"),
    ] {
        // No file may grow by a byte, and whoever tries is told so instead of being ended.
        let line = format!("trap '' XFSZ; ulimit -f 0; exec \"$0\" {args}");
        let said = std::process::Command::new("sh")
            .args(["-c", &line, env!("CARGO_BIN_EXE_drydock")])
            .env("DRYDOCK_HOME", shell.home())
            .output()
            .unwrap();
        let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        assert!(said.status.success() && out.contains(want), "{args}: {out}{err}");
    }
}

/// A project with a text, a program and a link, changed by a run in a workspace.
fn changed() -> (Shell, std::path::PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    let shell = Shell::new();
    let dir = shell.path("project");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("list"), (1..=20).map(|it| format!("{it}\n")).collect::<String>()).unwrap();
    fs::write(dir.join("tool"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(dir.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(dir.join("data"), b"\0\x01").unwrap();
    let line =
        "cd /project; printf 'a\\n10\\n' > list; echo new > 'a b'; printf '\\0' >> data; touch tool; mkdir d";
    let said = shell.run(&["sh", "--workspace", "w", "--dir", dir.to_str().unwrap(), "-c", line]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    (shell, dir)
}

#[test]
fn a_workspace_remembers_its_directories_and_shows_a_unified_diff() {
    let (shell, _dir) = changed();
    insta::assert_snapshot!(shell.run(&["ws", "diff", "w"]).all());
    insta::assert_snapshot!(shell.run(&["ws", "diff", "w", "--stat"]).all());
    insta::assert_snapshot!(shell.run(&["ws", "diff", "w", "--name-only"]).all());
    insta::assert_snapshot!(shell.run(&["ws", "diff", "w", "--json"]).all());
    insta::assert_snapshot!(shell.run(&["ws", "commit", "w"]).all());
    for args in [["ws", "diff", "w"], ["ws", "commit", "w"]] {
        assert_eq!(shell.run(&args).stdout, "nothing changed\n");
    }
    let said = shell.run(&["ws", "diff", "none"]);
    assert!(said.status != 0 && said.stderr.contains("there is no workspace `none`"), "{}", said.stderr);
    shell.run(&["ws", "put", "bare", &shell.file("x", "x"), "x"]);
    let said = shell.run(&["ws", "diff", "bare"]);
    assert!(
        said.status != 0 && said.stderr.contains("was not mounted over a directory yet"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_remembered_directory_that_is_another_one_is_a_clear_error_and_nothing_is_lost() {
    let (shell, dir) = changed();
    let moved = shell.path("moved");
    fs::rename(&dir, &moved).unwrap();
    for act in ["diff", "commit", "discard"] {
        let said = shell.run(&["ws", act, "w"]);
        assert_eq!(said.status, 1);
        assert!(said.stderr.contains("`TMP/project` is not there any more"), "{act}: {}", said.stderr);
        std::os::unix::fs::symlink(&moved, &dir).unwrap();
        let said = shell.run(&["ws", act, "w"]);
        assert_eq!(said.status, 1);
        assert!(said.stderr.contains("a symbolic link has its place"), "{act}: {}", said.stderr);
        fs::remove_file(&dir).unwrap();
    }
    let spoken = format!("{}:/project", moved.to_str().unwrap());
    assert_eq!(
        shell.run(&["ws", "diff", "w", "--name-only", "--dir", &spoken]).stdout,
        "a b\nd\ndata\nlist\n"
    );
    fs::rename(&moved, &dir).unwrap();
    assert_eq!(shell.run(&["ws", "commit", "w"]).status, 0);
    assert_eq!(fs::read_to_string(dir.join("list")).unwrap(), "a\n10\n");
}

#[test]
fn links_out_are_refused_or_left_out_unless_they_are_asked_for() {
    let shell = Shell::new();
    let dir = shell.path("project");
    fs::create_dir(&dir).unwrap();
    let (at, is_there) = (dir.to_str().unwrap(), |name: &str| fs::symlink_metadata(dir.join(name)).is_ok());
    let writable = format!("{at}:/data:rw");
    let said = shell.run(&["run", "--dir", &writable, "ln", "-s", "/etc/shadow", "/data/shadow"]);
    assert_ne!(said.status, 0);
    assert!(!is_there("shadow"));
    let said = shell.run(&["run", "--links", "--dir", &writable, "ln", "-s", "/etc/shadow", "/data/shadow"]);
    assert_eq!((said.status, is_there("shadow")), (0, true), "{}", said.stderr);
    for (name, target) in [("out", "../../x"), ("in", "shadow")] {
        let link = format!("/project/{name}");
        let said = shell.run(&["run", "--workspace", "w", "--dir", at, "ln", "-s", target, &link]);
        assert_eq!(said.status, 0, "{}", said.stderr);
    }
    insta::assert_snapshot!(shell.run(&["ws", "commit", "w"]).all());
    assert_eq!((is_there("in"), is_there("out")), (true, false));
    assert_eq!(shell.run(&["ws", "diff", "w", "--name-only"]).stdout, "out\n");
    assert_eq!(shell.run(&["ws", "commit", "w", "--links"]).stdout, "A out\n");
    assert!(is_there("out"));
}

#[test]
fn a_file_that_is_taken_out_replaces_a_longer_one_and_is_never_written_through_a_link() {
    let shell = Shell::new();
    shell.run(&["ws", "put", "w", &shell.file("in", "short"), "f"]);
    let (long, link) = (shell.file("long", "much longer than that"), shell.path("link"));
    assert_eq!(shell.run(&["ws", "get", "w", "f", &long]).status, 0);
    assert_eq!(fs::read_to_string(&long).unwrap(), "short");
    let secret = shell.file("secret", "secret");
    std::os::unix::fs::symlink(&secret, &link).unwrap();
    let said = shell.run(&["ws", "get", "w", "f", link.to_str().unwrap()]);
    assert!(said.status != 0 && said.stderr.contains("is a symbolic link"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
}

#[test]
fn a_directory_can_be_the_root_of_what_a_guest_sees() {
    let shell = Shell::new();
    let dir = shell.path("project");
    fs::create_dir_all(dir.join("sub")).unwrap();
    fs::write(dir.join("sub/f"), "found\n").unwrap();
    let at = format!("{}:/", dir.to_str().unwrap());
    let said = shell.run(&["run", "--dir", &format!("{at}:ro"), "cat", "/sub/f"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "found\n"), "{}", said.stderr);
    let said =
        shell.run(&["sh", "--dir", &format!("{at}:rw"), "-c", "cat sub/f > /sub/g; echo $PWD; ls /sub"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "/\nf\ng\n"), "{}", said.stderr);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing is made beside what the guest made");
}

#[test]
fn no_volume_and_no_mount_can_be_moved_with_a_workspace_or_without() {
    let shell = Shell::new();
    let dir = shell.path("project");
    fs::create_dir(&dir).unwrap();
    let at = format!("{}:/data", dir.to_str().unwrap());
    for flags in [&["--dir", &at][..], &["--dir", &at, "--workspace", "w"]] {
        for root in ["/workspace", "/memory", "/tmp", "/data"] {
            for to in ["/workspace/x", "/elsewhere"] {
                let said = shell.run(&[&["run"], flags, &["mv", root, to]].concat());
                assert_ne!(said.status, 0, "{root} to {to} with {flags:?}");
            }
            let said = shell.run(&[&["run"], flags, &["ls", root]].concat());
            assert_eq!(said.status, 0, "{root} with {flags:?}: {}", said.stderr);
        }
    }
}

#[test]
fn names_that_are_not_utf_8_are_seen_by_globs_and_commands() {
    use std::os::unix::ffi::OsStrExt as _;
    let shell = Shell::new();
    let dir = shell.path("project");
    fs::create_dir(&dir).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9");
    fs::write(dir.join(odd), "inside\n").unwrap();
    let at = dir.to_str().unwrap();
    let output = |args: &[&str]| shell.command(args).output().unwrap();
    let said = output(&[
        "sh",
        "--dir",
        at,
        "-c",
        "cd /project; echo *; cat *; for f in *; do cp \"$f\" \"$f-2\"; done; cat caf*2",
    ]);
    assert_eq!(said.stdout, b"caf\xe9\ninside\ninside\n", "{}", String::from_utf8_lossy(&said.stderr));
    let said = output(&["run", "--dir", at, "find", "/project", "-type", "f"]);
    assert_eq!(said.stdout, b"/project/caf\xe9\n", "{}", String::from_utf8_lossy(&said.stderr));
}

#[test]
fn a_damaged_workspace_is_called_so_and_can_be_brought_back() {
    let shell = Shell::new();
    shell.run(&["ws", "put", "w", &shell.file("in", "x".repeat(100_000)), "f"]);
    shell.run(&["ws", "snapshot", "w", "good"]);
    let file = shell.home().join("tenants/dev/workspaces/w.sqlite");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let said = shell.run(&["run", "--workspace", "w", "ls", "/workspace"]);
    assert!(said.stderr.contains("is damaged; bring a snapshot back"), "{}", said.stderr);
    let said = shell.run(&["ws", "restore", "w", "good"]);
    assert!(said.status == 0 && said.stderr.contains("its file is kept as"), "{}", said.stderr);
    assert_eq!(shell.run(&["ws", "cat", "w", "f"]).stdout.len(), 100_000);
}

#[test]
fn the_mask_of_a_shell_reaches_its_files_its_commands_and_what_those_start() {
    let shell = Shell::new();
    // Exits with its mask.
    let wat = r#"(module
        (import "env" "host_umask" (func $umask (param i32) (result i32)))
        (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
        (memory (export "memory") 1)
        (func (export "_start") (call $exit (call $umask (i32.const -1)))))"#;
    shell.add("mask", wat);
    let line = "mask; echo $?; umask 027; > f; mask; echo $?; env mask; echo $?; (umask 077; mask; echo $?); mask; echo $?";
    let said = shell.run(&["sh", "--workspace", "w", "-c", line]);
    assert_eq!(said.stdout, "18\n23\n23\n63\n23\n", "{}", said.stderr);
    let said = shell.run(&["ws", "query", "w", "SELECT mode FROM tree WHERE path = 'f'"]);
    assert_eq!(said.stdout, format!("mode\n{}\n", 0o640), "{}", said.stderr);
}
