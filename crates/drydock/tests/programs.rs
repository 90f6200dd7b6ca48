//! Real programs on the files they are given: what a user would try first, and what breaks first.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::Shell;

/// A host directory beside the home, and its path as text.
fn dir(shell: &Shell, name: &str, files: &[(&str, &str)]) -> String {
    let at = shell.path(name);
    fs::create_dir_all(&at).unwrap();
    for (file, text) in files {
        fs::create_dir_all(at.join(file).parent().unwrap()).unwrap();
        fs::write(at.join(file), text).unwrap();
    }
    at.to_str().unwrap().to_owned()
}

#[test]
fn sort_writes_its_result_over_its_own_input() {
    let shell = Shell::new();
    let lines: String = (0..5000).map(|n| format!("{}\n", (n * 7919) % 5000)).collect();
    let file = shell.file("in.txt", &lines);
    assert_eq!(shell.run(&["ws", "put", "w", &file, "f"]).status, 0);
    let said = shell.run(&["run", "--workspace", "w", "sort", "-n", "-o", "/workspace/f", "/workspace/f"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let want: String = (0..5000).map(|n| format!("{n}\n")).collect();
    assert_eq!(shell.run(&["ws", "cat", "w", "f"]).stdout, want);
    // The same over copy-on-write, and over the directory itself.
    let at = dir(&shell, "d", &[("f", &lines)]);
    let said = shell.run(&["run", "--workspace", "w", "--dir", &at, "sort", "-n", "-o", "/d/f", "/d/f"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert_eq!(fs::read_to_string(shell.path("d/f")).unwrap(), lines);
    let said = shell.run(&["run", "--dir", &format!("{at}:/d:rw"), "sort", "-n", "-o", "/d/f", "/d/f"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert_eq!(fs::read_to_string(shell.path("d/f")).unwrap(), want);
}

#[test]
fn a_deep_and_wide_tree_is_removed_to_the_last_name() {
    let shell = Shell::new();
    let deep = format!("/workspace/t{}", "/d".repeat(100));
    let run = |args: &[&str]| shell.run(&[&["run", "--workspace", "w"], args].concat());
    let said = run(&["mkdir", "-p", &deep]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let wide = (0..300).map(|n| format!("/workspace/t/{n:03}"));
    let wide: Vec<String> = wide.chain([format!("{deep}/f"), format!("{deep}/g")]).collect();
    let names: Vec<&str> = wide.iter().map(String::as_str).collect();
    let said = run(&[&["touch"], names.as_slice()].concat());
    assert_eq!(said.status, 0, "{}", said.stderr);
    let said = run(&["rm", "-rf", "/workspace/t"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert_eq!(shell.run(&["ws", "query", "w", "SELECT count(*) FROM tree"]).stdout, "count(*)\n0\n");
    // The same below a mounted directory: the host keeps it until it is committed.
    let file = format!("a{}/f", "/d".repeat(16));
    let at = dir(&shell, "h", &[(&file, "x"), ("a/g", "y"), ("keep", "z")]);
    let said = run(&["--dir", &at, "rm", "-rf", "/h/a"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    assert!(shell.path("h").join(&file).exists());
    assert_eq!(shell.run(&["ws", "commit", "w", "--dir", &at]).status, 0);
    assert!(!shell.path("h/a").exists() && shell.path("h/keep").exists());
}

#[test]
fn a_directory_may_be_mounted_deep_and_inside_another() {
    let shell = Shell::new();
    let (outer, inner) =
        (dir(&shell, "outer", &[("o", "outer\n")]), dir(&shell, "inner", &[("i", "inner\n")]));
    let (outer_at, inner_at) = (format!("{outer}:/data:ro"), format!("{inner}:/data/in/here:ro"));
    let both = ["run", "--dir", &outer_at, "--dir", &inner_at];
    let said = shell.run(&[&both[..], &["cat", "/data/o", "/data/in/here/i", "/data/in/../o"]].concat());
    assert_eq!((said.status, said.stdout.as_str()), (0, "outer\ninner\nouter\n"), "{}", said.stderr);
    for (folder, want) in [
        ("/", "data\nmemory\ntmp\nworkspace\n"),
        ("/data", "in\no\n"),
        ("/data/in", "here\n"),
        ("/data/in/here", "i\n"),
    ] {
        let said = shell.run(&[&both[..], &["ls", folder]].concat());
        assert_eq!((said.status, said.stdout.as_str()), (0, want), "{folder}: {}", said.stderr);
    }
    // Alone, with room beside it; in a workspace; and what cannot be.
    let said = shell.run(&["run", "--dir", &inner_at, "cp", "/data/in/here/i", "/data/copy"]);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let in_workspace = format!("{inner}:/workspace/src");
    let said = shell.run(&["run", "--workspace", "w", "--dir", &in_workspace, "ls", "/workspace"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "src\n"), "{}", said.stderr);
    let taken = format!("{inner}:/data");
    let said = shell.run(&["run", "--dir", &outer_at, "--dir", &taken, "ls"]);
    assert_ne!(said.status, 0);
    assert!(said.stderr.contains("something is mounted at `/data` already"), "{}", said.stderr);
    let said = shell.run(&["run", "--dir", &format!("{inner}:/"), "ls", "/"]);
    assert_eq!(said.status, 0, "a directory may be the root: {}", said.stderr);
    assert!(said.stdout.contains("i\n"), "{}", said.stdout);
}

#[test]
fn a_full_quota_is_no_space_to_the_command_and_named_in_the_record() {
    let shell = Shell::new();
    let file = shell.file("big", vec![b'x'; 100_000]);
    assert_eq!(shell.run(&["ws", "put", "w", &file, "big"]).status, 0);
    let copy = ["--workspace", "w", "cp", "/workspace/big", "/workspace/copy"];
    let said = shell.run(&[&["run", "--json", "--disk-max", "150KB"], &copy[..]].concat());
    let record: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(
        (record["outcome"].as_str(), record["quota_exceeded"].as_str()),
        (Some("exited"), Some("bytes"))
    );
    assert_eq!((record["code"].as_i64(), said.status), (Some(1), 1), "the command's own status stays");
    assert!(record["stderr"].as_str().unwrap().to_lowercase().contains("no space"), "{record}");
    let said = shell.run(&[&["run", "--disk-max", "150KB"], &copy[..]].concat());
    assert!(said.stderr.contains("quota_exceeded: bytes"), "{}", said.stderr);
    let said = shell.run(&[&["run", "--json"], &copy[..]].concat());
    let record: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((record["code"].as_i64(), record.get("quota_exceeded")), (Some(0), None));
    // A directory that is written to directly may grow by as much, and no more.
    let at = format!("{}:/d:rw", dir(&shell, "d", &[("f", "f")]));
    let grow = ["--workspace", "w", "--dir", &at, "cp", "/workspace/big", "/d/big"];
    let said = shell.run(&[&["run", "--json", "--disk-max", "10KB"], &grow[..]].concat());
    let record: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(record["quota_exceeded"].as_str(), Some("bytes"), "{record}");
    // Deeper than directories may lie.
    let deep = format!("/workspace{}", "/d".repeat(140));
    let said = shell.run(&["run", "--json", "--workspace", "w", "mkdir", "-p", &deep]);
    let record: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((record["code"].as_i64(), record["quota_exceeded"].as_str()), (Some(1), Some("depth")));
}

#[test]
fn a_commit_refuses_to_overwrite_what_the_host_changed_unless_it_is_forced() {
    let shell = Shell::new();
    let at = dir(&shell, "p", &[("f", "before\n"), ("g", "g\n")]);
    for args in [["cp", "/p/g", "/p/f"], ["cp", "/p/g", "/p/new"]] {
        let said = shell.run(&[&["run", "--workspace", "w", "--dir", &at][..], &args].concat());
        assert_eq!(said.status, 0, "{}", said.stderr);
    }
    fs::write(shell.path("p/f"), "theirs\n").unwrap();
    let said = shell.run(&["ws", "diff", "w", "--name-only", "--dir", &at]);
    assert_eq!(said.stdout, "f\nnew\n");
    assert!(said.stderr.contains("`f` changed in the directory, too"), "{}", said.stderr);
    let said = shell.run(&["ws", "commit", "w", "--dir", &at]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("`f` changed") && said.stderr.contains("--force"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(shell.path("p/f")).unwrap(), "theirs\n");
    assert!(!shell.path("p/new").exists());
    let said = shell.run(&["ws", "commit", "w", "--dir", &at, "--force"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "M f\nA new\n"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(shell.path("p/f")).unwrap(), "g\n");
}

#[test]
fn large_files_go_in_and_out_of_a_workspace_as_they_are() {
    let shell = Shell::new();
    let bytes: Vec<u8> = (0..3_500_000_u32).map(|n| (n % 251) as u8).collect();
    let file = shell.file("big", &bytes);
    assert_eq!(shell.run(&["ws", "put", "w", &file, "a/big"]).status, 0);
    let said = shell.pipe(&["ws", "put", "w", "-", "b"], &bytes);
    assert_eq!(said.status, 0, "{}", said.stderr);
    let out = shell.path("out");
    fs::write(&out, "old and longer than nothing").unwrap();
    for name in ["a/big", "b"] {
        let said = shell.run(&["ws", "get", "w", name, out.to_str().unwrap()]);
        assert_eq!(said.status, 0, "{}", said.stderr);
        assert!(fs::read(&out).unwrap() == bytes, "{name}");
    }
    let said = shell.run(&["ws", "get", "w", "none", out.to_str().unwrap()]);
    assert_ne!(said.status, 0);
    assert!(fs::read(&out).unwrap() == bytes, "a failed get leaves the old file");
    let beside: Vec<_> =
        fs::read_dir(out.parent().unwrap()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(beside.iter().all(|it| !it.to_string_lossy().contains("drydock-")), "{beside:?}");
    let small = shell.run(&["ws", "put", "w", &shell.file("small", "hello"), "small"]);
    assert_eq!(small.status, 0);
    assert_eq!(shell.run(&["ws", "get", "w", "small", "-"]).stdout, "hello");
}
