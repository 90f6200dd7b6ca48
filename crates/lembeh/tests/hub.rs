//! The hub's laws, one command at a time: what is written, and which events follow.
#![allow(clippy::unwrap_used)]

mod world;

use drydock_abi::lembeh::{
    CapSelector, Source, Trace, encode_source,
    zax::{Command, CommandIds, HEADER_BYTES, Header, encode_command},
};
use drydock_lembeh::{Closed, Failure, Hub, HubLimits, Read};
use world::World;

/// A source for the selector.
fn source(selector: &str) -> Vec<u8> {
    let call = CapSelector { kind: "test", name: "default", selector, params: b"" };
    encode_source(&Source::Selector(call)).unwrap()
}

fn frame(ids: CommandIds, command: Command<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode_command(&mut out, &ids, &command).unwrap();
    out
}

fn register(req_id: u64, future_id: u64, selector: &str) -> Vec<u8> {
    let ids = CommandIds { req_id, future_id, ..CommandIds::default() };
    frame(ids, Command::Register { source: &source(selector) })
}

fn cancel(req_id: u64, future_id: u64) -> Vec<u8> {
    frame(CommandIds { req_id, future_id, ..CommandIds::default() }, Command::Cancel)
}

fn join(req_id: u64, scope_id: u64, fuel: u64, timeout_ms: u16) -> Vec<u8> {
    frame(CommandIds { req_id, scope_id, timeout_ms, ..CommandIds::default() }, Command::Join { fuel })
}

/// Writes every frame at once and gives all events.
fn after(world: &mut World, frames: &[Vec<u8>]) -> Vec<String> {
    let bytes = frames.concat();
    assert_eq!(world.write(&bytes), Ok(bytes.len()));
    world.events()
}

#[test]
fn a_future_is_acknowledged_and_then_ends_once() {
    let mut world = World::default();
    assert_eq!(after(&mut world, &[register(1, 7, "wait")]), ["ack 1"]);
    assert!(world.hub.complete(7, Ok(b"hi")));
    assert!(!world.hub.complete(7, Ok(b"again")));
    assert_eq!(world.events(), ["ok 7 hi"]);
    assert_eq!(
        after(&mut world, &[register(2, 8, "now"), register(3, 9, "fail")]),
        ["ack 2", "ok 8 now", "ack 3", "fail 9 t_exec_busy"]
    );
    assert_eq!(world.powers.started, [7, 8, 9]);
    assert!(world.powers.cancelled.is_empty());
}

#[test]
fn without_a_request_there_is_neither_ack_nor_fail_but_the_future_ends_all_the_same() {
    let mut world = World::default();
    assert_eq!(
        after(&mut world, &[register(0, 7, "now"), register(0, 7, "now"), cancel(0, 99)]),
        ["ok 7 now"]
    );
    assert_eq!(world.hub.last_refusal(), Some(Trace::AsyncMissingFuture));
}

#[test]
fn commands_are_refused_in_the_order_of_the_table() {
    let raw = |future_id: u64, source: &[u8]| {
        frame(CommandIds { req_id: 5, future_id, ..CommandIds::default() }, Command::Register { source })
    };
    let mut unknown = cancel(5, 1);
    unknown[8] = 9;
    let mut event = cancel(5, 1);
    event[6] = 2;
    let mut cancel_with_payload = raw(1, b"x");
    cancel_with_payload[8] = 2;
    let cases: &[(Vec<u8>, &[&str])] = &[
        (event, &["refused 5 t_async_bad_frame"]),
        (unknown, &["refused 5 t_async_unknown_op"]),
        (raw(0, b"\x03"), &["refused 5 t_async_bad_params"]),
        (raw(4, b"\x03"), &["refused 5 t_async_future_exists"]),
        (raw(1, b"\x03"), &["refused 5 t_async_unknown_source"]),
        (raw(1, b"\x01"), &["ack 5", "fail 1 t_async_unimplemented"]),
        (raw(2, b""), &["ack 5", "fail 2 t_async_bad_params"]),
        (raw(3, b"\x02\0\0\0"), &["ack 5", "fail 3 t_async_bad_params"]),
        (register(5, 10, "missing"), &["ack 5", "fail 10 t_cap_missing"]),
        (register(5, 11, "denied"), &["ack 5", "fail 11 t_cap_denied"]),
        (register(5, 12, "signal.v2"), &["ack 5", "fail 12 t_async_unknown_selector"]),
        (register(5, 13, "disabled"), &["ack 5", "fail 13 t_async_unsupported"]),
        (cancel(5, 0), &["refused 5 t_async_bad_params"]),
        (cancel(5, 99), &["refused 5 t_async_missing_future"]),
        (cancel(5, 13), &["ack 5"]),
        (cancel_with_payload, &["refused 5 t_async_bad_params"]),
    ];
    let mut world = World::default();
    assert_eq!(after(&mut world, &[register(1, 4, "wait")]), ["ack 1"]);
    for (bytes, want) in cases {
        assert_eq!(after(&mut world, std::slice::from_ref(bytes)), *want);
    }
    // An unknown source is refused before its id is used.
    assert_eq!(after(&mut world, &[register(6, 1, "now")]), ["refused 6 t_async_future_exists"]);
}

