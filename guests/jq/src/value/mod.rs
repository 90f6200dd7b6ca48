//! Values: sixteen bytes each, shared where they are large.
//!
//! An array or object is copied only when it is changed while somebody else holds it. Dropping never
//! nests deeply, however deep a value is.

mod compare;
mod kind;
pub mod number;
mod object;
mod text;

pub use compare::{compare, equal};
pub use number::Literal;
pub use object::Object;
pub use text::Text;

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::rc::Rc;

/// Any JSON value.
#[derive(Clone)]
pub enum Value {
    Null,
    Bool(bool),
    Num(f64),
    /// A number whose spelling says more than the nearest double.
    Lit(Rc<Literal>),
    Str(Text),
    Arr(Array),
    Obj(Map),
}

#[cfg(target_pointer_width = "32")]
const _: () = assert!(std::mem::size_of::<Value>() == 16);

/// A shared array.
#[derive(Clone)]
pub struct Array(ManuallyDrop<Rc<Vec<Value>>>);

/// A shared object.
#[derive(Clone)]
pub struct Map(ManuallyDrop<Rc<Object>>);

impl Array {
    /// The items, to be changed; copied first if somebody else holds them.
    pub fn make_mut(&mut self) -> &mut Vec<Value> {
        Rc::make_mut(&mut self.0)
    }

    /// The items themselves.
    pub fn take(mut self) -> Vec<Value> {
        match Rc::get_mut(&mut self.0) {
            Some(own) => std::mem::take(own),
            None => self.0.to_vec(),
        }
    }

    /// Whether both are the same array in memory.
    pub fn same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Map {
    /// The object, to be changed, if nobody else holds it.
    pub fn try_mut(&mut self) -> Option<&mut Object> {
        Rc::get_mut(&mut self.0)
    }

    /// The object, to be changed; copied first if somebody else holds it.
    pub fn make_mut(&mut self) -> &mut Object {
        Rc::make_mut(&mut self.0)
    }

    /// Whether both are the same object in memory.
    pub fn same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl std::ops::Deref for Array {
    type Target = Vec<Value>;

    #[inline]
    fn deref(&self) -> &Vec<Value> {
        &self.0
    }
}

impl std::ops::Deref for Map {
    type Target = Object;

    #[inline]
    fn deref(&self) -> &Object {
        &self.0
    }
}

/// Containers inside containers are dropped by recursion down to this depth, and from a list below.
const DROP_DEPTH_MAX: u32 = 100;

thread_local! {
    static DROP_DEPTH: Cell<u32> = const { Cell::new(0) };
    static DROP_LATER: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
}

/// Drops what is inside a container by way of `inside`, or notes it for later if it lies too deep.
#[inline]
fn drop_inside(inside: impl FnOnce(), later: impl FnOnce() -> Value) {
    let depth = DROP_DEPTH.get();
    if depth >= DROP_DEPTH_MAX {
        let later = later();
        return DROP_LATER.with_borrow_mut(|all| all.push(later));
    }
    DROP_DEPTH.set(depth + 1);
    inside();
    // Something was noted only if the way down was this long; whoever is halfway there clears it.
    if depth == DROP_DEPTH_MAX / 2 {
        drop_noted();
    }
    DROP_DEPTH.set(depth);
}

#[cold]
fn drop_noted() {
    while let Some(value) = DROP_LATER.with_borrow_mut(Vec::pop) {
        drop(value);
    }
}

impl Drop for Array {
    #[inline]
    fn drop(&mut self) {
        if Rc::strong_count(&self.0) > 1 {
            // SAFETY: `self` is not used again.
            return unsafe { ManuallyDrop::drop(&mut self.0) };
        }
        // The one way drops it, the other takes it; `self` is not used again.
        let whole = &raw mut self.0;
        drop_inside(
            // SAFETY: this way drops it, and nothing else does.
            || unsafe { ManuallyDrop::drop(&mut *whole) },
            // SAFETY: this way takes it, and nothing drops it.
            || Value::Arr(Self(ManuallyDrop::new(unsafe { ManuallyDrop::take(&mut *whole) }))),
        );
    }
}

impl Drop for Map {
    #[inline]
    fn drop(&mut self) {
        if Rc::strong_count(&self.0) > 1 {
            // SAFETY: `self` is not used again.
            return unsafe { ManuallyDrop::drop(&mut self.0) };
        }
        // The one way drops it, the other takes it; `self` is not used again.
        let whole = &raw mut self.0;
        drop_inside(
            // SAFETY: this way drops it, and nothing else does.
            || unsafe { ManuallyDrop::drop(&mut *whole) },
            // SAFETY: this way takes it, and nothing drops it.
            || Value::Obj(Self(ManuallyDrop::new(unsafe { ManuallyDrop::take(&mut *whole) }))),
        );
    }
}

impl Value {
    /// The empty string.
    pub const EMPTY_STR: Self = Self::Str(Text::EMPTY);

    /// A string.
    pub fn str(text: &str) -> Self {
        Self::Str(Text::new(text))
    }

    /// An array.
    pub fn arr(items: Vec<Self>) -> Self {
        Self::Arr(Array(ManuallyDrop::new(Rc::new(items))))
    }

    /// An object.
    pub fn obj(fields: Object) -> Self {
        Self::Obj(Map(ManuallyDrop::new(Rc::new(fields))))
    }

    /// An object of fields whose keys all differ.
    pub fn record<const N: usize>(fields: [(&str, Self); N]) -> Self {
        Self::obj(Object::of_distinct(
            fields.into_iter().map(|(key, value)| (Text::new(key), value)).collect(),
        ))
    }

    /// Neither `null` nor `false`.
    #[inline]
    pub fn is_true(&self) -> bool {
        !matches!(self, Self::Null | Self::Bool(false))
    }

    /// An array or an object.
    #[inline]
    pub fn is_container(&self) -> bool {
        matches!(self, Self::Arr(_) | Self::Obj(_))
    }

    /// The nearest double of a number.
    #[inline]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Num(number) => Some(*number),
            Self::Lit(literal) => Some(literal.nearest),
            _ => None,
        }
    }

    /// The characters of a string.
    #[inline]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Num(number)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Num(number as f64)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(text.into())
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::arr(items)
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::arr(items.into_iter().collect())
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        equal(self, other)
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&crate::write::compact(self))
    }
}
