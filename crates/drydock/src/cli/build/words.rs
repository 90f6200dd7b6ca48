//! The words of `drydock build`: sources, where the result goes, and flags of the compiler.

use std::path::PathBuf;

use drydock_catalog::{BuildError, BuildLanguage};

/// What the words say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) sources: Vec<PathBuf>,
    pub(super) output: Option<String>,
    /// Directories of headers.
    pub(super) include: Vec<PathBuf>,
    /// Flags of each compilation.
    pub(super) compile: Vec<String>,
    /// Flags of the link.
    pub(super) link: Vec<String>,
    pub(super) cxx: bool,
    /// JavaScript or TypeScript.
    pub(super) script: bool,
}

/// Flags whose value is the next word.
const WITH_VALUE: [&str; 5] = ["-D", "-U", "-include", "-l", "-x"];

pub(super) fn read(all: &[String], language: BuildLanguage) -> anyhow::Result<Words> {
    let mut words = Words {
        cxx: language == BuildLanguage::Cxx,
        script: matches!(language, BuildLanguage::JavaScript | BuildLanguage::TypeScript),
        ..Words::default()
    };
    let mut all = all.iter();
    let next = |all: &mut std::slice::Iter<'_, String>, flag: &str| {
        all.next().cloned().ok_or_else(|| anyhow::anyhow!("`{flag}` needs a value"))
    };
    while let Some(word) = all.next() {
        match word.as_str() {
            "-o" => words.output = Some(next(&mut all, word)?),
            "-I" => words.include.push(next(&mut all, word)?.into()),
            flag if WITH_VALUE.contains(&flag) => {
                let value = next(&mut all, word)?;
                words.flag(format!("{flag}{value}"));
            }
            flag if flag.starts_with("-o") => words.output = flag.get(2..).map(str::to_owned),
            flag if flag.starts_with("-I") => words.include.extend(flag.get(2..).map(PathBuf::from)),
            flag if flag.starts_with('-') => words.flag(flag.to_owned()),
            source => words.sources.push(source.into()),
        }
    }
    if words.sources.is_empty() {
        return Err(BuildError::EmptySource.into());
    }
    Ok(words)
}

impl Words {
    fn flag(&mut self, flag: String) {
        match flag.starts_with("-l") || flag.starts_with("-Wl,") || flag == "-s" {
            true => self.link.push(flag),
            false => self.compile.push(flag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sources_a_result_and_flags() {
        let all: Vec<String> =
            "-O2 a.c -I inc -Iother b.c -D X=1 -l m -lz -o prog".split(' ').map(str::to_owned).collect();
        let words = read(&all, BuildLanguage::C).unwrap();
        assert_eq!(words.sources, [PathBuf::from("a.c"), PathBuf::from("b.c")]);
        assert_eq!(words.include, [PathBuf::from("inc"), PathBuf::from("other")]);
        assert_eq!(
            (words.compile, words.link),
            (vec!["-O2".into(), "-DX=1".into()], vec!["-lm".into(), "-lz".into()])
        );
        assert_eq!(words.output.as_deref(), Some("prog"));
        let alone = |word: &str| read(&[word.to_owned()], BuildLanguage::C);
        assert!(alone("-o").is_err() && alone("-O2").is_err() && alone("x.c").is_ok());
    }
}
