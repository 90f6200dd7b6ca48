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
    assert_eq!(shell.run(&["ws", "diff", "w", "--snapshot", "before"]).stdout, "D in.txt\n");
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
    assert_eq!(shell.run(&["ws", "diff", "w", "--dir", at]).stdout, "D keep\nA kept\nA new\n");
    assert_eq!(shell.run(&["ws", "commit", "w", "--dir", at]).status, 0);
    assert_eq!(fs::read_to_string(dir.join("new")).unwrap(), "1");
    assert!(dir.join("kept").exists() && !dir.join("keep").exists());
    assert_eq!(shell.run(&["ws", "diff", "w", "--dir", at]).stdout, "");
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
