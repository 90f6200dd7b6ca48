//! The guest `js` in memory that an earlier run left: what stays, what does not, and that it does not grow.
#![allow(clippy::unwrap_used)]

mod js_room;

use std::sync::Arc;

use drydock_contract::Outcome;
use js_room::{Script, lane, request, run_request};
use serde_json::Value;

const RUNS: usize = 250;
/// What lies in rings is given back when there is a quarter of a megabyte of it, and gaps cost something too.
const PAGES_OF_GARBAGE_MAX: usize = 90;

/// A context that stays, and what its last program came to.
#[derive(Default)]
struct Context {
    memory: Option<Vec<u8>>,
}

impl Context {
    async fn js(&mut self, code: &str) -> String {
        let wish = run_request(&request(code), &Arc::new(Script::default()));
        let (report, streams, after) = lane().run_again(wish, self.memory.take()).await.unwrap();
        assert_eq!(report.outcome, Outcome::Exited(0), "{code}");
        self.memory = after;
        let answer: Value = serde_json::from_slice(&streams.stdout.into_captured()).unwrap();
        match &answer["ok"] {
            Value::Bool(true) => answer["result"].to_string(),
            _ => answer["error"]["code"].as_str().unwrap().to_owned(),
        }
    }

    /// Pages that are not empty.
    fn pages(&self) -> usize {
        let pages = self.memory.as_ref().unwrap().chunks(4096);
        pages.filter(|page| page.iter().any(|byte| *byte != 0)).count()
    }
}

#[tokio::test]
async fn globals_stay_and_tools_are_those_of_the_run() {
    let mut context = Context::default();
    assert_eq!(
        context.js("globalThis.n = 1; globalThis.echo = tools.echo; await echo('first')").await,
        "\"first\""
    );
    assert_eq!(
        context.js("n += 1; [n, await echo('kept'), await tools.add({a: 1, b: 2})]").await,
        "[2,\"kept\",3]"
    );
    assert_eq!(context.js("n").await, "2");
}

#[tokio::test]
async fn what_the_host_said_of_an_error_holds_in_its_own_run() {
    let mut context = Context::default();
    assert_eq!(
        context.js("try { await tools.fail() } catch (e) { globalThis.e = e } throw e").await,
        "tool_error"
    );
    assert_eq!(context.js("throw e").await, "runtime_error");
}

#[tokio::test]
async fn a_context_does_not_grow_with_every_program() {
    for code in [
        "1",
        "'x'.repeat(100_000)",
        "await tools.echo('x'.repeat(100_000))",
        "await tools.fail('x'.repeat(10_000)).catch(e => e.code)",
        "await tools.fail('x'.repeat(10_000))",
        "const a = Array.from({length: 1000}, (_, i) => ({i})); a.map(x => () => x).length",
        "class A { #x = /a(b)/g; get x() { return this.#x } } new A().x.exec('ab').length",
        "throw new Error('x'.repeat(10_000))",
        "no program at all, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'",
        "await new Promise(() => {})",
        "const a = {}; a.a = a; const b = () => a; a.b = b; 1",
    ] {
        let mut context = Context::default();
        let mut pages = Vec::new();
        for _ in 0..RUNS {
            context.js(code).await;
            pages.push(context.pages());
        }
        let (early, late) = (pages[10], pages[RUNS - 1]);
        assert!(late <= early + PAGES_OF_GARBAGE_MAX, "{code}: {early} pages, and then {late}");
    }
}
