//! What of a module has to be known to add functions to it and to give it another memory.

use drydock_contract::port::SnapshotRecipe;

use super::{
    SnapshotError,
    code::{self, Code},
    frames, inline,
    section::{Reader, Sections, bad, id, put_i32_const, put_u32},
};

/// Where every command starts.
const START: &str = "_start";

/// A page of memory, and the piece in which zeros are left out.
pub(super) const PAGE_BYTES: usize = 64 << 10;
const PIECE_BYTES: usize = 4 << 10;

/// How deep calls of small functions by small functions are followed.
const INLINE_ROUNDS: usize = 2;

/// The facts of the format that are used here.
const FUNC: u8 = 0x60;
const CALL: u8 = 0x10;
const DROP: u8 = 0x1a;
const GLOBAL_SET: u8 = 0x24;
const END: u8 = 0x0b;

/// The module with this memory, and with a `_start` that runs the recipe's text and then does what it did.
pub(super) fn with_memory(
    wasm: &[u8],
    recipe: &SnapshotRecipe,
    memory: &[u8],
) -> Result<Vec<u8>, SnapshotError> {
    let sections = Sections::parse(wasm)?;
    let stack_pointer = stateless_beside_memory(&sections)?;
    let stack = match recipe.stack_bytes {
        0 => None,
        _ => Some((stack_pointer.ok_or_else(|| bad("it has no pointer to a stack"))?, memory.len() as u32)),
    };
    let start = exported(&sections, START)?;
    let code = match recipe.unoptimised {
        true => optimised(&sections, stack_pointer)?,
        false => sections.need(id::CODE, "code")?.to_vec(),
    };
    let (types, plain) = with_plain_type(&sections)?;
    let (functions, resume) = with_function(&sections, plain)?;
    Ok(sections.rebuild(&[
        (id::TYPE, types),
        (id::FUNCTION, functions),
        (id::CODE, with_code(&code, recipe, stack, start)?),
        (id::EXPORT, with_start(&sections, resume)?),
        (id::MEMORY, memory_of(&sections, memory)?),
        (id::DATA, data_of(memory)),
    ]))
}

/// An instance that is made anew has its globals anew. One that is written to is the pointer to the program's
/// stack, which is to be anew; a second one would be state that the snapshot loses. Its index is told.
fn stateless_beside_memory(sections: &Sections<'_>) -> Result<Option<u32>, SnapshotError> {
    if sections.get(id::DATA_COUNT).is_some() {
        return Err(bad("it copies its data itself, which a snapshot would take away"));
    }
    let Some(globals) = sections.get(id::GLOBAL) else { return Ok(None) };
    let mut reader = Reader(globals);
    let mut written = None;
    for index in 0..reader.u32()? {
        reader.byte()?;
        if reader.byte()? == 1 && written.replace(index).is_some() {
            return Err(bad("it keeps state in more than one global"));
        }
        match reader.byte()? {
            0x41 | 0x42 | 0x23 | 0xd2 => reader.skip_number()?,
            0x43 => drop(reader.take(4)?),
            0x44 => drop(reader.take(8)?),
            0xd0 => drop(reader.byte()?),
            _ => return Err(bad("a global has a value that is not a plain one")),
        }
        if reader.byte()? != END {
            return Err(bad("a global has a value that is not a plain one"));
        }
    }
    Ok(written)
}

/// The types with one that takes and returns nothing at the end, and its number.
fn with_plain_type(sections: &Sections<'_>) -> Result<(Vec<u8>, u32), SnapshotError> {
    let (mut types, count) = grown(sections.need(id::TYPE, "types")?)?;
    types.extend_from_slice(&[FUNC, 0, 0]);
    Ok((types, count))
}

/// The functions with one more, and its index.
fn with_function(sections: &Sections<'_>, plain: u32) -> Result<(Vec<u8>, u32), SnapshotError> {
    let (mut functions, count) = grown(sections.need(id::FUNCTION, "functions")?)?;
    put_u32(&mut functions, plain);
    let index = (code::imports(sections)?.len() as u32).checked_add(count);
    Ok((functions, index.ok_or_else(|| bad("it has too many functions"))?))
}

/// The code of a module that was compiled without optimisation, with what it lacks most.
fn optimised(sections: &Sections<'_>, stack_pointer: Option<u32>) -> Result<Vec<u8>, SnapshotError> {
    let mut code = Code::parse(sections)?;
    if let Some(pointer) = stack_pointer {
        let all = code.functions.iter().map(|it| frames::promoted(&code, it, pointer));
        let all: Vec<_> = all.collect();
        for (function, promoted) in code.functions.iter_mut().zip(all) {
            if let Some(promoted) = promoted {
                *function = promoted;
            }
        }
    }
    for _ in 0..INLINE_ROUNDS {
        inline::inline(&mut code);
    }
    Ok(code.section())
}