#[test]
fn the_cap_on_futures_comes_before_the_source() {
    let limits = HubLimits { futures_max: 1, ..HubLimits::default() };
    let mut world = World::new(limits);
    let bad = frame(
        CommandIds { req_id: 2, future_id: 2, ..CommandIds::default() },
        Command::Register { source: b"\x09" },
    );
    assert_eq!(after(&mut world, &[register(1, 1, "wait"), bad]), ["ack 1", "refused 2 t_async_overflow"]);
    world.hub.complete(1, Ok(b""));
    assert_eq!(after(&mut world, &[register(3, 2, "now")]), ["ok 1 ", "ack 3", "ok 2 now"]);
}

#[test]
fn ids_that_were_used_are_remembered_in_ranges_and_their_number_is_bounded() {
    let limits = HubLimits { id_ranges_max: 2, ..HubLimits::default() };
    let mut world = World::new(limits);
    let frames: Vec<Vec<u8>> = [2, 9, 3, 20, 10].into_iter().map(|id| register(id, id, "quiet")).collect();
    let want = [
        "ack 2",
        "ok 2 ",
        "ack 9",
        "ok 9 ",
        "ack 3",
        "ok 3 ",
        "refused 20 t_async_overflow",
        "ack 10",
        "ok 10 ",
    ];
    assert_eq!(after(&mut world, &frames), want);
}

#[test]
fn a_cancel_runs_its_hook_once_and_nothing_follows_it() {
    let mut world = World::default();
    let frames = [register(1, 7, "wait"), cancel(2, 7), cancel(3, 7)];
    assert_eq!(after(&mut world, &frames), ["ack 1", "ack 2", "cancelled 7", "ack 3"]);
    assert_eq!(world.powers.cancelled, [7]);
    assert!(!world.hub.complete(7, Ok(b"late")));
    assert_eq!(world.read(), Read::Never);
}

#[test]
fn an_end_that_is_queued_stays_queued_when_its_future_is_cancelled() {
    let mut world = World::default();
    world.write(&register(1, 7, "wait")).unwrap();
    world.hub.complete(7, Ok(b"x"));
    assert_eq!(after(&mut world, &[cancel(2, 7)]), ["ack 1", "ok 7 x", "ack 2"]);
    assert!(world.powers.cancelled.is_empty());
}

#[test]
fn a_timeout_is_a_cancel_that_nobody_asked_for() {
    let mut world = World::default();
    let late = CommandIds { req_id: 1, future_id: 7, timeout_ms: 250, ..CommandIds::default() };
    world.now_ms = 1000;
    assert_eq!(after(&mut world, &[frame(late, Command::Register { source: &source("wait") })]), ["ack 1"]);
    assert_eq!(world.hub.next_deadline_ms(), Some(1250));
    world.now_ms = 1249;
    assert_eq!(world.read(), Read::Pending);
    world.now_ms = 1250;
    assert_eq!(world.events(), ["cancelled 7"]);
    assert_eq!(world.powers.cancelled, [7]);
    assert_eq!(world.hub.next_deadline_ms(), None);
}

