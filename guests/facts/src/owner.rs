//! Names of owners: from `/etc/passwd` and `/etc/group` where there are such files, and otherwise the
//! one account there is.

/// The number of the only account of a guest.
pub const OWN: u32 = 1000;
/// What it is called where `USER` does not say so: the name that the shell gives it, too.
pub const NAME: &str = "agent";

/// The name of a user, if it has one.
pub fn user(id: u32) -> Option<String> {
    listed("/etc/passwd", id).or_else(|| own(id))
}

/// The name of a group, if it has one.
pub fn group(id: u32) -> Option<String> {
    listed("/etc/group", id).or_else(|| own(id))
}

fn own(id: u32) -> Option<String> {
    (id == OWN).then(|| std::env::var("USER").ok().filter(|it| !it.is_empty()).unwrap_or(NAME.to_owned()))
}

/// The name in the first field of the row whose third field is the number.
fn listed(file: &str, id: u32) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let mut rows = text.lines().map(|row| row.split(':'));
    rows.find_map(|mut fields| {
        let name = fields.next()?;
        let number: u32 = fields.nth(1)?.parse().ok()?;
        (number == id).then(|| name.to_owned())
    })
}
