//! Lays the functions of a module out anew: those that a list names come first, in its order, the others after them as
//! they were.
//!
//! Compiled code lies in the order of the module. What runs for every call is a twentieth of a large guest, scattered
//! over all of its pages; side by side it takes a sixth of them, and a processor remembers only some hundred pages of
//! code at a time. The list is advice: a name that is not there is passed over, and nothing else of the module changes
//! but for its names, which nobody reads after this and which are left out.

use anyhow::{Result, anyhow};
use std::collections::{BTreeSet, HashMap};
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{
    CodeSectionReader, CustomSectionReader, FunctionSectionReader, KnownCustom, Parser, Payload,
};

/// The module with the functions that `list` names first: one name a line, without the hash that a compiler adds, and
/// `#2` behind it for the second of that name.
pub fn order(wasm: &[u8], list: &str) -> Result<Vec<u8>> {
    let facts = Facts::of(wasm)?;
    let named: HashMap<&str, u32> = facts.names.iter().map(|(index, name)| (name.as_str(), *index)).collect();
    let mut first: Vec<u32> = Vec::new();
    let mut seen = BTreeSet::new();
    for line in list.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with("# ")) {
        if let Some(index) = named.get(line).filter(|it| **it >= facts.imported && seen.insert(**it)) {
            first.push(*index);
        }
    }
    let all = facts.imported..facts.imported + facts.defined;
    let order: Vec<u32> = first.iter().copied().chain(all.filter(|it| !seen.contains(it))).collect();
    let mut numbers = vec![0; order.len()];
    for (place, index) in order.iter().enumerate() {
        numbers[(index - facts.imported) as usize] = facts.imported + u32::try_from(place)?;
    }
    let mut module = Module::new();
    let mut reorder = Reorder { imported: facts.imported, order, numbers };
    reorder.parse_core_module(&mut module, Parser::new(0), wasm).map_err(|error| anyhow!("{error:?}"))?;
    Ok(module.finish())
}

/// What is known of a module's functions before any is moved.
#[derive(Default)]
struct Facts {
    imported: u32,
    defined: u32,
    /// By number, as a list spells them.
    names: Vec<(u32, String)>,
}

impl Facts {
    fn of(wasm: &[u8]) -> Result<Self> {
        let mut facts = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        facts.imported += u32::from(matches!(import?.ty, wasmparser::TypeRef::Func(_)));
                    }
                }
                Payload::FunctionSection(section) => facts.defined = section.count(),
                Payload::CustomSection(section) => facts.take_names(&section)?,
                _ => {}
            }
        }
        Ok(facts)
    }

    fn take_names(&mut self, section: &CustomSectionReader<'_>) -> Result<()> {
        let KnownCustom::Name(names) = section.as_known() else { return Ok(()) };
        let mut counts: HashMap<String, u32> = HashMap::new();
        for subsection in names {
            let wasmparser::Name::Function(functions) = subsection? else { continue };
            for naming in functions {
                let naming = naming?;
                let name = without_hash(naming.name);
                let count = counts.entry(name.to_owned()).or_default();
                *count += 1;
                let spelled = if *count == 1 { name.to_owned() } else { format!("{name}#{count}") };
                self.names.push((naming.index, spelled));
            }
        }
        Ok(())
    }
}

/// A name without the hash, which differs from compiler to compiler.
fn without_hash(name: &str) -> &str {
    match name.rfind("17h") {
        Some(at) if name.len() == at + "17h0123456789abcdefE".len() && name.ends_with('E') => &name[..at],
        _ => name,
    }
}

struct Reorder {
    imported: u32,
    /// Numbers of before, in the new order.
    order: Vec<u32>,
    /// Numbers of now, by those of before.
    numbers: Vec<u32>,
}

impl Reencode for Reorder {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32, Error> {
        let defined = index.checked_sub(self.imported).and_then(|it| self.numbers.get(it as usize));
        Ok(defined.copied().unwrap_or(index))
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        let types = section.into_iter().collect::<Result<Vec<u32>, _>>()?;
        for index in self.order.clone() {
            let ty = self.type_index(types[(index - self.imported) as usize])?;
            functions.function(ty);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error> {
        let bodies = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for index in self.order.clone() {
            self.parse_function_body(code, bodies[(index - self.imported) as usize].clone())?;
        }
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        module: &mut Module,
        section: CustomSectionReader<'_>,
    ) -> Result<(), Error> {
        // Names would have to be moved too, and only this reads them.
        if matches!(section.as_known(), KnownCustom::Name(_)) {
            return Ok(());
        }
        wasm_encoder::reencode::utils::parse_custom_section(self, module, section)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmtime::{Engine, Instance, Store};

    const MODULE: &str = r#"(module
        (import "a" "b" (func $host (param i32)))
        (table funcref (elem $two $one $three))
        (func $one (result i32) i32.const 1)
        (func $two (result i32) call $one i32.const 1 i32.add)
        (func $three (export "three") (result i32)
            i32.const 0 call_indirect (result i32) call $one i32.add))"#;

    fn names(wasm: &[u8]) -> Vec<String> {
        Facts::of(wasm).unwrap().names.into_iter().map(|it| it.1).collect()
    }

    #[test]
    fn what_is_named_comes_first_and_the_module_does_the_same() {
        let wasm = wat::parse_str(MODULE).unwrap();
        assert_eq!(names(&wasm), ["host", "one", "two", "three"]);
        let ordered = order(&wasm, "# a remark\nthree\nnobody\nhost\ntwo\nthree\n").unwrap();
        assert!(names(&ordered).is_empty());
        assert_ne!(ordered, order(&wasm, "").unwrap());
        let engine = Engine::default();
        for wasm in [&wasm, &ordered] {
            let module = wasmtime::Module::new(&engine, wasm).unwrap();
            let mut store = Store::new(&engine, ());
            let host = wasmtime::Func::wrap(&mut store, |_: i32| {});
            let instance = Instance::new(&mut store, &module, &[host.into()]).unwrap();
            let three = instance.get_typed_func::<(), i32>(&mut store, "three").unwrap();
            assert_eq!(three.call(&mut store, ()).unwrap(), 3);
        }
    }

    #[test]
    fn hashes_are_no_part_of_a_name() {
        let cases = [
            ("_ZN4core3ptr4drop17hd76e6ff87e50c1b9E", "_ZN4core3ptr4drop"),
            (
                "_RNvNtCsbTHqejZqGh0_4core6result13unwrap_failed",
                "_RNvNtCsbTHqejZqGh0_4core6result13unwrap_failed",
            ),
            ("17h", "17h"),
            ("memcpy", "memcpy"),
        ];
        for (name, want) in cases {
            assert_eq!(without_hash(name), want);
        }
    }
}