#[test]
fn a_join_ends_with_its_scope_or_with_its_fuel_or_with_its_time() {
    let scoped = |req_id, future_id, scope_id| {
        let ids = CommandIds { req_id, future_id, scope_id, ..CommandIds::default() };
        frame(ids, Command::Register { source: &source("wait") })
    };
    let mut world = World::default();
    let nothing = [join(1, 5, 0, 0)];
    assert_eq!(after(&mut world, &nothing), ["ack 1", "joined 1"], "nothing pending is joinable at once");
    let frames = [scoped(2, 1, 5), scoped(3, 2, 5), scoped(4, 3, 0), join(5, 5, 0, 0)];
    assert_eq!(
        after(&mut world, &frames),
        ["ack 2", "ack 3", "ack 4", "ack 5", "limit 5 t_async_join_limit"]
    );
    let joins = [join(6, 5, 1, 0), join(7, 5, 2, 0), join(8, 0, 9, 50), join(9, 5, 9, 0)];
    assert_eq!(after(&mut world, &joins), ["ack 6", "ack 7", "ack 8", "ack 9"]);
    world.hub.complete(1, Ok(b""));
    assert_eq!(world.events(), ["ok 1 ", "limit 6 t_async_join_limit"]);
    world.hub.complete(2, Err(Failure::from(Trace::ExecBusy)));
    assert_eq!(world.events(), ["fail 2 t_exec_busy", "joined 7", "joined 9"]);
    world.now_ms = 50;
    assert_eq!(world.events(), ["limit 8 t_async_join_limit"]);
    assert!(world.powers.cancelled.is_empty(), "joining does not cancel");
}

#[test]
fn joins_are_bounded() {
    let mut world = World::new(HubLimits { joins_max: 1, ..HubLimits::default() });
    let frames = [register(1, 1, "wait"), join(2, 0, 9, 0), join(3, 0, 9, 0)];
    assert_eq!(after(&mut world, &frames), ["ack 1", "ack 2", "refused 3 t_async_overflow"]);
}

#[test]
fn a_detached_task_has_an_owner_and_owners_are_bounded() {
    let detach = |req_id, task_id, owner| {
        frame(CommandIds { req_id, task_id, ..CommandIds::default() }, Command::Detach { owner })
    };
    let limits = HubLimits { tasks_max: 1, owner_bytes_max: 6, ..HubLimits::default() };
    let mut world = World::new(limits);
    let frames = [detach(1, 5, "worker"), detach(2, 5, "other"), detach(3, 6, "x"), detach(4, 5, "too long")];
    let want = ["ack 1", "ack 2", "refused 3 t_async_overflow", "refused 4 t_async_overflow"];
    assert_eq!(after(&mut world, &frames), want);
    assert_eq!(world.hub.owner(5), Some("other"));
}

#[test]
fn what_is_no_frame_closes_the_stream_and_everything_pending_ends() {
    for (at, byte) in [(3, b'2'), (4, 2), (6, 0), (6, 3)] {
        let mut world = World::default();
        let mut bad = cancel(9, 1);
        bad[at] = byte;
        let bytes =
            [register(1, 8, "wait"), register(2, 3, "wait"), join(3, 0, 9, 0), bad, cancel(4, 1)].concat();
        assert_eq!(world.write(&bytes), Ok(bytes.len() - HEADER_BYTES));
        let want = [
            "ack 1",
            "ack 2",
            "ack 3",
            "refused 9 t_async_bad_frame",
            "cancelled 3",
            "cancelled 8",
            "joined 3",
        ];
        assert_eq!(world.events(), want);
        assert_eq!(world.read(), Read::End);
        assert_eq!(world.write(b"x"), Err(Closed));
        assert_eq!(world.powers.cancelled, [3, 8]);
    }
}

#[test]
fn a_payload_that_is_too_long_is_passed_over_and_not_kept() {
    for length in [(1u32 << 20) + 1, u32::MAX] {
        let mut world = World::default();
        let mut head = Vec::new();
        Header { payload_len: length, ..Header::decode(&cancel(9, 1)).unwrap() }.put(&mut head);
        assert_eq!(after(&mut world, &[head]), ["refused 9 t_async_payload"]);
        let mut left = u64::from(length);
        let piece = vec![0xff; 1 << 20];
        while left > 0 {
            let count = left.min(piece.len() as u64) as usize;
            assert_eq!(world.write(&piece[..count]), Ok(count));
            assert_eq!(world.hub.held_bytes(), 0);
            left -= count as u64;
        }
        assert_eq!(after(&mut world, &[register(2, 7, "now")]), ["ack 2", "ok 7 now"]);
    }
}

