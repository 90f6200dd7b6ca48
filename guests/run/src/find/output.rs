//! Where actions print: stdout, and the files that `-fprint` and its kin name.

use std::fs::File;
use std::io::{BufWriter, Stdout, Write};

/// All of them; the first is stdout.
pub(super) struct Outputs {
    stdout: BufWriter<Stdout>,
    files: Vec<BufWriter<File>>,
    broken: bool,
}

impl Outputs {
    /// Makes the files; they exist even if nothing is ever printed.
    pub(super) fn open(names: &[String]) -> Result<Self, String> {
        let open = |name: &String| {
            let file = File::create(name).map_err(|error| format!("'{name}': {}", place::reason(&error)))?;
            Ok(BufWriter::new(file))
        };
        let files = names.iter().skip(1).map(open).collect::<Result<_, String>>()?;
        Ok(Self { stdout: BufWriter::new(std::io::stdout()), files, broken: false })
    }

    pub(super) fn write(&mut self, to: usize, text: &str) {
        let bytes = facts::name::bytes(text);
        let written = match to.checked_sub(1).and_then(|at| self.files.get_mut(at)) {
            Some(file) => file.write_all(&bytes),
            None => self.stdout.write_all(&bytes),
        };
        self.broken |= written.is_err();
    }

    /// Before a child or a complaint comes in between.
    pub(super) fn flush(&mut self) {
        self.broken |= self.stdout.flush().is_err();
    }

    /// Writes what is left; false if something was lost.
    pub(super) fn finish(mut self) -> bool {
        self.flush();
        let lost = self.files.iter_mut().any(|file| file.flush().is_err());
        !lost && !self.broken
    }
}
