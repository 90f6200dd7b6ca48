//! What keeps messages promises, whatever is behind it: one suite, called by each backing with a fresh and empty one.

#![allow(clippy::unwrap_used)]

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use drydock_contract::{
    Tenant, Timestamp,
    port::{LeaseId, Leasing, QueueMessage, QueueRefusal, Queues, Settling, Taking, TopicDepth},
};

use crate::block_on;

const NOW: Timestamp = Timestamp(1_767_225_599_000_000_000);
const PLENTY: u64 = 1 << 20;

/// Runs the whole suite; panics at the first broken promise.
#[allow(clippy::print_stderr)] // Shown only where a promise is broken: which one it was.
pub fn queues_contract(make: impl Fn() -> Arc<dyn Queues>) {
    for (promise, check) in [
        ("where nothing is, nothing is taken", nothing_is_nothing as fn(&Kept)),
        ("the first in is the first out, and is taken once", first_in_first_out),
        ("tenants and topics have their own", all_are_apart),
        ("what does not fit stays", what_does_not_fit_stays),
        ("a leased message is hidden, and comes again unless it is done", leases),
        ("what is given back comes again in its place", what_is_given_back_comes_again),
        ("what was leased too often is dead", the_dead_have_a_topic),
        ("a look sees what is behind the dead", a_look_passes_the_dead),
        ("a topic and a tenant have their bounds", bounds),
        ("whoever waits hears of what comes", arrivals_are_heard),
        ("messages whose taker is gone are not lost", what_nobody_took_over_goes_back),
    ] {
        eprintln!("{promise}");
        check(&Kept(make()));
    }
}

struct Kept(Arc<dyn Queues>);

fn tenant(name: &str) -> Tenant {
    name.parse().unwrap()
}

fn later(ms: u64) -> Timestamp {
    NOW.plus(Duration::from_millis(ms))
}

fn taking(messages_max: usize) -> Taking {
    Taking { messages_max, bytes_max: PLENTY, lease: None }
}

fn leasing(messages_max: usize, now: Timestamp, attempts_max: u32) -> Taking {
    let lease = Some(Leasing { until: now.plus(Duration::from_millis(10)), attempts_max });
    Taking { lease, ..taking(messages_max) }
}

fn of(message: &QueueMessage) -> LeaseId {
    LeaseId { message: message.id, attempt: message.attempt }
}

impl Kept {
    fn publish(&self, topic: &str, messages: &[&[u8]]) -> Result<u64, QueueRefusal> {
        let messages = messages.iter().map(|it| it.to_vec()).collect();
        block_on(self.0.publish(&tenant("a"), topic, messages, NOW)).unwrap().map(|it| it.messages)
    }

    fn take(&self, topic: &str, taking: Taking, now: Timestamp) -> Result<Vec<QueueMessage>, QueueRefusal> {
        block_on(self.0.take(&tenant("a"), topic, taking, now)).unwrap()
    }

    fn poll(&self, topic: &str) -> Vec<Vec<u8>> {
        self.take(topic, taking(9), NOW).unwrap().into_iter().map(|it| it.body).collect()
    }

    fn lease(&self, topic: &str, now: Timestamp) -> Option<QueueMessage> {
        self.take(topic, leasing(1, now, 2), now).unwrap().pop()
    }

    fn settle(&self, topic: &str, leases: &[LeaseId], settling: Settling, now: Timestamp) -> Vec<bool> {
        block_on(self.0.settle(&tenant("a"), topic, leases.to_vec(), settling, now)).unwrap()
    }

    fn depth(&self, topic: &str, now: Timestamp) -> (u64, u64) {
        let TopicDepth { messages, hidden } = block_on(self.0.depth(&tenant("a"), topic, now)).unwrap();
        (messages, hidden)
    }

    fn topics(&self, prefix: &str) -> Vec<(String, u64)> {
        block_on(self.0.topics(&tenant("a"), prefix, None, 99)).unwrap()
    }
}

fn nothing_is_nothing(kept: &Kept) {
    assert_eq!(kept.poll("t"), [[0; 0]; 0]);
    assert_eq!((kept.depth("t", NOW), kept.topics("")), ((0, 0), vec![]));
    let lease = LeaseId { message: 1, attempt: 1 };
    assert_eq!(kept.settle("t", &[lease, lease], Settling::Done, NOW), [false, false]);
    assert_eq!(block_on(kept.0.peek(&tenant("a"), "t", 9, PLENTY, NOW)).unwrap(), []);
}

