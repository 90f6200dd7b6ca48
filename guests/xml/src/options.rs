//! The command line.

const HELP: &str = "Usage : xmllint [options] XMLfiles ...
\tParse the XML files and output the result of the parsing
\t--xpath expr: evaluate the XPath expression, imply --noout
\t--format : reformat/reindent the output
\t--noout : don't output the result tree
\t--nonet, --nowarning, --noblanks : accepted; nothing is ever fetched";

/// What is printed of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    Format,
    NoOutput,
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) xpath: Option<String>,
    pub(crate) files: Vec<String>,
}

impl Options {
    pub(crate) fn parse(args: &[String]) -> Result<Self, String> {
        let mut all = Self { mode: Mode::Plain, xpath: None, files: Vec::new() };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let name = arg.strip_prefix("--").or_else(|| arg.strip_prefix('-').filter(|it| !it.is_empty()));
            match name {
                Some("xpath") => all.xpath = Some(rest.next().ok_or(HELP)?.clone()),
                Some("format" | "pretty") => all.mode = Mode::Format,
                Some("noout") => all.mode = Mode::NoOutput,
                Some("nonet" | "nowarning" | "noblanks" | "huge" | "recover" | "noent" | "nocdata")
                    if name != Some("recover") && name != Some("noent") => {}
                Some("version") => {
                    return Err(
                        "xmllint: using libxml version 20914 (drydock: XPath 1.0 over sxd)".to_owned()
                    );
                }
                Some(other) => return Err(format!("Unknown option --{other}\n{HELP}")),
                None => all.files.push(arg.clone()),
            }
        }
        if all.files.is_empty() {
            return Err(HELP.to_owned());
        }
        Ok(all)
    }
}
