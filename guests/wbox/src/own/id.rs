//! `id`: numbers and names of the one user there is.

use super::{arguments, user};
use crate::stream::{Out, text};
use facts::owner::OWN as ID;

const HELP: &str = "Usage: id [OPTION]... [USER]\nPrints who a user is.\n\n  -u, --user  -g, --group  -G, --groups  -n, --name  -r, --real  -z, --zero\n";
const TABLE: &[&str] = &["u,user", "g,group", "G,groups", "n,name", "r,real", "z,zero", "a"];

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read("id", HELP, args, TABLE, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let mut out = Out::new("id");
    let asked: Vec<&str> = line.flags.iter().map(|(id, _)| *id).collect();
    match answer(&asked, line.operands.first().map(|name| text(name)).as_deref()) {
        Ok(text) => {
            out.put(text.as_bytes());
            out.sign(if line.has("z") { 0 } else { b'\n' });
            out.end(0)
        }
        Err(problem) => {
            out.complain(&problem);
            1
        }
    }
}

fn answer(asked: &[&str], whose: Option<&str>) -> Result<String, String> {
    let (own, group) = (user::name(), user::group());
    if let Some(other) = whose.filter(|it| *it != own && *it != "1000") {
        return Err(format!("'{other}': no such user"));
    }
    let named = asked.contains(&"n");
    let one = |name: &str| if named { name.to_owned() } else { ID.to_string() };
    Ok(match asked.iter().find(|id| matches!(**id, "u" | "g" | "G")) {
        Some(&"u") => one(&own),
        Some(_) => one(&group),
        None if named => return Err("cannot print only names or real IDs in default format".to_owned()),
        None => format!("uid={ID}({own}) gid={ID}({group}) groups={ID}({group})"),
    })
}

#[test]
fn everybody_is_the_same_person() {
    let (me, us) = (user::name(), user::group());
    let all = format!("uid=1000({me}) gid=1000({us}) groups=1000({us})");
    let cases = [
        (&[][..], None, Ok(all.as_str())),
        (&["u"], None, Ok("1000")),
        (&["u", "n"], None, Ok(me.as_str())),
        (&["g", "n"], Some("1000"), Ok(us.as_str())),
        (&[], Some("nobody-at-all"), Err("'nobody-at-all': no such user")),
        (&["n"], None, Err("cannot print only names or real IDs in default format")),
    ];
    for (asked, whose, want) in cases {
        let want = want.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(answer(asked, whose), want, "{asked:?} {whose:?}");
    }
}
