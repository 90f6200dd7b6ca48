//! The functions of a module as their instructions, each with its bytes: as much as is needed to change some of them.
//!
//! Only instructions of the first version of the format, its conversions, and copying and filling of memory are known.
//! A function with others is one of which nothing is said, and stays what it was.

use std::ops::Range;

use super::{
    SnapshotError,
    section::{Reader, Sections, bad, id, put_u32},
};

/// Instructions by their numbers in the format.
pub(super) mod op {
    pub(in crate::snapshot) const UNREACHABLE: u16 = 0x00;
    pub(in crate::snapshot) const BLOCK: u16 = 0x02;
    pub(in crate::snapshot) const LOOP: u16 = 0x03;
    pub(in crate::snapshot) const IF: u16 = 0x04;
    pub(in crate::snapshot) const ELSE: u16 = 0x05;
    pub(in crate::snapshot) const END: u16 = 0x0b;
    pub(in crate::snapshot) const BR: u16 = 0x0c;
    pub(in crate::snapshot) const BR_IF: u16 = 0x0d;
    pub(in crate::snapshot) const BR_TABLE: u16 = 0x0e;
    pub(in crate::snapshot) const RETURN: u16 = 0x0f;
    pub(in crate::snapshot) const CALL: u16 = 0x10;
    pub(in crate::snapshot) const CALL_INDIRECT: u16 = 0x11;
    pub(in crate::snapshot) const LOCAL_GET: u16 = 0x20;
    pub(in crate::snapshot) const LOCAL_SET: u16 = 0x21;
    pub(in crate::snapshot) const LOCAL_TEE: u16 = 0x22;
    pub(in crate::snapshot) const GLOBAL_GET: u16 = 0x23;
    pub(in crate::snapshot) const GLOBAL_SET: u16 = 0x24;
    pub(in crate::snapshot) const I32_CONST: u16 = 0x41;
    pub(in crate::snapshot) const I32_ADD: u16 = 0x6a;
    pub(in crate::snapshot) const I32_SUB: u16 = 0x6b;
}

/// Types of values by their numbers in the format.
pub(super) mod kind {
    pub(in crate::snapshot) const I32: u8 = 0x7f;
    pub(in crate::snapshot) const I64: u8 = 0x7e;
    pub(in crate::snapshot) const F32: u8 = 0x7d;
    pub(in crate::snapshot) const F64: u8 = 0x7c;
}

/// What the format allows a function.
const LOCALS_MAX: usize = 50_000;

/// A block that takes and gives nothing, as its type is read.
const BLOCK_EMPTY: i64 = -64;

/// An instruction.
pub(super) struct Op {
    pub(super) code: u16,
    /// The first operand: an index, a constant, a block's type.
    pub(super) first: i64,
    /// The second: the offset of an access to memory.
    pub(super) second: u32,
    /// Where it is in the body.
    pub(super) bytes: Range<usize>,
}

impl Op {
    /// Whether it is this instruction with this index.
    pub(super) fn is(&self, code: u16, index: u32) -> bool {
        self.code == code && self.first == i64::from(index)
    }

    /// What is read or written, if it accesses memory.
    pub(super) fn access(&self) -> Option<Access> {
        use kind::{F32, F64, I32, I64};
        let (bytes, kind) = match self.code {
            0x28 | 0x36 => (4, I32),
            0x29 | 0x37 => (8, I64),
            0x2a | 0x38 => (4, F32),
            0x2b | 0x39 => (8, F64),
            0x2c | 0x2d | 0x3a => (1, I32),
            0x2e | 0x2f | 0x3b => (2, I32),
            0x30 | 0x31 | 0x3c => (1, I64),
            0x32 | 0x33 | 0x3d => (2, I64),
            0x34 | 0x35 | 0x3e => (4, I64),
            _ => return None,
        };
        Some(Access { bytes, kind, is_store: self.code >= 0x36 })
    }

    /// How many values a plain instruction takes and gives.
    pub(super) fn arity(&self) -> Option<(usize, usize)> {
        Some(match self.code {
            0x01 => (0, 0),
            op::LOCAL_GET | op::GLOBAL_GET | 0x3f | 0x41..=0x44 => (0, 1),
            0x1a | op::LOCAL_SET | op::GLOBAL_SET => (1, 0),
            0x1b => (3, 1),
            op::LOCAL_TEE | 0x28..=0x35 | 0x40 | 0x45 | 0x50 => (1, 1),
            0x36..=0x3e => (2, 0),
            0x67..=0x69 | 0x79..=0x7b | 0x8b..=0x91 | 0x99..=0x9f | 0xa7..=0xc4 | 0xfc00..=0xfc07 => (1, 1),
            0x46..=0x66 | 0x6a..=0x78 | 0x7c..=0x8a | 0x92..=0x98 | 0xa0..=0xa6 => (2, 1),
            0xfc0a | 0xfc0b => (3, 0),
            _ => return None,
        })
    }
}

