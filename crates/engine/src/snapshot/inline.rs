//! Small functions become part of those that call them.
//!
//! A compiler that does not optimise calls a function for every field that it reads.

use std::collections::HashMap;

use super::code::{Code, Function, Op, decoded, kind, op};
use super::section::put_u32;

/// Functions of at most so many bytes become part of others.
const SMALL_BYTES_MAX: usize = 60;

/// What a function may grow by, beyond doubling.
const GROWTH_BYTES: usize = 4 << 10;

/// Puts small functions where they are called, once.
pub(super) fn inline(code: &mut Code) {
    let small = small(code);
    let imported = code.imported;
    for (index, function) in code.functions.iter_mut().enumerate() {
        let own = imported.saturating_add(index as u32);
        if let Some(with) = with_bodies(function, own, &small) {
            *function = with;
        }
    }
}

struct Small {
    function: Function,
    ops: Vec<Op>,
    /// Whether it does one thing after the other: then no block is needed around it.
    is_straight: bool,
}

fn small(code: &Code) -> HashMap<u32, Small> {
    let mut all = HashMap::new();
    for (index, function) in code.functions.iter().enumerate() {
        if function.body.len() > SMALL_BYTES_MAX || function.signature.results.len() > 1 {
            continue;
        }
        let own = code.imported.saturating_add(index as u32);
        let Some(ops) = decoded(&function.body) else { continue };
        if ops.iter().any(|it| it.is(op::CALL, own)) {
            continue;
        }
        let is_straight = !ops.iter().any(|it| it.code <= op::RETURN && it.code != op::END);
        all.insert(own, Small { function: function.clone(), ops, is_straight });
    }
    all
}

/// The function with the bodies of the small ones that it calls.
fn with_bodies(function: &Function, own: u32, small: &HashMap<u32, Small>) -> Option<Function> {
    let ops = decoded(&function.body)?;
    let called = |it: &Op| {
        let index = u32::try_from(it.first).ok().filter(|index| it.code == op::CALL && *index != own)?;
        small.get(&index)
    };
    ops.iter().find_map(called)?;
    let mut result = function.clone();
    result.body.clear();
    let mut spare = Spare { first: function.locals.len(), taken: Vec::new() };
    let mut room = function.body.len() + GROWTH_BYTES;
    for this in &ops {
        match called(this).filter(|it| it.function.body.len() <= room) {
            Some(callee) => {
                room -= callee.function.body.len();
                spare.put(&mut result, callee)?;
            }
            None => result.body.extend_from_slice(function.body.get(this.bytes.clone())?),
        }
    }
    Some(result)
}

/// Variables for the bodies: each needs its own only as long as it runs.
struct Spare {
    /// The first in the function's list that is for bodies.
    first: usize,
    taken: Vec<bool>,
}

impl Spare {
    fn put(&mut self, caller: &mut Function, callee: &Small) -> Option<()> {
        self.taken.fill(false);
        let (params, locals) = (&callee.function.signature.params, &callee.function.locals);
        let kinds = params.iter().chain(locals);
        let places: Vec<u32> = kinds.map(|kind| self.take(caller, *kind)).collect::<Option<_>>()?;
        let out = &mut caller.body;
        for place in places[..params.len()].iter().rev() {
            put_variable(out, op::LOCAL_SET, *place);
        }
        for (place, kind) in places[params.len()..].iter().zip(locals) {
            put_zero(out, *kind)?;
            put_variable(out, op::LOCAL_SET, *place);
        }
        if !callee.is_straight {
            out.push(op::BLOCK as u8);
            out.push(callee.function.signature.results.first().copied().unwrap_or(0x40));
        }
        let mut depth = 0u32;
        for (at, this) in callee.ops.iter().enumerate() {
            match this.code {
                op::LOCAL_GET | op::LOCAL_SET | op::LOCAL_TEE => {
                    put_variable(out, this.code, *places.get(usize::try_from(this.first).ok()?)?);
                    continue;
                }
                op::RETURN => {
                    put_variable(out, op::BR, depth);
                    continue;
                }
                op::END if at + 1 == callee.ops.len() && callee.is_straight => continue,
                op::BLOCK | op::LOOP | op::IF => depth += 1,
                op::END => depth = depth.saturating_sub(1),
                _ => {}
            }
            out.extend_from_slice(callee.function.body.get(this.bytes.clone())?);
        }
        Some(())
    }

    fn take(&mut self, caller: &mut Function, kind: u8) -> Option<u32> {
        let kinds = &caller.locals[self.first..];
        let free = kinds.iter().zip(&self.taken).position(|it| *it.0 == kind && !it.1);
        if let Some(free) = free {
            self.taken[free] = true;
            return Some((caller.signature.params.len() + self.first + free) as u32);
        }
        self.taken.push(true);
        caller.local(kind)
    }
}

/// An instruction with one index.
fn put_variable(out: &mut Vec<u8>, code: u16, index: u32) {
    out.push(code as u8);
    put_u32(out, index);
}

fn put_zero(out: &mut Vec<u8>, kind: u8) -> Option<()> {
    out.extend_from_slice(match kind {
        kind::I32 => &[0x41, 0],
        kind::I64 => &[0x42, 0],
        kind::F32 => &[0x43, 0, 0, 0, 0],
        kind::F64 => &[0x44, 0, 0, 0, 0, 0, 0, 0, 0],
        _ => return None,
    });
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::code::tests::{bodies, code};

    fn inlined(functions: &str) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut code = code(functions);
        super::inline(&mut code);
        code.functions.pop().map(|it| (it.locals, it.body))
    }

    #[test]
    fn what_small_functions_do_is_done_where_they_were_called() {
        let field = "(func (param i32) (result i32) (i32.load offset=4 (local.get 0)))";
        // Both bodies use the same variable.
        let twice = format!("{field} (func (param i32) (result i32) (call 0 (call 0 (local.get 0))))");
        let with = "(func (param i32) (result i32) (local i32) (local.get 0) (local.set 1) (i32.load offset=4 (local.get 1))
            (local.set 1) (i32.load offset=4 (local.get 1)))";
        assert_eq!(inlined(&twice), bodies(with).pop());
        // One that returns early leaves its block, and its variable is zero each time.
        let early = "(func (param i64) (result i32) (local i32)
            (if (i64.eqz (local.get 0)) (then (return (local.get 1)))) (local.tee 1 (i32.const 5)))
            (func (result i32) (i32.add (i32.const 1) (call 0 (i64.const 9))))";
        let with =
            "(func (result i32) (local i64 i32) (i32.const 1) (i64.const 9) (local.set 0) (i32.const 0) (local.set 1)
              (block (result i32) (if (i64.eqz (local.get 0)) (then (br 1 (local.get 1)))) (local.tee 1 (i32.const 5)))
              i32.add)";
        assert_eq!(inlined(early), bodies(with).pop());
    }

    #[test]
    fn functions_that_are_large_or_call_themselves_stay_calls() {
        let large = "(i32.store (i32.const 1000) (i32.const 1000))".repeat(10);
        for callee in [format!("(func {large})"), "(func (call 0))".to_owned()] {
            let functions = format!("{callee} (func (call 0))");
            assert_eq!(inlined(&functions), bodies("(func) (func (call 0))").pop(), "{callee}");
        }
        let calls = "(call 0)".repeat(5000);
        let (_, body) =
            inlined(&format!("(func (i32.store (i32.const 1000) (i32.const 1))) (func {calls})")).unwrap();
        assert!(body.len() < 4 * calls.len() / 8 + 8192, "and nothing grows beyond measure: {}", body.len());
    }
}
