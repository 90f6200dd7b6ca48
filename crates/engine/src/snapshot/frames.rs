//! Variables of a frame in memory become variables of the function.
//!
//! A compiler that does not optimise keeps every variable of C in memory, below the stack pointer. Where the address of
//! the frame is used for nothing but to read and write there, nobody else can know what is in it, and each place that
//! is always accessed in one way is a variable. The frame is gone then. A variable that C did not set has no value that
//! a program may rely on: it is zero here.

use std::collections::BTreeMap;

use super::code::{Access, Code, Function, Op, decoded, kind, op};
use super::section::{put_i32_const, put_u32};

/// The function without its frame, if it can do without.
pub(super) fn promoted(code: &Code, function: &Function, stack_pointer: u32) -> Option<Function> {
    let ops = decoded(&function.body)?;
    let frame = Frame::of(&ops, stack_pointer)?;
    if (frame.local as usize) < function.signature.params.len() {
        return None;
    }
    let parts = Walk::new(code, function, &ops, &frame).parts()?;
    let mut result = function.clone();
    let mut slots = BTreeMap::new();
    for (offset, access) in slots_of(&ops, &parts)? {
        slots.insert(offset, result.local(access.kind)?);
    }
    result.body.clear();
    for (at, part) in ops.iter().zip(&parts) {
        match part {
            Part::Gone => {}
            Part::Kept => result.body.extend_from_slice(&function.body[at.bytes.clone()]),
            Part::Slot => put_access(&mut result.body, at, *slots.get(&at.second)?),
        }
    }
    Some(result)
}

/// How a function makes its frame: `local.tee(stack_pointer - bytes)`, which functions that call others make the
/// stack pointer.
struct Frame {
    stack_pointer: u32,
    local: u32,
    bytes: i64,
    is_stack_pointer: bool,
}

/// The instructions that make the address; one that sets the stack pointer may follow.
const FRAME_OPS: usize = 4;

impl Frame {
    fn of(ops: &[Op], stack_pointer: u32) -> Option<Self> {
        let [get, bytes, sub, tee, next, ..] = ops else { return None };
        let fits = get.is(op::GLOBAL_GET, stack_pointer)
            && bytes.code == op::I32_CONST
            && sub.code == op::I32_SUB
            && tee.code == op::LOCAL_TEE;
        let local = u32::try_from(tee.first).ok().filter(|_| fits)?;
        let is_set = |it: &&Op| it.is(op::LOCAL_SET, local) || it.is(op::LOCAL_TEE, local);
        let is_stack_pointer = next.is(op::GLOBAL_SET, stack_pointer);
        (ops.iter().filter(is_set).count() == 1).then_some(Self {
            stack_pointer,
            local,
            bytes: bytes.first,
            is_stack_pointer,
        })
    }

    /// Whether the stack pointer is given back here.
    fn is_left(&self, ops: &[Op]) -> bool {
        let [get, bytes, add, set, ..] = ops else { return false };
        get.is(op::LOCAL_GET, self.local)
            && bytes.code == op::I32_CONST
            && bytes.first == self.bytes
            && add.code == op::I32_ADD
            && set.is(op::GLOBAL_SET, self.stack_pointer)
    }
}

/// What becomes of an instruction.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Kept,
    Gone,
    /// It accesses the frame.
    Slot,
}

/// A value: `Some` is the frame's address, and which instruction put it there.
type Value = Option<usize>;

struct Block {
    height: usize,
    /// How many values a branch to it takes.
    branch: usize,
    params: usize,
    results: usize,
    /// Whether what follows is never reached.
    is_dead: bool,
}

/// Follows the frame's address over the stack of values. Each step is none where the address could get away, or where
/// the module is not valid.
struct Walk<'a> {
    code: &'a Code,
    ops: &'a [Op],
    frame: &'a Frame,
    values: Vec<Value>,
    blocks: Vec<Block>,
    parts: Vec<Part>,
}

impl<'a> Walk<'a> {
    fn new(code: &'a Code, function: &Function, ops: &'a [Op], frame: &'a Frame) -> Self {
        let results = function.signature.results.len();
        let whole = Block { height: 0, branch: results, params: 0, results, is_dead: false };
        let parts = vec![Part::Kept; ops.len()];
        Self { code, ops, frame, values: Vec::new(), blocks: vec![whole], parts }
    }

    fn parts(mut self) -> Option<Vec<Part>> {
        let mut at = FRAME_OPS;
        self.parts[..FRAME_OPS].fill(Part::Gone);
        if self.frame.is_stack_pointer {
            self.parts[FRAME_OPS] = Part::Gone;
            at += 1;
        } else {
            self.values.push(Some(FRAME_OPS - 1));
        }
        while at < self.ops.len() {
            if self.frame.is_left(&self.ops[at..]) {
                self.parts[at..at + 4].fill(Part::Gone);
                at += 4;
                continue;
            }
            self.step(at)?;
            at += 1;
        }
        self.blocks.is_empty().then_some(self.parts)
    }

