//! The trusted tools of an agent's run, `git`, `publish` and `image`: what they do in the working directory of a person, and
//! what an agent cannot make them do.
#![allow(clippy::unwrap_used)]

#[path = "agent_tools/mod.rs"]
mod room;
mod web_room;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use drydock_embed::{
    agent::tools::exec::{Exec, ExecSettings},
    contract::Cap,
};
use room::{grant, room, room_with, trusted, usual};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A repository with one commit, a bare one that it is pushed to, and a place that is neither.
struct Yard {
    folder: TempDir,
    work: PathBuf,
    bare: PathBuf,
}

fn git(dir: &Path, args: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=me", "-c", "user.email=me@localhost", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

fn yard() -> Yard {
    let folder = tempfile::tempdir().unwrap();
    let (work, bare) = (folder.path().join("work"), folder.path().join("bare.git"));
    fs::create_dir(&work).unwrap();
    git(folder.path(), &["init", "--bare", "--quiet", "bare.git"]);
    git(&work, &["init", "--quiet"]);
    fs::write(work.join("a.txt"), "one\n").unwrap();
    git(&work, &["add", "-A"]);
    git(&work, &["commit", "--quiet", "-m", "first"]);
    Yard { folder, work, bare }
}

fn settings(value: Value) -> ExecSettings {
    serde_json::from_value(value).unwrap()
}

fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn what_changed_is_committed_and_pushed_to_the_remote_that_a_person_configured() {
    let yard = yard();
    let room = trusted(&yard.work, &settings(json!({ "git": { "remote": yard.bare, "branch": "main" } })));
    let told = room.text("vfs_write", json!({ "path": "b.txt", "content": "two\n" })).await;
    assert!(told.starts_with("created"), "{told}");
    room.ask("shell", json!({ "pipeline": "echo more >> a.txt" })).await.output();
    let message = "Say it\n\n-c core.pager=x; $(touch /tmp/x) --amend";
    let told = room.text("git", json!({ "message": message })).await;
    assert!(
        told.starts_with("committed: [") && told.contains(&format!("pushed to {}", yard.bare.display())),
        "{told}"
    );
    assert_eq!(git(&yard.bare, &["log", "--format=%B", "-1", "main"]), message);
    assert_eq!(git(&yard.work, &["log", "--format=%an <%ae>", "-1"]), "Drydock agent <agent@localhost>");
    assert_eq!(git(&yard.work, &["show", "--name-only", "--format=", "HEAD"]), "a.txt\nb.txt");
    let told = room.text("git", json!({ "message": "again" })).await;
    assert_eq!(told, "nothing to commit (working tree clean)");
    assert!(room.text("git", json!({ "message": " " })).await.contains("bad_arguments"));
}

#[tokio::test]
async fn without_a_remote_a_commit_stays_and_a_push_that_is_refused_is_told() {
    let yard = yard();
    let room = trusted(&yard.work, &ExecSettings::default());
    room.text("vfs_write", json!({ "path": "b", "content": "b" })).await;
    let told = room.text("git", json!({ "message": "b" })).await;
    assert!(
        told.starts_with("committed: ") && told.ends_with("no remote is configured for this run"),
        "{told}"
    );
    let gone = yard.folder.path().join("gone.git");
    let room = trusted(&yard.work, &settings(json!({ "git": { "remote": gone } })));
    room.text("vfs_write", json!({ "path": "c", "content": "c" })).await;
    let told = room.text("git", json!({ "message": "c" })).await;
    assert!(told.starts_with("failed tool_error: push_failed: `git push` failed"), "{told}");
    assert_eq!(git(&yard.work, &["log", "--format=%s", "-1"]), "c", "the commit is there");
    let empty = tempfile::tempdir().unwrap();
    let told = trusted(empty.path(), &ExecSettings::default()).text("git", json!({ "message": "x" })).await;
    assert!(told.contains("no_repository"), "{told}");
}

#[tokio::test]
async fn hooks_and_whatever_else_a_repository_names_do_not_run() {
    let yard = yard();
    let sign = yard.folder.path().join("ran");
    let script = format!("#!/bin/sh\ntouch {}\n", sign.display());
    let evil = yard.folder.path().join("evil.sh");
    executable(&evil, &script);
    for hook in
        ["pre-commit", "commit-msg", "post-commit", "pre-push", "prepare-commit-msg", "reference-transaction"]
    {
        executable(&yard.work.join(".git/hooks").join(hook), &script);
    }
    let room = trusted(&yard.work, &settings(json!({ "git": { "remote": yard.bare, "branch": "main" } })));
    room.text("vfs_write", json!({ "path": "b", "content": "b" })).await;
    room.text(
        "vfs_write",
        json!({ "path": ".gitattributes", "content": "* filter=evil diff=evil merge=evil\n" }),
    )
    .await;
    let told = room.text("git", json!({ "message": "b" })).await;
    assert!(told.contains("pushed to"), "{told}");
    assert!(!sign.exists(), "a hook ran");
    let evil = evil.display().to_string();
    for (key, value) in [
        ("core.fsmonitor", evil.as_str()),
        ("core.sshCommand", &evil),
        ("filter.evil.clean", &evil),
        ("diff.external", &evil),
        ("commit.gpgSign", "true"),
        ("gpg.program", &evil),
        ("credential.helper", &evil),
        ("include.path", "/nonexistent/more"),
        ("alias.add", "!x"),
    ] {
        git(&yard.work, &["config", key, value]);
        room.text("vfs_write", json!({ "path": "b", "content": key })).await;
        let told = room.text("git", json!({ "message": key })).await;
        assert!(told.starts_with("failed tool_error: repository_config: "), "{key}: {told}");
        git(&yard.work, &["config", "--unset", key]);
    }
    assert!(!sign.exists(), "a program of the configuration ran");
}

#[tokio::test]
async fn an_agent_can_neither_see_nor_change_the_repository_by_any_tool() {
    let yard = yard();
    let room = trusted(&yard.work, &ExecSettings::default());
    let before = fs::read_to_string(yard.work.join(".git/config")).unwrap();
    for path in [".git/config", "./.git/config", "sub/.git/hooks/x", ".GIT/config", "/workspace/.git/config"]
    {
        let told =
            room.text("vfs_write", json!({ "path": path, "content": "[core]\n\tfsmonitor = evil\n" })).await;
        assert!(told.contains("permission_denied"), "{path}: {told}");
        let told = room.text("vfs_read", json!({ "path": path })).await;
        assert!(told.contains("not_found"), "{path}: {told}");
    }
    for line in [
        "echo x > .git/config",
        "mkdir -p d/.git",
        "ln -s .git g && echo x > g/config",
        "ln -s . here && ln -s here/.git g",
        "mkdir m && mv m .git2 && mv .git2 .Git",
        "cp -r .git copy",
        "rm -rf .git",
        "ln .git/config c",
        "touch .git",
    ] {
        let done = room.ask("shell", json!({ "pipeline": line })).await.output();
        // To remove what is not there is no error.
        assert!(done.exit_code != Some(0) || line.starts_with("rm -rf"), "{line}: {done:?}");
    }
    assert_eq!(fs::read_to_string(yard.work.join(".git/config")).unwrap(), before);
    let listed = room.text("shell", json!({ "pipeline": "ls -a" })).await;
    assert!(!listed.split_whitespace().any(|it| it.eq_ignore_ascii_case(".git")), "{listed}");
    let code = "await files.write({path: '.git/config', content: 'x'})";
    let done = room.ask("run_code", json!({ "language": "javascript", "code": code })).await.output();
    assert_ne!(done.exit_code, Some(0), "{done:?}");
}

#[tokio::test]
async fn a_message_is_read_from_stdin_and_no_argument_or_variable_has_a_word_of_it() {
    let yard = yard();
    let seen = yard.folder.path().join("seen");
    let program = yard.folder.path().join("git-that-tells");
    let text = format!(
        "#!/bin/sh\nfor it in \"$@\"; do echo \"arg $it\" >> {0}; done\nenv | sed 's/^/env /' >> {0}\nexec git \"$@\"\n",
        seen.display()
    );
    executable(&program, &text);
    let room = trusted(
        &yard.work,
        &settings(json!({ "git": { "program": program, "remote": yard.bare, "branch": "main" } })),
    );
    room.text("vfs_write", json!({ "path": "--marker-file", "content": "x" })).await;
    let told = room.text("git", json!({ "message": "a-marker-message" })).await;
    assert!(told.contains("pushed to"), "{told}");
    let seen = fs::read_to_string(seen).unwrap();
    assert!(seen.contains("arg commit") && seen.contains("arg core.hooksPath=/dev/null"), "{seen}");
    assert!(!seen.contains("marker"), "{seen}");
    for line in seen.lines().filter(|it| it.starts_with("env ")) {
        let known = ["LANG=", "HOME=/nonexistent", "GIT_", "PATH=", "PWD=", "SHLVL=", "_=", "OLDPWD="];
        assert!(known.iter().any(|it| line[4..].starts_with(it)), "{line}");
    }
}

#[tokio::test]
async fn a_commit_that_nobody_waits_for_ends_with_all_that_it_started() {
    let yard = yard();
    let (begun, over) = (yard.folder.path().join("begun"), yard.folder.path().join("over"));
    let program = yard.folder.path().join("slow");
    executable(
        &program,
        &format!("#!/bin/sh\n(touch {}; sleep 20; touch {})\n", begun.display(), over.display()),
    );
    let room = trusted(&yard.work, &settings(json!({ "git": { "program": program } })));
    let until = Instant::now() + Duration::from_secs(30);
    tokio::select! {
        told = room.text("git", json!({ "message": "x" })) => unreachable!("{told}"),
        () = async {
            while !begun.exists() {
                assert!(Instant::now() < until);
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        } => {}
    }
    // Whoever names the file it started with is gone from the machine's list soon after.
    let name = over.display().to_string();
    while running(&name) {
        assert!(Instant::now() < until, "it goes on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!over.exists());
    let program = json!({ "git": { "program": yard.folder.path().join("slow"), "timeout-s": 1 } });
    let told = trusted(&yard.work, &settings(program)).text("git", json!({ "message": "x" })).await;
    assert!(told.starts_with("failed timeout: timeout: "), "{told}");
}

/// Whether a process of this machine is that program.
fn running(name: &str) -> bool {
    let folder = Path::new(name).parent().unwrap().display().to_string();
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes
        .filter_map(|it| fs::read(it.path().join("cmdline")).ok())
        .any(|it| String::from_utf8_lossy(&it).contains(&folder))
}

#[tokio::test]
async fn trust_is_a_working_directory_and_a_grant_that_names_the_tool_and_no_star_is_one() {
    let yard = yard();
    for tool in ["git", "publish", "image"] {
        let input = match tool {
            "git" => json!({ "message": "m" }),
            "publish" => json!({}),
            _ => json!({ "prompt": "p", "path": "p.png" }),
        };
        let want = format!("{tool} not permitted (no exec capability)");
        let told = room().text(tool, input.clone()).await;
        assert!(told.contains("not_permitted") && told.contains(&want), "{told}");
        // The grant alone is not enough, and neither is the directory with a grant for all tools.
        let mut setup = usual();
        setup.grants.push(grant(Cap::Tool, &[&format!("agent.{tool}")]));
        let told = room_with(setup, |_| {}).text(tool, input.clone()).await;
        assert!(told.contains(&want), "{told}");
        let told = room_with(usual(), |parts| {
            let exec = Exec::new(&yard.work, &ExecSettings::default(), None, Path::new("/nonexistent"));
            parts.exec = Some(exec.unwrap());
        });
        let told = told.text(tool, input).await;
        assert!(told.contains(&want), "{told}");
    }
}

#[tokio::test]
async fn publishing_copies_what_a_person_named_or_runs_what_a_person_named() {
    let yard = yard();
    let site = yard.folder.path().join("site");
    fs::create_dir(&site).unwrap();
    let room = trusted(&yard.work, &settings(json!({ "publish": { "into": site } })));
    let lines = "mkdir -p content/deep notes; echo hi > content/deep/a.html; echo no > notes/n; \
        ln -s ../notes/n content/link; mkdir -p blog; echo b > blog/b";
    room.ask("shell", json!({ "pipeline": lines })).await.output();
    let told = room.text("publish", json!({})).await;
    assert_eq!(told, "published 2 files, 5 bytes");
    assert_eq!(fs::read_to_string(site.join("content/deep/a.html")).unwrap(), "hi\n");
    assert!(
        site.join("blog/b").exists() && !site.join("notes").exists() && !site.join("content/link").exists()
    );
    assert!(room.text("publish", json!({ "to": "/etc" })).await.contains("bad_arguments"));
    // A commit is published, too.
    room.text("vfs_write", json!({ "path": "content/new", "content": "n" })).await;
    let told = room.text("git", json!({ "message": "m" })).await;
    assert!(told.ends_with("published 3 files, 6 bytes") && site.join("content/new").exists(), "{told}");

    let program = yard.folder.path().join("deploy");
    executable(&program, "#!/bin/sh\necho \"$# $1 in $(pwd) $A\"; cat; exit $STATUS\n");
    let command = |status: &str| json!({ "publish": { "command": [program, "--site"], "env": { "A": "b", "STATUS": status } } });
    let told = trusted(&yard.work, &settings(command("0"))).text("publish", json!({})).await;
    assert_eq!(told, format!("published\n1 --site in {} b", yard.work.canonicalize().unwrap().display()));
    let told = trusted(&yard.work, &settings(command("3"))).text("publish", json!({})).await;
    assert!(told.starts_with("failed tool_error: publish_failed: it ended with status 3"), "{told}");
    let told = trusted(&yard.work, &ExecSettings::default()).text("publish", json!({})).await;
    assert!(told.contains("not_configured"), "{told}");
}

#[tokio::test]
async fn two_images_of_a_run_are_asked_for_and_written_and_a_third_is_not() {
    let yard = yard();
    let png = STANDARD.encode(b"\x89PNG\r\n\x1a\nrest");
    let body = json!({ "data": [{ "b64_json": png }] }).to_string();
    let server = web_room::serving("200 OK", "content-type: application/json\r\n", &body);
    let image = json!({ "image": { "base-url": server.url("/v1"), "model": "painter" } });
    let room = trusted(&yard.work, &settings(image.clone()));
    let draw = |path: &str| json!({ "prompt": "a boat", "path": path, "aspect": "1:1" });
    let told = room.text("image", draw("img/boat.png")).await;
    assert_eq!(told, "image written to img/boat.png: png, 12 bytes");
    assert!(fs::read(yard.work.join("img/boat.png")).unwrap().starts_with(b"\x89PNG"));
    let asked = server.heads();
    assert!(
        asked[0].starts_with("POST /v1/images/generations ") && asked[0].contains("\"a boat\""),
        "{}",
        asked[0]
    );
    assert!(
        asked[0].contains(r#""size":"1024x1024""#) && asked[0].contains(r#""model":"painter""#),
        "{}",
        asked[0]
    );
    // A place that is none is no attempt; the second image is one, and there is no third.
    assert!(room.text("image", draw("../x.png")).await.contains("bad_path"));
    assert!(room.text("image", draw("two.png")).await.starts_with("image written"));
    assert!(room.text("image", draw("three.png")).await.contains("too_many_images"));
    assert_eq!(server.heads().len(), 2);
    // An attempt that failed counts, and so do those before an interruption.
    let broken = web_room::serving("500 Oh", "", "no paint");
    let image = json!({ "image": { "base-url": broken.url(""), "model": "m" } });
    let room = trusted(&yard.work, &settings(image));
    for _ in 0..2 {
        let told = room.text("image", draw("x.png")).await;
        assert!(told.contains("image_failed: the server of images answered 500: no paint"), "{told}");
    }
    assert!(room.text("image", draw("x.png")).await.contains("too_many_images"));
    let told = trusted(&yard.work, &ExecSettings::default()).text("image", draw("x.png")).await;
    assert!(told.contains("not_configured"), "{told}");
}

#[test]
fn settings_that_would_give_an_agent_a_word_are_refused_before_anything_runs() {
    let yard = yard();
    let home = tempfile::tempdir().unwrap();
    let inside = yard.work.join("tool.sh");
    executable(&inside, "#!/bin/sh\n");
    let told = |value: Value| {
        let made = Exec::new(&yard.work, &settings(value), None, home.path());
        made.err().map(|it| it.to_string()).unwrap_or_default()
    };
    for (bad, want) in [
        (json!({ "git": { "program": inside } }), "where an agent writes"),
        (json!({ "git": { "program": "./git" } }), "not an absolute path"),
        (json!({ "git": { "remote": "ext::sh -c x" } }), "`git.remote`"),
        (json!({ "git": { "remote": "--upload-pack=x" } }), "`git.remote`"),
        (json!({ "git": { "remote": "https://me:pw@a.test/x" } }), "`git.remote`"),
        (json!({ "git": { "remote": "ssh://-oProxyCommand=x/y" } }), "`git.remote`"),
        (json!({ "git": { "remote": yard.work } }), "`git.remote`"),
        (json!({ "git": { "remote": "https://a.test/x", "branch": "-f" } }), "`git.branch`"),
        (json!({ "git": { "remote": "https://a.test/x", "branch": "a..b" } }), "`git.branch`"),
        (json!({ "git": { "author-name": "a\nb" } }), "`git.author-name`"),
        (json!({ "git": { "timeout-s": 0 } }), "`timeout-s`"),
        (json!({ "publish": { "command": [inside] } }), "where an agent writes"),
        (json!({ "publish": { "command": ["make"] } }), "not an absolute path"),
        (json!({ "publish": {} }), "either `into` or a `command`"),
        (json!({ "publish": { "into": "/tmp", "folders": ["../x"] } }), "no folder below"),
        (json!({ "image": { "base-url": "painter", "model": "m" } }), "`image.base-url`"),
    ] {
        let told = told(bad.clone());
        assert!(told.contains(want), "{bad}: {told}");
    }
    assert_eq!(told(json!({ "git": { "remote": "ssh://git@host.test/x.git" } })), "");
    let guarded = vec![yard.work.join("drydock.toml")];
    let made = Exec::new(&yard.work, &ExecSettings { guarded, ..ExecSettings::default() }, None, home.path());
    assert!(made.is_err(), "an agent would write what is started next time");
    for workdir in [Path::new("/"), home.path()] {
        let made = Exec::new(workdir, &ExecSettings::default(), None, home.path());
        assert!(made.err().unwrap().to_string().contains("too much"), "{}", workdir.display());
    }
    assert!(serde_json::from_value::<ExecSettings>(json!({ "git": { "args": ["x"] } })).is_err());
}
