//! A JavaScript value that is ours for as long as it lives, and what we do with such values.
//!
//! Nothing here looks at a global or a prototype of the program, except where a function says so.

use crate::engine::{self, Raw, context};
use crate::prelude::*;
use core::ffi::{CStr, c_char};

/// Owned: given back when dropped.
pub struct Value(Raw);

/// What kind of value it is, as far as we tell them apart. The order is `value_kind`'s.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Kind {
    Exception,
    Undefined,
    String,
    Symbol,
    BigInt,
    Object,
    Other,
}

impl Drop for Value {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the value is ours and of the one context.
        unsafe { engine::value_free(context(), self.0) }
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        Self::borrowed(self.0)
    }
}

impl Value {
    /// Takes over a value that QuickJS gave us.
    pub fn owned(raw: Raw) -> Self {
        Self(raw)
    }

    /// One more reference to a value that somebody else owns.
    pub fn borrowed(raw: Raw) -> Self {
        // SAFETY: the value is alive, or the caller could not show it.
        Self(unsafe { engine::value_dup(context(), raw) })
    }

    /// Gives the value to QuickJS.
    pub fn into_raw(self) -> Raw {
        let raw = self.0;
        core::mem::forget(self);
        raw
    }

    /// Lends the value to QuickJS.
    pub fn raw(&self) -> Raw {
        self.0
    }

    pub fn undefined() -> Self {
        // SAFETY: a constant.
        Self(unsafe { engine::value_undefined() })
    }

    /// What a function of ours returns after it threw.
    pub fn exception() -> Self {
        // SAFETY: a constant.
        Self(unsafe { engine::value_exception() })
    }

    pub fn int(number: i32) -> Self {
        // SAFETY: makes a value of its argument.
        Self(unsafe { engine::value_int(number) })
    }

    pub fn text(text: &str) -> Self {
        // SAFETY: the bytes are alive during the call, which copies them.
        Self(unsafe { engine::JS_NewStringLen(context(), text.as_ptr().cast(), text.len()) })
    }

    /// A plain, empty object.
    pub fn object() -> Self {
        // SAFETY: there is a context.
        Self(unsafe { engine::JS_NewObject(context()) })
    }

    pub fn global() -> Self {
        // SAFETY: there is a context.
        Self(unsafe { engine::JS_GetGlobalObject(context()) })
    }

    /// The error that was thrown last; it is not thrown any more.
    pub fn take_exception() -> Self {
        // SAFETY: there is a context.
        Self(unsafe { engine::JS_GetException(context()) })
    }

    /// Parses JSON: `__proto__` is a name like any other. `text` must end with a zero byte, which is not
    /// part of it. None if it is no JSON, or too deep.
    pub fn parse_json(text: &[u8]) -> Option<Self> {
        let (&0, body) = text.split_last()? else { return None };
        // SAFETY: `body` is followed by a zero byte, as QuickJS demands.
        let raw =
            unsafe { engine::JS_ParseJSON(context(), body.as_ptr().cast(), body.len(), c"<json>".as_ptr()) };
        Self(raw).or_clear()
    }

    pub fn kind(&self) -> Kind {
        // SAFETY: looks at the tag only.
        match unsafe { engine::value_kind(self.0) } {
            0 => Kind::Exception,
            1 => Kind::Undefined,
            2 => Kind::String,
            3 => Kind::Symbol,
            4 => Kind::BigInt,
            5 => Kind::Object,
            _ => Kind::Other,
        }
    }

    /// Nothing if it is an exception, which is then forgotten.
    pub fn or_clear(self) -> Option<Self> {
        if self.kind() == Kind::Exception {
            drop(Self::take_exception());
            return None;
        }
        Some(self)
    }

    pub fn is_function(&self) -> bool {
        // SAFETY: looks at the class only.
        unsafe { engine::JS_IsFunction(context(), self.0) }
    }

    pub fn is_error(&self) -> bool {
        // SAFETY: looks at the class only.
        unsafe { engine::JS_IsError(self.0) }
    }

    pub fn is_same_object(&self, other: &Self) -> bool {
        // SAFETY: compares addresses.
        unsafe { engine::value_is_same_object(self.0, other.0) }
    }

    /// The number, if it is a small integer.
    pub fn as_index(&self) -> Option<u32> {
        // SAFETY: looks at the value only.
        u32::try_from(unsafe { engine::value_as_int(self.0) }).ok()
    }

    /// A property as the program would read it: getters and proxies of the program run.
    pub fn get(&self, name: &CStr) -> Option<Self> {
        // SAFETY: the value is alive.
        Self(unsafe { engine::JS_GetPropertyStr(context(), self.0, name.as_ptr()) }).or_clear()
    }