fn with_code(
    code: &[u8],
    recipe: &SnapshotRecipe,
    stack: Option<(u32, u32)>,
    start: u32,
) -> Result<Vec<u8>, SnapshotError> {
    let (mut codes, _) = grown(code)?;
    // No locals; the stack; what comes before the text; the text's function, whose answer nobody needs, and the
    // program.
    let mut body = vec![0];
    if let Some((pointer, top)) = stack {
        put_i32_const(&mut body, top);
        body.push(GLOBAL_SET);
        put_u32(&mut body, pointer);
    }
    for function in &recipe.before {
        body.push(CALL);
        put_u32(&mut body, *function);
    }
    put_i32_const(&mut body, recipe.text_at);
    put_i32_const(&mut body, 0);
    body.push(CALL);
    put_u32(&mut body, recipe.run);
    body.push(DROP);
    body.push(CALL);
    put_u32(&mut body, start);
    body.push(END);
    put_u32(&mut codes, body.len() as u32);
    codes.extend_from_slice(&body);
    Ok(codes)
}

/// The exports, with `_start` leading to another function.
fn with_start(sections: &Sections<'_>, start: u32) -> Result<Vec<u8>, SnapshotError> {
    let mut reader = Reader(sections.need(id::EXPORT, "exports")?);
    let count = reader.u32()?;
    let mut exports = Vec::new();
    put_u32(&mut exports, count);
    for _ in 0..count {
        let len = reader.u32()?;
        let name = reader.take(len)?;
        let (kind, index) = (reader.byte()?, reader.u32()?);
        put_u32(&mut exports, len);
        exports.extend_from_slice(name);
        exports.push(kind);
        put_u32(&mut exports, if name == START.as_bytes() { start } else { index });
    }
    Ok(exports)
}

fn exported(sections: &Sections<'_>, wanted: &str) -> Result<u32, SnapshotError> {
    let mut reader = Reader(sections.need(id::EXPORT, "exports")?);
    for _ in 0..reader.u32()? {
        let len = reader.u32()?;
        let name = reader.take(len)?;
        let (kind, index) = (reader.byte()?, reader.u32()?);
        if name == wanted.as_bytes() && kind == 0 {
            return Ok(index);
        }
    }
    Err(bad(&format!("it exports no function `{wanted}`")))
}

/// The one memory, as large as it was.
fn memory_of(sections: &Sections<'_>, memory: &[u8]) -> Result<Vec<u8>, SnapshotError> {
    let mut reader = Reader(sections.need(id::MEMORY, "memory")?);
    let (count, flags) = (reader.u32()?, reader.byte()?);
    if count != 1 || flags > 1 {
        return Err(bad("its memory is not a plain one"));
    }
    reader.u32()?;
    let mut section = vec![1, flags];
    put_u32(&mut section, memory.len().div_ceil(PAGE_BYTES) as u32);
    if flags == 1 {
        put_u32(&mut section, reader.u32()?);
    }
    Ok(section)
}

/// Everything in it that is not zero.
fn data_of(memory: &[u8]) -> Vec<u8> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    for (index, piece) in memory.chunks(PIECE_BYTES).enumerate() {
        if piece.iter().all(|byte| *byte == 0) {
            continue;
        }
        let (start, end) = (index * PIECE_BYTES, index * PIECE_BYTES + piece.len());
        match runs.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => runs.push(start..end),
        }
    }
    let mut data = Vec::with_capacity(memory.len());
    put_u32(&mut data, runs.len() as u32);
    for run in runs {
        data.push(0);
        put_i32_const(&mut data, run.start as u32);
        data.push(END);
        put_u32(&mut data, run.len() as u32);
        data.extend_from_slice(&memory[run]);
    }
    data
}

/// The content of a section that counts its entries, with the count raised by one; and the count before.
fn grown(section: &[u8]) -> Result<(Vec<u8>, u32), SnapshotError> {
    let mut reader = Reader(section);
    let count = reader.u32()?;
    let mut grown = Vec::with_capacity(section.len() + 64);
    put_u32(&mut grown, count.checked_add(1).ok_or_else(|| bad("it has too many entries"))?);
    grown.extend_from_slice(reader.0);
    Ok((grown, count))
}
