//! Calling a function and coming back.
//!
//! bc's names are dynamic: a function's own names replace the caller's of the same spelling while
//! it runs, and what was there before is put back when it returns.

use super::Machine;
use crate::code::{Argument, Local, Op};
use crate::number::Number;
use std::collections::BTreeMap;
use std::rc::Rc;

/// More calls inside each other than this end the item.
const CALLS_MAX: usize = 100_000;

/// A call that has not returned.
pub(super) struct Frame {
    pub name: String,
    pub code: Rc<[Op]>,
    pub at: usize,
    height: usize,
    hidden: Vec<Hidden>,
}

/// What a parameter is given: a value or an array.
type Given = (Option<Number>, Option<BTreeMap<i64, Number>>);

/// What a local name stands for outside.
enum Hidden {
    Variable(String, Option<Number>),
    Array(String, Option<BTreeMap<i64, Number>>),
}

impl Machine {
    pub(super) fn call(&mut self, name: String, args: &[Argument]) -> Result<(), String> {
        let Some(function) = self.functions.get(&name) else {
            return self
                .library_call(&name, args.len())
                .unwrap_or_else(|| Err(format!("Function {name} not defined.")));
        };
        if function.params.len() != args.len() {
            return Err("Parameter number mismatch".to_owned());
        }
        if self.frames.len() >= CALLS_MAX {
            return Err("too many calls inside each other".to_owned());
        }
        let (params, autos, code) =
            (function.params.clone(), function.autos.clone(), Rc::from(&function.code[..]));
        let values = args.iter().filter(|it| **it == Argument::Value).count();
        let height = self.stack.len().saturating_sub(values);
        let mut values = self.stack.split_off(height).into_iter();
        let mut hidden = Vec::new();
        // Arrays are copied before any name is hidden, for they may have the same names.
        let given: Vec<Given> = args
            .iter()
            .map(|arg| match arg {
                Argument::Value => (values.next(), None),
                Argument::Array(name) => (None, Some(self.arrays.get(name).cloned().unwrap_or_default())),
            })
            .collect();
        let fits = |(param, arg): (&Local, &Argument)| {
            matches!(param, Local::Variable(_)) == (*arg == Argument::Value)
        };
        if !params.iter().zip(args).all(fits) {
            return Err(format!("Parameter type mismatch, parameter of {name}."));
        }
        for (param, (value, array)) in params.iter().zip(given) {
            hidden.push(self.hide(param, value, array));
        }
        for auto in &autos {
            hidden.push(self.hide(auto, None, None));
        }
        self.frames.push(Frame { name, code, at: 0, height, hidden });
        Ok(())
    }

    fn hide(&mut self, local: &Local, value: Option<Number>, array: Option<BTreeMap<i64, Number>>) -> Hidden {
        match local {
            Local::Variable(name) => {
                let before = self.variables.insert(name.clone(), value.unwrap_or_default());
                Hidden::Variable(name.clone(), before)
            }
            Local::Array(name) => {
                let before = self.arrays.insert(name.clone(), array.unwrap_or_default());
                Hidden::Array(name.clone(), before)
            }
        }
    }

    /// Ends the current call with the value on top.
    pub(super) fn give_back(&mut self) {
        let result = self.stack.pop().unwrap_or_default();
        if let Some(frame) = self.frames.pop() {
            self.stack.truncate(frame.height);
            self.restore(frame);
        }
        self.stack.push(result);
    }

    /// Puts back what the call's own names hid, last hidden first.
    pub(super) fn restore(&mut self, frame: Frame) {
        for hidden in frame.hidden.into_iter().rev() {
            match hidden {
                Hidden::Variable(name, Some(value)) => drop(self.variables.insert(name, value)),
                Hidden::Variable(name, None) => drop(self.variables.remove(&name)),
                Hidden::Array(name, Some(array)) => drop(self.arrays.insert(name, array)),
                Hidden::Array(name, None) => drop(self.arrays.remove(&name)),
            }
        }
    }
}
