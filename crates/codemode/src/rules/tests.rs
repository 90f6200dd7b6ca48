//! Proofs for the rules by themselves: what is refused, in which order, who runs and who waits.

use bytes::Bytes;
use drydock_contract::FailureCode;

use super::*;
use crate::{
    host::HostLimits,
    protocol::{Failure, Json},
    runner::RunnerLimits,
};

const WIDE: CallLimits = CallLimits {
    running_max: usize::MAX,
    pending_max: usize::MAX,
    calls_max: usize::MAX,
    pending_bytes_max: usize::MAX,
    input_bytes_max: usize::MAX,
    input_depth_max: usize::MAX,
    answer_bytes_max: usize::MAX,
};

/// What becomes of a call: its place, or the words of its refusal.
fn call(rules: &mut CallRules<&'static str>, name: &'static str, input: &str) -> String {
    match rules.admit(Some(input.as_bytes())) {
        Err(failure) => format!("{}: {}", failure.code, failure.message),
        Ok(admitted) => match rules.start_or_queue(admitted, name) {
            Some((_, name)) => format!("{name} runs"),
            None => format!("{name} waits"),
        },
    }
}

#[test]
fn each_limit_refuses_with_its_own_words_and_the_first_that_is_broken_speaks() {
    let none = CallLimits {
        calls_max: 0,
        pending_max: 0,
        pending_bytes_max: 3,
        input_bytes_max: 3,
        input_depth_max: 0,
        ..WIDE
    };
    for (limits, input, want) in [
        (WIDE, "[[1]]", "it runs"),
        (none, "[[1]]", "tool_error: one execution may call tools 0 times"),
        (CallLimits { calls_max: 1, ..none }, "[[1]]", "tool_error: 0 tool calls are pending already"),
        (
            CallLimits { calls_max: 1, pending_max: 1, ..none },
            "[[1]]",
            "tool_error: the inputs of pending tool calls exceed 3 bytes",
        ),
        (
            CallLimits { input_bytes_max: 3, input_depth_max: 0, ..WIDE },
            "[[1]]",
            "serialization_error: tool input of 5 bytes exceeds the limit of 3",
        ),
        (
            CallLimits { input_depth_max: 1, ..WIDE },
            "[[1]]",
            "serialization_error: tool input is nested 2 levels deep; the limit is 1",
        ),
        // At the limit, not past it.
        (CallLimits { calls_max: 1, pending_max: 1, ..none }, "1", "it runs"),
        (
            CallLimits { pending_bytes_max: 5, input_bytes_max: 5, input_depth_max: 2, ..WIDE },
            "[[1]]",
            "it runs",
        ),
        (CallLimits { input_depth_max: 0, ..WIDE }, "\"[[[\"", "it runs"),
    ] {
        assert_eq!(call(&mut CallRules::new(limits), "it", input), want, "{limits:?} {input}");
    }
}

#[test]
fn a_call_without_input_weighs_nothing_and_is_not_deep() {
    let limits = CallLimits { pending_bytes_max: 0, input_bytes_max: 0, input_depth_max: 0, ..WIDE };
    assert!(CallRules::<()>::new(limits).admit(None).is_ok());
    assert!(CallRules::<()>::new(limits).admit(Some(b"1")).is_err());
}

#[test]
fn calls_take_turns_in_the_order_they_came() {
    let mut rules = CallRules::new(CallLimits { running_max: 2, pending_max: 4, ..WIDE });
    let mut running = Vec::new();
    for name in ["a", "b", "c", "d"] {
        let admitted = rules.admit(None).unwrap();
        running.extend(rules.start_or_queue(admitted, name));
    }
    let names = |calls: &[(Admitted, &str)]| calls.iter().map(|it| it.1).collect::<String>();
    assert_eq!(names(&running), "ab");
    assert_eq!(rules.next(), None, "both turns are taken");
    assert_eq!(rules.admit(None).unwrap_err().message, "4 tool calls are pending already");
    for want in ["bc", "cd", "d", ""] {
        let (ended, _) = running.remove(0);
        rules.end(ended, Ok(Bytes::new())).unwrap();
        running.extend(rules.next());
        assert_eq!(names(&running), want);
    }
}

#[test]
fn a_new_call_does_not_overtake_one_that_waits() {
    let mut rules = CallRules::new(CallLimits { running_max: 1, ..WIDE });
    let first = rules.admit(None).unwrap();
    let (first, _) = rules.start_or_queue(first, "a").unwrap();
    assert_eq!(call(&mut rules, "b", "1"), "b waits");
    rules.end(first, Ok(Bytes::new())).unwrap();
    // A turn is free, and nobody has asked for it yet.
    assert_eq!(call(&mut rules, "c", "1"), "c waits");
    assert_eq!(rules.next().map(|it| it.1), Some("b"));
    assert_eq!(rules.next(), None);
}

