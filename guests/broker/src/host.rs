//! How a command asks the host, and what it does with the answer.

use std::io::Read as _;

use serde_json::Value;

/// Whoever answers: the host, or what stands for it in tests.
pub(crate) trait Host {
    /// The answer as JSON, or the host's code and sentence.
    fn ask(&self, operation: &str, request: &Value) -> Result<Value, Refusal>;
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: String,
    pub(crate) message: String,
}

/// What came of a command line: what to print, and the status. Or what is wrong with the line, or with the request.
pub(crate) type Done = Result<(Vec<u8>, i32), Failure>;

/// Why a command did nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    Usage(String),
    Refused(Refusal),
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Usage(text)
    }
}

impl From<&str> for Failure {
    fn from(text: &str) -> Self {
        Self::Usage(text.to_owned())
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Wrong usage.
const USAGE: i32 = 2;

/// Prints what came of it.
pub(crate) fn end(name: &str, done: Done) -> i32 {
    match done {
        Ok((text, status)) => match place::stdio::print(&text) {
            true => status,
            false => 1,
        },
        Err(Failure::Usage(why)) => {
            place::stdio::complain(name, &why);
            place::stdio::complain(name, &format!("try '{name} --help' for more information"));
            USAGE
        }
        Err(Failure::Refused(Refusal { code, message })) => {
            place::stdio::complain(name, &if message.is_empty() { code } else { message });
            1
        }
    }
}

/// All of standard input.
pub(crate) fn input() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    place::stdio::Standard::input().read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// A number of an option.
pub(crate) fn number(name: &str, value: &str) -> Result<u64, String> {
    value.parse().map_err(|_| format!("invalid value '{value}' for '{name}'"))
}

/// Seconds of an option, as milliseconds.
pub(crate) fn millis(name: &str, value: &str) -> Result<u64, String> {
    let seconds: f64 = value.parse().map_err(|_| format!("invalid value '{value}' for '{name}'"))?;
    match (0.0..=1e9).contains(&seconds) {
        true => Ok((seconds * 1000.0) as u64),
        false => Err(format!("invalid value '{value}' for '{name}'")),
    }
}

/// `env.host_kv_call` and its siblings.
#[cfg(target_os = "wasi")]
pub(crate) type CallImport = unsafe extern "C" fn(*const u8, usize, *const u8, usize) -> i32;

#[cfg(target_os = "wasi")]
pub(crate) mod wasi {
    use serde_json::Value;

    use super::{CallImport, Refusal};

    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        /// Writes why the last call answered -1.
        fn host_error(out: *mut u8, bytes_max: usize) -> i32;
        /// Writes the answer of the last call.
        fn host_reply(out: *mut u8, bytes_max: usize) -> i32;
    }

    /// The answer to one operation.
    pub(crate) fn ask(import: CallImport, operation: &str, request: &Value) -> Result<Value, Refusal> {
        let request = request.to_string();
        // SAFETY: both texts live until after the call, and their lengths are their own.
        let count = unsafe { import(operation.as_ptr(), operation.len(), request.as_ptr(), request.len()) };
        if count < 0 {
            let code = code();
            // A refusal has a sentence, which waits like an answer.
            let told: Value = serde_json::from_slice(&reply(64 << 10)).unwrap_or_default();
            let message = told["error"]["message"].as_str().unwrap_or_default().to_owned();
            return Err(Refusal { code, message });
        }
        let bytes = reply(usize::try_from(count).unwrap_or(0));
        let broken =
            || Refusal { code: "internal_error".into(), message: "the host's answer cannot be read".into() };
        serde_json::from_slice(&bytes).map_err(|_| broken())
    }

    /// Why the last call was refused.
    pub(crate) fn code() -> String {
        let mut code = [0; 64];
        // SAFETY: the host writes at most as many bytes as there is room for.
        let count = unsafe { host_error(code.as_mut_ptr(), code.len()) };
        let code = code.get(..usize::try_from(count).unwrap_or(0)).unwrap_or_default();
        String::from_utf8_lossy(code).into_owned()
    }

    fn reply(bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        // SAFETY: the host writes at most as many bytes as there is room for.
        let count = unsafe { host_reply(out.as_mut_ptr(), out.len()) };
        out.truncate(usize::try_from(count).unwrap_or(0));
        out
    }
}

/// There is no host in native tests.
#[cfg(not(target_os = "wasi"))]
pub(crate) fn nobody() -> Refusal {
    Refusal { code: "internal_error".into(), message: "there is no host".into() }
}

/// What a line printed, with its status; or why it did nothing.
#[cfg(test)]
pub(crate) type Told = Result<(String, i32), String>;

/// Operations with their requests.
#[cfg(test)]
pub(crate) type Asked = Vec<(String, Value)>;

/// A host of tests: answers in order, and keeps what it was asked.
#[cfg(test)]
pub(crate) struct Script {
    pub(crate) answers: std::cell::RefCell<Vec<Result<Value, Refusal>>>,
    pub(crate) asked: std::cell::RefCell<Asked>,
}

#[cfg(test)]
impl Script {
    pub(crate) fn of(answers: &[Value]) -> Self {
        let answers = answers.iter().rev().cloned().map(Ok).collect();
        Self { answers: std::cell::RefCell::new(answers), asked: std::cell::RefCell::default() }
    }
}

#[cfg(test)]
impl Host for Script {
    fn ask(&self, operation: &str, request: &Value) -> Result<Value, Refusal> {
        self.asked.borrow_mut().push((operation.to_owned(), request.clone()));
        let none = || Err(Refusal { code: "not_found".into(), message: "there is none".into() });
        self.answers.borrow_mut().pop().unwrap_or_else(none)
    }
}
