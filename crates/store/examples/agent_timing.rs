//! What a step of an agent's run costs the store, and what a search of its files does: an append of an event and the head,
//! the same and a sync, the events of a run of 40 steps, and full text over 2,000 files, first and again. Run with
//! `cargo run --release -p drydock-store --example agent_timing`.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::missing_docs_in_private_items)]

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use drydock_contract::{AgentHead, AgentId, AgentStatus, AgentUsage, Meter, Tenant, port::Agents as _};
use drydock_store::{Access, FullText, FullTextLimits, Home, HostDir, MemoryFiles, Searching, SqliteAgents};

const STEPS: u64 = 40;
const FILES: usize = 2_000;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits as a runtime does: asleep, until it is woken.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

fn head(id: u128) -> AgentHead {
    AgentHead {
        id: AgentId::of(id),
        status: AgentStatus::Running,
        principal: "agent".into(),
        agent: None,
        model: "scripted".into(),
        task: "find what is slow, and say why".into(),
        workspace: None,
        parent: None,
        steps: 0,
        usage: AgentUsage::default(),
        started_ms: 1,
        updated_ms: 1,
        result: None,
        reason: None,
    }
}

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e6;
    println!("{what}: median {:.0} us, p99 {:.0} us, of {}", at(50), at(99), times.len());
}

fn timed(times: &mut Vec<Duration>, act: impl FnOnce()) {
    let began = Instant::now();
    act();
    times.push(began.elapsed());
}

fn main() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path().join("home")).unwrap();
    runs(&home);
    search(temp.path());
}

fn runs(home: &Home) {
    let (agents, dev) = (SqliteAgents::of(home), Tenant::default());
    let (mut appends, mut syncs) = (Vec::new(), Vec::new());
    let hold = wait(agents.create(&dev, head(1))).unwrap().unwrap();
    for at in 0..3_000 {
        let events = vec![vec![b'x'; 1_024]];
        timed(&mut appends, || wait(hold.append(at, events, head(1))).unwrap().unwrap());
        if at % 15 == 0 {
            timed(&mut syncs, || wait(hold.sync()).unwrap());
        }
    }
    show("append of an event of 1 KiB and the head", appends);
    show("sync of what was appended", syncs);
    let long = wait(agents.create(&dev, head(2))).unwrap().unwrap();
    for step in 0..STEPS {
        // A turn, what it calls, and what the model is told of that.
        let events = vec![vec![b't'; 600], vec![b'c'; 120], vec![b'r'; 8_000]];
        wait(long.append(step * 3, events, head(2))).unwrap().unwrap();
    }
    drop(long);
    let (mut reads, mut resumes, mut heads) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..200 {
        let run = AgentId::of(2);
        timed(&mut reads, || assert_eq!(wait(agents.events(&dev, &run, 0, 4 << 20)).unwrap().len(), 120));
        timed(&mut heads, || drop(wait(agents.head(&dev, &run)).unwrap().unwrap()));
        timed(&mut resumes, || {
            let hold = wait(agents.hold(&dev, &run)).unwrap().unwrap();
            assert_eq!(wait(agents.events(&dev, hold.run(), 0, 4 << 20)).unwrap().len(), 120);
        });
    }
    show("the events of a run of 40 steps (120 events, 350 KiB)", reads);
    show("a head", heads);
    show("a run is held and its 40 steps are read", resumes);
    drop(agents);
    let mut cold = Vec::new();
    for _ in 0..20 {
        timed(&mut cold, || {
            let agents = SqliteAgents::of(home);
            let hold = wait(agents.hold(&dev, &AgentId::of(2))).unwrap().unwrap();
            assert_eq!(wait(agents.events(&dev, hold.run(), 0, 4 << 20)).unwrap().len(), 120);
        });
    }
    show("the same, from a file that is not open", cold);
}

fn search(folder: &std::path::Path) {
    let (memory, disk) = (MemoryFiles::with(Arc::new(Meter::new(64 << 20))), folder.join("tree"));
    std::fs::create_dir(&disk).unwrap();
    for n in 0..FILES {
        let words = (0..700).map(|at| format!("word{} ", (n * 31 + at * 17) % 5_000));
        let text = words.collect::<String>() + if n % 100 == 7 { "needle" } else { "straw" };
        let dir = format!("d{}", n % 40);
        memory.create_dir_all(&dir).unwrap();
        memory.write(&format!("{dir}/f{n}"), text.as_bytes()).unwrap();
        std::fs::create_dir_all(disk.join(&dir)).unwrap();
        std::fs::write(disk.join(&dir).join(format!("f{n}")), text).unwrap();
    }
    // What has just been written is read twice.
    thread::sleep(Duration::from_secs(3));
    let disk = HostDir::open(&disk, Access::ReadOnly).unwrap();
    let trees: [(&str, &dyn drydock_contract::port::Files); 2] =
        [("memory", &memory), ("a directory", &disk)];
    for (name, tree) in trees {
        let index = FullText::new(FullTextLimits::default());
        let look = |query: &str| index.search(tree, query, &Searching::default()).unwrap();
        let (mut first, mut again, mut two) = (Vec::new(), Vec::new(), Vec::new());
        timed(&mut first, || assert_eq!(look("needle").rows.len(), 10));
        for _ in 0..20 {
            timed(&mut again, || assert_eq!(look("needle").rows.len(), 10));
            timed(&mut two, || assert!(!look("word17 word34").rows.is_empty()));
        }
        show(&format!("the first search of 2,000 files, 14 MB, in {name}"), first);
        show("  again: a word of 20 files", again);
        show("  again: two words of many", two);
    }
}
