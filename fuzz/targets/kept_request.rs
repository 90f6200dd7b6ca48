//! Requests and answers of `kv` and `queue`: never panics, and an answer that is read is written as it was meant.
#![no_main]

use drydock_abi::{
    kv::{self, KvRequest, KvValue},
    queue::{self, QueueRequest, QueueValue, Receipt},
};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for it in kv::OPERATIONS {
        let _ = KvRequest::decode(it.name, bytes);
    }
    for it in queue::OPERATIONS {
        if let Ok(QueueRequest::Publish(publish)) = QueueRequest::decode(it.name, bytes) {
            assert_eq!(publish.messages.iter().count(), publish.messages.len());
        }
    }
    if let Ok(value) = serde_json::from_slice::<KvValue>(bytes) {
        let again = serde_json::to_vec(&value).expect("it can be said");
        assert_eq!(serde_json::from_slice::<KvValue>(&again).ok(), Some(value));
    }
    if let Ok(value) = serde_json::from_slice::<QueueValue>(bytes) {
        let again = serde_json::to_vec(&value).expect("it can be said");
        assert_eq!(serde_json::from_slice::<QueueValue>(&again).ok(), Some(value));
    }
    if let Some(receipt) = std::str::from_utf8(bytes).ok().and_then(|it| it.parse::<Receipt>().ok()) {
        assert_eq!(receipt.to_string().as_bytes(), bytes);
    }
});
