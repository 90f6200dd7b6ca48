//! What is printed of a request and its answer.

use std::{fs::File, io::Write as _};

use serde_json::Value;

use super::args::Wanted;
use crate::{
    failure::{Failure, WRITE_ERROR},
    output::head_text,
    request::Request,
    url::Url,
    wire::{Event, Head, Reader},
};

/// As much of a body as is indented; a longer one is passed on as it is.
const PRETTY_BYTES_MAX: usize = 8 << 20;

/// Where it goes.
pub(super) struct Out<'a> {
    wanted: &'a Wanted,
    /// The file of the body.
    file: Option<String>,
}

impl<'a> Out<'a> {
    pub(super) fn of(wanted: &'a Wanted, url: &Url) -> Self {
        let named = wanted.download.then(|| url.file_name().unwrap_or_else(|| "index".to_owned()));
        // A server's name for it leads nowhere else.
        let named = named.map(|it| it.trim_start_matches('.').to_owned()).filter(|it| !it.is_empty());
        let file = wanted.output.clone().or(named).or(wanted.download.then(|| "index".to_owned()));
        Self { wanted, file }
    }

    fn shows(&self, what: char) -> bool {
        self.wanted.print.contains(what)
    }

    fn print(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match place::stdio::print(bytes) {
            true => Ok(()),
            false => Err(Failure::new(WRITE_ERROR, "standard output is closed")),
        }
    }

    /// What is sent, as far as it is to be shown.
    pub(super) fn request(&mut self, request: &Request) -> Result<(), Failure> {
        if self.shows('H') {
            let mut text = format!("{} {} HTTP/1.1\n", request.method, request.url.path);
            let host = [("Host".to_owned(), request.url.authority.clone())];
            for (name, value) in host.iter().chain(&request.headers) {
                text.push_str(&format!("{name}: {value}\n"));
            }
            self.print((text + "\n").as_bytes())?;
        }
        if let Some(body) = request.body.as_ref().filter(|_| self.shows('B')) {
            let body = self.pretty(body.clone());
            self.print(&[&body[..], b"\n\n"].concat())?;
        }
        Ok(())
    }

    pub(super) fn head(&mut self, head: &Head) -> Result<(), Failure> {
        match self.shows('h') {
            true => self.print(head_text(head).replace('\r', "").as_bytes()),
            false => Ok(()),
        }
    }

    /// Passes the body on as it comes, unless it is to be indented.
    pub(super) fn body(&mut self, reader: &mut Reader, head: &Head) -> Result<(), Failure> {
        let broken =
            |name: &str, error: &std::io::Error| Failure::new(WRITE_ERROR, format!("{name}: {error}"));
        let mut file = match &self.file {
            Some(name) => Some(File::create(name).map_err(|error| broken(name, &error))?),
            None => None,
        };
        let is_json = head.get("content-type").is_some_and(|it| it.contains("json"));
        let mut gathered = (self.wanted.pretty && is_json && file.is_none()).then(Vec::new);
        loop {
            match reader.next()? {
                Event::Head(_) => return Err(Failure::broken()),
                Event::End => break,
                Event::Body(piece) => {
                    if let (Some(file), Some(name)) = (&mut file, &self.file) {
                        file.write_all(&piece).map_err(|error| broken(name, &error))?;
                        continue;
                    }
                    if !self.shows('b') {
                        continue;
                    }
                    let Some(all) = &mut gathered else {
                        self.print(&piece)?;
                        continue;
                    };
                    all.extend_from_slice(&piece);
                    if all.len() > PRETTY_BYTES_MAX {
                        let all = gathered.take().unwrap_or_default();
                        self.print(&all)?;
                    }
                }
            }
        }
        match gathered {
            Some(all) => {
                let text = self.pretty(all);
                self.print(&text)
            }
            None => Ok(()),
        }
    }

    /// JSON with a member a line, where that is wanted.
    fn pretty(&self, bytes: Vec<u8>) -> Vec<u8> {
        let value: Option<Value> = serde_json::from_slice(&bytes).ok().filter(|_| self.wanted.pretty);
        value.and_then(|it| serde_json::to_vec_pretty(&it).ok()).map_or(bytes, |it| [&it[..], b"\n"].concat())
    }
}
