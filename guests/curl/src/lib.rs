//! `curl`, and by its other names `wget`, `http` and `https`: HTTP requests, each of which the host judges and makes.
//!
//! Nothing here connects. A request goes to the host as JSON and its answer comes back in frames ([`wire`]); redirects are
//! followed by asking again, so every hop is judged. Bodies are passed on as they come.

mod cookie;
mod data;
mod failure;
pub mod fetch;
mod flags;
mod form;
mod httpie;
mod output;
mod request;
mod transfer;
mod url;
mod wget;
mod wire;
mod write_out;

/// Runs a command line under the name it was called by, and answers its exit status.
pub fn run(called: &str, args: &[String]) -> i32 {
    match called {
        "wget" => wget::run(args),
        "http" | "https" => httpie::run(called, args),
        _ => transfer::run(args),
    }
}

/// The readers of what servers send and people type, for the fuzzer and nobody else.
#[doc(hidden)]
pub mod foreign {
    use crate::{
        cookie::Jar, flags, output::Output, request::Request, url::Url, wire::Answer, wire::Event,
        wire::Head, wire::Reader, write_out, write_out::Facts,
    };

    struct Pieces(Vec<u8>, usize);

    impl Answer for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> usize {
            let count = self.0.len().min(self.1).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            count
        }
    }

    /// Reads an answer in pieces of that size: how many bytes its body has, and whether it came to its end.
    pub fn answer(bytes: &[u8], piece: usize) -> (u64, bool) {
        let mut reader = Reader::new(Box::new(Pieces(bytes.to_vec(), piece.max(1))));
        let mut count = 0;
        loop {
            match reader.next() {
                Ok(Event::Head(_)) => {}
                Ok(Event::Body(piece)) => count += piece.len() as u64,
                Ok(Event::End) => return (count, true),
                Err(_) => return (count, false),
            }
        }
    }

    /// Keeps what a server sets, saves it and reads it again: what is sent must be the same.
    pub fn cookies(url: &str, header: &str) -> bool {
        let Ok(url) = Url::parse(url) else { return true };
        let (mut jar, mut again) = (Jar::default(), Jar::default());
        jar.store(&url, header, 1_000);
        again.load(&jar.save());
        jar.header_for(&url, 1_000) == again.header_for(&url, 1_000)
    }

    /// Reads a command line and makes its requests, without asking anybody; then follows `location`.
    pub fn line(words: &[String], location: &str) {
        let Ok(flags) = flags::read(words) else { return };
        for url in &flags.urls {
            // Files are not for a fuzzer to read.
            let reads = |it: &String| it.contains('@') || it.contains('<');
            if flags.upload.is_some() || words.iter().any(reads) {
                continue;
            }
            let Ok(request) = Request::of(&flags, url) else { continue };
            let _ = request.json(&flags, None, None);
            let _ = Output::of(&flags, 0, &request.url);
            let _ = request.follow(&flags, 302, location);
        }
        let head = Head { status: 200, headers: vec![("content-disposition".into(), location.into())] };
        let mut output = Output::File { name: "a/b".into(), create_dirs: false, open: None };
        output.rename(&head);
        let name = output.name().strip_prefix("a/").unwrap_or("/");
        assert!(!name.contains('/') && !name.starts_with('.'), "a server chose the place {name:?}");
        let _ = write_out::rendered(location, &Facts { head, ..Facts::default() });
    }
}
