//! Which applet is in which module.
//!
//! One list is the source of the dispatch, of `--list` and of the lock file's `applets`. A part is a
//! function with one arm an applet, so that the linker leaves the other parts' applets out.

use crate::quick::Quick;
use std::{ffi::OsString, vec::IntoIter};

/// What the dispatcher needs of an applet.
pub struct Applet {
    /// Takes the arguments, the applet's name first, and returns the exit status.
    pub main: fn(IntoIter<OsString>) -> i32,
    /// The sentences it prints.
    pub messages: fluent::Catalogue,
    /// Does its usual work without either.
    pub quick: Quick,
}

macro_rules! part {
    (@quick) => { crate::quick::none };
    (@quick $quick:ident) => { crate::quick::$quick };
    ($(#[$doc:meta])* $part:ident { $($name:literal => $($util:ident)::+, $messages:ident $(, $quick:ident)?;)* }) => {
        $(#[$doc])*
        pub mod $part {
            use super::Applet;

            /// The applets of this part.
            pub const NAMES: &[&str] = &[$($name),*];

            /// The applet of that name, if this part has it.
            pub fn find(name: &str) -> Option<Applet> {
                Some(match name {
                    $($name => Applet {
                        main: $($util)::+::uumain,
                        messages: crate::messages::$messages,
                        quick: part!(@quick $($quick)?),
                    },)*
                    _ => return None,
                })
            }
        }
    };
}

part! {
    /// What a pipeline is made of. Small, and the first to be compiled.
    core {
        "cat" => crate::own::cat, CAT, cat;
        "echo" => uu_echo, ECHO;
        "seq" => uu_seq, SEQ, seq;
        "head" => uu_head, HEAD, head;
        "wc" => uu_wc, WC, wc;
        "rev" => crate::own::rev, NONE;
        "basename" => uu_basename, BASENAME, basename;
        "dirname" => uu_dirname, DIRNAME, dirname;
        "tr" => uu_tr, TR, tr;
        "sort" => crate::own::sort, SORT, sort;
        "uniq" => uu_uniq, UNIQ, uniq;
        "tail" => uu_tail, TAIL, tail;
        "true" => uu_true, TRUE;
        "false" => uu_false, FALSE;
        "tac" => crate::own::tac, NONE;
        "env" => crate::own::env, NONE;
        "printenv" => uu_printenv, PRINTENV;
        "pwd" => uu_pwd, PWD;
        "printf" => uu_printf, PRINTF;
        "test" => uu_test, TEST;
        "[" => uu_test, TEST;
        "tee" => uu_tee, TEE, tee;
        "yes" => uu_yes, YES;
        "sleep" => uu_sleep, SLEEP;
        "cut" => uu_cut, CUT, cut;
        "paste" => uu_paste, PASTE, paste;
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
        "numfmt" => uu_numfmt, NUMFMT;
        "od" => uu_od, OD;
        "factor" => uu_factor, FACTOR;
    }
}

part! {
    /// What needs a regular expression engine, which is as large as all the rest of it.
    regex {
        "nl" => uu_nl, NL;
        "csplit" => uu_csplit, CSPLIT;
        "ptx" => uu_ptx, PTX;
        "expr" => uu_expr, EXPR;
        "pr" => uu_pr, PR;
    }
}

part! {
    /// Files and folders by name.
    files {
        "ls" => uu_ls, LS;
        "dir" => uu_dir, LS;
        "vdir" => uu_vdir, LS;
        "cp" => uu_cp, CP;
        "mv" => uu_mv, MV;
        "rm" => uu_rm, RM;
        "rmdir" => uu_rmdir, RMDIR;
        "mkdir" => uu_mkdir, MKDIR;
        "ln" => uu_ln, LN;
        "link" => uu_link, LINK;
        "unlink" => uu_unlink, UNLINK;
        "touch" => uu_touch, TOUCH;
        "truncate" => uu_truncate, TRUNCATE;
        "mktemp" => uu_mktemp, MKTEMP;
        "readlink" => uu_readlink, READLINK;
        "realpath" => uu_realpath, REALPATH;
        "pathchk" => uu_pathchk, PATHCHK;
        "dd" => crate::own::dd, NONE;
        "install" => crate::own::install, NONE;
        "shred" => uu_shred, SHRED;
        "dircolors" => uu_dircolors, DIRCOLORS;
    }
}

part! {
    /// Sums, encodings, the time, and what the machine says of itself.
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
        "date" => uu_date, DATE;
        "shasum" => crate::own::shasum, SHA256SUM;
        "uname" => crate::own::machine, NONE;
        "arch" => crate::own::machine, NONE;
        "nproc" => crate::own::machine, NONE;
        "uuidgen" => crate::own::machine, NONE;
        "sync" => crate::own::machine, NONE;
        "clear" => crate::own::machine, NONE;
        "id" => crate::own::who, NONE;
        "whoami" => crate::own::who, NONE;
        "logname" => crate::own::who, NONE;
        "groups" => crate::own::who, NONE;
        "users" => crate::own::who, NONE;
        "hostname" => crate::own::who, NONE;
        "hostid" => uu_hostid, HOSTID;
        "tty" => uu_tty, TTY;
    }
}

/// Every applet of every part.
pub fn all() -> impl Iterator<Item = &'static str> {
    [core::NAMES, text::NAMES, regex::NAMES, files::NAMES, data::NAMES].into_iter().flatten().copied()
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