    fn step(&mut self, at: usize) -> Option<()> {
        let (code, ops) = (self.code, self.ops);
        let this = &ops[at];
        match this.code {
            op::LOCAL_GET if this.is(op::LOCAL_GET, self.frame.local) => self.values.push(Some(at)),
            // Room on the stack that is given back with the frame.
            op::GLOBAL_SET if this.is(op::GLOBAL_SET, self.frame.stack_pointer) => return None,
            op::UNREACHABLE => self.dead()?,
            op::BLOCK | op::LOOP | op::IF => {
                self.plain(usize::from(this.code == op::IF))?;
                let (params, results) = code.block(this.first)?;
                self.plain(params)?;
                let branch = if this.code == op::LOOP { params } else { results };
                let height = self.values.len();
                self.blocks.push(Block { height, branch, params, results, is_dead: false });
                self.push(params);
            }
            op::ELSE => {
                let block = self.blocks.last_mut()?;
                block.is_dead = false;
                let (height, params) = (block.height, block.params);
                self.cut(height)?;
                self.push(params);
            }
            op::END => {
                let block = self.blocks.pop()?;
                self.cut(block.height)?;
                self.push(block.results);
            }
            op::BR => {
                self.branch(this.first)?;
                self.dead()?;
            }
            op::BR_IF => {
                self.plain(1)?;
                self.branch(this.first)?;
            }
            op::BR_TABLE | op::RETURN => {
                self.values.iter().all(Option::is_none).then_some(())?;
                self.dead()?;
            }
            op::CALL => {
                let signature = code.signature(u32::try_from(this.first).ok()?)?;
                self.plain(signature.params.len())?;
                self.push(signature.results.len());
            }
            op::CALL_INDIRECT => {
                let signature = code.signature_of_type(this.first)?;
                self.plain(signature.params.len() + 1)?;
                self.push(signature.results.len());
            }
            _ => self.value(at)?,
        }
        Some(())
    }

    /// An access to memory, or an instruction that is only about values.
    fn value(&mut self, at: usize) -> Option<()> {
        let this = &self.ops[at];
        let Some(access) = this.access() else {
            let (takes, gives) = this.arity()?;
            self.plain(takes)?;
            self.push(gives);
            return Some(());
        };
        self.plain(usize::from(access.is_store))?;
        if let Some(address) = self.pop()? {
            self.parts[address] = Part::Gone;
            self.parts[at] = Part::Slot;
        }
        self.push(usize::from(!access.is_store));
        Some(())
    }

    fn push(&mut self, count: usize) {
        self.values.resize(self.values.len() + count, None);
    }

    fn pop(&mut self) -> Option<Value> {
        let block = self.blocks.last()?;
        if self.values.len() > block.height {
            return self.values.pop();
        }
        block.is_dead.then_some(None)
    }

    /// Takes values none of which may be the address.
    fn plain(&mut self, count: usize) -> Option<()> {
        (0..count).try_for_each(|_| self.pop()?.is_none().then_some(()))
    }

    /// The end of a block: what is left are its results.
    fn cut(&mut self, height: usize) -> Option<()> {
        let is_plain = self.values.get(height..)?.iter().all(Option::is_none);
        self.values.truncate(height);
        is_plain.then_some(())
    }

    fn branch(&self, depth: i64) -> Option<()> {
        let block = self.blocks.iter().rev().nth(usize::try_from(depth).ok()?)?;
        self.values.iter().rev().take(block.branch).all(Option::is_none).then_some(())
    }

    fn dead(&mut self) -> Option<()> {
        let block = self.blocks.last_mut()?;
        block.is_dead = true;
        self.values.truncate(block.height);
        Some(())
    }
}

/// The places in the frame, if each is accessed in one way and none reaches into another.
fn slots_of(ops: &[Op], parts: &[Part]) -> Option<BTreeMap<u32, Access>> {
    let mut slots = BTreeMap::new();
    for (at, _) in ops.iter().zip(parts).filter(|it| *it.1 == Part::Slot) {
        let access = Access { is_store: false, ..at.access()? };
        if *slots.entry(at.second).or_insert(access) != access {
            return None;
        }
    }
    let mut end = 0;
    for (offset, access) in &slots {
        if *offset < end {
            return None;
        }
        end = offset.checked_add(access.bytes)?;
    }
    Some(slots)
}

