//! Which number stands for what. Tables are shared until written to, so saving one before a redirection and forking one
//! cost a reference count.

use std::{collections::BTreeSet, sync::Arc};

use super::Fd;

/// Open descriptors, sorted by their number.
#[derive(Clone, Default)]
pub(crate) struct FdTable(Arc<Vec<(u32, Fd)>>);

impl FdTable {
    fn find(&self, number: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&number, |it| it.0)
    }
}

/// A process substitution whose pipe is open.
pub(crate) struct Process {
    /// Of `/dev/fd/63`, as scripts know it; none if a redirection opened it.
    pub(crate) number: Option<u32>,
    /// This shell's end of the pipe.
    pub(crate) fd: Fd,
    /// The job that reads what is written there.
    pub(crate) reader: Option<u32>,
}

/// The descriptors of a shell.
#[derive(Default)]
pub(crate) struct Descriptors {
    table: FdTable,
    /// Those a `{name}>` opened: they outlive the command.
    named: Arc<BTreeSet<u32>>,
    /// Process substitutions of this shell, to be closed with their command.
    pub(crate) processes: Vec<Process>,
}

impl Descriptors {
    /// A subshell's: the same files are open, and it has no substitutions to clean up after.
    pub(crate) fn fork(&self) -> Self {
        Self { table: self.table.clone(), named: Arc::clone(&self.named), processes: Vec::new() }
    }

    /// Opens a process substitution.
    pub(crate) fn add_process(&mut self, process: Process) {
        if let Some(number) = process.number {
            self.insert(number, process.fd.clone());
        }
        self.processes.push(process);
    }

    /// Closes the latest one, if there are more than `since`.
    pub(crate) fn take_process(&mut self, since: usize) -> Option<Process> {
        let process = if self.processes.len() > since { self.processes.pop() } else { None }?;
        if let Some(number) = process.number {
            self.remove(number);
        }
        Some(process)
    }

    /// All but the three streams, by number: commands may open them.
    pub(crate) fn beside_streams(&self) -> impl Iterator<Item = (u32, &Fd)> {
        self.iter().skip_while(|it| it.0 <= 2)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Fd> {
        self.table.find(number).ok().map(|at| &self.table.0[at].1)
    }

    /// All that are open, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Fd)> {
        self.table.0.iter().map(|(number, fd)| (*number, fd))
    }

    /// Whether it is one that a `{name}>` opened.
    pub(crate) fn is_named(&self, number: u32) -> bool {
        self.named.contains(&number)
    }

    /// The numbers that stand for something.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.table.0.iter().map(|it| it.0)
    }

    pub(crate) fn insert(&mut self, number: u32, fd: Fd) {
        let at = self.table.find(number);
        let open = Arc::make_mut(&mut self.table.0);
        match at {
            Ok(at) => open[at].1 = fd,
            Err(at) => open.insert(at, (number, fd)),
        }
    }

    pub(crate) fn remove(&mut self, number: u32) {
        if let Ok(at) = self.table.find(number) {
            Arc::make_mut(&mut self.table.0).remove(at);
        }
    }

    /// Opens what `{name}>` asked for.
    pub(crate) fn name(&mut self, number: u32) {
        Arc::make_mut(&mut self.named).insert(number);
    }

    /// Closes it again.
    pub(crate) fn remove_named(&mut self, number: u32) {
        self.remove(number);
        Arc::make_mut(&mut self.named).remove(&number);
    }

    /// Closes the pipes among them, those of a coprocess for instance: whoever waits for their other ends would wait for
    /// ever.
    pub(crate) fn close_pipes(&mut self) {
        if self.table.0.iter().any(|it| it.1.is_pipe()) {
            Arc::make_mut(&mut self.table.0).retain(|it| !it.1.is_pipe());
        }
    }

    /// Whether another shell or a saved table has the same descriptors, so that what one of them stands for is not this
    /// shell's alone.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.table.0) > 1
    }

    /// The table as it is, to go back to.
    pub(crate) fn save(&self) -> FdTable {
        self.table.clone()
    }

    /// Descriptors as they were.
    pub(crate) fn put_back(&mut self, saved: FdTable) {
        self.table = saved;
    }

    /// Descriptors as they were, save those a `{name}>` opened: they stay.
    pub(crate) fn restore(&mut self, saved: FdTable) {
        let opened = std::mem::replace(&mut self.table, saved);
        if self.named.is_empty() {
            return;
        }
        for (number, fd) in opened.0.iter() {
            if self.named.contains(number) {
                self.insert(*number, fd.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_shares_descriptors_until_one_of_them_writes() {
        let mut one = Descriptors::default();
        one.insert(1, Fd::Null);
        let mut two = one.fork();
        assert!(one.is_shared() && two.is_shared());
        two.insert(3, Fd::Null);
        assert!(!one.is_shared() && !two.is_shared());
        assert!(one.get(3).is_none() && two.get(3).is_some() && two.get(1).is_some());
    }

    #[test]
    fn what_a_name_opened_outlives_its_redirection() {
        let mut fds = Descriptors::default();
        fds.insert(1, Fd::Null);
        let saved = fds.save();
        for number in [10, 2] {
            fds.insert(number, Fd::Null);
        }
        fds.name(10);
        fds.restore(saved);
        assert!(fds.get(1).is_some() && fds.get(2).is_none() && fds.get(10).is_some());
        fds.remove_named(10);
        assert!(fds.get(10).is_none());
    }
}
