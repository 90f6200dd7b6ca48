//! Python programs on a tape: recorded, their directory taken away, and replayed to the same bytes.

use std::{path::Path, process::Command};

use anyhow::{Context as _, ensure};

/// Programs that draw numbers, ask the time, read files, call commands and race.
const PROGRAMS: &[&str] = &[
    "print(1 + 1)",
    "import random; print(random.random(), random.randint(1, 99))",
    "import time; a = time.time(); time.sleep(2); print(time.time() - a >= 2, int(a) > 0)",
    "import os; print(os.urandom(8).hex())",
    "import uuid; print(uuid.uuid4())",
    "print(open('words.txt').read())",
    "import os; print(sorted(os.listdir('.')), os.stat('words.txt').st_size)",
    "open('own.txt', 'w').write('x' * 9); print(open('own.txt').read())",
    "print(commands.tr('a-z', 'A-Z', stdin='abc').stdout)",
    "print(sh('cat words.txt | sort -r | head -1').stdout)",
    "r = await __import__('asyncio').gather(aio.sh('echo a'), aio.sh('sleep 0.01; echo b')); print([it.stdout for it in r])",
    "import sys; print(sys.stdin.read().upper())",
    "import json; json.dumps({'a': [1, 2]})",
    "1 / 0",
    "import datetime; print(datetime.datetime.now().year > 2000)",
    "print(hash('a') == hash('a'), len({str(i) for i in range(100)}))",
    "import subprocess; print(subprocess.run(['seq', '3'], capture_output=True).stdout)",
    "files.write('b.txt', 'kept'); print(files.read('b.txt'))",
];

/// Records and replays each; answers what differs.
pub(crate) fn replays(binary: &Path, home: &Path) -> anyhow::Result<Vec<String>> {
    let mut differ = Vec::new();
    for program in PROGRAMS {
        let dir = tempfile::tempdir()?;
        std::fs::write(dir.path().join("words.txt"), "alpha\nbeta\n")?;
        let run = |args: &[&str]| {
            let mut command = Command::new(binary);
            command.args(args).env("DRYDOCK_HOME", home).current_dir(std::env::temp_dir());
            command.output().with_context(|| format!("{command:?}"))
        };
        let mount = dir.path().to_str().context("a path that is no text")?;
        let recorded = run(&["py", "--record", "--timeout", "300s", "--dir", mount, "-c", program])?;
        let told = String::from_utf8_lossy(&recorded.stderr).into_owned();
        let id = told.lines().find_map(|it| it.strip_prefix("drydock: tape: "));
        let id = id.with_context(|| format!("{program}: no tape: {told}"))?;
        drop(dir);
        let replayed = run(&["tape", "replay", id])?;
        if !replayed.status.success() || replayed.stdout != recorded.stdout {
            let why = String::from_utf8_lossy(&replayed.stderr).into_owned();
            differ.push(format!("a replay of python's `{program}`: {why}"));
        }
        ensure!(run(&["tape", "rm", id])?.status.success(), "the tape of `{program}` is not removed");
    }
    println!("python: {} programs replayed, {} differ", PROGRAMS.len(), differ.len());
    Ok(differ)
}
