//! Which applet is in which module.
//!
//! One list is the source of the dispatch, of `--list` and of the lock file's `applets`. A part is a
//! function with one arm an applet, so that the linker leaves the other parts' applets out.

use std::{ffi::OsString, vec::IntoIter};

/// What the dispatcher needs of an applet.
pub enum Applet {
    /// All of it is ours: takes the arguments after the name, and returns the exit status.
    Own(fn(&[&[u8]]) -> i32),
    /// Takes the arguments, the applet's name first, and returns the exit status.
    Theirs {
        main: fn(IntoIter<OsString>) -> i32,
        /// The sentences it prints.
        messages: fluent::Catalogue,
        /// What describes its command line.
        app: fn() -> clap::Command,
    },
}

macro_rules! part {
    (@applet $($util:ident)::+, OWN) => { Applet::Own($($util)::+::main) };
    (@applet $($util:ident)::+, $messages:ident) => {
        Applet::Theirs {
            main: $($util)::+::uumain,
            messages: crate::messages::$messages,
            app: $($util)::+::uu_app,
        }
    };
    ($(#[$doc:meta])* $part:ident { $($name:literal => $($util:ident)::+, $messages:ident;)* }) => {
        $(#[$doc])*
        pub mod $part {
            use super::Applet;

            /// The applets of this part.
            pub const NAMES: &[&str] = &[$($name),*];

            /// The applet of that name, if this part has it.
            pub fn find(name: &str) -> Option<Applet> {
                Some(match name {
                    $($name => part!(@applet $($util)::+, $messages),)*
                    _ => return None,
                })
            }
        }
    };
}

part! {
    /// What a pipeline is made of: all our own, and so the smallest.
    core {
        "cat" => crate::own::lines::cat, OWN;
        "echo" => crate::own::echo, OWN;
        "seq" => crate::own::seq, OWN;
        "head" => crate::own::lines::head, OWN;
        "wc" => crate::own::lines::wc, OWN;
        "rev" => crate::own::rev, OWN;
        "basename" => crate::own::lines::basename, OWN;
        "dirname" => crate::own::lines::dirname, OWN;
        "tr" => crate::own::lines::tr, OWN;
        "sort" => crate::own::sort, OWN;
        "uniq" => crate::own::lines::uniq, OWN;
        "tail" => crate::own::lines::tail, OWN;
        "true" => crate::own::verdict::truth, OWN;
        "false" => crate::own::verdict::falsehood, OWN;
        "tac" => crate::own::tac, OWN;
        "env" => crate::own::env, OWN;
        "printenv" => crate::own::printenv, OWN;
        "pwd" => crate::own::pwd, OWN;
        "test" => crate::own::test, OWN;
        "[" => crate::own::test::bracket, OWN;
        "expr" => crate::own::expr, OWN;
        "tee" => crate::own::lines::tee, OWN;
        "yes" => crate::own::yes, OWN;
        "sleep" => crate::own::sleep, OWN;
        "cut" => crate::own::lines::cut, OWN;
        "paste" => crate::own::lines::paste, OWN;
        "less" => crate::own::pager, OWN;
        "more" => crate::own::pager, OWN;
        "ps" => crate::own::ps, OWN;
    }
}

part! {
    /// Text in lines and columns.
    text {
        "comm" => uu_comm, COMM;
        "join" => uu_join, JOIN;
        "fold" => uu_fold, FOLD;
        "fmt" => uu_fmt, FMT;
        "expand" => uu_expand, EXPAND;
        "unexpand" => uu_unexpand, UNEXPAND;
        "split" => uu_split, SPLIT;
        "shuf" => uu_shuf, SHUF;
        "tsort" => uu_tsort, TSORT;
        "pr" => crate::own::pr, OWN;
    }
}

part! {
    /// Numbers of any size, and bytes as numbers.
    numbers {
        "printf" => uu_printf, PRINTF;
        "numfmt" => uu_numfmt, NUMFMT;
        "od" => uu_od, OD;
        "factor" => uu_factor, FACTOR;
    }
}

part! {
    /// What needs a regular expression engine, and what is seldom needed.
    regex {
        "nl" => uu_nl, NL;
        "csplit" => uu_csplit, CSPLIT;
        "ptx" => uu_ptx, PTX;
        "pathchk" => uu_pathchk, PATHCHK;
        "shred" => uu_shred, SHRED;
        "dircolors" => uu_dircolors, DIRCOLORS;
    }
}

part! {
    /// Files and folders by name.
    files {
        "ls" => crate::own::ls, OWN;
        "dir" => crate::own::ls::dir, OWN;
        "vdir" => crate::own::ls::vdir, OWN;
        "cp" => crate::own::copy::cp, OWN;
        "mv" => crate::own::copy::mv, OWN;
        "rm" => uu_rm, RM;
        "rmdir" => uu_rmdir, RMDIR;
        "mkdir" => crate::own::mkdir, OWN;
        "mkfifo" => crate::own::mkfifo, OWN;
        "ln" => uu_ln, LN;
        "link" => uu_link, LINK;
        "unlink" => uu_unlink, UNLINK;
        "touch" => crate::own::touch, OWN;
        "truncate" => uu_truncate, TRUNCATE;
        "mktemp" => crate::own::mktemp, OWN;
        "readlink" => uu_readlink, READLINK;
        "realpath" => uu_realpath, REALPATH;
        "dd" => crate::own::dd, OWN;
        "install" => crate::own::install, OWN;
        "chmod" => crate::own::owner::chmod, OWN;
        "chown" => crate::own::owner::chown, OWN;
        "chgrp" => crate::own::owner::chown::group, OWN;
        "df" => crate::own::df, OWN;
    }
}

part! {
    /// Sums, encodings, and what the machine says of itself.
    data {
        "b2sum" => uu_b2sum, B2SUM;
        "md5sum" => uu_md5sum, MD5SUM;
        "sha1sum" => uu_sha1sum, SHA1SUM;
        "sha224sum" => uu_sha224sum, SHA224SUM;
        "sha256sum" => uu_sha256sum, SHA256SUM;
        "sha384sum" => uu_sha384sum, SHA384SUM;
        "sha512sum" => uu_sha512sum, SHA512SUM;
        "cksum" => uu_cksum, CKSUM;
        "sum" => uu_sum, SUM;
        "base32" => uu_base32, BASE32;
        "base64" => uu_base64, BASE64;
        "basenc" => uu_basenc, BASENC;
        "iconv" => crate::own::iconv, OWN;
        "shasum" => crate::own::shasum, SHA256SUM;
        "uname" => crate::own::uname, OWN;
        "arch" => crate::own::uname::arch, OWN;
        "nproc" => crate::own::nproc, OWN;
        "uuidgen" => crate::own::uuidgen, OWN;
        "sync" => crate::own::sync, OWN;
        "clear" => crate::own::clear, OWN;
        "id" => crate::own::id, OWN;
        "whoami" => crate::own::user, OWN;
        "logname" => crate::own::user, OWN;
        "groups" => crate::own::user::groups, OWN;
        "users" => crate::own::user, OWN;
        "hostname" => crate::own::hostname, OWN;
        "hostid" => uu_hostid, HOSTID;
        "tty" => uu_tty, TTY;
    }
}

part! {
    /// What knows calendars and time zones, whose tables are larger than all the rest of it.
    time {
        "date" => uu_date, DATE;
    }
}

/// Every applet of every part.
pub fn all() -> impl Iterator<Item = &'static str> {
    [core::NAMES, text::NAMES, numbers::NAMES, regex::NAMES, files::NAMES, data::NAMES, time::NAMES]
        .into_iter()
        .flatten()
        .copied()
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_applet_is_in_one_part_only() {
        let mut names: Vec<&str> = super::all().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
