//! A loopback server with a script: one thread, one answer for every connection.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    thread,
};

/// Where it listens, and the requests that it read.
pub struct Server {
    pub address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    pub fn last(&self) -> String {
        self.heads().pop().unwrap_or_default()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn place(&self) -> String {
        self.address.to_string()
    }
}

/// Answers each connection with what `answer` writes for its request.
pub fn serve(answer: impl Fn(&str, &mut dyn Write) + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let (kept, answer) = (Arc::clone(&heads), Arc::new(answer));
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let (answer, heads) = (Arc::clone(&answer), Arc::clone(&kept));
            thread::spawn(move || {
                if let Some(head) = read_request(&mut stream) {
                    heads.lock().unwrap().push(head.clone());
                    answer(&head, &mut stream);
                }
            });
        }
    });
    Server { address, heads }
}

/// A whole answer.
pub fn answer(to: &mut dyn Write, status: &str, headers: &str, body: &str) {
    let _ = write!(to, "HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len());
}

fn read_request(stream: &mut impl Read) -> Option<String> {
    let mut bytes = Vec::new();
    let mut one = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut one).ok()?;
        bytes.push(one[0]);
    }
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8_lossy(&body))
}
