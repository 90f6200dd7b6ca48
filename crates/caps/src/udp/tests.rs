//! Proofs for `udp`: what is let through, what is refused, and what comes back.

use drydock_abi::{
    exchange::{DATAGRAM_BYTES_MAX, DatagramRequest, Ended, Exchanged},
    udp::REQUEST,
};
use drydock_contract::Cap;
use tokio::net::UdpSocket;

use super::UdpProtocol;
use crate::tcp::tests::{Yard, datagram_to, keeps_the_contract, udp_echo};

#[tokio::test]
async fn a_datagram_keeps_the_contract_of_all_that_dial() {
    keeps_the_contract::<UdpProtocol>(REQUEST).await;
}

#[tokio::test]
async fn a_datagram_is_answered_by_one_and_its_address_and_bytes_are_on_record() {
    let (yard, address) = (Yard::new(), udp_echo().await);
    let me = yard.session(Cap::Udp, &[format!("private:{address}")]);
    let answer = yard.datagram(&me, datagram_to(address, b"canary-payload")).await.unwrap();
    assert_eq!(answer.unwrap(), Exchanged { data: b"canary-payload".into(), ended: Ended::Closed });
    let record = format!("{:?}", yard.records().last().unwrap());
    assert!(record.contains(&address.to_string()), "{record}");
    assert!(record.contains("bytes_sent: 14, bytes_received: 14"), "{record}");
    assert!(!record.contains("canary"), "{record}");
    let too_much = yard.datagram(&me, datagram_to(address, &vec![0; DATAGRAM_BYTES_MAX as usize + 1])).await;
    assert_eq!(too_much.err().unwrap().code(), "too_large");
    // As many as a request may have, and one more than a datagram of this network has.
    let unsendable = yard.datagram(&me, datagram_to(address, &vec![0; DATAGRAM_BYTES_MAX as usize])).await;
    assert_eq!(unsendable.unwrap().unwrap_err().code, "send_failed");
}

#[tokio::test]
async fn an_answer_that_never_comes_is_timed_out_and_nobody_there_is_recv_failed() {
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let free = UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let yard = Yard::new();
    let me = yard.session(Cap::Udp, &[format!("private:{address}"), format!("private:{free}")]);
    let request = DatagramRequest { timeout_ms: Some(100), ..datagram_to(address, b"x") };
    assert_eq!(yard.datagram(&me, request).await.unwrap().unwrap_err().code, "timed_out");
    assert_eq!(yard.datagram(&me, datagram_to(free, b"x")).await.unwrap().unwrap_err().code, "recv_failed");
}
