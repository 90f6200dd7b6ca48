//! Proofs for the wire of `queue`: what is read, what is refused, and that an answer comes back as it went.

use proptest::prelude::*;

use super::*;

const ALL: [&str; 8] = [PUBLISH, POLL, LEASE, ACK, NACK, DEPTH, PEEK, TOPICS];

#[test]
fn requests_are_read_strictly_and_what_is_not_said_has_a_default() {
    let read = |operation, text: &str| QueueRequest::decode(operation, text.as_bytes());
    for text in [r#"{"topic":"t","message":"a"}"#, r#"{"topic":"t","messages":[{"base64":"YQ=="}]}"#] {
        let Ok(QueueRequest::Publish(publish)) = read(PUBLISH, text) else { panic!("{text}") };
        assert_eq!(publish.messages.iter().collect::<Vec<_>>(), [b"a"]);
    }
    let poll = Poll { topic: "t".into(), max: 1, wait_ms: 0, bytes_max: None };
    assert_eq!(read(POLL, r#"{"topic":"t"}"#), Ok(QueueRequest::Poll(poll)));
    let Ok(QueueRequest::Lease(lease)) = read(LEASE, r#"{"topic":"t","max":9}"#) else { panic!() };
    assert_eq!((lease.max, lease.visibility_ms, lease.attempts_max), (9, LEASE_MS, ATTEMPTS));
    for (operation, bad) in [
        (PUBLISH, r#"{"topic":"t"}"#),
        (PUBLISH, r#"{"topic":"t","message":"a","messages":["b"]}"#),
        (PUBLISH, r#"{"topic":"t","messages":"b"}"#),
        (POLL, r#"{"topic":"t","bytes_max":1}"#),
        (POLL, r#"{"topic":"t","max":-1}"#),
        (ACK, r#"{"topic":"t"}"#),
        (ACK, r#"{"topic":"t","receipts":["1"]}"#),
        (ACK, r#"{"topic":"t","receipts":["+1.1"]}"#),
        (ACK, r#"{"topic":"t","receipts":["01.1"]}"#),
        (ACK, r#"{"topic":"t","receipts":[7]}"#),
        ("queue.drop", r#"{"topic":"t"}"#),
    ] {
        assert_eq!(read(operation, bad).unwrap_err().code(), "malformed", "{bad}");
    }
}

#[test]
fn every_operation_is_told_of_once() {
    assert_eq!(OPERATIONS.iter().map(|it| it.name).collect::<Vec<_>>(), ALL);
}

proptest! {
    #[test]
    fn bytes_that_are_no_request_are_refused_and_nothing_worse(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        for operation in ALL {
            let _ = QueueRequest::decode(operation, &bytes);
        }
    }

    #[test]
    fn messages_come_out_as_they_went_in(all in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..9), 0..9)) {
        let messages: Messages = all.iter().map(Vec::as_slice).collect();
        prop_assert_eq!(messages.len(), all.len());
        prop_assert_eq!(messages.bytes(), all.iter().map(Vec::len).sum::<usize>());
        prop_assert_eq!(messages.iter().collect::<Vec<_>>(), all);
    }

    #[test]
    fn a_receipt_is_one_text(message in any::<u64>(), attempt in any::<u32>(), text in "[0-9+. -]{0,6}") {
        let receipt = Receipt(LeaseId { message, attempt });
        prop_assert_eq!(receipt.to_string().parse(), Ok(receipt));
        if let Ok(other) = text.parse::<Receipt>() {
            prop_assert_eq!(other.to_string(), text);
        }
    }

    #[test]
    fn an_answer_comes_back_as_it_went(n in any::<u64>(), body in proptest::collection::vec(any::<u8>(), 0..16), topic in ".{0,8}") {
        let receipt = Receipt(LeaseId { message: n, attempt: 3 });
        let leased = Message { message: body.into(), published_ms: n, attempt: Some(3), receipt: Some(receipt) };
        let polled = Message { attempt: None, receipt: None, ..leased.clone() };
        for told in [
            QueueValue::Published(Published { published: n, depth: n }),
            QueueValue::Messages(Told { messages: vec![leased, polled] }),
            QueueValue::Messages(Told { messages: vec![] }),
            QueueValue::Settled(Settled { settled: n, unknown: vec![receipt] }),
            QueueValue::Depth(Deep { depth: n, hidden: n }),
            QueueValue::Topics(TopicList { topics: vec![Topic { topic: topic.clone(), depth: n }], next: Some(topic) }),
        ] {
            let text = serde_json::to_string(&told).unwrap();
            prop_assert_eq!(serde_json::from_str::<QueueValue>(&text).unwrap(), told);
        }
    }
}
