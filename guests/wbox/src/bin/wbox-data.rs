//! The part `data`: see `parts::data` for what is in it.

fn main() {
    wbox::run(wbox::parts::data::find)
}