/// An access to memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) bytes: u32,
    pub(super) kind: u8,
    pub(super) is_store: bool,
}

/// The instructions of a body, if all are known.
pub(super) fn decoded(body: &[u8]) -> Option<Vec<Op>> {
    let mut reader = Reader(body);
    let mut ops = Vec::with_capacity(body.len() / 2);
    while !reader.0.is_empty() {
        let start = body.len() - reader.0.len();
        let byte = reader.byte().ok()?;
        let (mut code, mut first, mut second) = (u16::from(byte), 0, 0);
        match byte {
            0x00 | 0x01 | 0x05 | 0x0b | 0x0f | 0x1a | 0x1b | 0x45..=0xc4 => {}
            0x02..=0x04 | 0x41 | 0x42 => first = reader.signed().ok()?,
            0x0c | 0x0d | 0x10 | 0x20..=0x24 => first = reader.u32().ok()?.into(),
            0x11 | 0x28..=0x3e => (first, second) = (reader.u32().ok()?.into(), reader.u32().ok()?),
            0x0e => {
                for _ in 0..=reader.u32().ok()? {
                    first = reader.u32().ok()?.into();
                }
            }
            0x3f | 0x40 => drop(reader.byte().ok()?),
            0x43 => drop(reader.take(4).ok()?),
            0x44 => drop(reader.take(8).ok()?),
            0xfc => {
                let number = reader.u32().ok().filter(|it| matches!(it, 0..=7 | 10 | 11))?;
                reader.take([2, 1].get(number.wrapping_sub(10) as usize).copied().unwrap_or(0)).ok()?;
                code = 0xfc00 | number as u16;
            }
            _ => return None,
        }
        ops.push(Op { code, first, second, bytes: start..body.len() - reader.0.len() });
    }
    Some(ops)
}

/// What a function takes and gives.
#[derive(Clone)]
pub(super) struct Signature {
    pub(super) params: Vec<u8>,
    pub(super) results: Vec<u8>,
}

/// A function that the module defines.
#[derive(Clone)]
pub(super) struct Function {
    pub(super) signature: Signature,
    /// The types of its variables behind the parameters.
    pub(super) locals: Vec<u8>,
    /// Its instructions.
    pub(super) body: Vec<u8>,
}

impl Function {
    /// A new variable's index, if there may be one more.
    pub(super) fn local(&mut self, kind: u8) -> Option<u32> {
        let index = self.variables();
        self.locals.push(kind);
        (index < LOCALS_MAX as u32).then_some(index)
    }

    pub(super) fn variables(&self) -> u32 {
        (self.signature.params.len() + self.locals.len()) as u32
    }
}

/// All functions of a module.
pub(super) struct Code {
    types: Vec<Signature>,
    /// The type of each function, those of the host first.
    of_functions: Vec<u32>,
    pub(super) imported: u32,
    pub(super) functions: Vec<Function>,
}

impl Code {
    pub(super) fn parse(sections: &Sections<'_>) -> Result<Self, SnapshotError> {
        let mut of_functions = imports(sections)?;
        let imported = of_functions.len() as u32;
        let mut reader = Reader(sections.need(id::FUNCTION, "functions")?);
        for _ in 0..reader.u32()? {
            of_functions.push(reader.u32()?);
        }
        let mut code = Self { types: signatures(sections)?, of_functions, imported, functions: Vec::new() };
        let mut reader = Reader(sections.need(id::CODE, "code")?);
        for index in 0..reader.u32()? {
            let len = reader.u32()?;
            let mut rest = Reader(reader.take(len)?);
            let signature = code.signature(imported.saturating_add(index));
            let signature = signature.ok_or_else(|| bad("a function has no type"))?.clone();
            let mut locals = Vec::new();
            for _ in 0..rest.u32()? {
                let (count, kind) = (rest.u32()? as usize, rest.byte()?);
                if count > LOCALS_MAX - locals.len() {
                    return Err(bad("a function has too many variables"));
                }
                locals.resize(locals.len() + count, kind);
            }
            code.functions.push(Function { signature, locals, body: rest.0.to_vec() });
        }
        Ok(code)
    }

