//! Processes that keep values and pass messages are killed at any moment, three hundred times and more: nothing that was
//! acknowledged is lost, and nothing that was acknowledged as taken comes again. Real processes: this test binary starts
//! itself again.
#![allow(clippy::unwrap_used)]

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use drydock_contract::{
    Tenant, Timestamp,
    port::{KeyChange, KeyValues as _, LeaseId, Leasing, Queues as _, Settling, Taking},
};
use drydock_store::{Home, SqliteKeyValues, SqliteQueues};
use drydock_testkit::block_on;

/// Set in a child: the home it works in, a space, and its number.
const CHILD: &str = "DRYDOCK_KEPT_TEST_CHILD";
/// How often a process of each kind is killed. `DRYDOCK_KEPT_KILLS` names more.
const KILLS: u64 = 105;

fn kills() -> u64 {
    env::var("DRYDOCK_KEPT_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(KILLS)
}

/// In a child: its home and number.
fn child() -> Option<(Home, u64)> {
    let told = env::var(CHILD).ok()?;
    let (home, number) = told.rsplit_once(' ').unwrap();
    Some((Home::open(home).unwrap(), number.parse().unwrap()))
}

/// Says it past libtest's capture, and at once.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "> {text}").and_then(|()| out.flush());
}

/// Starts this binary again to run the one test named, kills it somewhere behind one of its first steps, and answers what it
/// said until then.
fn killed(test: &str, home: &Path, number: u64) -> Vec<String> {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, format!("{} {number}", home.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Where it is killed follows from its number alone.
    let chance = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut said = lines.filter_map(|it| it.split_once("> ").map(|it| it.1.to_owned()));
    let mut told: Vec<String> = said.by_ref().take(1 + (chance % 23) as usize).collect();
    assert!(!told.is_empty(), "the child ended by itself");
    for _ in 0..(chance >> 32) % 3_000_000 {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    // What it said before it died is said.
    told.extend(said);
    child.wait().unwrap();
    told
}

/// The time of a child: leases of the one before it are over.
fn now(number: u64) -> Timestamp {
    Timestamp(1_767_225_599_000_000_000).plus(Duration::from_secs(number))
}

#[test]
fn values_that_were_acknowledged_are_there_however_often_their_writer_is_killed() {
    let test = "values_that_were_acknowledged_are_there_however_often_their_writer_is_killed";
    let dev = Tenant::default();
    if let Some((home, number)) = child() {
        let values = SqliteKeyValues::of(&home);
        for n in 0_u64.. {
            let (key, value) = (format!("k{}", n % 5), format!("{number}-{n}"));
            say(&format!("try {key} {value}"));
            let put = KeyChange::Put { value: value.clone().into(), if_version: None, expires: None };
            block_on(values.change(&dev, &key, put, now(number))).unwrap().unwrap();
            say(&format!("ack {key} {value}"));
            let add = KeyChange::Add { by: 1, expires: None };
            let added = block_on(values.change(&dev, "sum", add, now(number))).unwrap().unwrap();
            say(&format!("sum {}", added.sum.unwrap()));
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let mut acknowledged: BTreeMap<String, String> = BTreeMap::new();
    let mut sum: i64 = 0;
    for number in 0..kills() {
        let mut tried = BTreeMap::new();
        for line in killed(test, temp.path(), number) {
            match *line.split(' ').collect::<Vec<_>>() {
                ["try", key, value] => drop(tried.insert(key.to_owned(), value.to_owned())),
                ["ack", key, value] => drop(acknowledged.insert(key.to_owned(), value.to_owned())),
                ["sum", told] => {
                    let told = told.parse::<i64>().unwrap();
                    assert!(told == sum + 1 || told == sum + 2, "{told} after {sum}");
                    sum = told;
                }
                // Cut in the middle of a line.
                _ => {}
            }
        }
        let values = SqliteKeyValues::of(&home);
        let read = |key: &str| {
            let found = block_on(values.get(&dev, key, now(number))).unwrap();
            found.map(|it| String::from_utf8(it.value).unwrap())
        };
        for (key, last) in &mut acknowledged {
            let found = read(key).unwrap();
            assert!(found == *last || tried.get(key) == Some(&found), "{key}: {found} after {last}");
            *last = found;
        }
        // One that was added and not told of is there, or is not; never less.
        let found: i64 = read("sum").map_or(0, |it| it.parse().unwrap());
        assert!(found == sum || found == sum + 1, "{found} after {sum}");
        sum = found;
    }
}

#[test]
fn messages_that_were_acknowledged_come_until_they_are_done_and_never_again() {
    let test = "messages_that_were_acknowledged_come_until_they_are_done_and_never_again";
    let dev = Tenant::default();
    let lease = |number| Taking {
        messages_max: 1,
        bytes_max: 99,
        lease: Some(Leasing { until: now(number).plus(Duration::from_millis(1)), attempts_max: 10_000 }),
    };
    if let Some((home, number)) = child() {
        let queues = SqliteQueues::of(&home);
        for n in 0_u64.. {
            let message = format!("{number}-{n}");
            say(&format!("publishing {message}"));
            block_on(queues.publish(&dev, "t", vec![message.clone().into()], now(number))).unwrap().unwrap();
            say(&format!("published {message}"));
            let leased = block_on(queues.take(&dev, "t", lease(number), now(number))).unwrap().unwrap();
            let Some(first) = leased.first() else { continue };
            let body = String::from_utf8(first.body.clone()).unwrap();
            say(&format!("doing {body}"));
            let id = LeaseId { message: first.id, attempt: first.attempt };
            let done = block_on(queues.settle(&dev, "t", vec![id], Settling::Done, now(number))).unwrap();
            assert_eq!(done, [true]);
            say(&format!("done {body}"));
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let (mut publishing, mut published) = (BTreeSet::new(), BTreeSet::new());
    let (mut done, mut in_hand) = (BTreeSet::new(), BTreeSet::new());
    for number in 0..kills() {
        let mut doing = None;
        for line in killed(test, temp.path(), number) {
            let Some((what, message)) = line.split_once(' ') else { continue };
            let message = message.to_owned();
            match what {
                "publishing" => drop(publishing.insert(message)),
                "published" => drop(published.insert(message)),
                "doing" => {
                    assert!(!done.contains(&message), "{message} came again, and it was done");
                    doing = Some(message);
                }
                "done" => drop(done.insert(message)),
                _ => {}
            }
        }
        // It may be done and not told of.
        in_hand.extend(doing);
    }
    let queues = SqliteQueues::of(&home);
    let mut left = BTreeSet::new();
    loop {
        let taking = Taking { messages_max: 99, bytes_max: 99_999, lease: None };
        let taken = block_on(queues.take(&dev, "t", taking, now(kills() + 9))).unwrap().unwrap();
        if taken.is_empty() {
            break;
        }
        for message in taken {
            assert!(left.insert(String::from_utf8(message.body).unwrap()), "once");
        }
    }
    assert!(left.is_disjoint(&done), "what is done is gone");
    let gone: Vec<_> = published.iter().filter(|it| !left.contains(*it) && !done.contains(*it)).collect();
    for message in &gone {
        assert!(in_hand.contains(*message), "{message} is lost: nobody had it when it was killed");
    }
    assert!(gone.len() as u64 <= kills(), "{} are gone", gone.len());
    assert!(left.iter().all(|it| publishing.contains(it)));
    assert!(done.len() > 100, "{} were done", done.len());
}

#[test]
fn a_message_that_is_polled_comes_once_and_only_what_was_on_its_way_is_gone_with_who_polled() {
    let test = "a_message_that_is_polled_comes_once_and_only_what_was_on_its_way_is_gone_with_who_polled";
    let dev = Tenant::default();
    let poll = Taking { messages_max: 1, bytes_max: 99, lease: None };
    if let Some((home, number)) = child() {
        let queues = SqliteQueues::of(&home);
        for n in 0_u64.. {
            let messages: Vec<_> = (0..3).map(|k| format!("{number}-{n}-{k}")).collect();
            let bodies = messages.iter().map(|it| it.clone().into_bytes()).collect();
            block_on(queues.publish(&dev, "t", bodies, now(number))).unwrap().unwrap();
            say(&format!("published {}", messages.join(" ")));
            for _ in 0..3 {
                let taken = block_on(queues.take(&dev, "t", poll, now(number))).unwrap().unwrap();
                say(&format!("took {}", String::from_utf8(taken[0].body.clone()).unwrap()));
            }
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let (mut published, mut took) = (BTreeSet::new(), BTreeSet::new());
    for number in 0..kills() {
        for line in killed(test, temp.path(), number) {
            match line.split_once(' ') {
                Some(("published", all)) => published.extend(all.split(' ').map(str::to_owned)),
                Some(("took", one)) => assert!(took.insert(one.to_owned()), "{one} came twice"),
                _ => {}
            }
        }
    }
    let queues = SqliteQueues::of(&Home::open(temp.path()).unwrap());
    while let Some(one) = block_on(queues.take(&dev, "t", poll, now(kills()))).unwrap().unwrap().pop() {
        let one = String::from_utf8(one.body).unwrap();
        assert!(took.insert(one.clone()), "{one} came twice");
    }
    let lost = published.difference(&took).count() as u64;
    assert!(lost <= kills(), "{lost} of {} are gone", published.len());
}
