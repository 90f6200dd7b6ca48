//! Powers as programs and agents meet them: namespaces and operations made of one list, there where they were granted.
#![allow(clippy::unwrap_used)]

mod web_room;

use std::sync::Arc;

use drydock_embed::{
    CodeInput, Dock, DockSettings, Network, Sandbox, SandboxSetup, Setup, ShellSetup, Watch, broker,
    contract::{Cap, Limits, Terms},
    egress::{QuotaLimits, Rules},
    gate::Grant,
    program_tools,
};
use serde_json::{Value, json};

struct Place {
    _home: tempfile::TempDir,
    dock: Arc<Dock>,
}

fn place() -> Place {
    let home = tempfile::tempdir().unwrap();
    let settings =
        DockSettings { egress: Some(web_room::local(QuotaLimits::default()).0), ..DockSettings::default() };
    let dock = Arc::new(Dock::open_with(home.path(), settings).unwrap());
    Place { _home: home, dock }
}

/// A grant of that power for these names.
fn grant(cap: Cap, subjects: &[&str]) -> Arc<Grant> {
    Arc::new(Grant::of(cap).within(Terms::of(subjects.iter().map(|it| it.parse().unwrap()))))
}

/// What a program answers, or how it failed.
async fn program(place: &Place, setup: &Setup, text: &str) -> Value {
    let tools = program_tools(&place.dock, "me", setup, &ShellSetup::default()).unwrap();
    let code = place.dock.code("me", setup.clone(), tools).unwrap();
    let result = code.execute(text, CodeInput::default()).await;
    let told: Value = serde_json::from_str(&result.to_json()).unwrap();
    match told["ok"] == true {
        true => told["result"].clone(),
        false => json!({ "error": told["error"]["message"] }),
    }
}

#[tokio::test]
async fn a_power_that_was_granted_is_a_namespace_with_types_and_any_other_is_not_there() {
    let place = place();
    place.dock.warm_js().await.unwrap();
    let server = web_room::serve(|_, to| {
        let _ = to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi");
    });
    let rules = Rules::parse(&[], &[], &[server.address.to_string()]).unwrap();
    let setup = Setup {
        grants: vec![grant(Cap::Queue, &["jobs"])],
        network: Network { rules, injected: Vec::new() },
        ..Setup::profile("minimal")
    };
    let url = format!("http://{}/", server.address);
    for (text, want) in [
        ("await kv.put({key: 'a', value: 'one'}); (await kv.get({key: 'a'})).value", json!("one")),
        (
            "await kv.put({key: 'b', value: {base64: '/wA='}}); (await kv.get({key: 'b'})).value",
            json!({ "base64": "/wA=" }),
        ),
        ("(await kv.list({prefix: ''})).keys.map(it => it.key)", json!(["a", "b"])),
        ("await kv.get({key: 'none'})", json!({ "error": "not_found" })),
        ("await kv.get({})", json!({ "error": "key" })),
        (
            "await queue.publish({topic: 'jobs', message: 'm'}); (await queue.poll({topic: 'jobs'})).messages.length",
            json!(1),
        ),
        ("await queue.publish({topic: 'other', message: 'm'})", json!({ "error": "denied" })),
        (&format!("(await http.fetch({{url: '{url}'}})).status"), json!(200)),
        ("await http.fetch({url: 'http://127.0.0.1:1/'})", json!({ "error": "host_not_granted" })),
        ("typeof secrets + typeof udp + typeof llm", json!("undefinedundefinedundefined")),
    ] {
        let told = program(&place, &setup, text).await;
        match want.get("error").and_then(Value::as_str) {
            Some(code) => {
                assert!(told["error"].as_str().is_some_and(|it| it.contains(code)), "{text}: {told}")
            }
            None => assert_eq!(told, want, "{text}"),
        }
    }
    let tools = program_tools(&place.dock, "me", &setup, &ShellSetup::default()).unwrap();
    let types = place.dock.code("me", setup.clone(), tools).unwrap().types();
    for part in ["declare namespace kv", "declare namespace queue", "declare namespace http"] {
        assert!(types.contains(part), "{part} is not in\n{types}");
    }
    assert!(!types.contains("namespace secrets"), "{types}");
}

#[tokio::test]
async fn a_session_that_keeps_and_fetches_without_exec_works_and_starts_nothing() {
    let place = place();
    place.dock.warm_js().await.unwrap();
    let server = web_room::serve(|_, to| {
        let _ = to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi");
    });
    let rules = Rules::parse(&[], &[], &[server.address.to_string()]).unwrap();
    // The narrowest profile, and two powers that are granted by themselves.
    let setup = Setup {
        grants: vec![grant(Cap::Kv, &["*"])],
        network: Network { rules, injected: Vec::new() },
        ..Setup::profile("compute")
    };
    let text = format!(
        "await kv.put({{key: 'page', value: {{base64: (await http.fetch({{url: 'http://{}/'}})).body_b64}}}});
         // A line's own words start nothing.
         let ran = '';
         try {{ ran = (await commands.sh({{line: 'seq 3; echo over'}})).stdout; }} catch (error) {{ ran = 'over\\n'; }}
         [(await kv.get({{key: 'page'}})).value, ran]",
        server.address
    );
    assert_eq!(program(&place, &setup, &text).await, json!(["hi", "over\n"]));
}

