//! Runs that nobody planned: every list of events that a run can have folds, as far as one likes, and what comes next never
//! does again what is over.

use drydock_abi::llm::{StopReason, ToolCall, Usage};
use drydock_contract::{AgentId, ReviewAnswer, ReviewKind};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::{Act, AtLimit, CallOutcome, Next};

/// Chooses by a list of numbers, and always the first when that is used up.
struct Dice<'a>(std::slice::Iter<'a, u8>);

impl Dice<'_> {
    fn of(&mut self, sides: u8) -> u8 {
        self.0.next().map_or(0, |it| it % sides)
    }
}

fn options(dice: &mut Dice<'_>) -> RunOptions {
    RunOptions {
        max_steps: 6,
        tokens_max: [None, Some(30)][usize::from(dice.of(2))],
        at_limit: [AtLimit::Stop, AtLimit::Ask][usize::from(dice.of(2))],
        compact_bytes: [160_000, 400][usize::from(dice.of(2))],
        review: [Vec::new(), vec!["shell".to_owned()], vec!["*".to_owned()]][usize::from(dice.of(3))].clone(),
        ..RunOptions::default()
    }
}

fn call(dice: &mut Dice<'_>, id: usize) -> ToolCall {
    let (name, arguments) = [
        ("shell", json!({ "pipeline": "x" })),
        ("vfs_read", json!({ "path": "a" })),
        ("vfs_write", json!({ "path": "a", "content": "long ".repeat(100) })),
        ("agent", json!({ "task": "t" })),
        ("done", json!({ "result": "r" })),
        ("nonsense", json!({})),
        ("search", json!({ "no": 1 })),
    ][usize::from(dice.of(7))]
    .clone();
    let Value::Object(arguments) = arguments else { unreachable!() };
    ToolCall { id: format!("c{id}"), name: name.into(), arguments, malformed: None }
}

fn result(call: &ToolCall, step: u64, dice: &mut Dice<'_>, failed: Option<&str>) -> Event {
    let outcome = match failed {
        Some(code) => CallOutcome::Failed { code: code.into() },
        None if call.name != "done" && dice.of(4) == 3 => CallOutcome::Failed { code: "timeout".into() },
        None => CallOutcome::Done { exit_code: None },
    };
    Event::Result {
        at_ms: 1,
        step,
        id: call.id.clone(),
        tool: call.name.clone(),
        output: "so ".repeat(40),
        outcome,
        files_changed: None,
        whole: None,
        spent: None,
        ms: 1,
    }
}

fn asked(id: &mut u128, kind: ReviewKind, call: Option<&ToolCall>, purse: Option<Purse>) -> Event {
    *id += 1;
    Event::Asked {
        at_ms: 1,
        review: AgentId::of(*id),
        call: call.map(|it| it.id.clone()),
        kind,
        title: "may it".into(),
        grant: (kind == ReviewKind::Grant).then(|| json!({ "cap": "exec" })),
        purse,
        expires_ms: None,
    }
}

