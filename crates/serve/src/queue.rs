//! Whose turn it is: each tenant runs a bounded number of requests, and waits in a line of its own. Where all tenants
//! together run as many as they may, they take turns, one request each.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use axum::http::StatusCode;
use drydock_contract::Tenant;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::{
    app::{Bounds, Shared},
    error::ApiError,
};

/// The lines of all tenants.
pub(crate) struct Queue(Arc<Mutex<Lines>>);

struct Lines {
    in_flight: u32,
    in_flight_max: u32,
    tenant_in_flight_max: u32,
    tenant_waiting_max: u32,
    tenants: HashMap<Tenant, Line>,
    /// Those of which somebody waits, each once, in the order in which they are served.
    ring: VecDeque<Tenant>,
}

#[derive(Default)]
struct Line {
    in_flight: u32,
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    in_flight_max: u32,
    called: oneshot::Sender<Place>,
}

/// A turn. Given back when it is dropped.
pub(crate) struct Place {
    lines: Arc<Mutex<Lines>>,
    tenant: Option<Tenant>,
}

/// How many run and wait, for those who look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct QueueFacts {
    pub(crate) in_flight: u32,
    pub(crate) waiting: u64,
}

impl Queue {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        Self(Arc::new(Mutex::new(Lines {
            in_flight: 0,
            in_flight_max: bounds.in_flight_max.max(1),
            tenant_in_flight_max: bounds.tenant_in_flight_max.max(1),
            tenant_waiting_max: bounds.tenant_waiting_max,
            tenants: HashMap::new(),
            ring: VecDeque::new(),
        })))
    }

    /// A turn, as soon as it is this tenant's; `in_flight_max` may be less than what tenants usually have.
    pub(crate) async fn turn(
        &self,
        app: &Shared,
        tenant: &Tenant,
        in_flight_max: u32,
    ) -> Result<Place, ApiError> {
        let waiting = match self.enter(tenant, in_flight_max) {
            Entered::Place(place) => return Ok(place),
            Entered::Full => {
                app.metrics.rejected.add();
                return Err(too_many("as many requests of this tenant wait as may; try again in a moment"));
            }
            Entered::Waiting(waiting) => waiting,
        };
        // Boxed, because most do not wait.
        match Box::pin(tokio::time::timeout(app.settings.bounds.waiting_max, waiting)).await {
            Ok(Ok(place)) => Ok(place),
            _ => {
                app.metrics.rejected.add();
                Err(too_many("too many requests of this tenant run; this one waited as long as it may"))
            }
        }
    }

    pub(crate) fn facts(&self) -> QueueFacts {
        let lines = self.0.lock();
        let waiting = lines.tenants.values().map(|it| it.waiting.len() as u64).sum();
        QueueFacts { in_flight: lines.in_flight, waiting }
    }

    fn enter(&self, tenant: &Tenant, in_flight_max: u32) -> Entered {
        let mut lines = self.0.lock();
        let lines = &mut *lines;
        let all_full = lines.in_flight >= lines.in_flight_max;
        let in_flight_max = in_flight_max.min(lines.tenant_in_flight_max).max(1);
        if !lines.tenants.contains_key(tenant) {
            lines.tenants.insert(tenant.clone(), Line::default());
        }
        let Some(line) = lines.tenants.get_mut(tenant) else { return Entered::Full };
        if !all_full && line.in_flight < in_flight_max && line.waiting.is_empty() {
            line.in_flight += 1;
            lines.in_flight += 1;
            return Entered::Place(Place { lines: Arc::clone(&self.0), tenant: Some(tenant.clone()) });
        }
        // Who went away meanwhile waits no longer.
        line.waiting.retain(|it| !it.called.is_closed());
        if line.waiting.len() >= lines.tenant_waiting_max as usize {
            return Entered::Full;
        }
        let (called, waiting) = oneshot::channel();
        if line.waiting.is_empty() {
            lines.ring.push_back(tenant.clone());
        }
        line.waiting.push_back(Waiting { in_flight_max, called });
        Entered::Waiting(waiting)
    }
}

enum Entered {
    Place(Place),
    Waiting(oneshot::Receiver<Place>),
    Full,
}

