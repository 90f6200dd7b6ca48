//! Golden vectors of lembeh, ZCL1, ZAX1 and the capabilities: every JSON file in `tests/vectors/`, and in the folder that
//! `DRYDOCK_VECTORS` names.
//!
//! What a vector expects is judged by the functions that the hub and the capabilities call: this file only finds out
//! which of them a vector is about and shows what they said. A layer, an expectation or a condition that it does not
//! know fails, and so does a folder without vectors.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![allow(clippy::disallowed_methods)] // Files and the variable above; the room itself reads none.

mod judge;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use judge::Vector;
use serde_json::Value;

/// Every vector of a folder, with what names it in a message.
fn vectors(folder: &Path) -> Vec<(String, Vector)> {
    let listed = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = listed.map(|it| it.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "json"));
    files.sort();
    let mut all = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let file: Value =
            serde_json::from_slice(&std::fs::read(&path).unwrap()).expect("a vector file is JSON");
        let policy = file.get("example_policy").cloned().unwrap_or_default();
        let list = file["vectors"].as_array().unwrap_or_else(|| panic!("{name} has no vectors"));
        for vector in list {
            let vector = Vector::new(vector.clone(), policy.clone());
            all.push((format!("{name}: {}", vector.name()), vector));
        }
    }
    assert!(!all.is_empty(), "{} has no vectors", folder.display());
    all
}

#[test]
fn every_vector_is_judged_as_it_expects() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let others = std::env::var_os("DRYDOCK_VECTORS").map(PathBuf::from);
    let folders = [Some(own), others];
    let all: Vec<(String, Vector)> = folders.iter().flatten().flat_map(|it| vectors(it)).collect();
    let mut wrong = Vec::new();
    for (name, vector) in &all {
        if let Err(why) = vector.judge() {
            wrong.push(format!("{name}: {why}"));
        }
    }
    // Written past what captures the output of tests that pass: how many they were is to be seen.
    let counted = format!("{} vectors, {} of them judged otherwise\n", all.len(), wrong.len());
    std::io::stdout().lock().write_all(counted.as_bytes()).unwrap();
    assert!(wrong.is_empty(), "{} of {} vectors:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

#[test]
fn what_is_not_known_fails() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let (_, good) = vectors(&own).into_iter().find(|(name, _)| name.ends_with("exec.start.frame")).unwrap();
    assert_eq!(good.judge(), Ok(()));
    let with = |path: &str, value: Value| {
        let mut changed = good.json().clone();
        let (parent, key) = path.rsplit_once('/').unwrap();
        changed.pointer_mut(parent).unwrap()[key] = value;
        Vector::new(changed, good.policy().clone()).judge()
    };
    let changes = [
        ("/layer", "zax9.command".into()),
        ("/expect/outcome", "ACK+MIRACLE".into()),
        ("/expect/outcome", "ACK".into()),
        ("/expect/trace", "t_async_overflow".into()),
        ("/expect/surprise", 1.into()),
        ("/expect/bytes_consumed", 132.into()),
        ("/expect/given", serde_json::json!({ "weather": "fine" })),
        ("/expect/given", serde_json::json!({ "terminal_futures": [7] })),
        ("/decoded/req_id", 2.into()),
        ("/decoded/colour", "red".into()),
        ("/decoded/source/params/prog_id", "tools/cat".into()),
        ("/length", 132.into()),
        ("/expect", serde_json::json!({})),
        ("/expect", serde_json::json!({ "valid": true })),
    ];
    for (path, value) in changes {
        assert!(with(path, value.clone()).is_err(), "{path} = {value}");
    }
}