#[tokio::test]
async fn more_calls_at_once_than_are_answered_at_once_are_all_answered_and_nobody_waits_for_whoever_waits_for_it()
 {
    let place = place();
    place.dock.warm_js().await.unwrap();
    let setup = Setup { grants: vec![grant(Cap::Queue, &["jobs"])], ..Setup::profile("minimal") };
    for (text, want) in [
        (
            "await kv.put({key: 'a', value: 'x'.repeat(1000)});
             const all = await Promise.all(Array.from({length: 200}, () => kv.get({key: 'a'})));
             all.filter(it => it.value.length === 1000).length",
            json!(200),
        ),
        // Those that wait for a message do not keep the one from being sent that ends their wait.
        (
            "const waiting = Array.from({length: 20}, () => queue.poll({topic: 'jobs', max: 1, wait_ms: 10000}));
             for (let n = 0; n < 20; n++) await queue.publish({topic: 'jobs', message: 'm'});
             (await Promise.all(waiting)).filter(it => it.messages.length === 1).length",
            json!(20),
        ),
    ] {
        assert_eq!(program(&place, &setup, text).await, want, "{text}");
    }
}

fn sandbox(place: &Place, setup: Setup) -> Sandbox {
    let wanted = SandboxSetup {
        principal: "agent".into(),
        setup,
        shell: ShellSetup::default(),
        bases: Vec::new(),
        program: Limits::default(),
        allow_commit: false,
    };
    Sandbox::open(Arc::clone(&place.dock), wanted).unwrap()
}

#[tokio::test]
async fn an_agent_is_offered_what_somebody_granted_by_name_and_is_told_codes() {
    let place = place();
    let plain = sandbox(&place, Setup::profile("minimal"));
    let offered = |it: &Sandbox| it.operations().map(|it| it.name).collect::<Vec<_>>();
    assert!(!offered(&plain).iter().any(|it| it.starts_with("kv_") || it.starts_with("queue_")));
    let grants = vec![grant(Cap::Kv, &["*"]), grant(Cap::Queue, &["jobs"])];
    let sandbox = sandbox(&place, Setup { grants, ..Setup::profile("minimal") });
    let names = offered(&sandbox);
    for wanted in
        broker::all().map(|it| it.name).filter(|it| it.starts_with("kv.") || it.starts_with("queue."))
    {
        assert!(names.contains(&wanted.replace('.', "_").as_str()), "{wanted}: {names:?}");
    }
    let ask = async |name: &str, input: Value| match sandbox.call(name, input, &Watch::default()).await {
        Ok(value) => value,
        Err(error) => json!({ "code": error.code, "grant": error.denial.and_then(|it| it.grant) }),
    };
    ask("kv_put", json!({ "key": "k", "value": "v" })).await;
    assert_eq!(ask("kv_get", json!({ "key": "k" })).await["value"], "v");
    assert_eq!(ask("kv_get", json!({ "key": "gone" })).await["code"], "not_found");
    let denied = ask("queue_publish", json!({ "topic": "other", "message": "m" })).await;
    assert_eq!(denied, json!({ "code": "denied", "grant": { "cap": "queue", "subjects": ["other"] } }));
    assert_eq!(ask("secret_sign", json!({})).await["code"], "unknown_operation");
}

#[test]
fn every_operation_that_is_listed_belongs_to_a_power_and_says_what_it_is() {
    let mut names = Vec::new();
    for it in broker::all() {
        let specs = drydock_embed::SPECS;
        assert!(specs.iter().any(|spec| spec.operations.iter().any(|op| op.name == it.name)), "{}", it.name);
        assert!(!it.title.is_empty() && !it.description.is_empty(), "{}", it.name);
        for schema in [(it.input)(), (it.output)()] {
            assert!(schema.is_object(), "{}", it.name);
        }
        names.push(it.name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), broker::all().count(), "each is there once");
    // A power that is new is in the list, or said here to be reached in another way.
    let otherwise = [Cap::Code, Cap::Commands, Cap::Exec, Cap::Instance, Cap::Process, Cap::Serve, Cap::Tool];
    for spec in drydock_embed::SPECS {
        let is_listed = spec.operations.iter().any(|it| names.contains(&it.name));
        assert_ne!(is_listed, otherwise.contains(&spec.cap), "{}", spec.cap);
    }
}

#[tokio::test]
async fn a_search_is_offered_where_it_was_granted_and_says_what_is_not_configured() {
    let place = place();
    place.dock.warm_js().await.unwrap();
    let setup = Setup { grants: vec![grant(Cap::Search, &["web"])], ..Setup::profile("minimal") };
    let told = program(&place, &setup, "await search.query({query: 'wasm'})").await;
    assert!(told["error"].as_str().is_some_and(|it| it.contains("no_search_provider")), "{told}");
    let told = program(&place, &Setup::profile("minimal"), "typeof search").await;
    assert_eq!(told, "undefined");
    let sandbox = sandbox(&place, setup);
    assert!(sandbox.operations().any(|it| it.name == "search_query"));
    let refused = sandbox.call("search_query", json!({ "query": "" }), &Watch::default()).await;
    assert_eq!(refused.unwrap_err().code, "malformed");
}