impl Lines {
    /// Calls whoever is next, until nobody may be called any more. Places that nobody took are handed back by their drop.
    fn call(&mut self, shared: &Arc<Mutex<Self>>) -> Vec<(oneshot::Sender<Place>, Place)> {
        let mut called = Vec::new();
        let mut skipped = 0;
        while self.in_flight < self.in_flight_max && skipped < self.ring.len() {
            let Some(tenant) = self.ring.pop_front() else { break };
            let Some(line) = self.tenants.get_mut(&tenant) else { continue };
            line.waiting.retain(|it| !it.called.is_closed());
            let may = line.waiting.front().is_some_and(|it| line.in_flight < it.in_flight_max);
            let next = if may { line.waiting.pop_front() } else { None };
            if !line.waiting.is_empty() {
                self.ring.push_back(tenant.clone());
            }
            match next {
                None => skipped += 1,
                Some(waiting) => {
                    skipped = 0;
                    line.in_flight += 1;
                    self.in_flight += 1;
                    let place = Place { lines: Arc::clone(shared), tenant: Some(tenant) };
                    called.push((waiting.called, place));
                }
            }
        }
        called
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(tenant) = self.tenant.take() else { return };
        let called = {
            let mut lines = self.lines.lock();
            lines.in_flight = lines.in_flight.saturating_sub(1);
            let mut idle = false;
            if let Some(line) = lines.tenants.get_mut(&tenant) {
                line.in_flight = line.in_flight.saturating_sub(1);
                idle = line.in_flight == 0 && line.waiting.is_empty();
            }
            if idle {
                lines.tenants.remove(&tenant);
            }
            if lines.ring.is_empty() { Vec::new() } else { lines.call(&self.lines) }
        };
        // Not under the lock: whoever went away in this very moment gives the place back here.
        for (sender, place) in called {
            drop(sender.send(place));
        }
    }
}

fn too_many(text: &str) -> ApiError {
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(in_flight_max: u32, tenant_in_flight_max: u32, tenant_waiting_max: u32) -> Queue {
        Queue::new(&Bounds { in_flight_max, tenant_in_flight_max, tenant_waiting_max, ..Bounds::default() })
    }

    fn tenant(name: &str) -> Tenant {
        name.parse().unwrap()
    }

    fn place(queue: &Queue, name: &str) -> Place {
        match queue.enter(&tenant(name), u32::MAX) {
            Entered::Place(place) => place,
            _ => panic!("{name} has to wait"),
        }
    }

    fn waits(queue: &Queue, name: &str) -> oneshot::Receiver<Place> {
        match queue.enter(&tenant(name), u32::MAX) {
            Entered::Waiting(waiting) => waiting,
            _ => panic!("{name} does not wait"),
        }
    }

    #[test]
    fn a_tenant_that_floods_waits_behind_itself_and_others_take_turns_with_it() {
        let queue = queue(2, 2, 8);
        let held = [place(&queue, "greedy"), place(&queue, "greedy")];
        let mut greedy: Vec<_> = (0..4).map(|_| waits(&queue, "greedy")).collect();
        let mut modest = waits(&queue, "modest");
        let [one, two] = held;
        drop(one);
        let first = greedy[0].try_recv().expect("the first in line");
        drop(two);
        let modest = modest.try_recv().expect("then the other tenant, though four were before it");
        assert!(greedy[1].try_recv().is_err());
        drop((first, modest));
        assert!(greedy[1].try_recv().is_ok() && greedy[2].try_recv().is_ok());
    }

    #[test]
    fn a_line_is_bounded_and_who_went_away_is_not_in_it() {
        let queue = queue(9, 1, 2);
        let held = place(&queue, "a");
        let (one, mut two) = (waits(&queue, "a"), waits(&queue, "a"));
        assert!(matches!(queue.enter(&tenant("a"), 9), Entered::Full));
        assert_eq!(queue.facts(), QueueFacts { in_flight: 1, waiting: 2 });
        drop(one);
        let _three = waits(&queue, "a");
        drop(held);
        let called = two.try_recv().unwrap();
        assert_eq!(queue.facts(), QueueFacts { in_flight: 1, waiting: 1 });
        drop(called);
        drop(queue.0.lock().tenants.remove(&tenant("a")));
    }

    #[test]
    fn a_token_may_have_fewer_at_once_than_its_tenant_and_nothing_is_left_of_who_is_done() {
        let queue = queue(9, 4, 9);
        let one = place(&queue, "a");
        let Entered::Waiting(mut waiting) = queue.enter(&tenant("a"), 1) else { panic!("one is all it may") };
        drop(one);
        drop(waiting.try_recv().unwrap());
        assert_eq!(queue.facts(), QueueFacts::default());
        assert!(queue.0.lock().tenants.is_empty());
    }
}