/// What somebody who drives the run might write next: never twice the same way.
fn goes_on(run: &Run, dice: &mut Dice<'_>, id: &mut u128) -> Vec<Event> {
    let at_ms = 1;
    match dice.of(24) {
        21 => return vec![Event::Said { at_ms, text: "a word".into() }],
        22 => return vec![Event::Resumed { at_ms, options: None }],
        23 => return vec![Event::Ended { at_ms, end: RunEnd::Cancelled, spent: None }],
        _ => {}
    }
    match next(run, [Order::SideBySide, Order::OneByOne][usize::from(dice.of(2))]) {
        Next::Complete => {
            let calls = (0..usize::from(dice.of(4))).map(|at| call(dice, at)).collect();
            let usage = Usage { input_tokens: 7, ..Usage::default() };
            let content = ["", "words"][usize::from(dice.of(2))].to_owned();
            let (step, stop_reason) = (run.steps() + 1, StopReason::EndTurn);
            vec![Event::Turn { at_ms, step, content, tool_calls: calls, stop_reason, usage, ms: 1 }]
        }
        Next::Compact(messages) => {
            let (messages, summary) = (messages as u64, "in short".to_owned());
            vec![Event::Compacted { at_ms, messages, summary, usage: None }]
        }
        Next::Nudge => vec![Event::Nudged { at_ms }],
        Next::Act(acts) => acts_on(run, &acts, dice, id),
        Next::AskForMore(purse) => vec![asked(id, ReviewKind::Budget, None, Some(purse))],
        Next::Wait => {
            let review = run.pending().keys().next().expect("somebody is waited for").clone();
            let answer = [
                None,
                Some(ReviewAnswer::Once),
                Some(ReviewAnswer::Session),
                Some(ReviewAnswer::Limit { limit: u64::from(dice.of(3)) }),
                Some(ReviewAnswer::Deny { reason: "no".into() }),
            ];
            vec![Event::Answered { at_ms, review, answer: answer[usize::from(dice.of(5))].clone() }]
        }
        Next::End(end) => vec![Event::Ended { at_ms, end, spent: None }],
        Next::Nothing => vec![Event::Resumed { at_ms, options: None }],
    }
}

fn acts_on(run: &Run, acts: &[Act], dice: &mut Dice<'_>, id: &mut u128) -> Vec<Event> {
    let open = run.open_turn().expect("acts are of an open turn");
    let (step, mut events, mut after) = (open.step, Vec::new(), Vec::new());
    for act in acts {
        let (Act::Fail { call, .. }
        | Act::Finish { call }
        | Act::Review { call }
        | Act::AskInFlight { call }
        | Act::Call { call }
        | Act::Repeat { call }) = act;
        let OpenCall { call, place, .. } = &open.calls[*call];
        assert!(!matches!(place, Place::Answered { .. } | Place::Asked(_)), "it is over, or waits: {act:?}");
        match act {
            Act::Fail { code, .. } => events.push(result(call, step, dice, Some(code))),
            Act::Finish { .. } => events.push(result(call, step, dice, None)),
            Act::Review { .. } => events.push(asked(id, ReviewKind::Tool, Some(call), None)),
            Act::AskInFlight { .. } => events.push(asked(id, ReviewKind::InFlight, Some(call), None)),
            Act::Call { .. } => {
                let (id, tool) = (call.id.clone(), call.name.clone());
                events.push(Event::Calling { at_ms: 1, step, id, tool });
            }
            Act::Repeat { .. } => {}
        }
        if matches!(act, Act::Call { .. } | Act::Repeat { .. }) {
            match dice.of(5) {
                // Whoever drives it is killed here.
                4 => {}
                3 => after.push(asked(id, ReviewKind::Grant, Some(call), None)),
                _ => after.push(result(call, step, dice, None)),
            }
        }
    }
    // Answers come in any order.
    if dice.of(2) == 1 {
        after.reverse();
    }
    events.extend(after);
    if events.is_empty() { vec![Event::Resumed { at_ms: 1, options: None }] } else { events }
}

/// The events of some run.
fn some_run(numbers: &[u8]) -> Vec<Event> {
    let mut dice = Dice(numbers.iter());
    let first = Event::Started {
        at_ms: 1,
        system: "s".into(),
        task: "t".into(),
        agent: None,
        options: options(&mut dice),
        opened_by: Map::new(),
    };
    let (mut run, mut events, mut id) = (Run::default(), vec![first], 0);
    run.on(&events[0]).unwrap();
    while events.len() < 60 && dice.0.len() > 0 {
        for event in goes_on(&run, &mut dice, &mut id) {
            // An end that somebody wants comes whenever it comes, and not after another one.
            if run.end().is_some() && !matches!(event, Event::Resumed { .. }) {
                continue;
            }
            run.on(&event).unwrap_or_else(|bad| panic!("{bad}: {event:?} after {events:?}"));
            events.push(event);
        }
    }
    events
}

