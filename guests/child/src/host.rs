//! Children through the host: one request on the exec wire, answered when the child has ended.

use crate::{Captured, Command, Ended, Stdin};

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    /// Runs the command in the request; its streams are ours. Returns its status, or -1.
    fn host_command(request: *const u8, bytes: usize, stdin: u32) -> i32;
    /// Runs the command in the request and writes what it printed to `out`. Returns how much, or -1.
    fn host_exec(request: *const u8, bytes: usize, out: *mut u8, bytes_max: usize) -> i32;
    /// The status of the last command; if it did not exit by itself, the one that a shell shows for it.
    fn host_status() -> i32;
    /// Writes why the last call answered -1.
    fn host_error(out: *mut u8, bytes_max: usize) -> i32;
}

const VERSION: u32 = 1;
const STDIN_EMPTY: u32 = 0;
const STDIN_OURS: u32 = 1;
const REFUSED: i32 = -1;
/// What a shell shows for a command that could not be started at all.
const NOT_STARTED: i32 = 125;

/// Where other systems keep commands; here a name is enough.
const FOLDERS: [&[u8]; 5] = [b"/usr/local/bin/", b"/usr/bin/", b"/bin/", b"/usr/sbin/", b"/sbin/"];

/// More than this cannot be captured.
const CAPTURED_BYTES_MAX: usize = 8 << 20;

pub fn run(command: &Command<'_>) -> Ended {
    run_with_input(command, b"")
}

pub fn run_with_input(command: &Command<'_>, input: &[u8]) -> Ended {
    let Some(name) = plain_name(command.name) else { return Ended::NotFound };
    let mut env: Vec<&[u8]> = command.env.iter().map(Vec::as_slice).collect();
    let own = std::env::var("PWD").unwrap_or_else(|_| "/".to_owned());
    let place = format!("PWD={}", command.directory.unwrap_or(&own));
    // Where a child starts is what this variable says, whatever else its environment has.
    env.retain(|entry| !entry.starts_with(b"PWD="));
    env.push(place.as_bytes());
    let wall_ms_max = command.wall_ms_max.map_or(0, |it| u32::try_from(it.max(1)).unwrap_or(u32::MAX));
    let mut request = VERSION.to_le_bytes().to_vec();
    put_all(&mut request, env.into_iter());
    put_command(&mut request, name, command.args.iter().map(Vec::as_slice), input);
    request.extend_from_slice(&wall_ms_max.to_le_bytes());
    let stdin = if command.stdin == Stdin::Ours { STDIN_OURS } else { STDIN_EMPTY };
    // SAFETY: the request lives until after the call, and its length is its own.
    let status = unsafe { host_command(request.as_ptr(), request.len(), stdin) };
    if status != REFUSED {
        return Ended::Exited(status);
    }
    match reason().as_str() {
        "timed_out" if wall_ms_max > 0 => Ended::TimedOut,
        code => failure(code),
    }
}

/// The import that captures carries no environment, so `env` carries it.
pub fn capture(command: &Command<'_>, input: &[u8]) -> Captured {
    let Some(name) = plain_name(command.name) else { return Captured::Failed(Ended::NotFound) };
    let place = std::env::var("PWD").unwrap_or_else(|_| "/".to_owned());
    let env = command.env.iter().map(Vec::as_slice).filter(|entry| !entry.starts_with(b"PWD="));
    let args = [&b"-C"[..], place.as_bytes()].into_iter().chain(env).chain([name]);
    let args: Vec<&[u8]> = args.chain(command.args.iter().map(Vec::as_slice)).collect();
    let mut request = Vec::new();
    put_command(&mut request, b"env", args.into_iter(), input);
    let mut output = Vec::<u8>::with_capacity(CAPTURED_BYTES_MAX);
    // SAFETY: the request lives until after the call, and the host writes at most as many bytes as
    // there is room for.
    let count =
        unsafe { host_exec(request.as_ptr(), request.len(), output.as_mut_ptr(), CAPTURED_BYTES_MAX) };
    let Ok(count) = usize::try_from(count) else { return Captured::Failed(failure(&reason())) };
    // SAFETY: the host wrote that many, which it says is within the capacity.
    unsafe { output.set_len(count.min(CAPTURED_BYTES_MAX)) };
    // SAFETY: it takes nothing and touches nothing.
    Captured::Output(output, unsafe { host_status() } & 0xff)
}

fn failure(code: &str) -> Ended {
    // SAFETY: it takes nothing and touches nothing.
    let status = match unsafe { host_status() } {
        // What was refused before anybody was asked, such as a request that is too long.
        REFUSED => NOT_STARTED,
        status => status,
    };
    match code {
        "unknown_command" => Ended::NotFound,
        "trapped" | "out_of_fuel" | "timed_out" | "out_of_memory" | "output_limit" | "input_limit"
        | "cancelled" | "reply_too_large" => Ended::Stopped(code.to_owned(), status),
        code => Ended::Refused(code.to_owned(), status),
    }
}

/// The name without the folder that other systems keep it in. Any other path is a file's, and the host's to judge.
fn plain_name(name: &[u8]) -> Option<&[u8]> {
    let name = FOLDERS.iter().find_map(|it| name.strip_prefix(*it)).unwrap_or(name);
    (!name.is_empty() && !name.contains(&0)).then_some(name)
}

fn put_command<'a>(
    wire: &mut Vec<u8>,
    name: &[u8],
    args: impl ExactSizeIterator<Item = &'a [u8]>,
    input: &[u8],
) {
    put(wire, name);
    put_all(wire, args);
    put(wire, input);
}

fn put_all<'a>(wire: &mut Vec<u8>, parts: impl ExactSizeIterator<Item = &'a [u8]>) {
    wire.extend_from_slice(&(parts.len() as u32).to_le_bytes());
    parts.for_each(|part| put(wire, part));
}

fn put(wire: &mut Vec<u8>, part: &[u8]) {
    wire.extend_from_slice(&(part.len() as u32).to_le_bytes());
    wire.extend_from_slice(part);
}

fn reason() -> String {
    let mut code = [0; 64];
    // SAFETY: the host writes at most as many bytes as there are.
    let count = unsafe { host_error(code.as_mut_ptr(), code.len()) };
    let count = usize::try_from(count).unwrap_or(0).min(code.len());
    String::from_utf8_lossy(&code[..count]).into_owned()
}
