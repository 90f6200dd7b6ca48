//! The https lane of the catalog: a row is fetched by Drydock itself, over verified TLS, from a host that was granted and
//! from no other. The servers are on loopback, and their authority is one that a test made.
#![allow(clippy::unwrap_used)]

mod common;

use std::{
    fs,
    io::{Read as _, Write},
    net::{SocketAddr, TcpListener},
    sync::{Arc, Mutex},
    thread,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use common::{
    Said,
    room::{Member, Room, module, tar},
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::PrivateKeyDer};

/// A mirror over TLS: where it listens, which paths it was asked for, and the root that speaks for it.
struct Mirror {
    address: SocketAddr,
    paths: Arc<Mutex<Vec<String>>>,
    root: Vec<u8>,
}

impl Mirror {
    /// Answers each path with what `answer` writes.
    fn new(answer: impl Fn(&str, &mut dyn Write) + Send + Sync + 'static) -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let root = params.self_signed(&key).unwrap().der().to_vec();
        let issuer = Issuer::new(params, key);
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap().der().to_vec();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.into()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, paths) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let (kept, config) = (Arc::clone(&paths), Arc::new(config));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut stream = StreamOwned::new(connection, stream);
                let (mut head, mut one) = (Vec::new(), [0]);
                // A client that refuses the certificate hangs up.
                while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut one).is_ok() {
                    head.push(one[0]);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let Some(path) = head.split(' ').nth(1) else { continue };
                kept.lock().unwrap().push(path.to_owned());
                answer(path, &mut stream);
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        });
        Self { address, paths, root }
    }

    fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.paths.lock().unwrap())
    }

    /// The root in a file, as `SSL_CERT_FILE` names one.
    fn trusted(&self, room: &Room) -> String {
        let text = STANDARD.encode(&self.root);
        let lines: Vec<&str> =
            text.as_bytes().chunks(64).map(|it| std::str::from_utf8(it).unwrap()).collect();
        let pem = format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"));
        room.shell.file("root.pem", pem)
    }
}

