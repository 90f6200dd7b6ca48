//! A Rust closure as a command of the shell and of programs: `cargo run -p drydock-embed --example closure`.

use std::{error::Error, path::Path, sync::Arc};

use drydock_embed::{
    CodeInput, Dock, HostInput, HostOutput, Setup, ShellSetup, codemode::provider::Providers, command_tools,
};

async fn price(input: HostInput) -> HostOutput {
    match input.args.first().map(String::as_str) {
        Some("apple") => "3\n".into(),
        Some(other) => {
            HostOutput { status: 1, stderr: format!("price: no `{other}`\n").into(), ..HostOutput::default() }
        }
        None => HostOutput { status: 2, ..HostOutput::default() },
    }
}

/// In a line, and in a program.
pub async fn example(home: &Path) -> Result<String, Box<dyn Error>> {
    let dock = Arc::new(Dock::open(home)?);
    let done =
        dock.exec("echo $(( $(price apple) * 4 )); price pear || echo none").command("price", price).await?;
    assert_eq!((done.text().as_ref(), &done.stderr[..]), ("12\nnone\n", &b"price: no `pear`\n"[..]));

    // A program's time is short, and not for compiling.
    dock.warm_js().await?;
    let setup = Setup::profile("minimal").with_command("price", price)?;
    let tools = command_tools(&dock, "me", &setup, &ShellSetup::default())?;
    let code = dock.code("me", setup, Providers::new([tools])?)?;
    let result =
        code.execute("(await commands.price({args: ['apple']})).stdout * 5", CodeInput::default()).await;
    let answer = result.outcome.map_err(|failure| failure.message)?.ok_or("undefined")?;
    Ok(String::from_utf8_lossy(answer.bytes()).into_owned())
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout)]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", example(&std::env::temp_dir().join("drydock-example")).await?);
    Ok(())
}