    /// What a function takes and gives.
    pub(super) fn signature(&self, function: u32) -> Option<&Signature> {
        self.types.get(*self.of_functions.get(function as usize)? as usize)
    }

    /// The same of an indirect call.
    pub(super) fn signature_of_type(&self, index: i64) -> Option<&Signature> {
        self.types.get(usize::try_from(index).ok()?)
    }

    /// How many values a block takes and gives.
    pub(super) fn block(&self, kind: i64) -> Option<(usize, usize)> {
        if kind == BLOCK_EMPTY {
            return Some((0, 0));
        }
        if kind < 0 {
            return Some((0, 1));
        }
        self.signature_of_type(kind).map(|it| (it.params.len(), it.results.len()))
    }

    /// The section's content.
    pub(super) fn section(&self) -> Vec<u8> {
        let mut section = Vec::new();
        put_u32(&mut section, self.functions.len() as u32);
        for function in &self.functions {
            let mut whole = Vec::with_capacity(function.body.len() + 16);
            let groups = function.locals.chunk_by(|one, next| one == next);
            put_u32(&mut whole, groups.clone().count() as u32);
            for group in groups {
                put_u32(&mut whole, group.len() as u32);
                whole.extend(group.first());
            }
            whole.extend_from_slice(&function.body);
            put_u32(&mut section, whole.len() as u32);
            section.extend_from_slice(&whole);
        }
        section
    }
}

fn signatures(sections: &Sections<'_>) -> Result<Vec<Signature>, SnapshotError> {
    let mut reader = Reader(sections.need(id::TYPE, "types")?);
    let mut all = Vec::new();
    for _ in 0..reader.u32()? {
        if reader.byte()? != 0x60 {
            return Err(bad("it has types that are not of functions"));
        }
        let count = reader.u32()?;
        let params = reader.take(count)?.to_vec();
        let count = reader.u32()?;
        all.push(Signature { params, results: reader.take(count)?.to_vec() });
    }
    Ok(all)
}

/// The types of the functions that the host brings.
pub(super) fn imports(sections: &Sections<'_>) -> Result<Vec<u32>, SnapshotError> {
    let Some(imports) = sections.get(id::IMPORT) else { return Ok(Vec::new()) };
    let mut reader = Reader(imports);
    let mut types = Vec::new();
    for _ in 0..reader.u32()? {
        for _ in 0..2 {
            let len = reader.u32()?;
            reader.take(len)?;
        }
        if reader.byte()? != 0 {
            return Err(bad("it imports something that is not a function"));
        }
        types.push(reader.u32()?);
    }
    Ok(types)
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Code, Sections};

    fn wasm(functions: &str) -> Vec<u8> {
        wat::parse_str(format!("(module (memory 1) (global (mut i32) (i32.const 512)) {functions})")).unwrap()
    }

    /// Functions of a module whose stack pointer is its first global.
    pub(in crate::snapshot) fn code(functions: &str) -> Code {
        Code::parse(&Sections::parse(&wasm(functions)).unwrap()).unwrap()
    }

    /// Their variables and instructions. What they call need not be there.
    pub(in crate::snapshot) fn bodies(functions: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
        let code = code(functions);
        code.functions.into_iter().map(|it| (it.locals, it.body)).collect()
    }

    #[test]
    fn what_was_read_is_written_again() {
        let wasm = wasm(
            "(func (param i32) (local i32 i32 f64 i32) (drop (i64.const -9000000000)) (drop (f32.const 1))
               (memory.copy (local.get 0) (local.get 1) (i32.const -1)) (memory.fill (i32.const 1) (i32.const 2) (i32.const 3))
               (block (block (br_table 0 1 0 (local.get 0)))) (drop (i32.trunc_sat_f64_s (local.get 3))))
             (func)",
        );
        let sections = Sections::parse(&wasm).unwrap();
        let code = Code::parse(&sections).unwrap();
        assert_eq!(code.section(), sections.need(super::id::CODE, "code").unwrap());
        let ops = super::decoded(&code.functions[0].body).unwrap();
        assert_eq!(ops[0].first, -9_000_000_000);
        assert_eq!(ops.last().unwrap().bytes.end, code.functions[0].body.len());
        assert_eq!(ops.iter().filter(|it| it.code == super::op::END).count(), 3);
    }
}
