//! Loopback servers: one thread each, one answer for every connection, in the clear or over TLS. And the server's end of TLS
//! without any connection.
#![expect(clippy::unwrap_used, reason = "a test whose own server fails has failed")]

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::PrivateKeyDer};

/// Where it listens, and the heads of the requests that it read.
#[derive(Debug)]
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    /// What it read.
    pub heads: Arc<Mutex<Vec<String>>>,
}

/// Serves each connection with what `answer` writes. The thread ends with the test's process.
pub fn serve(answer: impl Fn(&str, &mut dyn Write) + Send + Sync + 'static) -> Server {
    start(move |mut stream, heads| {
        if let Some(head) = read_head(&mut stream) {
            heads.lock().unwrap().push(head.clone());
            answer(&head, &mut stream);
        }
    })
}

/// The same over TLS. Heads begin with a line that says which name the client asked for.
pub fn serve_tls(
    config: ServerConfig,
    answer: impl Fn(&str, &mut dyn Write) + Send + Sync + 'static,
) -> Server {
    let config = Arc::new(config);
    start(move |stream, heads| {
        let plain =
            |head: &str, out: &mut dyn Write| answer(head.split_once("\r\n").map_or("", |it| it.1), out);
        over_tls(&config, stream, heads, &plain);
    })
}

/// Both at one port: what begins as TLS does is answered over TLS, and `answer` is told that line, too.
pub fn serve_either(
    config: ServerConfig,
    answer: impl Fn(&str, &mut dyn Write) + Send + Sync + 'static,
) -> Server {
    let config = Arc::new(config);
    start(move |mut stream, heads| {
        let mut first = [0];
        if stream.peek(&mut first).is_ok() && first == [TLS_HANDSHAKE] {
            return over_tls(&config, stream, heads, &answer);
        }
        if let Some(head) = read_head(&mut stream) {
            heads.lock().unwrap().push(head.clone());
            answer(&head, &mut stream);
        }
    })
}

/// The first byte of a connection that begins with TLS.
const TLS_HANDSHAKE: u8 = 22;

fn over_tls(
    config: &Arc<ServerConfig>,
    stream: TcpStream,
    heads: &Mutex<Vec<String>>,
    answer: &dyn Fn(&str, &mut dyn Write),
) {
    let connection = ServerConnection::new(Arc::clone(config)).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    let Some(head) = read_head(&mut stream) else { return };
    let name = stream.conn.server_name().unwrap_or("none").to_owned();
    let head = format!("sni {name}\r\n{head}");
    heads.lock().unwrap().push(head.clone());
    answer(&head, &mut stream);
    stream.conn.send_close_notify();
    let _ = stream.flush();
}

fn start(serve: impl Fn(TcpStream, &Mutex<Vec<String>>) + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heads);
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (serve, heads) = (Arc::clone(&serve), Arc::clone(&kept));
            thread::spawn(move || serve(stream, &heads));
        }
    });
    Server { address, heads }
}

/// The head of a request, and as much of its body as `content-length` says.
fn read_head(stream: &mut impl Read) -> Option<String> {
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

/// An authority of its own, and certificates by it.
#[derive(Debug)]
pub struct Authority {
    /// Its own certificate, for those who trust it.
    pub root: Vec<u8>,
    issuer: Issuer<'static, KeyPair>,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// One that nobody had before.
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let root = params.self_signed(&key).unwrap().der().to_vec();
        Self { root, issuer: Issuer::new(params, key) }
    }

    /// A server that proves to be `name`, in the years given.
    pub fn config(&self, name: &str, years: (i32, i32)) -> ServerConfig {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(years.0, 1, 1);
        params.not_after = rcgen::date_time_ymd(years.1, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        tls(certificate.der().to_vec(), &key)
    }
}

/// A server whose certificate nobody else has signed.
pub fn self_signed(name: &str) -> ServerConfig {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![name.to_owned()]).unwrap().self_signed(&key).unwrap();
    tls(certificate.der().to_vec(), &key)
}

fn tls(certificate: Vec<u8>, key: &KeyPair) -> ServerConfig {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.into()], key)
        .unwrap()
}

/// The server's end of a connection that is not there: what a client sent goes in, and what it has to hear comes out. What it
/// is asked inside is read and answered by nobody.
#[derive(Debug)]
pub struct TlsPeer(ServerConnection);

impl TlsPeer {
    /// A new one.
    pub fn new(config: &Arc<ServerConfig>) -> Self {
        Self(ServerConnection::new(Arc::clone(config)).unwrap())
    }

    /// Takes all that a client sent.
    pub fn take(&mut self, mut sent: &[u8]) {
        while !sent.is_empty() {
            self.0.read_tls(&mut sent).unwrap();
            self.0.process_new_packets().unwrap();
            let mut asked = [0; 1024];
            while self.0.reader().read(&mut asked).is_ok_and(|count| count > 0) {}
        }
    }

    /// What a client has to hear, as much as there is room for; 0 where that is nothing.
    pub fn give(&mut self, mut room: &mut [u8]) -> usize {
        match self.0.wants_write() {
            true => self.0.write_tls(&mut room).unwrap(),
            false => 0,
        }
    }
}
