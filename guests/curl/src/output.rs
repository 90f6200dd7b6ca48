//! Where bodies and headers go: standard output, or a file that is made with its first byte.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
};

use place::stdio::Standard;

use crate::{
    failure::{Failure, WRITE_ERROR, reason},
    flags::{Flags, Target},
    url::Url,
    wire::Head,
};

/// A place that bytes are written to.
pub(crate) enum Output {
    Stdout,
    File { name: String, create_dirs: bool, open: Option<File> },
}

impl Output {
    /// Where the body of the `index`th URL goes.
    pub(crate) fn of(flags: &Flags, index: usize, url: &Url) -> Result<Self, Failure> {
        let target = flags.targets.get(index);
        let name = match target {
            Some(Target::Named(name)) if name == "-" => return Ok(Self::Stdout),
            Some(Target::Named(name)) => name.clone(),
            Some(Target::Remote) => remote(url)?,
            None if flags.all_remote => remote(url)?,
            None => return Ok(Self::Stdout),
        };
        Ok(Self::in_folder(flags, name))
    }

    /// A file of that name where the flags want files to be.
    pub(crate) fn in_folder(flags: &Flags, name: String) -> Self {
        let name = match &flags.output_dir {
            Some(folder) => format!("{}/{name}", folder.trim_end_matches('/')),
            None => name,
        };
        Self::File { name, create_dirs: flags.create_dirs, open: None }
    }

    /// Another name where there is such a file already: `name.1`, and so on.
    pub(crate) fn step_aside(&mut self) {
        let Self::File { name, open: None, .. } = self else { return };
        if Path::new(name.as_str()).exists() {
            let free = (1..10_000).map(|it| format!("{name}.{it}")).find(|it| !Path::new(it).exists());
            *name = free.unwrap_or_else(|| name.clone());
        }
    }

    /// The name that the server gives the file, with `-J`: its last part, and nothing that leads elsewhere.
    pub(crate) fn rename(&mut self, head: &Head) {
        let Self::File { name, .. } = self else { return };
        let given = head.get("content-disposition").and_then(|it| it.split_once("filename=")).map(|it| it.1);
        let given = given.map(|it| it.split(';').next().unwrap_or_default().trim_matches(['"', ' ']));
        let last = given
            .and_then(|it| it.rsplit(['/', '\\']).next())
            .filter(|it| !it.is_empty() && !it.starts_with('.'));
        if let Some(last) = last {
            let folder = name.rsplit_once('/').map(|it| format!("{}/", it.0)).unwrap_or_default();
            *name = format!("{folder}{last}");
        }
    }

    /// The name of the file, or nothing.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Stdout => "",
            Self::File { name, .. } => name,
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let failed = |name: &str, error: io::Error| {
            let what = if name.is_empty() {
                "Failure writing output to destination".to_owned()
            } else {
                format!("Failed to open the file {name}: {}", place::reason(&error))
            };
            Failure::new(WRITE_ERROR, what)
        };
        match self {
            Self::Stdout => Standard::output().write_all(bytes).map_err(|error| failed("", error)),
            Self::File { name, create_dirs, open } => {
                if open.is_none() {
                    *open = Some(make(name, *create_dirs).map_err(|error| failed(name, error))?);
                }
                match open {
                    Some(file) => file.write_all(bytes).map_err(|error| failed("", error)),
                    None => Ok(()),
                }
            }
        }
    }

    /// An answer without a body is an empty file.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.write(b"")
    }
}

fn make(name: &str, create_dirs: bool) -> io::Result<File> {
    if let Some(folder) = Path::new(name).parent().filter(|_| create_dirs) {
        std::fs::create_dir_all(folder)?;
    }
    File::create(name)
}

fn remote(url: &Url) -> Result<String, Failure> {
    url.file_name().ok_or_else(|| Failure::new(WRITE_ERROR, "Remote filename has no length"))
}

/// The head as a server writes it.
pub(crate) fn head_text(head: &Head) -> String {
    let mut text = format!("HTTP/1.1 {} {}", head.status, reason(head.status)).trim_end().to_owned() + "\r\n";
    for (name, value) in &head.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text + "\r\n"
}