#[test]
fn a_value_that_is_longer_than_was_promised_is_an_overflow() {
    let mut world = World::default();
    world.write(&register(1, 7, "wait")).unwrap();
    world.hub.complete(7, Ok(&[0; 1000]));
    assert_eq!(world.events(), ["ack 1", "fail 7 t_async_overflow"]);
}

#[test]
fn a_cause_without_room_is_left_out() {
    let mut world = World::default();
    world.write(&[register(1, 7, "wait"), register(2, 8, "wait")].concat()).unwrap();
    let failure = |cause| Failure { cause, ..Failure::from(Trace::ExecLimits) };
    world.hub.complete(7, Err(failure(vec![1; 9])));
    world.hub.complete(8, Err(failure(vec![1; 9000])));
    assert_eq!(world.events(), ["ack 1", "ack 2", "fail 7 t_exec_limits +9", "fail 8 t_exec_limits"]);
}

#[test]
fn a_guest_that_never_reads_is_held_up_and_one_that_reads_gets_on() {
    let mut world = World::default();
    let limits = HubLimits::default();
    let mut written = 0_u64;
    let mut id = 0;
    loop {
        id += 1;
        let bytes = register(id, id, "now");
        let count = world.write(&bytes).unwrap();
        written += count as u64;
        assert!(world.hub.held_bytes() <= limits.held_bytes_max());
        if count < bytes.len() {
            break;
        }
    }
    assert_eq!(world.write(b"more"), Ok(0));
    assert!(written > u64::from(limits.event_queue_bytes_max) / 4);
    let events = world.events();
    // The one that waited went on as soon as there was room.
    assert_eq!(events.len() as u64, 2 * (id - 1));
    assert_eq!(events.last().unwrap(), &format!("ok {} now", id - 1));
}

#[test]
fn room_that_is_promised_to_large_values_is_bounded_too() {
    let mut world = World::default();
    // Each promises 40,000 of 65,536 bytes.
    let frames = [register(1, 1, "large"), register(2, 2, "large"), register(3, 3, "wait")];
    assert_eq!(after(&mut world, &frames), ["ack 1", "ack 2", "fail 2 t_async_overflow", "ack 3"]);
    assert!(world.hub.complete(1, Ok(&[b'x'; 40_000])));
    assert_eq!(world.events(), [format!("ok 1 {}", "x".repeat(40_000))]);
    assert_eq!(after(&mut world, &[register(4, 4, "large")]), ["ack 4"]);
}

#[test]
fn the_end_cancels_what_is_pending_and_frees_everything() {
    let mut world = World::default();
    world.write(&[register(1, 8, "wait"), register(2, 3, "wait"), join(3, 0, 9, 9)].concat()).unwrap();
    world.write(&cancel(4, 8)[..20]).unwrap();
    world.end();
    world.end();
    assert_eq!(world.powers.cancelled, [3, 8]);
    assert_eq!((world.hub.held_bytes(), world.hub.pending_count()), (0, 0));
    assert_eq!(world.read(), Read::End);
    assert_eq!(world.hub.next_deadline_ms(), None);
    assert_eq!(world.write(b""), Err(Closed));
    assert!(!world.hub.complete(8, Ok(b"")));
    assert_eq!(world.read(), Read::End);
}

#[test]
fn where_frames_are_cut_changes_nothing() {
    let frames =
        [register(1, 7, "now"), cancel(2, 7), join(3, 0, 1, 0), register(4, 8, "wait"), cancel(5, 8)];
    let bytes = frames.concat();
    let mut whole = World::default();
    let want = after(&mut whole, &frames);
    for cut in 0..bytes.len() {
        let mut world = World::default();
        assert_eq!(world.write(&bytes[..cut]), Ok(cut));
        let mut events = world.events();
        assert_eq!(world.write(&bytes[cut..]), Ok(bytes.len() - cut));
        events.extend(world.events());
        assert_eq!(events, want, "cut at {cut}");
    }
}

#[test]
fn a_read_of_nothing_is_not_the_end() {
    let mut world = World::default();
    assert_eq!(world.hub.read(&mut [], 0, &mut world.powers), Read::Bytes(0));
    let mut hub = Hub::new(HubLimits::default());
    assert_eq!(hub.read(&mut [0; 9], 0, &mut world.powers), Read::Never);
}