#[test]
fn what_has_ended_makes_room_and_still_counts_among_all_calls() {
    let limits = CallLimits { pending_max: 1, pending_bytes_max: 4, calls_max: 3, ..WIDE };
    let mut rules = CallRules::<()>::new(limits);
    let first = rules.admit(Some(b"1234")).unwrap();
    assert_eq!(first.number(), 0);
    assert_eq!(rules.admit(None).unwrap_err().message, "1 tool calls are pending already");
    rules.end(first, Ok(Bytes::new())).unwrap();
    let third = rules.admit(Some(b"1234")).unwrap();
    assert_eq!(third.number(), 2, "the refused one had a number too");
    rules.end(third, Ok(Bytes::new())).unwrap();
    assert_eq!(rules.admit(None).unwrap_err().message, "one execution may call tools 3 times");
}

#[test]
fn a_call_nobody_could_weigh_counts_and_the_other_refusals_come_before_its_own() {
    let why = || Failure::new(FailureCode::SerializationError, "unreadable");
    let mut rules = CallRules::<()>::new(CallLimits { calls_max: 1, ..WIDE });
    assert_eq!(rules.refuse(why()).message, "unreadable");
    assert_eq!(rules.refuse(why()).message, "one execution may call tools 1 times");
    rules.give_up();
    assert_eq!(rules.refuse(why()).code, FailureCode::Timeout);
}

#[test]
fn after_giving_up_nothing_that_waits_runs_and_every_call_has_timed_out() {
    let mut rules = CallRules::new(CallLimits { running_max: 1, ..WIDE });
    let first = rules.admit(Some(b"12")).unwrap();
    let (first, _) = rules.start_or_queue(first, "a").unwrap();
    assert_eq!(call(&mut rules, "b", "1"), "b waits");
    rules.give_up();
    assert_eq!(call(&mut rules, "c", "1"), "timeout: Execution timed out");
    rules.end(first, Ok(Bytes::new())).unwrap();
    assert_eq!(rules.next(), None);
    rules.give_up();
}

#[test]
fn an_answer_is_judged_by_its_size_and_a_failure_is_left_alone() {
    let failure = Failure::new(FailureCode::ToolError, "no luck, and many words about it");
    let json = |text: &str| Ok(Json::parse(text.to_owned()).unwrap());
    for (answer, want) in [
        (json("1234"), json("1234")),
        (
            json("12345"),
            Err(Failure::new(
                FailureCode::SerializationError,
                "tool result of 5 bytes exceeds the limit of 4",
            )),
        ),
        (Err(failure.clone()), Err(failure)),
    ] {
        let mut rules = CallRules::<()>::new(CallLimits { answer_bytes_max: 4, ..WIDE });
        let admitted = rules.admit(None).unwrap();
        assert_eq!(rules.end(admitted, answer), want);
    }
}

#[test]
fn in_one_process_the_narrower_limit_of_the_two_ends_holds() {
    let host = HostLimits {
        calls_running_max: 1,
        calls_pending_max: 2,
        calls_max: 3,
        pending_bytes_max: 40,
        tool_input_bytes_max: 5,
        tool_result_bytes_max: 6,
        ..HostLimits::default()
    };
    let runner = RunnerLimits {
        calls_pending_max: 20,
        pending_bytes_max: 4,
        tool_input_bytes_max: 50,
        depth_max: 7,
        ..RunnerLimits::default()
    };
    let want = CallLimits {
        running_max: 1,
        pending_max: 2,
        calls_max: 3,
        pending_bytes_max: 4,
        input_bytes_max: 5,
        input_depth_max: 7,
        answer_bytes_max: 6,
    };
    assert_eq!(host.of_calls().narrowed(runner.of_calls()), want);
    assert_eq!(runner.of_calls().narrowed(host.of_calls()), want);
}

#[test]
fn programs_and_their_results_are_refused_past_their_limits() {
    let words = |checked: Result<(), Failure>| checked.map_err(|it| format!("{}: {}", it.code, it.message));
    let refused = |text: &str| Err(text.to_owned());
    assert_eq!(words(program_fits("abc", 3)), Ok(()));
    assert_eq!(
        words(program_fits("abcd", 3)),
        refused("runtime_error: program of 4 bytes exceeds the limit of 3")
    );
    let result = Json::parse("[1]").unwrap();
    for (result, bytes_max, want) in [
        (None, 0, Ok(())),
        (Some(&result), 3, Ok(())),
        (
            Some(&result),
            2,
            refused("serialization_error: Guest code returned a value of 3 bytes; the limit is 2"),
        ),
    ] {
        assert_eq!(words(returned_fits(result, bytes_max)), want);
    }
}
