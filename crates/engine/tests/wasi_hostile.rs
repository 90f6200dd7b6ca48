//! All of preview 1, called with arguments nobody sane would pass.
#![allow(clippy::unwrap_used)]

mod common;

use common::{request, run};
use drydock_contract::{Limits, Outcome, RunRequest, Source};
use proptest::prelude::*;

/// Every function of preview 1 and its parameters, `i` for i32 and `I` for i64.
const FUNCTIONS: &[(&str, &str)] = &[
    ("args_get", "ii"),
    ("args_sizes_get", "ii"),
    ("environ_get", "ii"),
    ("environ_sizes_get", "ii"),
    ("clock_res_get", "ii"),
    ("clock_time_get", "iIi"),
    ("fd_advise", "iIIi"),
    ("fd_allocate", "iII"),
    ("fd_close", "i"),
    ("fd_datasync", "i"),
    ("fd_fdstat_get", "ii"),
    ("fd_fdstat_set_flags", "ii"),
    ("fd_fdstat_set_rights", "iII"),
    ("fd_filestat_get", "ii"),
    ("fd_filestat_set_size", "iI"),
    ("fd_filestat_set_times", "iIIi"),
    ("fd_pread", "iiiIi"),
    ("fd_prestat_get", "ii"),
    ("fd_prestat_dir_name", "iii"),
    ("fd_pwrite", "iiiIi"),
    ("fd_read", "iiii"),
    ("fd_readdir", "iiiIi"),
    ("fd_renumber", "ii"),
    ("fd_seek", "iIii"),
    ("fd_sync", "i"),
    ("fd_tell", "ii"),
    ("fd_write", "iiii"),
    ("path_create_directory", "iii"),
    ("path_filestat_get", "iiiii"),
    ("path_filestat_set_times", "iiiiIIi"),
    ("path_link", "iiiiiii"),
    ("path_open", "iiiiiIIii"),
    ("path_readlink", "iiiiii"),
    ("path_remove_directory", "iii"),
    ("path_rename", "iiiiii"),
    ("path_symlink", "iiiii"),
    ("path_unlink_file", "iii"),
    ("poll_oneoff", "iiii"),
    ("random_get", "ii"),
    ("sched_yield", ""),
    ("sock_accept", "iii"),
    ("sock_recv", "iiiiii"),
    ("sock_send", "iiiii"),
    ("sock_shutdown", "ii"),
];

/// Arguments a function takes at most.
const PARAMETERS: usize = 9;
const RECORD: usize = 8 + PARAMETERS * 8;

/// Reads records of a function's number and its arguments from stdin, and makes the calls.
fn prober() -> String {
    let mut imports = String::new();
    let mut cases = String::new();
    for (index, (name, parameters)) in FUNCTIONS.iter().enumerate() {
        let types: String = parameters.chars().map(|it| if it == 'i' { " i32" } else { " i64" }).collect();
        imports += &format!(
            "(import \"wasi_snapshot_preview1\" \"{name}\" (func $f{index} (param{types}) (result i32)))\n"
        );
        let loads: String = parameters
            .chars()
            .enumerate()
            .map(|(at, it)| {
                let kind = if it == 'i' { "i32" } else { "i64" };
                format!("({kind}.load (i32.const {}))", 1024 + 8 + at * 8)
            })
            .collect();
        cases += &format!(
            "(if (i32.eq (i32.load (i32.const 1024)) (i32.const {index})) (then (drop (call $f{index} {loads}))))\n"
        );
    }
    format!(
        r#"(module {imports}
  (memory (export "memory") 2)
  (data (i32.const 0) "a/../b\00dir/x")
  (func (export "_start")
    (loop $again
      (i32.store (i32.const 1008) (i32.const 1024)) (i32.store (i32.const 1012) (i32.const {RECORD}))
      (drop (call $f20 (i32.const 0) (i32.const 1008) (i32.const 1) (i32.const 1004)))
      (if (i32.lt_u (i32.load (i32.const 1004)) (i32.const {RECORD})) (then return))
      {cases}
      (br $again))))"#
    )
}

fn argument() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0u64..8,
        2 => 0u64..200,
        1 => Just(131_072),
        1 => 131_060u64..131_080,
        1 => Just(u64::from(u32::MAX)),
        1 => Just(u64::MAX),
        1 => Just(i64::MAX as u64),
        1 => any::<u64>(),
    ]
}

fn calls() -> impl Strategy<Value = Vec<(u32, [u64; PARAMETERS])>> {
    let call = (0..FUNCTIONS.len() as u32, prop::array::uniform9(argument()));
    prop::collection::vec(call, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_arguments_of_a_guest_upset_the_host(calls in calls()) {
        let mut stdin = Vec::new();
        for (index, arguments) in &calls {
            stdin.extend_from_slice(&u64::from(*index).to_le_bytes());
            arguments.iter().for_each(|it| stdin.extend_from_slice(&it.to_le_bytes()));
        }
        let mut it = RunRequest {
            limits: Limits { wall_max: std::time::Duration::from_secs(20), ..Limits::default() },
            // A fixed clock, so that a guest that sleeps for a century costs nothing.
            time: drydock_contract::GuestTime::Fixed(drydock_contract::Timestamp(0)),
            ..request(&prober())
        };
        it.streams.stdin = Source::from(stdin);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let (report, _) = runtime.block_on(run(it)).unwrap();
        let fine = matches!(
            report.outcome,
            Outcome::Exited(_) | Outcome::OutOfMemory | Outcome::OutputLimit | Outcome::Trapped(_) | Outcome::OutOfFuel
        );
        prop_assert!(fine, "{}", report.outcome);
        prop_assert!(report.memory_bytes <= Limits::default().memory_bytes_max);
    }
}
