//! What is offered at one door is offered at the others: operations of a sandbox (MCP, JSON lines, programs), routes of the
//! server, words of the command line.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;

use common::Shell;
use drydock_embed::{Operation, broker};

/// An operation, the route that does the same over HTTP, and the words that do on the command line.
type Row = (&'static str, Option<&'static str>, Option<&'static [&'static str]>);

const DOORS: &[Row] = &[
    ("sh", Some("sh"), Some(&["sh"])),
    ("run", Some("run"), Some(&["run"])),
    ("js", Some("js"), Some(&["js"])),
    ("py", Some("py"), Some(&["py"])),
    ("read_file", Some("file_read"), Some(&["ws", "get"])),
    ("write_file", Some("file_write"), Some(&["ws", "put"])),
    ("edit_file", Some("file_write"), Some(&["ws", "put"])),
    ("list_files", Some("tree"), Some(&["ws", "ls"])),
    ("search", Some("sh"), Some(&["sh"])),
    ("diff", Some("diff"), Some(&["ws", "diff"])),
    // Over HTTP nothing of the host can be named, and so nothing be written there.
    ("commit", None, Some(&["ws", "commit"])),
    ("process_start", Some("process_start"), Some(&["run"])),
    ("process_list", Some("processes"), Some(&["ps"])),
    ("process_read", Some("process_stdout"), Some(&["logs"])),
    // A person has a pipe: what a detached command reads is given with it.
    ("process_write", Some("process_stdin"), None),
    ("process_kill", Some("process_end"), Some(&["kill"])),
];

/// An operation of a broker in the same way. What is kept, a person manages; what reaches out needs a session with grants, and
/// is done from within one: `drydock sh --grants FILE -c 'http …'`.
const BROKERS: &[Row] = &[
    ("kv.get", Some("kv_get"), Some(&["kv", "get"])),
    ("kv.put", Some("kv_put"), Some(&["kv", "put"])),
    ("kv.delete", Some("kv_delete"), Some(&["kv", "rm"])),
    ("kv.list", Some("kv_list"), Some(&["kv", "list"])),
    // Whoever counts over HTTP puts with `if_version`.
    ("kv.increment", None, Some(&["kv", "incr"])),
    ("queue.publish", Some("queue_publish"), Some(&["queue", "publish"])),
    // A message that is taken for good and then cannot be printed would be lost: this one takes what was printed.
    ("queue.poll", Some("queue_poll"), Some(&["queue", "drain"])),
    ("queue.lease", Some("queue_lease"), Some(&["queue", "lease"])),
    ("queue.ack", Some("queue_ack"), Some(&["queue", "ack"])),
    ("queue.nack", Some("queue_nack"), Some(&["queue", "nack"])),
    ("queue.depth", Some("queue_depth"), Some(&["queue", "depth"])),
    ("queue.peek", Some("queue_peek"), Some(&["queue", "peek"])),
    ("queue.topics", Some("queue_topics"), Some(&["queue", "topics"])),
    // Whoever has the right to keep a secret needs no signature of the host's.
    ("secret.sign", None, None),
    ("http.fetch", None, Some(&["sh"])),
    ("tcp.request", None, Some(&["sh"])),
    ("tls.request", None, Some(&["sh"])),
    ("udp.request", None, Some(&["sh"])),
    ("browse.fetch", None, Some(&["sh"])),
    // Agents alone search.
    ("search.query", None, Some(&["agent", "run"])),
    // A model is asked by agents, modules and programs; which ones there are is said by `models`.
    ("llm.complete", None, Some(&["js"])),
    // A shell has `xargs -P`.
    ("parallel.map", Some("js"), Some(&["js"])),
];

/// Words of the command line alone, each with the reason.
const WORDS_ONLY: &[(&[&str], &str)] = &[
    // What is replayed is a word of the command line with its flags and files, and its tape is the user's own.
    (&["tape"], "a tape begins what a command line began: there is nothing else that could be begun again"),
    // A guest is a module and a policy from the user's disk, and its run reads until its input ends.
    (
        &["lembeh", "run"],
        "a guest's policy gives rights, and whoever asks over a door gets rights and gives none",
    ),
];

#[test]
fn words_that_no_other_door_has_are_listed_with_their_reason() {
    let shell = Shell::new();
    let document = drydock_serve::openapi();
    for (words, reason) in WORDS_ONLY {
        assert!(reason.len() > 20, "{words:?}");
        let said = shell.run(&[&["help"], *words].concat());
        assert_eq!(said.status, 0, "{words:?}: {}", said.all());
        // Whoever gives it another door takes it from this list.
        let name = words[0];
        assert!(!Operation::all().any(|it| it.name.starts_with(name)), "{name}");
        let paths = document["paths"].as_object().unwrap();
        assert!(!paths.keys().any(|it| it.split('/').any(|part| part.starts_with(name))), "{name}");
    }
}

/// That each row's route is in the description, and its words have a page of help.
fn are_there(rows: &[Row]) {
    let document = drydock_serve::openapi();
    let paths = document["paths"].as_object().unwrap().values();
    let routes: BTreeSet<&str> = paths
        .flat_map(|path| path.as_object().unwrap().values())
        .filter_map(|it| it["operationId"].as_str())
        .collect();
    let shell = Shell::new();
    for (operation, route, words) in rows {
        for route in route.iter() {
            assert!(routes.contains(route), "{operation}: there is no route `{route}`");
        }
        for words in words.iter() {
            let said = shell.run(&[&["help"], *words].concat());
            assert_eq!(said.status, 0, "{operation}: {}", said.all());
        }
    }
}

#[test]
fn every_operation_is_offered_over_http_and_on_the_command_line_or_the_list_says_why_not() {
    let have: Vec<&str> = Operation::all().map(|it| it.name).collect();
    let listed: Vec<&str> = DOORS.iter().map(|it| it.0).collect();
    assert_eq!(have, listed, "a new operation needs its row here, and its doors");
    are_there(DOORS);
}

#[test]
fn every_operation_of_a_broker_is_offered_or_the_list_says_why_not_and_over_http_in_its_own_words() {
    let have: Vec<&str> = broker::all().map(|it| it.name).collect();
    let listed: Vec<&str> = BROKERS.iter().map(|it| it.0).collect();
    assert_eq!(have, listed, "a new operation needs its row here, and its doors");
    are_there(BROKERS);
    let document = drydock_serve::openapi();
    let paths = document["paths"].as_object().unwrap().values();
    let routes: Vec<_> = paths.flat_map(|path| path.as_object().unwrap().values()).collect();
    // What travels as bytes is said otherwise.
    let bytes = ["kv.get", "queue.publish", "parallel.map"];
    for (operation, route, _) in BROKERS.iter().filter(|it| it.1.is_some() && !bytes.contains(&it.0)) {
        let said = routes.iter().find(|it| it["operationId"].as_str() == *route).unwrap();
        let text = broker::all().find(|it| it.name == *operation).unwrap();
        assert_eq!(said["summary"], text.title, "{operation}");
    }
}
