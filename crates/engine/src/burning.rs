//! The store of one run or instance, which tells what was burnt when it goes: a run that is dropped in the middle is
//! paid for by what it used, and not by what it might have.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use wasmtime::Store;

use crate::{guest::Guest, spending::Burnt};

pub(crate) struct Burning {
    /// Taken at the end only.
    store: Option<Store<Guest>>,
    /// None where fuel is not counted.
    fuel_max: Option<u64>,
    burnt: Option<Arc<Burnt>>,
}

impl Burning {
    /// Where fuel is not counted, `fuel_max` is none: asking the store for it would make an error each time.
    pub(crate) fn new(store: Store<Guest>, fuel_max: Option<u64>, burnt: Option<Arc<Burnt>>) -> Self {
        Self { store: Some(store), fuel_max, burnt }
    }

    /// One more call begins, which may burn so much and is paid for by itself.
    pub(crate) fn begin_call(&mut self, fuel_max: u64, burnt: Option<Arc<Burnt>>) {
        self.fuel_max = self.fuel_max.map(|_| fuel_max);
        self.burnt = burnt;
    }

    /// The call is over; what it burnt.
    pub(crate) fn end_call(&mut self) -> u64 {
        let fuel = self.tell();
        self.burnt = None;
        fuel
    }

    /// What was burnt, and what the guest left.
    #[expect(clippy::expect_used, reason = "only `end` takes it, and `end` takes all of this")]
    pub(crate) fn end(mut self) -> (u64, Guest) {
        let fuel = self.tell();
        (fuel, self.store.take().expect("nobody takes it before the end").into_data())
    }

    fn tell(&self) -> u64 {
        // Where none is counted, none was used.
        let burnt = |fuel_max: u64| {
            let left = self.store.as_ref().and_then(|store| store.get_fuel().ok());
            left.map_or(0, |left| fuel_max.saturating_sub(left))
        };
        let fuel = self.fuel_max.map_or(0, burnt);
        if let Some(burnt) = &self.burnt {
            burnt.see(fuel);
        }
        fuel
    }
}

impl Drop for Burning {
    fn drop(&mut self) {
        if self.store.is_some() {
            self.tell();
        }
    }
}

#[expect(clippy::expect_used, reason = "only `end` takes it, and `end` takes all of this")]
impl Deref for Burning {
    type Target = Store<Guest>;

    fn deref(&self) -> &Store<Guest> {
        self.store.as_ref().expect("nobody takes it before the end")
    }
}

#[expect(clippy::expect_used, reason = "only `end` takes it, and `end` takes all of this")]
impl DerefMut for Burning {
    fn deref_mut(&mut self) -> &mut Store<Guest> {
        self.store.as_mut().expect("nobody takes it before the end")
    }
}
