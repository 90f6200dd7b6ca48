//! One whole answer in memory, for programs that want a file and no transfer: redirects followed, nothing sent along.

use crate::{
    failure::Failure,
    flags::Flags,
    request::Request,
    url::Url,
    wire::{Event, Host, Reader, Wire},
};

/// Redirects that are followed, each judged by the host.
const REDIRECTS_MAX: u32 = 5;

/// The body of a URL, as somebody who takes `accept` is sent it, of so many bytes at most.
pub fn get(url: &str, accept: &str, bytes_max: usize) -> Result<Vec<u8>, String> {
    whole(&Host, url, accept, bytes_max).map_err(|it| it.message)
}

/// What a reference found at a URL leads to.
pub fn join(url: &str, reference: &str) -> Result<String, String> {
    let joined = Url::parse(url).and_then(|it| it.join(reference));
    joined.map(|it| it.text()).map_err(|it| it.message)
}

fn whole(wire: &dyn Wire, url: &str, accept: &str, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    let flags = Flags { compressed: true, ..Flags::default() };
    let mut request = Request {
        url: Url::parse(url)?,
        method: "GET".to_owned(),
        fixed_method: false,
        posts: false,
        headers: vec![("accept".to_owned(), accept.to_owned())],
        body: None,
        user: None,
        at_home: true,
    };
    for _ in 0..=REDIRECTS_MAX {
        let mut reader = Reader::new(wire.start(&request.json(&flags, None, None))?);
        let Event::Head(head) = reader.next()? else { return Err(Failure::broken()) };
        let location = head.get("location").filter(|_| matches!(head.status, 301 | 302 | 303 | 307 | 308));
        if let Some(location) = location {
            request = request.follow(&flags, head.status, location)?;
            continue;
        }
        if !(200..300).contains(&head.status) {
            return Err(Failure::new(1, format!("{} answers {}", request.url.text(), head.status)));
        }
        let mut body = Vec::new();
        loop {
            match reader.next()? {
                Event::Body(piece) => body.extend(piece),
                Event::End => return Ok(body),
                Event::Head(_) => return Err(Failure::broken()),
            }
            if body.len() > bytes_max {
                return Err(Failure::new(
                    1,
                    format!("{} has more than {bytes_max} bytes", request.url.text()),
                ));
            }
        }
    }
    Err(Failure::new(1, format!("more than {REDIRECTS_MAX} redirects")))
}
