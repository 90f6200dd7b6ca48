//! Variables: what they hold, where that came from, and who hears of them.

use std::collections::HashMap;

/// Where a value came from; a later kind is not replaced by an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    Default,
    Environment,
    File,
    CommandLine,
    /// `make -e`.
    EnvironmentOverride,
    Override,
    Automatic,
}

impl Origin {
    /// No makefile says it.
    pub fn is_outside(self) -> bool {
        matches!(self, Self::Environment | Self::EnvironmentOverride | Self::CommandLine)
    }

    /// As `$(origin …)` says it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Environment => "environment",
            Self::File => "file",
            Self::CommandLine => "command line",
            Self::EnvironmentOverride => "environment",
            Self::Override => "override",
            Self::Automatic => "automatic",
        }
    }
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub value: String,
    /// Expanded each time it is used.
    pub recursive: bool,
    pub origin: Origin,
}

/// How one is assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assign {
    Recursive,
    Simple,
    IfUnset,
    Append,
    Shell,
}

/// All variables, and which of them commands are told.
#[derive(Debug, Default, Clone)]
pub struct Variables {
    all: HashMap<String, Variable>,
    pub exported: HashMap<String, bool>,
    pub export_all: bool,
}

const DEFAULTS: &[(&str, &str)] = &[
    ("AR", "ar"),
    ("ARFLAGS", "-rv"),
    ("AS", "as"),
    ("CC", "cc"),
    ("CXX", "g++"),
    ("CPP", "$(CC) -E"),
    ("LD", "ld"),
    ("RM", "rm -f"),
    ("LEX", "lex"),
    ("YACC", "yacc"),
    ("FC", "f77"),
    ("COMPILE.c", "$(CC) $(CFLAGS) $(CPPFLAGS) $(TARGET_ARCH) -c"),
    ("COMPILE.cc", "$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(TARGET_ARCH) -c"),
    ("COMPILE.cpp", "$(COMPILE.cc)"),
    ("COMPILE.C", "$(COMPILE.cc)"),
    ("COMPILE.s", "$(AS) $(ASFLAGS) $(TARGET_MACH)"),
    ("LINK.o", "$(CC) $(LDFLAGS) $(TARGET_ARCH)"),
    ("LINK.c", "$(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(TARGET_ARCH)"),
    ("LINK.cc", "$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(LDFLAGS) $(TARGET_ARCH)"),
    ("LINK.cpp", "$(LINK.cc)"),
    ("LINK.C", "$(LINK.cc)"),
    ("OUTPUT_OPTION", "-o $@"),
    ("MAKE", "make"),
    ("MAKE_COMMAND", "make"),
    ("MAKE_VERSION", "4.3"),
    ("MAKE_HOST", "wasm32-wasi"),
    ("SHELL", "/bin/sh"),
    (".SHELLFLAGS", "-c"),
    (".RECIPEPREFIX", ""),
    (".FEATURES", "target-specific order-only else-if"),
];

impl Variables {
    /// Those that are always there.
    pub fn new() -> Self {
        let mut all = Self::default();
        for (name, value) in DEFAULTS {
            all.put(name, value, true, Origin::Default);
        }
        all
    }

    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.all.get(name)
    }

    /// Gives a value, unless one of a higher origin is there.
    pub fn put(&mut self, name: &str, value: &str, recursive: bool, origin: Origin) {
        if self.all.get(name).is_some_and(|old| old.origin > origin && old.origin != Origin::Automatic) {
            return;
        }
        self.all.insert(name.to_owned(), Variable { value: value.to_owned(), recursive, origin });
    }

    /// Takes one away.
    pub fn remove(&mut self, name: &str) {
        self.all.remove(name);
    }

    /// Puts back what was there before.
    pub fn restore(&mut self, name: &str, old: Option<Variable>) {
        match old {
            Some(old) => drop(self.all.insert(name.to_owned(), old)),
            None => drop(self.all.remove(name)),
        }
    }

    /// The names that commands are told.
    pub fn told(&self) -> Vec<String> {
        let told = |(name, variable): &(&String, &Variable)| match self.exported.get(*name) {
            Some(wanted) => *wanted,
            None => {
                let plain =
                    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
                plain
                    && (variable.origin.is_outside()
                        || (self.export_all
                            && variable.origin != Origin::Default
                            && variable.origin != Origin::Automatic))
            }
        };
        let mut names: Vec<String> = self.all.iter().filter(told).map(|it| it.0.clone()).collect();
        names.sort();
        names
    }
}