fn answer(to: &mut dyn Write, status: &str, headers: &str, body: &[u8]) {
    let _ = write!(to, "HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    let _ = to.write_all(body);
}

fn catalog(room: &Room, root: &str, args: &[&str]) -> Said {
    let rows = room.shell.path("rows");
    let mut all = vec!["catalog", "--rows", rows.to_str().unwrap()];
    all.extend(args);
    let mut command = room.command(&all);
    // What the environment says of proxies is nothing to Drydock.
    command
        .env("SSL_CERT_FILE", root)
        .env("HTTPS_PROXY", "http://127.0.0.1:9")
        .env("ALL_PROXY", "http://127.0.0.1:9");
    room.shell.said(command.output().unwrap())
}

#[test]
fn a_row_with_an_https_source_is_fetched_over_verified_tls_from_a_host_that_was_granted() {
    let room = Room::new();
    // The data directory is shared with earlier runs, whose archives are others.
    let unique = room.shell.path("x").display().to_string();
    let module = module("row-https", unique.len() * 31);
    let archive = tar(&[Member("x/readme", b'0', unique.as_bytes()), Member("x/x.wasm", b'0', &module)]);
    let sent = archive.clone();
    let mirror = Mirror::new(move |path, to| match path.split('?').next().unwrap() {
        "/x.tar" => answer(to, "200 OK", "", &sent),
        "/moved" => answer(to, "302 Found", "location: /x.tar?v=1\r\n", b"moved"),
        "/plain" => answer(to, "302 Found", "location: http://127.0.0.1:9/x.tar\r\n", b""),
        "/elsewhere" => answer(to, "302 Found", "location: https://169.254.169.254/x.tar\r\n", b""),
        "/circle" => answer(to, "302 Found", "location: /circle\r\n", b""),
        "/other" => answer(to, "200 OK", "", b"other bytes than the row promises"),
        "/cut" => drop(to.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\nhalf")),
        _ => answer(to, "404 Not Found", "", b"no such file"),
    });
    let (root, place) = (mirror.trusted(&room), mirror.address.to_string());
    let row =
        |path: &str| room.row("row-https", &format!("{}#x/x.wasm", mirror.url(path)), &archive, &module, "");
    room.catalog(&["remove", "row-https"]);

    // Nothing is granted by itself, and the message says what would be.
    row("/x.tar");
    let said = catalog(&room, &root, &["add", "row-https"]);
    assert_eq!(said.status, 1, "{}", said.all());
    assert!(said.stderr.contains("denied: "), "{}", said.stderr);
    assert!(said.stderr.contains(&format!("--allow-private {place} grants it")), "{}", said.stderr);
    let granted = ["add", "row-https", "--allow-private", place.as_str()];
    // A host that is allowed opens no address that is not public.
    let said = catalog(&room, &root, &["add", "row-https", "--allow-host", &place]);
    assert!(said.status == 1 && said.stderr.contains("host_not_granted"), "{}", said.all());
    let said = catalog(&room, &root, &["add", "--offline", "row-https", "--allow-private", &place]);
    assert!(said.status == 1 && said.stderr.contains("offline: "), "{}", said.all());
    // Nobody who is trusted speaks for the mirror.
    let nobody = room.shell.file("nobody.pem", "");
    for root in [nobody.as_str(), "/etc/ssl/certs/ca-certificates.crt"] {
        let said = catalog(&room, root, &granted);
        let codes = ["certificate_refused: ", "no_trust_store: "];
        assert!(said.status == 1 && codes.iter().any(|it| said.stderr.contains(it)), "{}", said.all());
    }
    assert_eq!(mirror.asked(), Vec::<String>::new(), "nothing was asked for by any of these");

    for (path, code) in [
        ("/missing", "fetch_failed: "),
        ("/other", "sha_mismatch: "),
        ("/cut", "protocol_error: "),
        ("/plain", "https_only: "),
        ("/elsewhere", "host_not_granted: "),
        ("/circle", "too_many_redirects: "),
    ] {
        row(path);
        let said = catalog(&room, &root, &granted);
        assert!(said.status == 1 && said.stderr.contains(code), "{path}: {}", said.all());
        room.holds_nothing_of("row-https", &archive);
    }
    // The row's own size is a limit.
    row("/x.tar");
    let file = room.shell.path("rows/row-https.toml");
    let text = fs::read_to_string(&file).unwrap().replace("[[sources]]\n", "[[sources]]\nbytes = 100\n");
    fs::write(&file, text).unwrap();
    let said = catalog(&room, &root, &granted);
    assert!(said.status == 1 && said.stderr.contains("body_too_large: "), "{}", said.all());
    mirror.asked();

    row("/moved");
    let said = catalog(&room, &root, &granted);
    assert_eq!(said.status, 0, "{}", said.all());
    assert_eq!(mirror.asked(), ["/moved", "/x.tar?v=1"]);
    assert_eq!(room.run(&["run", "row-https"]).stdout, "row-https\n");
    assert_eq!(room.npm_saw(), None, "no client was started");
    // Adding it again asks nobody, and needs no grant.
    assert_eq!(catalog(&room, &root, &["add", "--offline", "row-https"]).status, 0);
    assert_eq!(mirror.asked(), Vec::<String>::new());

    // Each attempt is on record, with host, address, status and bytes, and without its path.
    let said = room.run(&["audit", "--json", "--limit", "1000"]);
    let ours: Vec<&str> = said.stdout.lines().filter(|it| it.contains(&place)).collect();
    assert!(ours.iter().any(|it| it.contains("\"http.fetch\"") && it.contains("catalog")), "{}", said.all());
    assert!(!ours.iter().any(|it| it.contains("x.tar") || it.contains("/moved")), "{ours:?}");
    room.catalog(&["remove", "row-https"]);
}

#[test]
fn a_host_that_is_not_granted_is_named_with_its_flag_and_not_looked_up() {
    let room = Room::new();
    let module = module("row-far", 0);
    room.row("row-far", "https://downloads.example.com/x.wasm", &[], &module, "");
    let said = room.catalog(&["add", "row-far"]);
    assert_eq!(said.status, 1);
    insta::assert_snapshot!(said.stderr, @"drydock: denied: https://downloads.example.com/x.wasm: host `downloads.example.com:443` is not granted; --allow-host downloads.example.com grants it");
}
