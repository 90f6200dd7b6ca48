//! Children through the host: one request on the exec wire, answered when the child has ended.

use crate::{Command, Ended, Stdin};

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    /// Runs the command in the request; its streams are ours. Returns its status, or -1.
    fn host_command(request: *const u8, bytes: usize, stdin: u32) -> i32;
    /// Writes why the last call answered -1.
    fn host_error(out: *mut u8, bytes_max: usize) -> i32;
}

const VERSION: u32 = 1;
const STDIN_EMPTY: u32 = 0;
const STDIN_OURS: u32 = 1;
const REFUSED: i32 = -1;

/// Where other systems keep commands; here a name is enough.
const FOLDERS: [&[u8]; 5] = [b"/usr/local/bin/", b"/usr/bin/", b"/bin/", b"/usr/sbin/", b"/sbin/"];

pub fn run(command: &Command<'_>) -> Ended {
    let name = FOLDERS.iter().find_map(|it| command.name.strip_prefix(*it)).unwrap_or(command.name);
    if name.is_empty() || name.contains(&b'/') || name.contains(&0) {
        return Ended::NotFound;
    }
    let mut env: Vec<&[u8]> = command.env.iter().map(Vec::as_slice).collect();
    let own = std::env::var("PWD").unwrap_or_else(|_| "/".to_owned());
    let place = format!("PWD={}", command.directory.unwrap_or(&own));
    // Where a child starts is what this variable says, whatever else its environment has.
    env.retain(|entry| !entry.starts_with(b"PWD="));
    env.push(place.as_bytes());
    let wall_ms_max = command.wall_ms_max.map_or(0, |it| u32::try_from(it.max(1)).unwrap_or(u32::MAX));
    let request = encode(&env, name, command.args, wall_ms_max);
    let stdin = if command.stdin == Stdin::Ours { STDIN_OURS } else { STDIN_EMPTY };
    // SAFETY: the request lives until after the call, and its length is its own.
    let status = unsafe { host_command(request.as_ptr(), request.len(), stdin) };
    if status != REFUSED {
        return Ended::Exited(status);
    }
    match reason().as_str() {
        "unknown_command" => Ended::NotFound,
        "timed_out" if wall_ms_max > 0 => Ended::TimedOut,
        code @ ("trapped" | "out_of_fuel" | "timed_out" | "out_of_memory" | "output_limit"
        | "input_limit" | "cancelled") => Ended::Stopped(code.to_owned()),
        code => Ended::Refused(code.to_owned()),
    }
}

fn encode(env: &[&[u8]], name: &[u8], args: &[Vec<u8>], wall_ms_max: u32) -> Vec<u8> {
    let mut wire = VERSION.to_le_bytes().to_vec();
    let count = |wire: &mut Vec<u8>, number: usize| wire.extend_from_slice(&(number as u32).to_le_bytes());
    let put = |wire: &mut Vec<u8>, part: &[u8]| {
        count(wire, part.len());
        wire.extend_from_slice(part);
    };
    count(&mut wire, env.len());
    env.iter().for_each(|entry| put(&mut wire, entry));
    put(&mut wire, name);
    count(&mut wire, args.len());
    args.iter().for_each(|arg| put(&mut wire, arg));
    // No input of its own.
    count(&mut wire, 0);
    wire.extend_from_slice(&wall_ms_max.to_le_bytes());
    wire
}

fn reason() -> String {
    let mut code = [0; 64];
    // SAFETY: the host writes at most as many bytes as there are.
    let count = unsafe { host_error(code.as_mut_ptr(), code.len()) };
    let count = usize::try_from(count).unwrap_or(0).min(code.len());
    String::from_utf8_lossy(&code[..count]).into_owned()
}
