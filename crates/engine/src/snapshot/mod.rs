//! A program as it is after its own initialisation, kept as a module of its own.
//!
//! The program is started and stopped when it first asks for input, that is, when it is ready. [`image`] makes
//! the module whose memory is what that left, and whose `_start` first runs a text in the program's own language,
//! which takes over what the new run brings (its environment), and then the program's `_start` once more. A
//! [`SnapshotRecipe`] says how that is done with this very module, known by its hash.
//!
//! Where the recipe says that nobody optimised the code, [`frames`] and [`inline`] do the most needed.
//!
//! Only bytes are changed here; running is the lane's. The result is a module like any other: it is validated,
//! compiled in the worker and has the powers of the run.

mod code;
mod frames;
mod inline;
mod module;
mod section;

use std::ops::Range;

use drydock_contract::{Artifact, port::SnapshotRecipe};

/// The largest stack that a recipe may ask for.
const STACK_BYTES_MAX: u32 = 64 << 20;

/// There is no snapshot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The module cannot be snapshotted.
    #[error("the module cannot be snapshotted: {0}")]
    Module(String),
    /// The recipe does not fit the module.
    #[error("the recipe does not fit the module: {0}")]
    Recipe(String),
    /// The program did not come to the point where it asks for input.
    #[error("the program did not initialise: {0}")]
    Program(String),
    /// It could not be run at all.
    #[error(transparent)]
    Fault(#[from] drydock_contract::Fault),
}

impl SnapshotError {
    /// The stable code that logs and tests match on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Module(_) => "snapshot_module",
            Self::Recipe(_) => "snapshot_recipe",
            Self::Program(_) => "snapshot_program",
            Self::Fault(fault) => fault.code(),
        }
    }
}

/// The module that starts where this memory was left.
pub(crate) fn image(
    wasm: &[u8],
    recipe: &SnapshotRecipe,
    mut memory: Vec<u8>,
) -> Result<Artifact, SnapshotError> {
    let dead_bytes = recipe.dead_to.saturating_sub(recipe.dead_from);
    let dead = range(&memory, recipe.dead_from, u64::from(dead_bytes))?;
    memory[dead].fill(0);
    for word in &recipe.words {
        let place = range(&memory, word.at, 4)?;
        memory[place].copy_from_slice(&word.value.to_le_bytes());
    }
    put_text(&mut memory, recipe, &recipe.resume)?;
    if recipe.stack_bytes > STACK_BYTES_MAX {
        return Err(SnapshotError::Recipe(format!("a stack has at most {STACK_BYTES_MAX} bytes")));
    }
    // Whole pages: the end of memory is where the stack begins.
    memory.resize((memory.len() + recipe.stack_bytes as usize).next_multiple_of(module::PAGE_BYTES), 0);
    Ok(Artifact::hash(module::with_memory(wasm, recipe, &memory)?))
}

/// Puts a text where the recipe's function finds it.
fn put_text(memory: &mut [u8], recipe: &SnapshotRecipe, text: &str) -> Result<(), SnapshotError> {
    if text.contains('\0') {
        return Err(SnapshotError::Recipe("a text has a NUL in it".into()));
    }
    let place = range(memory, recipe.text_at, text.len() as u64 + 1)?;
    let bytes = &mut memory[place];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes[text.len()] = 0;
    Ok(())
}

fn range(memory: &[u8], at: u32, count: u64) -> Result<Range<usize>, SnapshotError> {
    let outside = || SnapshotError::Recipe(format!("address {at} is outside of its memory"));
    let range = crate::memory::range(at, count).map_err(|_| outside())?;
    if range.end > memory.len() { Err(outside()) } else { Ok(range) }
}

#[cfg(test)]
mod tests {
    use drydock_contract::port::SnapshotRecipe;
    use proptest::prelude::*;

    fn recipe() -> SnapshotRecipe {
        SnapshotRecipe {
            argv: Vec::new(),
            env: Vec::new(),
            files: Vec::new(),
            before: Vec::new(),
            run: 0,
            text_at: 0,
            resume: "x".into(),
            words: Vec::new(),
            dead_from: 0,
            dead_to: 0,
            stack_bytes: 0,
            unoptimised: false,
            first: Vec::new(),
            not_env: Vec::new(),
            plain_paths: Vec::new(),
        }
    }

    fn module() -> Vec<u8> {
        wat::parse_str(
            r#"(module (memory (export "memory") 1) (global (mut i32) (i32.const 9))
                (func (param i32 i32) (result i32) (i32.const 0))
                (func (param i32) (result i32) (local i32)
                  (i32.store offset=12 (local.tee 1 (i32.sub (global.get 0) (i32.const 16))) (local.get 0))
                  (if (i32.load offset=12 (local.get 1)) (then (return (i32.const 1))))
                  (block (br_table 0 0 (call 0 (i32.const 1) (local.get 0)))) (i32.load offset=12 (local.get 1)))
                (func (export "_start") (drop (call 1 (i32.const 1)))) (data (i32.const 8) "data"))"#,
        )
        .unwrap()
    }

    #[test]
    fn memory_that_is_zero_is_left_out() {
        let mut memory = vec![0; 3 << 16];
        memory[2 << 16] = 1;
        let image = super::image(&module(), &recipe(), memory).unwrap();
        assert!(image.bytes().len() < 20_000, "{}", image.bytes().len());
    }

    proptest! {
        #[test]
        fn bytes_that_are_no_module_are_refused_and_never_panic(
            cut in any::<proptest::sample::Index>(),
            flips in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..4),
        ) {
            let mut bytes = module();
            for (at, with) in flips {
                let at = at.index(bytes.len());
                bytes[at] ^= with;
            }
            let end = cut.index(bytes.len() + 1);
            for unoptimised in [false, true] {
                let recipe = SnapshotRecipe { unoptimised, ..recipe() };
                let _ = super::image(&bytes[..end], &recipe, vec![0; 1 << 16]);
            }
        }
    }
}
