//! A guest that makes the preview 1 calls it reads from its stdin, for whoever wants to pass arguments
//! that nobody sane would: the engine's property test and its fuzzer.

use std::fmt::Write as _;

/// Every function of preview 1 that comes back, and its parameters: `i` for i32, `I` for i64.
pub const FUNCTIONS: &[(&str, &str)] = &[
    ("fd_read", "iiii"),
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

/// Arguments a call takes at most.
pub const PARAMETERS: usize = 9;
/// The guest's memory, in pages.
pub const PAGES: u32 = 2;
/// Where the guest keeps its record; below it lie the bytes that the calls point at.
pub const RECORD_AT: usize = 8192;
/// Bytes from 0 on that [`poke`] may fill.
pub const ROOM: usize = RECORD_AT - 64;

const RECORD: usize = 8 + PARAMETERS * 8;

/// Appends a call of one of [`FUNCTIONS`]; arguments that are missing are 0.
pub fn call(into: &mut Vec<u8>, which: usize, arguments: &[u64]) {
    into.extend_from_slice(&(which as u64).to_le_bytes());
    for at in 0..PARAMETERS {
        into.extend_from_slice(&arguments.get(at).copied().unwrap_or(0).to_le_bytes());
    }
}

/// Appends bytes for the guest's memory: paths, lists of vectors, subscriptions. What does not fit is
/// cut.
pub fn poke(into: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let at = at % ROOM;
    let bytes = &bytes[..bytes.len().min(ROOM - at)];
    call(into, FUNCTIONS.len(), &[at as u64, bytes.len() as u64]);
    into.extend_from_slice(bytes);
}

/// Reads records from stdin and makes the calls they say. A record of no function is followed by
/// bytes, which are read into the guest's memory.
pub fn guest() -> String {
    let (mut imports, mut cases) = (String::new(), String::new());
    for (index, (name, parameters)) in FUNCTIONS.iter().enumerate() {
        let kind = |it| if it == 'i' { "i32" } else { "i64" };
        let types: String = parameters.chars().map(|it| format!(" {}", kind(it))).collect();
        let _ = writeln!(
            imports,
            "(import \"wasi_snapshot_preview1\" \"{name}\" (func $f{index} (param{types}) (result i32)))"
        );
        let loads: String = (0..)
            .zip(parameters.chars())
            .map(|(at, it)| format!("({}.load (i32.const {}))", kind(it), RECORD_AT + 8 + at * 8))
            .collect();
        let _ = writeln!(
            cases,
            "(if (i32.eq (local.get $which) (i32.const {index})) (then (drop (call $f{index} {loads}))))"
        );
    }
    let (list, list_len, count, base) = (RECORD_AT - 16, RECORD_AT - 12, RECORD_AT - 4, RECORD_AT);
    let (address, length, poke) = (RECORD_AT + 8, RECORD_AT + 16, FUNCTIONS.len());
    format!(
        r#"(module {imports}
  (memory (export "memory") {PAGES})
  (func $take (param $at i32) (param $len i32) (result i32)
    (i32.store (i32.const {list}) (local.get $at))
    (i32.store (i32.const {list_len}) (local.get $len))
    (if (call $f0 (i32.const 0) (i32.const {list}) (i32.const 1) (i32.const {count})) (then (return (i32.const 0))))
    (i32.eq (i32.load (i32.const {count})) (local.get $len)))
  (func (export "_start") (local $which i32)
    (loop $again
      (if (i32.eqz (call $take (i32.const {base}) (i32.const {RECORD}))) (then return))
      (local.set $which (i32.load (i32.const {base})))
      (if (i32.eq (local.get $which) (i32.const {poke}))
        (then (drop (call $take (i32.load (i32.const {address})) (i32.load (i32.const {length}))))))
      {cases}
      (br $again))))"#
    )
}
