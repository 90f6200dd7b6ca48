//! Proofs for the list of tools: their schemas and their arguments say the same.

use serde_json::json;

use super::*;

/// Arguments that each tool takes, with all there is to say.
fn whole() -> Vec<(&'static str, Value)> {
    vec![
        ("shell", json!({ "pipeline": "ls", "input": "x" })),
        ("search", json!({ "query": "x" })),
        ("wb", json!({ "args": "toolkit list" })),
        ("fetch", json!({ "url": "https://a.test/" })),
        ("web_search", json!({ "query": "x" })),
        ("file_issue", json!({ "title": "t", "need": "n", "tried": "y" })),
        ("vfs_write", json!({ "path": "a", "content": "" })),
        ("vfs_read", json!({ "path": "a", "from_line": 1, "lines": 2 })),
        ("done", json!({ "result": "r" })),
        ("run_code", json!({ "language": "python", "code": "1" })),
        ("edit_file", json!({ "path": "a", "old": "x", "new": "y", "all": true })),
        (
            "agent",
            json!({ "task": "t", "agent": "a", "system": "s", "model": "m", "tools": ["shell"], "allow": ["jq"], "allow_host": ["a.test"], "max_steps": 1, "tokens_max": 2 }),
        ),
        ("git", json!({ "message": "m" })),
        ("publish", json!({})),
        ("image", json!({ "prompt": "p", "path": "a.png", "aspect": "3:1" })),
    ]
}

fn members(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

#[test]
fn the_catalogue_is_the_twelve_of_the_seed_and_three_more() {
    let names: Vec<_> = CATALOGUE.iter().map(|it| it.name).collect();
    assert_eq!(names, whole().iter().map(|it| it.0).collect::<Vec<_>>());
    let exec: Vec<_> = CATALOGUE.iter().filter(|it| it.needs_exec).map(|it| it.name).collect();
    assert_eq!(exec, ["git", "publish", "image"]);
    let reads: Vec<_> = CATALOGUE.iter().filter(|it| it.is_read_only).map(|it| it.name).collect();
    assert_eq!(reads, ["search", "wb", "fetch", "web_search", "vfs_read", "done"]);
    assert!(CATALOGUE.iter().all(|it| !it.is_read_only || it.is_idempotent));
}

#[test]
fn no_tool_runs_native_code_or_takes_a_command_line_for_one() {
    // `shell` is the sandbox's; of those a person trusts a run with, none takes words that a program of the host would read.
    for tool in CATALOGUE.iter().filter(|it| it.needs_exec) {
        let schema = (tool.parameters)();
        let names: Vec<_> = members(&schema["properties"]).keys().cloned().collect();
        assert!(
            names.iter().all(|it| ["message", "prompt", "path", "aspect"].contains(&it.as_str())),
            "{}: {names:?}",
            tool.name
        );
    }
    assert!(["run", "bash", "exec", "system", "spawn"].iter().all(|it| tool(it).is_none()));
}

#[test]
fn what_a_schema_promises_is_what_a_tool_reads() {
    for (name, arguments) in whole() {
        let tool = tool(name).unwrap();
        let schema = (tool.parameters)();
        let (said, given) = (members(&schema["properties"]), members(&arguments));
        assert_eq!(said.keys().collect::<Vec<_>>(), given.keys().collect::<Vec<_>>(), "{name}");
        tool.judge(given).unwrap();
        let required: Vec<_> = schema["required"].as_array().unwrap().iter().collect();
        for member in said.keys() {
            let mut less = given.clone();
            less.remove(member);
            let is_required = required.iter().any(|it| *it == member);
            assert_eq!(tool.judge(&less).is_err(), is_required, "{name} without {member}");
            let mut other = given.clone();
            other.insert(member.clone(), json!({ "no": "such" }));
            assert!(tool.judge(&other).is_err(), "{name} with another {member}");
        }
        let mut more = given.clone();
        more.insert("root".into(), json!(true));
        let told = tool.judge(&more).unwrap_err().to_string();
        assert!(told.contains("unknown field `root`"), "{name}: {told}");
        assert_eq!(schema["additionalProperties"], false);
    }
}

#[test]
fn an_answer_reads_as_it_was_written_and_lacks_what_was_not_said() {
    let answer = ToolOutput { exit_code: Some(1), ..ToolOutput::text("hi") };
    assert_eq!(answer.to_json(), br#"{"output":"hi","exit_code":1}"#);
    assert_eq!(serde_json::from_slice::<ToolOutput>(&answer.to_json()).unwrap(), answer);
    let denial = drydock_contract::Denial::CommandNotGranted {
        command: "jq".into(),
        why: "",
        rules: Some(std::sync::Arc::from([])),
    };
    let told = ToolDenial::from(&denial.details());
    assert_eq!(told.grant, Some(json!({ "cap": "exec", "subjects": ["jq"] })));
}
