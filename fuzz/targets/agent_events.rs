//! What is kept of a run, a line an event: folded as far as it goes, asked what comes next after each, forked at each turn. It
//! never falls over; what was folded folds again from what is written of it.
#![no_main]

use drydock_agent::{Event, ForkChanges, Order, Run, fork, next};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let lines: Vec<&[u8]> = data.split(|it| *it == b'\n').take(64).collect();
    let whole = Run::read(&lines);
    let (mut run, mut events) = (Run::default(), Vec::new());
    for line in lines {
        let Ok(event) = Event::parse(line) else { break };
        if run.on(&event).is_err() {
            break;
        }
        for order in [Order::SideBySide, Order::OneByOne] {
            let _ = next(&run, order);
        }
        let _ = run.status();
        events.push(event);
    }
    assert_eq!(run.events(), events.len() as u64);
    if let Ok(whole) = whole {
        assert_eq!(whole, run);
    }
    let written: Vec<_> = events.iter().map(Event::to_json).collect();
    assert_eq!(Run::read(&written).expect("what was folded folds again"), run);
    for step in 0..=run.steps() {
        if let Ok(forked) = fork(&events, step, ForkChanges::default(), 1) {
            assert_eq!(Run::of(&forked).expect("a fork is a run").steps(), step);
        }
    }
});