fn first_in_first_out(kept: &Kept) {
    assert_eq!(kept.publish("t", &[b"1", b"2"]), Ok(2));
    assert_eq!(kept.publish("t", &[b""]), Ok(3));
    let seen = block_on(kept.0.peek(&tenant("a"), "t", 2, PLENTY, NOW)).unwrap();
    assert_eq!(seen.iter().map(|it| &it.body[..]).collect::<Vec<_>>(), [b"1", b"2"]);
    assert_eq!(kept.depth("t", NOW), (3, 0), "looking takes nothing");
    let one = kept.take("t", taking(1), NOW).unwrap();
    assert_eq!((one[0].body.as_slice(), one[0].published), (&b"1"[..], NOW));
    assert_eq!(kept.poll("t"), [&b"2"[..], b""]);
    assert_eq!(kept.poll("t"), [[0; 0]; 0]);
    assert_eq!(kept.topics(""), [], "a topic without messages is none");
    kept.publish("t", &[b"3"]).unwrap();
    let next = kept.take("t", taking(1), NOW).unwrap();
    assert!(next[0].id > one[0].id + 2 - 1, "no number is given twice");
}

fn all_are_apart(kept: &Kept) {
    for topic in ["t", "t%", "t_", "u", "t\0"] {
        kept.publish(topic, &[topic.as_bytes()]).unwrap();
    }
    block_on(kept.0.publish(&tenant("b"), "t", vec![b"theirs".to_vec()], NOW)).unwrap().unwrap();
    let names = |prefix: &str| kept.topics(prefix).into_iter().map(|it| it.0).collect::<Vec<_>>();
    assert_eq!(names("t"), ["t", "t\0", "t%", "t_"]);
    assert_eq!(names("t%"), ["t%"]);
    assert_eq!(block_on(kept.0.topics(&tenant("a"), "t", Some("t\0"), 1)).unwrap(), [("t%".to_owned(), 1)]);
    assert_eq!(kept.poll("t"), [b"t"]);
    let theirs = block_on(kept.0.take(&tenant("b"), "t", taking(9), NOW)).unwrap().unwrap();
    assert_eq!(theirs[0].body, b"theirs");
}

fn what_does_not_fit_stays(kept: &Kept) {
    kept.publish("t", &[b"12345", b"6", b"789"]).unwrap();
    let within = |bytes_max| kept.take("t", Taking { bytes_max, ..taking(9) }, NOW);
    assert_eq!(within(4), Err(QueueRefusal::TooLong { bytes: 5 }));
    assert_eq!(kept.depth("t", NOW), (3, 0));
    assert_eq!(within(6).unwrap().len(), 2);
    assert_eq!(within(3).unwrap()[0].body, b"789");
}

fn leases(kept: &Kept) {
    kept.publish("t", &[b"1", b"2"]).unwrap();
    let first = kept.lease("t", NOW).unwrap();
    assert_eq!((first.body.as_slice(), first.attempt), (&b"1"[..], 1));
    assert_eq!(kept.depth("t", NOW), (2, 1));
    assert_eq!(kept.lease("t", later(1)).unwrap().body, b"2");
    assert_eq!(kept.lease("t", later(9)), None);
    let again = kept.lease("t", later(10)).unwrap();
    assert_eq!((again.id, again.attempt), (first.id, 2));
    assert_eq!(kept.settle("t", &[of(&first)], Settling::Done, later(10)), [false], "it is another's now");
    assert_eq!(kept.settle("u", &[of(&again)], Settling::Done, later(10)), [false], "of another topic");
    let twice = [of(&again), of(&again)];
    assert_eq!(kept.settle("t", &twice, Settling::Done, later(10)), [true, false]);
    assert_eq!(kept.settle("t", &[of(&again)], Settling::Done, later(10)), [false]);
    assert_eq!(kept.depth("t", later(99)), (1, 0));
    let late = kept.lease("t", later(20)).unwrap();
    let done = kept.settle("t", &[of(&late)], Settling::Done, later(99));
    assert_eq!(done, [true], "late, and nobody had it meanwhile");
    assert_eq!(kept.topics(""), []);
}

fn what_is_given_back_comes_again(kept: &Kept) {
    kept.publish("t", &[b"1", b"2"]).unwrap();
    let first = kept.lease("t", NOW).unwrap();
    assert_eq!(kept.settle("t", &[of(&first)], Settling::Again(NOW), NOW), [true]);
    assert_eq!(kept.settle("t", &[of(&first)], Settling::Done, NOW), [false], "the lease is over");
    let again = kept.take("t", leasing(1, NOW, 9), NOW).unwrap().pop().unwrap();
    assert_eq!((again.body.as_slice(), again.attempt), (&b"1"[..], 2));
    kept.publish("t", &[b"3"]).unwrap();
    let second = kept.lease("t", NOW).unwrap();
    assert_eq!(kept.settle("t", &[of(&second)], Settling::Again(later(50)), NOW), [true]);
    assert_eq!(kept.poll("t"), [b"3"], "hidden until its moment");
    let back = kept.take("t", taking(1), later(50)).unwrap();
    assert_eq!(back[0].body, b"1", "whose lease is over too, and which was first");
}