    /// An element, for values of our own making.
    pub fn at(&self, index: u32) -> Option<Self> {
        // SAFETY: the value is alive.
        let element = Self(unsafe { engine::JS_GetPropertyUint32(context(), self.0, index) }).or_clear()?;
        (element.kind() != Kind::Undefined).then_some(element)
    }

    /// An own property that is plain data. Nothing of the program runs.
    pub fn own_data(&self, name: &CStr) -> Self {
        if self.kind() != Kind::Object {
            return Self::undefined();
        }
        // SAFETY: the value is an object.
        Self(unsafe { engine::value_own_data(context(), self.0, name.as_ptr()) })
    }

    /// The stack text of an error, as QuickJS wrote it or the program replaced it. Nothing of the program
    /// runs.
    pub fn error_stack(&self) -> Self {
        // SAFETY: looks at the error's own state.
        Self(unsafe { engine::value_error_stack(context(), self.0) })
    }

    /// Defines a property.
    pub fn define(&self, name: &CStr, value: Self, flags: i32) {
        // SAFETY: the value is an object; QuickJS takes over `value`.
        unsafe {
            engine::JS_DefinePropertyValueStr(context(), self.0, name.as_ptr(), value.into_raw(), flags);
        }
    }

    /// Whether there is a property of that name, inherited ones included.
    pub fn has(&self, name: &str) -> bool {
        self.with_atom(name, |atom| {
            // SAFETY: the value is an object and the atom alive.
            unsafe { engine::JS_HasProperty(context(), self.0, atom) != 0 }
        })
    }

    pub fn delete(&self, name: &str) {
        self.with_atom(name, |atom| {
            // SAFETY: the value is an object and the atom alive.
            unsafe { engine::JS_DeleteProperty(context(), self.0, atom, 0) };
        });
    }

    fn with_atom<T>(&self, name: &str, act: impl FnOnce(u32) -> T) -> T {
        // SAFETY: the bytes are alive during the call; the atom is given back after its use.
        unsafe {
            let atom = engine::JS_NewAtomLen(context(), name.as_ptr().cast(), name.len());
            let result = act(atom);
            engine::JS_FreeAtom(context(), atom);
            result
        }
    }

    /// Calls it as a function with that `this`.
    pub fn call_on(&self, this: &Self) -> Self {
        // SAFETY: both values are alive; there are no arguments.
        Self(unsafe { engine::JS_Call(context(), self.0, this.0, 0, core::ptr::null()) })
    }

    /// A promise that nobody but [`settle`](Self::settle) settles; an exception if there is no memory for it.
    pub fn promise() -> Self {
        // SAFETY: there is a context.
        Self(unsafe { engine::promise_new(context()) })
    }

    /// Fulfils a promise with data, or rejects it. What waits for it runs later, as a job.
    pub fn settle(&self, with: Result<&Self, &Self>) {
        let (Ok(value) | Err(value)) = with;
        // SAFETY: both values are alive; what is no promise, or settled, is left alone.
        unsafe { engine::promise_settle(context(), self.0, value.0, with.is_err()) }
    }

    /// 0 while a promise is pending, 1 if it is fulfilled, 2 if it is rejected.
    pub fn promise_state(&self) -> i32 {
        // SAFETY: looks at the promise's own state.
        unsafe { engine::JS_PromiseState(context(), self.0) }
    }

    /// What a promise that is settled was settled with.
    pub fn promise_result(&self) -> Self {
        // SAFETY: looks at the promise's own state.
        Self(unsafe { engine::JS_PromiseResult(context(), self.0) })
    }

    /// `String(value)`: a `toString` of the program runs. None if it throws.
    pub fn to_text(&self) -> Option<Self> {
        // SAFETY: the value is alive.
        Self(unsafe { engine::JS_ToString(context(), self.0) }).or_clear()
    }

    /// The characters of a string as UTF-8, lone surrogates as three bytes each. None if it is no string.
    pub fn with_bytes<T>(&self, act: impl FnOnce(&[u8]) -> T) -> Option<T> {
        if self.kind() != Kind::String {
            return None;
        }
        let mut length = 0;
        // SAFETY: a string; the bytes are alive until they are given back, after their last use.
        unsafe {
            let text: *const c_char = engine::JS_ToCStringLen2(context(), &mut length, self.0, false);
            if text.is_null() {
                drop(Self::take_exception());
                return None;
            }
            let result = act(core::slice::from_raw_parts(text.cast(), length));
            engine::JS_FreeCString(context(), text);
            Some(result)
        }
    }

    /// A string, whole and clean.
    pub fn to_string_lossy(&self) -> Option<String> {
        self.with_bytes(|bytes| {
            let mut out = Vec::with_capacity(bytes.len());
            crate::json::push_clean(&mut out, bytes);
            String::from_utf8(out).unwrap_or_default()
        })
    }
}
