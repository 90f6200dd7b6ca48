//! Guests that serve: what they export, what they import, one request at a time, and what they get wrong.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use bytes::Bytes;
use common::{engine, request};
use drydock_contract::{
    Artifact, Cap, CapSet, Exchange, Fault, Limits, Outcome, RunReport, RunRequest, Streams, Tenant,
    port::Runner,
};
use drydock_engine::SERVING_IMPORTS;
use drydock_testkit::guests;

/// What came of one request: the outcome, the response, stderr.
async fn serve_with(
    it: RunRequest,
    asked: &[u8],
    response_max: u64,
) -> Result<(RunReport, Option<Bytes>, Streams), Fault> {
    let exchange = Arc::new(Exchange::new(Bytes::copy_from_slice(asked), response_max));
    let (report, streams) = engine().run_serving(it, Arc::clone(&exchange)).await?;
    Ok((report, exchange.take_response(), streams))
}

async fn serve(wat: &str, asked: &[u8]) -> (Outcome, Option<Bytes>) {
    let (report, response, _) = serve_with(request(wat), asked, 4 << 20).await.unwrap();
    (report.outcome, response)
}

#[tokio::test]
async fn a_request_goes_in_and_the_last_response_comes_out() {
    let (outcome, response) = serve(&guests::serving_echo(), b"GET /\n\nhello").await;
    assert_eq!(outcome, Outcome::Exited(0));
    assert_eq!(response.unwrap(), "201\nx-guest: yes\n\nGET /\n\nhello");
    let twice = guests::serving("(drop (call $echo)) (call $set (i32.const 4096) (i32.const 3))");
    assert_eq!(serve(&twice, b"x").await, (Outcome::Exited(0), Some("201".into())));
    assert_eq!(serve(&guests::serving("(i32.const 0)"), b"x").await, (Outcome::Exited(0), None));
    assert_eq!(serve(&guests::serving("(i32.const 7)"), b"x").await.0, Outcome::Exited(7));
    assert!(matches!(serve(&guests::serving("unreachable"), b"x").await.0, Outcome::Trapped(_)));
}

#[tokio::test]
async fn each_request_has_an_instance_of_its_own_and_is_initialized() {
    let counting = r#"(module (import "env" "host_response_set" (func $set (param i32 i32) (result i32)))
      (memory (export "memory") 1) (global $n (mut i32) (i32.const 48))
      (func (export "_start") unreachable)
      (func (export "_initialize") (global.set $n (i32.add (global.get $n) (i32.const 1))))
      (func (export "handle")
        (global.set $n (i32.add (global.get $n) (i32.const 1)))
        (i32.store8 (i32.const 0) (global.get $n)) (drop (call $set (i32.const 0) (i32.const 1)))))"#;
    for _ in 0..3 {
        assert_eq!(serve(counting, b"").await, (Outcome::Exited(0), Some("2".into())));
    }
}

#[tokio::test]
async fn bad_pointers_and_long_responses_are_refusals_and_change_nothing() {
    let refused = |call: &str| {
        guests::serving(&format!(
            "(drop (call $set (i32.const 4096) (i32.const 3)))
             (if (i32.ne {call} (i32.const -1)) (then unreachable))
             (call $log (i32.const 0) (call $error (i32.const 0) (i32.const 64)))"
        ))
    };
    for (call, code) in [
        ("(call $set (i32.const 8388600) (i32.const 9))", "bad_pointer"),
        ("(call $set (i32.const -1) (i32.const 1))", "bad_pointer"),
        ("(call $set (i32.const 0) (i32.const -1))", "response_too_large"),
        ("(call $set (i32.const 0) (i32.const 65))", "response_too_large"),
        ("(call $get (i32.const 0) (i32.const 2))", "reply_too_large"),
        ("(call $get (i32.const -2) (i32.const 64))", "bad_pointer"),
    ] {
        let (report, response, streams) = serve_with(request(&refused(call)), b"xyz", 64).await.unwrap();
        assert_eq!(report.outcome, Outcome::Exited(code.len() as i32), "{call}");
        assert_eq!(response.unwrap(), "201", "{call}");
        assert_eq!(streams.stderr.into_captured(), format!("[log] {code}\n").as_bytes());
    }
}

#[tokio::test]
async fn a_response_is_on_the_guests_bill_once() {
    let often = guests::serving(
        "(local $n i32)
         (loop $again
           (if (call $set (i32.const 4096) (i32.const 1000000)) (then unreachable))
           (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 100))))
         (i32.const 0)",
    );
    let limits = Limits { memory_bytes_max: 12 << 20, ..Limits::default() };
    let it = RunRequest { limits, ..request(&often) };
    let (report, response, _) = serve_with(it, b"", 4 << 20).await.unwrap();
    assert_eq!((report.outcome, response.unwrap().len()), (Outcome::Exited(0), 1_000_000));
    let limits = Limits { memory_bytes_max: (8 << 20) + 100_000, ..Limits::default() };
    let (report, ..) = serve_with(RunRequest { limits, ..request(&often) }, b"", 4 << 20).await.unwrap();
    assert_eq!(report.outcome, Outcome::OutOfMemory);
}

#[tokio::test]
async fn only_serving_guests_have_the_imports_of_one_and_only_those_with_handle_serve() {
    for (space, name, ty) in SERVING_IMPORTS {
        let parameters = "i32 ".repeat(ty.matches("i32").count() - 1);
        let parameters = if parameters.is_empty() { String::new() } else { format!("(param {parameters})") };
        let wat = guests::importing(space, name, &format!("{parameters} (result i32)"));
        let refused = engine().run(request(&wat)).await.map(drop).unwrap_err();
        assert_eq!(refused.code(), "import_not_granted", "{name}");
    }
    let check = |wat: &str, caps| {
        let artifact = Artifact::hash(wat::parse_str(wat).unwrap());
        async move { engine().check_serving(&artifact, caps, Tenant::default()).await.map_err(|it| it.code()) }
    };
    assert_eq!(check(&guests::serving_echo(), CapSet::EMPTY).await, Ok(()));
    assert!(check("(module (memory (export \"memory\") 1))", CapSet::EMPTY).await.is_err());
    assert!(
        check(
            "(module (memory (export \"memory\") 1) (func (export \"handle\") (param i32)))",
            CapSet::EMPTY
        )
        .await
        .is_err()
    );
    assert!(check("(module (func (export \"handle\")))", CapSet::EMPTY).await.is_err(), "it has no memory");
    let exec = r#"(module (import "env" "host_exec" (func (param i32 i32 i32 i32) (result i32)))
      (memory (export "memory") 1) (func (export "handle")))"#;
    assert_eq!(check(exec, CapSet::of(&[Cap::Vfs])).await, Err("import_not_granted"));
    assert_eq!(check(exec, CapSet::of(&[Cap::Exec])).await, Ok(()));
}