/// Whether the model can be asked with this transcript.
fn is_legal_request(run: &Run) -> bool {
    use drydock_abi::llm::{Asked, Complete};
    let messages = run.transcript().to_vec();
    Asked::of(Complete { model: "m".into(), messages, ..Complete::default() }).is_ok()
}

proptest! {
    #[test]
    fn every_beginning_of_every_run_folds_and_what_comes_next_is_never_what_is_over(
        numbers in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let events = some_run(&numbers);
        let mut run = Run::default();
        for (at, event) in events.iter().enumerate() {
            run.on(event).unwrap();
            prop_assert_eq!(run.events(), at as u64 + 1);
            let weight: usize = run.transcript().iter().map(crate::compact::weight).sum();
            prop_assert_eq!(run.transcript_bytes(), weight);
            for order in [Order::SideBySide, Order::OneByOne] {
                match next(&run, order) {
                    Next::Act(acts) => {
                        let open = run.open_turn().unwrap();
                        prop_assert!(!acts.is_empty());
                        for act in acts {
                            let (Act::Fail { call, .. } | Act::Finish { call } | Act::Review { call }
                                | Act::AskInFlight { call } | Act::Call { call } | Act::Repeat { call }) = act;
                            let place = &open.calls[call].place;
                            let is_over = matches!(place, Place::Answered { .. } | Place::Asked(_));
                            prop_assert!(!is_over);
                            let may_repeat = crate::tools::tool(&open.calls[call].call.name).is_some_and(|it| it.may_repeat());
                            let calls_again = *place == Place::Announced && matches!(act, Act::Call { .. });
                            prop_assert!(!calls_again, "{act:?}");
                            let repeats = matches!(act, Act::Repeat { .. });
                            prop_assert!(may_repeat || !repeats, "{act:?}");
                        }
                    }
                    Next::Wait => prop_assert!(!run.pending().is_empty()),
                    Next::Complete => {
                        prop_assert!(!run.has_open_calls() && run.end().is_none());
                        prop_assert!(is_legal_request(&run), "{:?}", run.transcript());
                    }
                    _ => {}
                }
            }
            let json: Vec<_> = events[..=at].iter().map(Event::to_json).collect();
            if at % 7 == 0 {
                prop_assert_eq!(&Run::read(&json).unwrap(), &run);
            }
        }
    }

    #[test]
    fn a_fork_from_any_turn_of_any_run_is_a_run_or_is_refused_by_name(
        numbers in prop::collection::vec(any::<u8>(), 0..400),
        step in 0_u64..7,
    ) {
        let events = some_run(&numbers);
        match crate::fork(&events, step, crate::ForkChanges::default(), 5) {
            Ok(forked) => {
                let run = Run::of(&forked).unwrap();
                prop_assert_eq!(run.steps(), step);
                prop_assert!(run.pending().is_empty() && run.given().is_empty() && run.end().is_none());
                prop_assert_eq!(run.usage().input_tokens, 0);
                prop_assert!(is_legal_request(&run));
            }
            Err(crate::BadFork::Damaged(bad)) => prop_assert!(false, "{}", bad),
            Err(_) => {}
        }
    }

    #[test]
    fn a_list_that_somebody_broke_is_refused_with_its_place_and_never_falls_over(
        numbers in prop::collection::vec(any::<u8>(), 0..200),
        swaps in prop::collection::vec((0_usize..60, 0_usize..60), 1..5),
        drop in 0_usize..60,
    ) {
        let mut events = some_run(&numbers);
        for (one, other) in swaps {
            let count = events.len();
            events.swap(one % count, other % count);
        }
        events.remove(drop % events.len());
        let mut run = Run::default();
        for (at, event) in events.iter().enumerate() {
            let before = run.clone();
            match run.on(event) {
                Ok(()) => {}
                Err(bad) => {
                    prop_assert_eq!(bad.at, at as u64);
                    prop_assert_eq!(&run, &before, "a refused event changes nothing");
                    break;
                }
            }
            next(&run, Order::SideBySide);
        }
    }
}
