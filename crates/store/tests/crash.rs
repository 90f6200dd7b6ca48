//! Processes that write workspaces are killed at any moment, and nothing acknowledged is lost. Real
//! processes: this test binary starts itself again.
//!
//! About 370 kills in all, some ten seconds on a quiet machine. `DRYDOCK_KILLS=20 cargo test -p
//! drydock-store --test crash` kills twenty times as often.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{
    collections::HashMap,
    env, fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use drydock_contract::{
    Tenant, Timestamp,
    port::{Files as _, OpenHow, TreePath},
};
use drydock_store::{Access, Home, HostDir, IfChanged, Links, Quota, Volume, Workspace, Workspaces};

/// Set in a child: the directory it works in, a space, and its number.
const CHILD: &str = "DRYDOCK_WORKSPACE_TEST_CHILD";
const NOW: Timestamp = Timestamp(1);

/// How often this test kills, `usual` times what `DRYDOCK_KILLS` says.
fn kills(usual: u32) -> u32 {
    let times = env::var("DRYDOCK_KILLS").ok().and_then(|it| it.parse::<u32>().ok()).unwrap_or(1);
    usual.saturating_mul(times.max(1))
}

/// A delay that differs from kill to kill, up to `micros_max`, and is the same in every run.
fn wait(number: u32, micros_max: u64) {
    let mixed = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 17;
    std::thread::sleep(Duration::from_micros(mixed % micros_max));
}

