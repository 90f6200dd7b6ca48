//! Proofs over real connections: who does not read is nobody else's trouble.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use drydock_embed::{
    CLIENT_CALLS_MAX, Dock, Protocol, ServeSetup, Setup, command_handler,
    contract::{Cap, Terms},
    gate::Grant,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::oneshot,
};

use super::*;

/// Connects with little room for what comes, and asks.
async fn ask(address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n").await.unwrap();
    stream
}

#[tokio::test]
async fn clients_that_do_not_read_are_closed_and_another_is_answered() {
    let home = tempfile::tempdir().unwrap();
    let dock = Dock::open(home.path()).unwrap();
    for protocol in [Protocol::Http, Protocol::Tcp] {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let subject = drydock_embed::serve_subject(protocol, address).parse().unwrap();
        let grant = Arc::new(Grant::of(Cap::Serve).within(Terms::of([subject])));
        let setup = Setup { grants: vec![grant], ..Setup::profile("posix") };
        let session = dock.session(protocol.as_str(), setup).unwrap();
        // More than the system keeps of what nobody reads.
        let handler = command_handler("seq", ["1", "580000"]);
        let serve_id = protocol.as_str().to_owned();
        let client_calls_max = CLIENT_CALLS_MAX;
        let setup = ServeSetup { protocol, address, serve_id, handler, client_calls_max };
        let served = dock.serve_guest(&session, setup).await.unwrap();
        // One response at a time has room.
        let bounds = GuestBounds {
            write_pause_max: Duration::from_millis(50),
            responses_bytes_max: 4 << 20,
            ..GuestBounds::default()
        };
        let (end, ended) = oneshot::channel::<()>();
        let serving = tokio::spawn(serve_guest(listener, served, bounds, async { drop(ended.await) }));
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(ask(address).await);
        }
        let mut answer = Vec::new();
        ask(address).await.read_to_end(&mut answer).await.unwrap();
        assert!(answer.ends_with(b"\n580000\n"), "{} bytes", answer.len());
        end.send(()).unwrap();
        // Nobody of them has read anything, and none of them is waited for.
        let (_, counts) = serving.await.unwrap();
        assert_eq!((counts.answered, counts.refused), (4, 0));
        drop(held);
    }
}
