//! Calls of the program's functions, and arguments that are arrays.

use super::exec::Flow;
use super::{CALLS_MAX, Interp, Slot, Stop};
use crate::ast::{Expr, Var};
use crate::value::{Shared, Value};
use std::rc::Rc;

impl<'p> Interp<'p> {
    #[inline(never)]
    pub(super) fn call(&mut self, number: usize, arguments: &'p [Expr]) -> Result<Value, Stop> {
        let program = self.program;
        let function = &program.functions[number];
        if arguments.len() > function.arrays.len() {
            let name = &function.name;
            return Err(format!("fatal: function `{name}' called with more arguments than declared").into());
        }
        if self.calls >= CALLS_MAX {
            return Err(format!("fatal: function `{}' called itself too deeply", function.name).into());
        }
        let mut slots = Vec::with_capacity(function.arrays.len());
        for (index, is_array) in function.arrays.iter().enumerate() {
            slots.push(match arguments.get(index) {
                Some(argument) => self.argument(argument, *is_array)?,
                None => Slot::default(),
            });
        }
        let base = std::mem::replace(&mut self.base, self.slots.len());
        self.slots.append(&mut slots);
        self.calls += 1;
        let flow = self.block(&function.body);
        self.calls -= 1;
        self.slots.truncate(self.base);
        self.base = base;
        let returned = std::mem::take(&mut self.returned);
        Ok(if flow? == Flow::Return { returned } else { Value::Nothing })
    }

    /// A bare name is passed as a value and as an array: which it is, the function knows.
    #[inline(never)]
    fn argument(&mut self, argument: &'p Expr, is_array: bool) -> Result<Slot, Stop> {
        Ok(match argument {
            Expr::Var(Var::Global(number)) => {
                let array = Some(Rc::clone(&self.arrays[*number]));
                Slot { value: self.globals[*number].clone(), array }
            }
            Expr::Var(Var::Local(number)) => {
                let slot = &mut self.slots[self.base + number];
                if is_array {
                    slot.array.get_or_insert_default();
                }
                Slot { value: slot.value.clone(), array: slot.array.clone() }
            }
            Expr::Element(outer, keys) if is_array => {
                let outer = self.array(outer)?;
                let key = self.key(keys)?;
                let mut outer = outer.borrow_mut();
                let element = outer.entry(&key);
                if !matches!(element, Value::Array(_)) {
                    *element = Value::Array(Default::default());
                }
                let Value::Array(inner) = &*element else { return Ok(Slot::default()) };
                Slot { value: Value::Nothing, array: Some(Rc::clone(inner)) }
            }
            _ => {
                let value = self.eval(argument)?;
                let array = if let Value::Array(array) = &value { Some(Rc::clone(array)) } else { None };
                Slot { value, array }
            }
        })
    }

    /// The array that an argument of a built-in function names.
    #[inline(never)]
    pub(super) fn array_argument(&mut self, argument: &'p Expr) -> Result<Shared, Stop> {
        match argument {
            Expr::Var(Var::Global(number)) => Ok(Rc::clone(&self.arrays[*number])),
            Expr::Var(Var::Local(number)) => {
                let slot = &mut self.slots[self.base + number];
                Ok(Rc::clone(slot.array.get_or_insert_default()))
            }
            Expr::Element(outer, keys) => {
                let outer = self.array(outer)?;
                let key = self.key(keys)?;
                let mut outer = outer.borrow_mut();
                let element = outer.entry(&key);
                if !matches!(element, Value::Array(_)) {
                    *element = Value::Array(Default::default());
                }
                match element {
                    Value::Array(inner) => Ok(Rc::clone(inner)),
                    _ => Err("fatal: an array is needed".to_owned().into()),
                }
            }
            Expr::Group(inner) if inner.len() == 1 => self.array_argument(&inner[0]),
            _ => Err("fatal: an argument that has to be an array is none".to_owned().into()),
        }
    }

    /// The array that a bare name or an element stands for, if it is one.
    #[inline(never)]
    pub(super) fn known_array(&mut self, argument: &'p Expr) -> Result<Option<Shared>, Stop> {
        Ok(match argument {
            Expr::Var(Var::Global(number)) => {
                let scalar = !matches!(self.globals[*number], Value::Nothing);
                let array = &self.arrays[*number];
                let used = !array.borrow().is_empty() || self.program_uses_array(*number);
                (!scalar && used).then(|| Rc::clone(array))
            }
            Expr::Var(Var::Local(number)) => {
                let slot = &self.slots[self.base + number];
                if matches!(slot.value, Value::Nothing) { slot.array.clone() } else { None }
            }
            Expr::Element(outer, keys) => {
                let outer = self.array(outer)?;
                let key = self.key(keys)?;
                let outer = outer.borrow();
                match outer.get(&key) {
                    Some(Value::Array(inner)) => Some(Rc::clone(inner)),
                    _ => None,
                }
            }
            Expr::Group(inner) if inner.len() == 1 => self.known_array(&inner[0])?,
            _ => None,
        })
    }

    fn program_uses_array(&self, number: usize) -> bool {
        let name = self.program.globals[number].as_str();
        matches!(name, "ENVIRON" | "ARGV" | "PROCINFO")
    }
}