fn start(test: &str, dir: &Path, number: u32) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, format!("{} {number}", dir.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn child() -> Option<(PathBuf, u32)> {
    let told = env::var(CHILD).ok()?;
    let (dir, number) = told.rsplit_once(' ').unwrap();
    Some((dir.into(), number.parse().unwrap()))
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

fn open(dir: &Path) -> Workspace {
    let home = Home::open(dir.join("home")).unwrap();
    Workspaces::of(&home.tenant(&Tenant::default()), Quota::default())
        .open_or_create(&"w".parse().unwrap())
        .unwrap()
}

/// What file `n` of child `number` has in it; some are the same, some are long.
fn content(number: u32, n: u32) -> Vec<u8> {
    let len = [10, 4096, 100_000, 700][n as usize % 4];
    let seed = if n.is_multiple_of(3) { n % 7 } else { number * 1000 + n };
    seed.to_le_bytes().into_iter().cycle().take(len).collect()
}

#[test]
fn nothing_acknowledged_is_lost_when_the_writer_is_killed() {
    if let Some((dir, number)) = child() {
        let workspace = open(&dir);
        let files = workspace.files(Volume::Workspace);
        for n in 0.. {
            let (file, bytes) = (format!("c{number}/f{}", n % 40), content(number, n));
            if n % 2 == 0 {
                workspace.put(&file, &bytes, NOW).unwrap();
            } else {
                let how = OpenHow { write: true, create: true, truncate: true, ..OpenHow::default() };
                let handle = files.open(&TreePath::new(&file).unwrap(), how, NOW).unwrap();
                handle.write_at(0, &bytes, NOW).unwrap();
            }
            say(&format!("put {file} {n}"));
            if n % 5 == 4 {
                let gone = format!("c{number}/f{}", (n + 20) % 40);
                say(&format!("removing {gone}"));
                let _ = workspace.rm(&gone, NOW);
            }
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let mut acknowledged = HashMap::new();
    let kills = kills(140);
    for number in 0..kills {
        let mut writer = start("nothing_acknowledged_is_lost_when_the_writer_is_killed", temp.path(), number);
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let stop_after = 1 + number as usize * 7 % 23;
        let mut said: Vec<String> = Vec::new();
        while said.len() < stop_after {
            said.push(lines.next().expect("the child ended by itself").unwrap());
            said.retain(|it| it.contains("put ") || it.contains("removing "));
        }
        wait(number, 3000);
        writer.kill().unwrap();
        writer.wait().unwrap();
        said.extend(lines.map_while(Result::ok));
        // The file after the last acknowledged one may be there or not, whole or not at all.
        for line in &said {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                [.., "put", file, n] => {
                    _ = acknowledged.insert((*file).to_owned(), (number, n.parse::<u32>().unwrap()))
                }
                [.., "removing", file] => _ = acknowledged.remove(*file),
                _ => {}
            }
        }
        let workspace = open(temp.path());
        let of_this = acknowledged.iter().filter(|(_, (it, _))| *it == number || number + 1 == kills);
        for (file, (number, n)) in of_this {
            let got = workspace.get(file).unwrap();
            let later = content(*number, n + 40);
            // Being replaced when the kill came: empty between truncation and write is the guest's own doing.
            let replaced = got == later || got.is_empty();
            assert!(got == content(*number, *n) || replaced, "{file} of {n} has {} bytes", got.len());
        }
    }
    let workspace = open(temp.path());
    let answer =
        workspace.query("SELECT count(*) FROM sealed WHERE refs < 1", drydock_store::QueryLimits::default());
    assert_eq!(answer.unwrap().rows, [[drydock_store::SqlValue::Integer(0)]]);
}

#[test]
fn two_processes_that_write_one_workspace_lose_nothing() {
    if let Some((dir, number)) = child() {
        let workspace = open(&dir);
        let files = workspace.files(Volume::Workspace);
        let how = OpenHow { write: true, create: true, ..OpenHow::default() };
        let log = files.open(&TreePath::new("log").unwrap(), how, NOW).unwrap();
        for n in 0..100 {
            workspace.put(&format!("c{number}/f{n}"), &content(0, n), NOW).unwrap();
            log.append(format!("{number} {n:03}\n").as_bytes(), NOW).unwrap();
        }
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let test = "two_processes_that_write_one_workspace_lose_nothing";
    let children: Vec<_> = (1..=2).map(|number| start(test, temp.path(), number)).collect();
    for mut child in children {
        std::io::copy(child.stdout.as_mut().unwrap(), &mut std::io::sink()).unwrap();
        assert!(child.wait().unwrap().success());
    }
    let workspace = open(temp.path());
    for number in 1..=2 {
        for n in 0..100 {
            assert_eq!(workspace.get(&format!("c{number}/f{n}")).unwrap(), content(0, n));
        }
    }
    let log = String::from_utf8(workspace.get("log").unwrap()).unwrap();
    let mut lines: Vec<_> = log.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!((lines.len(), log.len()), (200, 200 * 6));
}

const COMMITTED: u32 = 12;

fn old(n: u32) -> Vec<u8> {
    vec![b'o'; 20_000 + n as usize]
}

fn new(n: u32) -> Vec<u8> {
    vec![b'n'; 30_000 + n as usize]
}

#[test]
fn a_commit_that_is_killed_leaves_old_files_or_new_ones_and_is_taken_up_again() {
    let mount = |dir: &Path| {
        let host = HostDir::open(dir.join("host"), Access::ReadWrite).unwrap();
        open(dir).mount(&"data".parse().unwrap(), Arc::new(host)).unwrap()
    };
    if let Some((dir, _)) = child() {
        let mounted = mount(&dir);
        say("commit");
        mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap();
        say("done");
        return;
    }
    let path = |text: &str| TreePath::new(text).unwrap();
    let mut interrupted = 0;
    for round in 0..kills(90) {
        let temp = tempfile::tempdir().unwrap();
        let host = temp.path().join("host");
        fs::create_dir_all(host.join("d")).unwrap();
        let files = 0..COMMITTED;
        for n in files.clone() {
            fs::write(host.join(format!("d/f{n}")), old(n)).unwrap();
        }
        let mounted = mount(temp.path());
        let how = OpenHow { write: true, create: true, truncate: true, ..OpenHow::default() };
        for n in files.clone() {
            let overlay = mounted.files();
            if n % 4 == 3 {
                overlay.unlink(&path(&format!("d/f{n}")), NOW).unwrap();
            } else {
                overlay.open(&path(&format!("d/f{n}")), how, NOW).unwrap().write_at(0, &new(n), NOW).unwrap();
            }
        }
        drop(mounted);
        let test = "a_commit_that_is_killed_leaves_old_files_or_new_ones_and_is_taken_up_again";
        let mut committer = start(test, temp.path(), round);
        let mut out = BufReader::new(committer.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("commit") {
            assert!(out.read_line(&mut line).unwrap() > 0);
        }
        wait(round, 16_000);
        committer.kill().unwrap();
        committer.wait().unwrap();
        let mut rest = String::new();
        let _ = out.read_to_string(&mut rest);

        let mounted = mount(temp.path());
        let differ: Vec<String> =
            mounted.diff().unwrap().into_iter().map(|it| it.path).filter(|it| it.contains("/f")).collect();
        for n in files.clone() {
            let file = format!("d/f{n}");
            let is = fs::read(host.join(&file)).ok();
            let after = (n % 4 != 3).then(|| new(n));
            assert!(is == after || is == Some(old(n)), "{file} is neither the old one nor the new one");
            assert_eq!(differ.contains(&file), is != after, "diff lies about {file}");
        }
        interrupted += u32::from(!differ.is_empty());
        mounted.commit(IfChanged::Refuse, Links::Inside, NOW).unwrap();
        assert_eq!(mounted.diff().unwrap(), []);
        let mut names: Vec<_> =
            fs::read_dir(host.join("d")).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names.len() as u32, COMMITTED - COMMITTED / 4, "{names:?}");
    }
    assert!(interrupted > 0, "no commit was killed in the middle");
}

/// What every file of version `n` says; all files of a version are put in one go.
fn version(n: u32) -> Vec<u8> {
    n.to_le_bytes().into_iter().cycle().take(50_000).collect()
}

#[test]
fn a_snapshot_fork_or_restore_that_is_killed_is_whole_or_was_not() {
    let all = |dir: &Path| {
        Workspaces::of(&Home::open(dir.join("home")).unwrap().tenant(&Tenant::default()), Quota::default())
    };
    let w = || "w".parse().unwrap();
    if let Some((dir, number)) = child() {
        let (all, workspace) = (all(&dir), open(&dir));
        say("ready");
        for n in 0.. {
            let name = format!("k{number}-{n}").parse().unwrap();
            match n % 4 {
                0 => workspace.put("a", &version(number * 100 + n), NOW).unwrap(),
                1 => all.snapshot(&w(), &name).unwrap(),
                2 => all.fork(&w(), &name).unwrap(),
                _ => all.restore(&workspace, &"first".parse().unwrap()).unwrap(),
            }
            say(&format!("did {n}"));
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let places = all(temp.path());
    {
        let workspace = open(temp.path());
        workspace.put("a", &version(0), NOW).unwrap();
        workspace.put("kept", b"kept", NOW).unwrap();
        places.snapshot(&w(), &"first".parse().unwrap()).unwrap();
    }
    // A file is one version from its first byte to its last, or it is broken.
    let whole = |bytes: &[u8]| bytes.len() == 50_000 && bytes.chunks(4).all(|it| it == &bytes[..4]);
    for number in 1..=kills(140) {
        let test = "a_snapshot_fork_or_restore_that_is_killed_is_whole_or_was_not";
        let mut worker = start(test, temp.path(), number);
        let mut lines = BufReader::new(worker.stdout.take().unwrap()).lines();
        let mut said = Vec::new();
        let stop_after = 1 + number as usize % 5;
        while said.len() < stop_after {
            let line = lines.next().expect("the child ended by itself").unwrap();
            said.extend(
                line.contains("ready").then_some(line.clone()).or(line.contains("did ").then_some(line)),
            );
        }
        wait(number, 12_000);
        worker.kill().unwrap();
        worker.wait().unwrap();
        said.extend(lines.map_while(Result::ok));
        let workspace = open(temp.path());
        assert!(whole(&workspace.get("a").unwrap()), "kill {number}");
        assert_eq!(workspace.get("kept").unwrap(), b"kept", "kill {number}");
        // What was acknowledged is there; what has a name is whole, acknowledged or not.
        let did = |n: u32| said.iter().any(|it| it.ends_with(&format!("did {n}")));
        let (snapshots, forks) = (places.snapshots(&w()).unwrap(), places.list().unwrap());
        let has = |names: &[drydock_store::WorkspaceName], n: u32| {
            names.iter().any(|it| it.as_str() == format!("k{number}-{n}"))
        };
        for n in 0..20 {
            assert!(!(did(n) && n % 4 == 1) || has(&snapshots, n), "kill {number}: snapshot {n} is lost");
            assert!(!(did(n) && n % 4 == 2) || has(&forks, n), "kill {number}: fork {n} is lost");
        }
        for it in snapshots.iter().filter(|it| it.as_str() != "first") {
            let differ = places.diff_snapshot(&workspace, it, Volume::Workspace).unwrap();
            assert!(differ.iter().all(|it| it.path == "a"), "kill {number}: {differ:?}");
            places.remove_snapshot(&w(), it).unwrap();
        }
        for it in forks.iter().filter(|it| it.as_str() != "w") {
            let fork = places.open(it).unwrap();
            assert!(whole(&fork.get("a").unwrap()), "kill {number}: fork {it}");
            assert_eq!(fork.get("kept").unwrap(), b"kept", "kill {number}: fork {it}");
            drop(fork);
            places.remove(it).unwrap();
        }
    }
    let left: Vec<_> = fs::read_dir(temp.path().join("home/tenants/dev/workspaces"))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .filter(|it| !it.starts_with("w") && !it.starts_with("."))
        .filter(|it| !it.ends_with(".lock"))
        .collect();
    assert_eq!(left, [""; 0]);
}
