//! The part `regex`: see `parts::regex` for what is in it.

fn main() {
    wbox::run(wbox::parts::regex::find)
}