/// The access as one to a variable. A narrow place keeps the whole value, and is cut to its width when it is read.
fn put_access(out: &mut Vec<u8>, this: &Op, local: u32) {
    let is_store = this.access().is_some_and(|it| it.is_store);
    let code = if is_store { op::LOCAL_SET } else { op::LOCAL_GET };
    out.push(code as u8);
    put_u32(out, local);
    let mask = |out: &mut Vec<u8>, mask, kind| {
        put_i32_const(out, mask);
        // `i64.extend_i32_u` before an `and`.
        out.extend_from_slice(if kind == kind::I32 { &[0x71] } else { &[0xad, 0x83] });
    };
    match this.code {
        0x2c => out.push(0xc0),
        0x2d => mask(out, 0xff, kind::I32),
        0x2e => out.push(0xc1),
        0x2f => mask(out, 0xffff, kind::I32),
        0x30 => out.push(0xc2),
        0x31 => mask(out, 0xff, kind::I64),
        0x32 => out.push(0xc3),
        0x33 => mask(out, 0xffff, kind::I64),
        0x34 => out.push(0xc4),
        0x35 => mask(out, u32::MAX, kind::I64),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::tests::{bodies, code};

    const MAKE: &str = "(local.tee 1 (i32.sub (global.get 0) (i32.const 16)))";
    const LEAVE: &str = "(global.set 0 (i32.add (local.get 1) (i32.const 16)))";

    fn promoted(function: &str) -> Option<(Vec<u8>, Vec<u8>)> {
        let code = code(&format!("{function} (func (param i32))"));
        super::promoted(&code, &code.functions[0], 0).map(|it| (it.locals, it.body))
    }

    #[test]
    fn a_frame_whose_address_goes_nowhere_is_gone() {
        let leaf = format!(
            "(func (param i32) (result i32) (local i32) (i32.store offset=12 {MAKE} (local.get 0))
              (i32.load offset=4 (i32.load offset=12 (local.get 1))))"
        );
        let without = "(func (param i32) (result i32) (local i32 i32) (local.set 2 (local.get 0))
            (i32.load offset=4 (local.get 2)))";
        assert_eq!(promoted(&leaf), bodies(without).pop());
        let calls = format!(
            "(func (param i32) (local i32) (global.set 0 {MAKE}) (i64.store (local.get 1) (i64.const 7))
              (block (br_if 0 (i64.eqz (i64.load (local.get 1)))) (i32.store8 offset=8 (local.get 1) (local.get 0)))
              (call 1 (i32.load8_s offset=8 (local.get 1))) (call 1 (i32.load8_u offset=8 (local.get 1))) {LEAVE})"
        );
        let without = "(func (param i32) (local i32 i64 i32) (local.set 2 (i64.const 7))
            (block (br_if 0 (i64.eqz (local.get 2))) (local.set 3 (local.get 0)))
            (call 1 (i32.extend8_s (local.get 3))) (call 1 (i32.and (local.get 3) (i32.const 255))))";
        assert_eq!(promoted(&calls), bodies(without).pop());
    }

    #[test]
    fn a_frame_that_somebody_else_could_know_stays() {
        let stays = [
            ("the address is given away", "(call 1 (local.get 1))"),
            ("that of a part is", "(call 1 (i32.add (local.get 1) (i32.const 8)))"),
            ("it is kept", "(i32.store (i32.const 64) (local.get 1))"),
            ("it is kept in the frame itself", "(i32.store (local.get 1) (local.get 1))"),
            ("it is another variable", "(local.set 0 (local.get 1))"),
            ("it is what a block gives", "(drop (block (result i32) (local.get 1)))"),
            ("a branch takes it along", "(drop (block (result i32) (br 0 (local.get 1))))"),
            (
                "a table of branches does",
                "(drop (block (result i32) (br_table 0 (local.get 1) (i32.const 0))))",
            ),
            (
                "it is one of two",
                "(i32.store (select (local.get 1) (local.get 0) (i32.const 1)) (i32.const 0))",
            ),
            (
                "a place has two widths",
                "(i32.store (local.get 1) (i32.const 1)) (i32.store8 (local.get 1) (i32.const 1))",
            ),
            (
                "places overlap",
                "(i64.store (local.get 1) (i64.const 1)) (i32.store offset=4 (local.get 1) (i32.const 1))",
            ),
            ("memory is filled", "(memory.fill (local.get 1) (i32.const 0) (i32.const 8))"),
            ("room is made on the stack", "(global.set 0 (i32.sub (global.get 0) (local.get 0)))"),
            ("the variable is set again", "(local.set 1 (i32.const 0))"),
            ("an instruction is not known", "(drop (ref.is_null (ref.null func)))"),
        ];
        let with = |inside| format!("(func (param i32) (local i32) (global.set 0 {MAKE}) {inside} {LEAVE})");
        assert!(promoted(&with("(i32.store (local.get 1) (local.get 0))")).is_some());
        for (why, inside) in stays {
            assert!(promoted(&with(inside)).is_none(), "{why}");
        }
        let parameter = "(func (param i32 i32) (i32.store (local.tee 1 (i32.sub (global.get 0) (i32.const 16))) (i32.const 1)))";
        assert!(promoted(parameter).is_none(), "a parameter had another value before");
    }
}
