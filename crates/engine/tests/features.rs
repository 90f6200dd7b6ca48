//! Every lane offers the features that are named for it, and none that wasmtime would turn on by itself.
#![allow(clippy::unwrap_used)]

mod common;

use common::engine;
use drydock_contract::{
    Artifact,
    port::{Interruption, LaneChoice, Slots, WasmFeatures},
};

/// A small module for each proposal, by the name that people know it by.
const OFF: &[(&str, &str)] = &[
    ("garbage collection", "(type (struct (field i32))) (func (drop (struct.new_default 0)))"),
    ("i31", "(func (drop (ref.i31 (i32.const 1))))"),
    ("typed function references", "(type $f (func)) (func (param (ref $f)) (call_ref $f (local.get 0)))"),
    ("64-bit memory", "(memory i64 1)"),
    ("64-bit table", "(table i64 1 funcref)"),
    ("shared memory", "(memory 1 1 shared)"),
    ("atomics", "(memory 1) (func (drop (i32.atomic.load (i32.const 0))))"),
    ("multiple memories", "(memory 1) (memory 1)"),
    ("custom page sizes", "(memory 1 (pagesize 1))"),
    (
        "wide arithmetic",
        "(func (result i64 i64) (i64.add128 (i64.const 0) (i64.const 0) (i64.const 0) (i64.const 0)))",
    ),
    ("stack switching", "(type $f (func)) (type $c (cont $f)) (func (param (ref $c)))"),
    ("memory control", "(memory 1) (func (memory.discard (i32.const 0) (i32.const 0)))"),
    ("old exceptions", "(tag $t) (func try catch $t end)"),
];

const ON: &[(&str, &str)] = &[
    ("mutable globals", "(global (export \"g\") (mut i32) (i32.const 0))"),
    ("saturating conversions", "(func (result i32) (i32.trunc_sat_f32_s (f32.const 0)))"),
    ("sign extension", "(func (result i32) (i32.extend8_s (i32.const 0)))"),
    ("reference types", "(table 1 externref) (func (result externref) (table.get 0 (i32.const 0)))"),
    ("multiple values", "(func (result i32 i32) (i32.const 0) (i32.const 0))"),
    ("bulk memory", "(memory 1) (func (memory.fill (i32.const 0) (i32.const 0) (i32.const 0)))"),
    ("simd", "(func (result v128) (v128.const i64x2 0 0))"),
    ("relaxed simd", "(func (param v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 0)))"),
    ("tail calls", "(func $f (return_call $f))"),
    ("extended constants", "(global i32 (i32.add (i32.const 1) (i32.const 2)))"),
];

const EXCEPTIONS: &str = "(tag $t) (func (throw $t))";

fn lanes() -> impl Iterator<Item = LaneChoice> {
    let interrupts = [Interruption::Fuel, Interruption::Tick];
    let features = [WasmFeatures::NONE, WasmFeatures::ALL];
    let slots = [Slots::Pool, Slots::OnDemand];
    interrupts.into_iter().flat_map(move |interrupt| {
        features.into_iter().flat_map(move |features| {
            slots.map(|slots| LaneChoice { interrupt, features, slots, ..LaneChoice::USUAL })
        })
    })
}

#[tokio::test]
async fn every_lane_takes_the_features_that_are_named_for_it_and_no_others() {
    for lane in lanes() {
        let try_out = async |name: &str, body: &str| {
            let module = format!("(module {body} (func (export \"_start\")))");
            let module = wat::parse_str(&module).unwrap_or_else(|error| panic!("{name}: {error}"));
            engine().lane(lane).unwrap().warm(&Artifact::hash(module), None).await
        };
        for (name, body) in OFF {
            let fault = try_out(name, body).await.expect_err(name);
            assert_eq!(fault.code(), "bad_module", "{lane:?} {name}");
        }
        for (name, body) in ON {
            try_out(name, body).await.unwrap_or_else(|fault| panic!("{lane:?} {name}: {fault}"));
        }
        let throws = try_out("exceptions", EXCEPTIONS).await;
        assert_eq!(throws.is_ok(), lane.features.exceptions, "{lane:?}");
    }
}

#[tokio::test]
async fn a_lane_is_made_once_for_each_description_and_their_number_is_bounded() {
    let engine = drydock_engine::Engine::new(
        drydock_engine::EngineSettings { slots: Some(1), ..Default::default() },
        None,
    )
    .unwrap();
    let deep = LaneChoice { stack_bytes_max: 2 << 20, ..LaneChoice::USUAL };
    let first = std::ptr::from_ref(engine.lane(deep).unwrap());
    assert_eq!(first, std::ptr::from_ref(engine.lane(deep).unwrap()));
    assert_ne!(first, std::ptr::from_ref(engine.lane(LaneChoice::USUAL).unwrap()));
    let refused = (0..100).find_map(|more| {
        engine.lane(LaneChoice { stack_bytes_max: (1 << 20) + more * 4096, ..LaneChoice::USUAL }).err()
    });
    assert_eq!(refused.unwrap().code(), "saturated");
    engine.lane(deep).unwrap();
}

#[tokio::test]
async fn a_lane_has_as_much_stack_as_its_description_says() {
    // Calls itself as often as it can be called, and exits with nothing.
    let deep = r#"(module (memory (export "memory") 1)
      (func $down (param i32) (result i32)
        (if (result i32) (local.get 0)
          (then (i32.add (i32.const 1) (call $down (i32.sub (local.get 0) (i32.const 1)))))
          (else (i32.const 0))))
      (func (export "_start") (drop (call $down (i32.const 40000)))))"#;
    use drydock_contract::{Outcome, RunRequest};
    for (stack_bytes_max, fits) in [(256 << 10, false), (16 << 20, true)] {
        let lane = Some(LaneChoice { stack_bytes_max, ..LaneChoice::USUAL });
        let (report, _) = common::run(RunRequest { lane, ..common::request(deep) }).await.unwrap();
        assert_eq!(report.outcome == Outcome::Exited(0), fits, "{stack_bytes_max} {:?}", report.outcome);
    }
}
