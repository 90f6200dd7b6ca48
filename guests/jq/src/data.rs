//! What a running program can reach besides its input: the other inputs, and where they come from.

use crate::input::Place;
use jaq_core::{DataT, Lut, data::HasLut};
use jaq_json::Val;
use jaq_std::input::{HasInputs, Inputs};

/// The kind of data all our filters work on.
pub struct Kind;

impl DataT for Kind {
    type V<'a> = Val;
    type Data<'a> = &'a Data<'a>;
}

/// One run's data.
pub struct Data<'a> {
    pub lut: &'a Lut<Kind>,
    pub inputs: Inputs<'a, Val>,
    pub place: &'a Place,
}

impl<'a> HasLut<'a, Kind> for &'a Data<'a> {
    fn lut(&self) -> &'a Lut<Kind> {
        self.lut
    }
}

impl<'a> HasInputs<'a, Val> for &'a Data<'a> {
    fn inputs(&self) -> Inputs<'a, Val> {
        self.inputs
    }
}
