//! The programs of the suite, by name, so that a guest without JavaScript can stand in for one with it.

/// `2`.
pub const SIMPLE: &str = "1 + 1";
/// Two lines of log and `5`.
pub const CONSOLE: &str = "console.log('hello', {a: 1}, undefined); console.warn('careful'); 5";
/// What kind of thing each name of Node is: `undefined`, six times.
pub const AMBIENT: &str =
    "[typeof process, typeof require, typeof Buffer, typeof fetch, typeof setTimeout, typeof WebAssembly]";
/// `{"sum":5}`.
pub const CALL: &str = "const out = await tools.add({x: 2, y: 3}); out";
/// A call whose input is wrong.
pub const INVALID_CALL: &str = "await tools.add({x: 'two', y: 3})";
/// A call that fails.
pub const FAILING_CALL: &str = "await tools.fail({})";
/// A call that never ends.
pub const HANGING_CALL: &str = "await tools.hang({})";
/// No end.
pub const LOOP: &str = "while (true) {}";
/// Messages that look like limits.
pub const LOOKS_LIKE_TIMEOUT: &str = "throw new Error('Execution timed out')";
/// Likewise.
pub const LOOKS_LIKE_MEMORY: &str = "throw new Error('out of memory')";
/// An error that claims a code.
pub const CLAIMS_CODE: &str =
    "const e = new Error('mine'); e.name = 'ExecuteFailure'; e.code = 'internal_error'; throw e";
/// Likewise, not even an error.
pub const CLAIMS_PLAINLY: &str = "throw {code: 'timeout', message: 'forged'}";
/// A thousand lines.
pub const FLOOD: &str = "for (let i = 0; i < 1000; i++) console.log('line ' + i); 'done'";
/// A function is no JSON.
pub const UNSERIALIZABLE: &str = "() => 5";
/// Nor is a big integer.
pub const BIG_INTEGER: &str = "10n";
/// Leaves something behind.
pub const LEAVE: &str = "globalThis.left = 1; Array.prototype.left = 1; 'left'";
/// Looks for it.
pub const LOOK: &str = "[typeof globalThis.left, typeof [].left]";