fn the_dead_have_a_topic(kept: &Kept) {
    kept.publish("t", &[b"bad", b"good"]).unwrap();
    kept.lease("t", NOW).unwrap();
    let second = kept.lease("t", later(10)).unwrap();
    assert_eq!((second.body.as_slice(), second.attempt), (&b"bad"[..], 2));
    assert_eq!(kept.lease("t", later(20)).unwrap().body, b"good");
    assert_eq!(kept.topics(""), [("t".to_owned(), 1), ("t.dead".to_owned(), 1)]);
    let dead = kept.lease("t.dead", later(20)).unwrap();
    assert_eq!((dead.body.as_slice(), dead.id, dead.attempt), (&b"bad"[..], second.id, 1));
    for n in 1..5 {
        // Nothing dies twice.
        assert_eq!(kept.lease("t.dead", later(20 + n * 20)).unwrap().id, dead.id);
    }
    let only = kept.lease("t", later(200)).unwrap();
    assert_eq!(kept.settle("t", &[of(&only)], Settling::Again(later(200)), later(200)), [true]);
    assert_eq!(kept.topics("t"), [("t.dead".to_owned(), 2)], "given back too often, it dies at once");
    assert_eq!(kept.take("t.dead", taking(9), later(999)).unwrap().len(), 2);
    assert_eq!(kept.topics(""), []);
}

fn a_look_passes_the_dead(kept: &Kept) {
    kept.publish("t", &vec![&b"bad"[..]; 250]).unwrap();
    assert_eq!(kept.take("t", leasing(250, NOW, 1), NOW).unwrap().len(), 250);
    kept.publish("t", &[b"good"]).unwrap();
    let seen = block_on(kept.0.peek(&tenant("a"), "t", 9, PLENTY, later(20))).unwrap();
    assert_eq!(seen.iter().map(|it| it.body.as_slice()).collect::<Vec<_>>(), [b"good"]);
    assert_eq!(kept.topics("t"), [("t".to_owned(), 251)], "and moves none of them");
}

fn bounds(kept: &Kept) {
    let many = vec![&b""[..]; 250];
    for n in 1..=4 {
        assert_eq!(kept.publish("t0", &many), Ok(n * 250));
    }
    assert_eq!(kept.publish("t0", &[b"x"]), Err(QueueRefusal::TopicFull { max: 1_000 }));
    for topic in 1..50 {
        for _ in 0..4 {
            kept.publish(&format!("t{topic}"), &many).unwrap();
        }
    }
    assert_eq!(kept.publish("more", &[b"x"]), Err(QueueRefusal::TenantFull { max: 50_000 }));
    let other = block_on(kept.0.publish(&tenant("b"), "more", vec![vec![]], NOW)).unwrap();
    assert_eq!(other.unwrap().messages, 1, "nobody else's trouble");
    kept.take("t7", taking(1), NOW).unwrap();
    assert_eq!(kept.publish("more", &[b"x"]), Ok(1));
}

fn polled<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn arrivals_are_heard(kept: &Kept) {
    let mut arrival = kept.0.arrival(&tenant("a"), "t");
    assert!(polled(&mut arrival).is_pending());
    kept.publish("t", &[b"1"]).unwrap();
    assert!(polled(&mut arrival).is_ready());
    let leased = kept.lease("t", NOW).unwrap();
    let mut arrival = kept.0.arrival(&tenant("a"), "t");
    kept.settle("t", &[of(&leased)], Settling::Again(NOW), NOW);
    assert!(polled(&mut arrival).is_ready(), "what is given back arrives");
}

/// Nobody can say when the taker is dropped: before it is done, or after. Either way all messages are there in the end, in
/// their order and as if nobody had had them.
fn what_nobody_took_over_goes_back(kept: &Kept) {
    kept.publish("t", &[b"1", b"2", b"3"]).unwrap();
    let a = tenant("a");
    for round in 0..40 {
        let taking = if round % 2 == 0 { taking(2) } else { leasing(2, NOW, 2) };
        let mut dropped = kept.0.take(&a, "t", taking, NOW);
        let _ = polled(&mut dropped);
        for _ in 0..round * 500 {
            std::hint::spin_loop();
        }
        drop(dropped);
    }
    // What was put back is put back by the same thread that looks here, and before it looks.
    let mut left = Vec::new();
    for _ in 0..1_000 {
        left.extend(kept.take("t", taking(9), NOW).unwrap());
        if left.len() == 3 {
            break;
        }
    }
    left.sort_by_key(|it| it.id);
    let told: Vec<_> = left.iter().map(|it| (&it.body[..], it.attempt)).collect();
    assert_eq!(told, [(&b"1"[..], 0), (b"2", 0), (b"3", 0)]);
}
