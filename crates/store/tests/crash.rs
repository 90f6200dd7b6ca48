//! Processes that write workspaces are killed at any moment, and nothing acknowledged is lost. Real
//! processes: this test binary starts itself again.

#![allow(clippy::unwrap_used)]

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
    Timestamp,
    port::{Files as _, OpenHow, TreePath},
};
use drydock_store::{Access, Home, HostDir, IfChanged, Quota, Volume, Workspace, Workspaces};

/// Set in a child: the directory it works in, a space, and its number.
const CHILD: &str = "DRYDOCK_WORKSPACE_TEST_CHILD";
const NOW: Timestamp = Timestamp(1);
const KILLS: u32 = 200;

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
    Workspaces::of(&home, Quota::default()).open_or_create(&"w".parse().unwrap()).unwrap()
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
    for number in 0..KILLS {
        let mut writer = start("nothing_acknowledged_is_lost_when_the_writer_is_killed", temp.path(), number);
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let stop_after = 1 + number as usize * 7 % 23;
        let mut said: Vec<String> = Vec::new();
        while said.len() < stop_after {
            said.push(lines.next().expect("the child ended by itself").unwrap());
            said.retain(|it| it.contains("put ") || it.contains("removing "));
        }
        std::thread::sleep(Duration::from_micros(u64::from(number) * 137 % 3000));
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
        let of_this = acknowledged.iter().filter(|(_, (it, _))| *it == number || number + 1 == KILLS);
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
        mounted.commit(IfChanged::Refuse, NOW).unwrap();
        say("done");
        return;
    }
    let path = |text: &str| TreePath::new(text).unwrap();
    let mut interrupted = 0;
    for round in 0..40_u32 {
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
        std::thread::sleep(Duration::from_micros(u64::from(round) * 400));
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
        mounted.commit(IfChanged::Refuse, NOW).unwrap();
        assert_eq!(mounted.diff().unwrap(), []);
        let mut names: Vec<_> =
            fs::read_dir(host.join("d")).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names.len() as u32, COMMITTED - COMMITTED / 4, "{names:?}");
    }
    assert!(interrupted > 0, "no commit was killed in the middle");
}
