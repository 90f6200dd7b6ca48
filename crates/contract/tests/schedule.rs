//! Parts of a session go on in an order that depends on what they do, and on nothing else.
#![allow(clippy::unwrap_used)]

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use drydock_contract::{
    SteppedClock, Timestamp,
    port::Clock as _,
    schedule::{self, Schedule, Turn},
};

type Log = Arc<Mutex<Vec<String>>>;

fn say(log: &Log, text: &str) {
    log.lock().unwrap().push(text.to_owned());
}

fn clock() -> Arc<SteppedClock> {
    Arc::new(SteppedClock::starting(Timestamp(0)))
}

/// Polls all parts until they end, or until nothing moves any more.
fn drive(clock: &SteppedClock, parts: &mut Schedule<()>) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..1_000 {
        let polled = schedule::moving(clock, || {
            loop {
                match parts.turn(clock, &mut cx) {
                    Turn::Ended(()) | Turn::Next => {}
                    Turn::AllInside if parts.is_empty() => return Poll::Ready(()),
                    Turn::AllInside | Turn::Slice | Turn::World => return Poll::Pending,
                }
            }
        });
        if polled.is_ready() {
            return true;
        }
    }
    false
}

/// Ends as pending once, after `first` was asked about the waker.
async fn once(first: impl Fn(&Waker)) {
    let mut done = false;
    poll_fn(|cx| {
        if done {
            return Poll::Ready(());
        }
        done = true;
        first(cx.waker());
        Poll::Pending
    })
    .await;
}

fn secs(count: u64) -> Timestamp {
    Timestamp(0).plus(Duration::from_secs(count))
}

#[test]
fn who_sleeps_longer_wakes_later_and_nobody_waits_for_real() {
    let (clock, log) = (clock(), Log::default());
    let mut parts = Schedule::default();
    for count in [3, 1, 2] {
        let (clock, log) = (Arc::clone(&clock), Arc::clone(&log));
        parts.push(Box::pin(async move {
            clock.sleep_until(secs(count)).await;
            say(&log, &count.to_string());
        }));
    }
    assert!(drive(&clock, &mut parts));
    assert_eq!(*log.lock().unwrap(), ["1", "2", "3"]);
    assert_eq!(clock.stands_at(), secs(3));
}

#[test]
fn whoever_waits_for_the_world_keeps_its_turn() {
    let (clock, log) = (clock(), Log::default());
    let answer: Arc<Mutex<(bool, Option<Waker>)>> = Arc::default();
    let mut parts = Schedule::default();
    let (asked, told) = (Arc::clone(&answer), Arc::clone(&log));
    parts.push(Box::pin(async move {
        poll_fn(|cx| {
            let mut answer = asked.lock().unwrap();
            answer.1 = Some(cx.waker().clone());
            if answer.0 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        say(&told, "first");
    }));
    let told = Arc::clone(&log);
    parts.push(Box::pin(async move { say(&told, "second") }));
    assert!(!drive(&clock, &mut parts), "nothing moves before the world answers");
    assert!(log.lock().unwrap().is_empty());
    let waker = {
        let mut answer = answer.lock().unwrap();
        answer.0 = true;
        answer.1.take().unwrap()
    };
    // The world answers on a thread of its own.
    std::thread::spawn(move || waker.wake()).join().unwrap();
    assert!(drive(&clock, &mut parts));
    assert_eq!(*log.lock().unwrap(), ["first", "second"]);
}

/// Two parts of which the first ends as pending once; who comes first?
fn two_parts(first: impl Fn(&Waker) + Send + Sync + 'static) -> Vec<String> {
    let (clock, log) = (clock(), Log::default());
    let mut parts = Schedule::default();
    let told = Arc::clone(&log);
    parts.push(Box::pin(async move {
        once(first).await;
        say(&told, "first");
    }));
    let told = Arc::clone(&log);
    parts.push(Box::pin(async move { say(&told, "second") }));
    assert!(drive(&clock, &mut parts));
    log.lock().unwrap().clone()
}

#[test]
fn only_a_part_that_wakes_itself_has_done_a_slice_of_work() {
    assert_eq!(two_parts(Waker::wake_by_ref), ["second", "first"]);
    let by_another_thread = |waker: &Waker| {
        let waker = waker.clone();
        std::thread::spawn(move || waker.wake()).join().unwrap();
    };
    assert_eq!(two_parts(by_another_thread), ["first", "second"], "the world answered quickly");
    let thread_given_back = |waker: &Waker| {
        schedule::gives_thread_back();
        waker.wake_by_ref();
    };
    assert_eq!(two_parts(thread_given_back), ["first", "second"]);
}

#[test]
fn slices_of_work_alternate_and_time_passes_for_who_sleeps() {
    let (clock, log) = (clock(), Log::default());
    let mut parts = Schedule::default();
    for name in ["a", "b"] {
        let log = Arc::clone(&log);
        parts.push(Box::pin(async move {
            for count in 0..4 {
                say(&log, &format!("{name}{count}"));
                once(Waker::wake_by_ref).await;
            }
        }));
    }
    let (sleeper, told) = (Arc::clone(&clock), Arc::clone(&log));
    parts.push(Box::pin(async move {
        sleeper.sleep_until(Timestamp(0).plus(schedule::SLICE * 3)).await;
        say(&told, "woke");
    }));
    assert!(drive(&clock, &mut parts));
    assert_eq!(log.lock().unwrap().join(" "), "a0 b0 a1 b1 a2 b2 a3 woke b3");
}

#[test]
fn sleeping_takes_no_time_where_nobody_moves_the_clock() {
    let clock = clock();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(pin!(clock.sleep_until(secs(5))).poll(&mut cx).is_ready());
    assert_eq!(clock.stands_at(), secs(5));
}

#[test]
fn a_sleep_that_is_given_up_is_waited_for_by_nobody() {
    let clock = clock();
    let mut cx = Context::from_waker(Waker::noop());
    let mut first = true;
    let polled = schedule::moving(&clock, || {
        if std::mem::take(&mut first) {
            let mut sleep = pin!(clock.sleep_until(secs(9)));
            assert!(sleep.as_mut().poll(&mut cx).is_pending());
        }
        schedule::waits_inside();
        Poll::<()>::Pending
    });
    assert!(polled.is_pending());
    assert_eq!(clock.stands_at(), Timestamp(0), "nothing was left to move to");
    assert!(clock.now() > Timestamp(0));
}

#[test]
fn a_clock_within_another_ones_session_is_moved_by_its_own() {
    let (outer, inner) = (clock(), clock());
    let mut cx = Context::from_waker(Waker::noop());
    let mut sleep = pin!(inner.sleep_until(secs(2)));
    let polled = schedule::moving(&outer, || schedule::moving(&inner, || sleep.as_mut().poll(&mut cx)));
    assert!(polled.is_ready());
    assert_eq!((inner.stands_at(), outer.stands_at()), (secs(2), Timestamp(0)));
}
