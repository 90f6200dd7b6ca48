//! `uname`, `arch`, `nproc`, `uuidgen`, `sync`, `clear`: what scripts ask a machine, answered without
//! one. Nothing here tells anything about the host.

use std::ffi::OsString;
use std::io::Write as _;

const KERNEL: &str = "Linux";
const HOST: &str = "drydock";
const RELEASE: &str = "6.1.0";
const VERSION: &str = "#1 SMP";
const MACHINE: &str = "x86_64";
const SYSTEM: &str = "GNU/Linux";

/// The applets; which one, its name tells.
pub fn uumain(args: impl Iterator<Item = OsString>) -> i32 {
    let args: Vec<String> = args.map(|it| it.to_string_lossy().into_owned()).collect();
    let name = args.first().map(|it| it.rsplit('/').next().unwrap_or_default()).unwrap_or_default();
    match answer(name, args.get(1..).unwrap_or_default()) {
        Ok(text) => i32::from(std::io::stdout().write_all(text.as_bytes()).is_err()),
        Err(problem) => {
            let _ =
                writeln!(std::io::stderr(), "{name}: {problem}\nTry '{name} --help' for more information.");
            1
        }
    }
}

fn answer(name: &str, args: &[String]) -> Result<String, String> {
    match args.first().map(String::as_str) {
        Some("--version") => return Ok(format!("{name} (drydock) {}\n", env!("CARGO_PKG_VERSION"))),
        Some("--help") => return Ok(format!("Usage: {name} [OPTION]...\n")),
        _ => {}
    }
    match name {
        "uname" => uname(args),
        "arch" => Ok(format!("{MACHINE}\n")),
        "nproc" => Ok("1\n".to_owned()),
        "uuidgen" => random(args),
        "clear" => Ok("\x1b[H\x1b[2J\x1b[3J".to_owned()),
        // Files here are written when they are written.
        _ => Ok(String::new()),
    }
}

fn uname(args: &[String]) -> Result<String, String> {
    let mut wanted = String::new();
    for arg in args {
        match arg.as_str() {
            "--all" => wanted.push('a'),
            "--kernel-name" => wanted.push('s'),
            "--nodename" => wanted.push('n'),
            "--kernel-release" => wanted.push('r'),
            "--kernel-version" => wanted.push('v'),
            "--machine" => wanted.push('m'),
            "--processor" => wanted.push('p'),
            "--hardware-platform" => wanted.push('i'),
            "--operating-system" => wanted.push('o'),
            short if short.starts_with('-') && !short.starts_with("--") => wanted.push_str(&short[1..]),
            other if other.starts_with('-') => return Err(format!("unrecognized option '{other}'")),
            other => return Err(format!("extra operand '{other}'")),
        }
    }
    if let Some(wrong) = wanted.chars().find(|letter| !"asnrvmpio".contains(*letter)) {
        return Err(format!("invalid option -- '{wrong}'"));
    }
    if wanted.is_empty() {
        wanted.push('s');
    }
    let all = wanted.contains('a');
    let fields = [
        ('s', KERNEL),
        ('n', HOST),
        ('r', RELEASE),
        ('v', VERSION),
        ('m', MACHINE),
        ('p', "unknown"),
        ('i', "unknown"),
        ('o', SYSTEM),
    ];
    // `-a` leaves out what is unknown.
    let chosen =
        fields.iter().filter(|(letter, value)| wanted.contains(*letter) || (all && *value != "unknown"));
    Ok(chosen.map(|(_, value)| *value).collect::<Vec<_>>().join(" ") + "\n")
}

fn random(args: &[String]) -> Result<String, String> {
    if let Some(other) = args.iter().find(|arg| !matches!(arg.as_str(), "-r" | "--random" | "-t" | "--time"))
    {
        return Err(format!("unrecognized option '{other}'"));
    }
    let mut bytes = [0; 16];
    fill(&mut bytes).map_err(|error| error.to_string())?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{}-{}-{}-{}-{}\n", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

#[cfg(target_os = "wasi")]
pub fn fill(bytes: &mut [u8]) -> std::io::Result<()> {
    unsafe extern "C" {
        fn getentropy(bytes: *mut u8, count: usize) -> i32;
    }
    // SAFETY: the buffer is as long as the call is told.
    if unsafe { getentropy(bytes.as_mut_ptr(), bytes.len()) } == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

#[cfg(not(target_os = "wasi"))]
pub fn fill(bytes: &mut [u8]) -> std::io::Result<()> {
    std::io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_described_without_one() {
        let ask = |args: &str| uname(&args.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(ask(""), Ok("Linux\n".to_owned()));
        assert_eq!(ask("-sm"), Ok("Linux x86_64\n".to_owned()));
        assert_eq!(ask("-a"), Ok("Linux drydock 6.1.0 #1 SMP x86_64 GNU/Linux\n".to_owned()));
        assert!(ask("-q").is_err());
        let (one, two) = (random(&[]), random(&[]));
        assert!(one.as_ref().is_ok_and(|it| it.len() == 37 && &it[14..15] == "4"));
        assert_ne!(one, two);
    }
}
