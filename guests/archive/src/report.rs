//! Messages, and the system's words without their number.

use std::io::Write as _;

/// Writes one line to standard error.
pub fn complain(text: &str) {
    // There is nobody left to tell that standard error is closed.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Why an operation failed, as the C library says it.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        std::io::ErrorKind::IsADirectory => "Is a directory".to_owned(),
        std::io::ErrorKind::AlreadyExists => "File exists".to_owned(),
        std::io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        _ => place::reason(error),
    }
}
