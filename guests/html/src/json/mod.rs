//! `html-to-json`: a page as one JSON object of its title, description, text and links, within bounds.
//!
//! The host's power `browse` reads pages by it, so a page must not be able to keep it: the tree is walked without
//! recursion, and whatever is past a bound is left out and said to be.

mod charset;
mod walk;

use options::{Item, Order};
use serde_json::json;

use crate::read;

const HELP: &str = "Usage: html-to-json [OPTION]... [FILE]
Print a page from FILE, or standard input, as JSON: title, description, base, text, links.

      --html           read tags (usual)
      --plain          take it as text
      --type=TYPE      what the server says of it, such as 'text/html; charset=iso-8859-1'
      --text-max=N     bytes of text (262144)
      --links-max=N    how many links (1000)
  -h, --help
";

/// What is asked for.
struct Wanted {
    plain: bool,
    content_type: String,
    text_bytes_max: usize,
    links_max: usize,
}

pub(crate) fn run(args: &[String]) -> Result<String, String> {
    let table = ["html", "plain", "type=", "text-max=", "links-max=", "h,help"];
    let mut wanted =
        Wanted { plain: false, content_type: String::new(), text_bytes_max: 256 << 10, links_max: 1000 };
    let mut file = None;
    for item in options::parse(args, &table, Order::Anywhere)? {
        let number = |name: &str, value: Option<String>| {
            let text = value.unwrap_or_default();
            text.parse::<usize>().map_err(|_| format!("invalid value '{text}' for '--{name}'"))
        };
        match item {
            Item::Flag("h", _) => return Ok(HELP.to_owned()),
            Item::Flag("html", _) => wanted.plain = false,
            Item::Flag("plain", _) => wanted.plain = true,
            Item::Flag("type", value) => wanted.content_type = value.unwrap_or_default(),
            Item::Flag("text-max", value) => wanted.text_bytes_max = number("text-max", value)?,
            Item::Flag("links-max", value) => wanted.links_max = number("links-max", value)?,
            Item::Flag(name, _) => return Err(format!("unknown option '{name}'")),
            Item::Operand(_) if file.is_some() => return Err("one page at a time".to_owned()),
            Item::Operand(name) => file = Some(name),
        }
    }
    let bytes = read(file.as_deref().unwrap_or("-"))?;
    Ok(reduced(&bytes, &wanted))
}

