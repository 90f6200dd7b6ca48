//! The wire of `host_parallel_map`: never panics, never reads past the end, and what it reads it can write again.
#![no_main]

use drydock_abi::parallel::{ARGS_MAX, INPUTS_MAX, decode_map, encode_map};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(map) = decode_map(bytes) else { return };
    assert!(map.inputs.len() <= INPUTS_MAX + 1 && map.args.len() <= ARGS_MAX + 1);
    let again = encode_map(&map).expect("it came from a wire");
    assert_eq!(decode_map(&again).as_ref(), Ok(&map));
});
