//! The three trees every workspace has.

/// A tree of a workspace. Guests see it mounted under its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Volume {
    /// The working tree.
    Workspace,
    /// What an agent remembers.
    Memory,
    /// Scratch, cleared when the workspace is opened and nobody else has it open.
    Tmp,
}

impl Volume {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Workspace, Self::Memory, Self::Tmp];

    /// Its name, in SQL and as a directory.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Memory => "memory",
            Self::Tmp => "tmp",
        }
    }
}