fn reduced(bytes: &[u8], wanted: &Wanted) -> String {
    let page = charset::decoded(bytes, &wanted.content_type);
    let told = match wanted.plain {
        true => {
            let end = page.floor_char_boundary(wanted.text_bytes_max);
            let (text, is_cut) = (&page[..end], end < page.len());
            json!({ "title": "", "description": "", "base": null, "text": text, "is_text_cut": is_cut,
                "links": [], "are_links_cut": false })
        }
        false => {
            let page = walk::page(&page, wanted.text_bytes_max, wanted.links_max);
            json!({ "title": page.title, "description": page.description, "base": page.base, "text": page.text.trim_end(),
                "is_text_cut": page.is_text_cut, "links": page.links, "are_links_cut": page.are_links_cut })
        }
    };
    format!("{told}\n")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn page(html: &str, text_bytes_max: usize, links_max: usize) -> Value {
        let wanted = Wanted { plain: false, content_type: String::new(), text_bytes_max, links_max };
        serde_json::from_str(&reduced(html.as_bytes(), &wanted)).unwrap_or_default()
    }

    #[test]
    fn a_page_is_what_a_reader_reads_of_it() {
        let told = page(
            "<!doctype html><html><head><title> A\n  page </title><meta name=Description content='What it is'><base href=/b/>
             <style>p{}</style></head><body><nav><a href=/home>Home</a></nav><h2>Hello <b>you</b></h2><script>alert(1)</script>
             <p>one  two<br>three <a href='x?y=1&amp;z'>a <i>link</i></a></p><ul><li>first<li>second</ul>
             <table><tr><td>1<td>2<tr><td>3<td>4</table><pre>a\n  b</pre><div hidden>no</div><a href=p><img src=i alt='a picture'></a>
             <footer>imprint</footer></body></html>",
            1 << 20,
            100,
        );
        assert_eq!(told["title"], "A page");
        assert_eq!(told["description"], "What it is");
        assert_eq!(told["base"], "/b/");
        assert_eq!(
            told["text"],
            "## Hello you\n\none two\nthree a link\n\n- first\n- second\n\n1\t2\n3\t4\n\na\n  b"
        );
        assert_eq!(told["links"], json!([["Home", "/home"], ["a link", "x?y=1&z"], ["a picture", "p"]]));
        assert_eq!((&told["is_text_cut"], &told["are_links_cut"]), (&json!(false), &json!(false)));
    }

    #[test]
    fn what_is_past_a_bound_is_left_out_and_said_to_be() {
        let told = page("<p>\u{e9}\u{e9}\u{e9}</p><a href=1>a</a><a href=2>b</a>", 5, 1);
        assert_eq!((&told["text"], &told["is_text_cut"]), (&json!("\u{e9}\u{e9}"), &json!(true)));
        assert_eq!((&told["links"], &told["are_links_cut"]), (&json!([["a", "1"]]), &json!(true)));
    }

    #[test]
    fn hostile_pages_are_read_to_their_end() {
        for html in [
            String::new(),
            "<".repeat(100_000),
            "<b>".repeat(2_000),
            "<div>".repeat(3_000) + "deep",
            "<table><a>".repeat(500),
            "<a href='".to_owned() + &"x".repeat(1 << 20),
            "<title>".repeat(1000),
            "\0\u{feff}<p>a\0b".to_owned(),
            "<svg><title>no</title></svg><template><p>no</template><noscript>no</noscript>".to_owned(),
        ] {
            let told = page(&html, 1000, 10);
            assert!(told["text"].is_string(), "{:.40}", html);
            assert_ne!(told["title"], "no");
        }
    }

    #[test]
    fn bytes_are_read_in_the_encoding_that_somebody_named() {
        let told = |bytes: &[u8], content_type: &str, plain: bool| -> String {
            let (content_type, text_bytes_max) = (content_type.to_owned(), 100);
            let wanted = Wanted { plain, content_type, text_bytes_max, links_max: 1 };
            let value: Value = serde_json::from_str(&reduced(bytes, &wanted)).unwrap_or_default();
            value["text"].as_str().unwrap_or_default().to_owned()
        };
        assert_eq!(told(b"caf\xe9", "text/plain; charset=ISO-8859-1", true), "caf\u{e9}");
        assert_eq!(told(b"<meta charset=windows-1252>caf\xe9", "", false), "caf\u{e9}");
        assert_eq!(told(b"\xef\xbb\xbfcaf\xc3\xa9", "text/html; charset=\"x-unknown\"", false), "caf\u{e9}");
        assert_eq!(told(b"a\xffb", "", true), "a\u{fffd}b");
    }

    #[test]
    fn any_pieces_of_pages_are_a_page_within_its_bounds() {
        const PIECES: [&str; 24] = [
            "<p>",
            "</p>",
            "<a href=x>",
            "<a href='",
            "</a>",
            "<table>",
            "<td>",
            "<pre>",
            "<li>",
            "<base href=/b>",
            "<title>",
            "</title>",
            "<script>",
            "</script>",
            "<div hidden>",
            "<br>",
            "<!--",
            "-->",
            "word ",
            "\u{e9}\u{1f600}",
            "&amp;",
            "<meta charset=utf-16>",
            "\0",
            "<svg>",
        ];
        // A generator of its own: the same pages each time.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below as u64).unwrap_or_default()
        };
        for _ in 0..3_000 {
            let mut bytes: Vec<u8> = (0..next(40)).flat_map(|_| PIECES[next(PIECES.len())].bytes()).collect();
            for _ in 0..next(3) {
                let at = next(bytes.len() + 1);
                bytes.insert(at, 0x80 | u8::try_from(next(128)).unwrap_or_default());
            }
            let types = ["", "text/html; charset=koi8-r", "text/html; charset=\"", "charset=utf-16le"];
            let content_type = types[next(types.len())].to_owned();
            let (plain, text_bytes_max, links_max) = (next(4) == 0, next(50), next(4));
            let wanted = Wanted { plain, content_type, text_bytes_max, links_max };
            let told: Value = serde_json::from_str(&reduced(&bytes, &wanted)).unwrap_or_default();
            assert!(told["text"].as_str().is_some_and(|it| it.len() <= text_bytes_max), "{bytes:?}: {told}");
            assert!(told["links"].as_array().is_some_and(|it| it.len() <= links_max), "{bytes:?}: {told}");
        }
    }
}
