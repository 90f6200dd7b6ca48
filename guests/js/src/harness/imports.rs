//! `import` of files: each is a call of `files.read`, as the program could make it, and waits at the same gate.
//!
//! Types are stripped by the host's other guest, behind a call that has no provider and so no name a
//! program could use.

use super::tools;
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char};
use js::engine::{self, Context, Raw};
use js::json;
use js::module_path;
use js::prelude::*;
use js::value::Value;

/// How many files a program may import.
const MODULES_MAX: usize = 1_000;
/// And how long they may be together: as long as a program.
const BYTES_MAX: usize = 8 << 20;

#[derive(Default)]
struct State {
    /// Where the program's own imports start from.
    folder: String,
    can_read: bool,
    modules: usize,
    bytes: usize,
}

struct Shared(UnsafeCell<Option<State>>);

// SAFETY: a guest has one thread.
unsafe impl Sync for Shared {}

static STATE: Shared = Shared(UnsafeCell::new(None));

/// Runs `act` on the state. It must not come back here.
fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    // SAFETY: one thread, and `act` does not come back.
    unsafe { act((*STATE.0.get()).get_or_insert_default()) }
}

/// A run begins that may import, or may not.
pub fn open(file: Option<&str>, can_read: bool) {
    // SAFETY: sets a flag.
    unsafe { engine::engine_allow_imports(file.is_some()) };
    let Some(file) = file else { return };
    let folder = module_path::folder(file).to_owned();
    with(|state| *state = State { folder, can_read, ..State::default() });
}

/// QuickJS asks for the path that a specifier in the module `base` names.
#[unsafe(no_mangle)]
extern "C" fn import_path(_: *mut Context, base: *const c_char, specifier: *const c_char) -> Raw {
    // SAFETY: QuickJS gives two texts that end with a zero byte and live during the call.
    let (base, specifier) = unsafe { (CStr::from_ptr(base), CStr::from_ptr(specifier)) };
    let (base, specifier) = (base.to_string_lossy(), specifier.to_string_lossy());
    // The program itself, and what it evaluates, have names that are no paths.
    let folder = match base.starts_with(['.', '/']) {
        true => module_path::folder(&base).to_owned(),
        false => with(|state| state.folder.clone()),
    };
    let path = match module_path::resolve(&folder, &specifier) {
        Some(path) => Value::text(&path),
        None => Value::throw_type_error(&format!(
            "cannot import '{}': only files of the workspace; begin the path with ./, ../ or /",
            &specifier[..specifier.floor_char_boundary(80)]
        )),
    };
    path.into_raw()
}

/// QuickJS asks for the text of a file.
#[unsafe(no_mangle)]
extern "C" fn import_read(_: *mut Context, path: *const c_char) -> Raw {
    // SAFETY: QuickJS gives a text that ends with a zero byte and lives during the call.
    let path = unsafe { CStr::from_ptr(path) }.to_string_lossy();
    read(&path).unwrap_or_else(Value::throw).into_raw()
}

/// The text of a module, or what to throw.
fn read(path: &str) -> Result<Value, Value> {
    let too_many = |text: &str| Err(tools::host_error("runtime_error", text));
    if !with(|state| state.can_read) {
        return Err(tools::host_error(
            "tool_error",
            "import needs the tool files.read, which this program has not",
        ));
    }
    let count = with(|state| {
        state.modules += 1;
        state.modules
    });
    if count > MODULES_MAX {
        return too_many(&format!("a program may import {MODULES_MAX} files"));
    }
    let mut input = b"{\"path\":".to_vec();
    json::push_string(&mut input, path.strip_prefix("./").unwrap_or(path));
    input.push(b'}');
    let text = tools::call_now("files", "read", &input)?;
    let bytes = text.with_bytes(<[u8]>::len).unwrap_or(0);
    let all = with(|state| {
        state.bytes = state.bytes.saturating_add(bytes);
        state.bytes
    });
    if all > BYTES_MAX {
        return too_many(&format!("the files that a program imports may have {BYTES_MAX} bytes together"));
    }
    if [".ts", ".mts"].iter().any(|it| path.ends_with(it)) {
        return strip(path, &text);
    }
    Ok(text)
}

/// The same text without its types.
fn strip(path: &str, text: &Value) -> Result<Value, Value> {
    let mut input = b"{\"path\":".to_vec();
    json::push_string(&mut input, path);
    input.extend_from_slice(b",\"text\":");
    json::push_string(&mut input, &text.to_string_lossy().unwrap_or_default());
    input.push(b'}');
    tools::call_now("", "strip", &input)
}
