//! Scratch driver.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

use std::{sync::Arc, time::Instant};

use drydock_contract::{
    Artifact, BoxFuture, Call, CallError, Cap, CapSet, Dispatch, Entropy, GuestTime, Limits, Reply,
    RunRequest, Sink, Source, Streams,
    port::{CompileError, Compiler, Files as _, LaneSettings, Mode, OpenHow, Runner, TreePath},
};
use drydock_engine::{Apart, Cpu, Effort, Engine, EngineSettings, Recipe, precompile};
use drydock_store::{CodeCache, Home, MemoryFiles};

struct InProcess;
impl Compiler for InProcess {
    fn compile<'a>(&'a self, wasm: &'a Artifact, lane: LaneSettings) -> BoxFuture<'a, Result<Vec<u8>, CompileError>> {
        let effort = if std::env::var("QUICK").is_ok() { Effort::Quick } else { Effort::Full };
        Box::pin(async move { precompile(wasm.bytes(), lane, Cpu::Host, effort).map_err(CompileError::Rejected) })
    }
}
struct Nothing;
impl Dispatch for Nothing {
    fn dispatch<'a>(&'a self, _: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        Box::pin(async { Ok(Reply { payload: vec![], streams: Streams::default() }) })
    }
}

fn request(artifact: &Artifact, argv: &[String], env: Vec<Vec<u8>>, stdin: Vec<u8>) -> RunRequest {
    RunRequest {
        artifact: artifact.clone(),
        argv: argv.iter().map(|it| it.clone().into_bytes()).collect(),
        env: env.into(),
        streams: Streams { stdin: Source::Bytes(stdin.into()), stdout: Sink::capture(), stderr: Sink::capture() },
        files: None,
        umask: Mode::UMASK,
        limits: Limits { memory_bytes_max: 1 << 30, wall_max: std::time::Duration::from_secs(100), stdout_bytes_max: 1 << 30, stderr_bytes_max: 1 << 30, ..Limits::default() },
        caps: CapSet::of(&[Cap::Vfs]),
        time: GuestTime::Real,
        entropy: Entropy::System,
        door: Arc::new(Nothing),
        switches: [Arc::default(), Arc::default()],
        gauge: None,
        memory: None,
        clock: None,
        preparing: None,
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let home = Home::open("/tmp/aot/home")?;
    let cache = CodeCache::open(&home)?;
    let t = Instant::now();
    let engine = Engine::new(EngineSettings::default(), Some(Arc::new(cache)))?
        .compiling_apart(Apart { worker: Some(Arc::new(InProcess)), ..Apart::default() });
    let lane = if std::env::var("FUEL").is_ok() { None } else { Some(engine.timed()?) };
    eprintln!("engine {:?}", t.elapsed());
    let t = Instant::now();
    let module = Artifact::hash(std::fs::read(&args[1])?);
    eprintln!("read+sha {:?}", t.elapsed());
    match args[0].as_str() {
        "make" => {
            let site = std::fs::read_to_string("/tmp/aot/sitecustomize.py")?;
            let recipe = Recipe {
                argv: vec!["python".into(), "-P".into(), "-".into()],
                env: vec![], files: vec![],
                before: vec![11294], run: 4056, text_at: 1024, resume: std::fs::read_to_string("/tmp/aot/resume.py")?,
                words: vec![(4728656, 0), (4744608, 0)],
                dead: 0..524288,
            };
            let mut wish = request(&module, &recipe.argv, vec![b"PYTHONPATH=/snap".to_vec(), b"PYTHONDONTWRITEBYTECODE=1".to_vec()], vec![]);
            let files = MemoryFiles::with(Arc::new(drydock_contract::Meter::within(1 << 26, None)));
            let now = drydock_contract::Timestamp(0);
            files.create_dir(&TreePath::new("/snap").unwrap(), Mode::new(0o755), now).unwrap();
            let file = files.open(&TreePath::new("/snap/sitecustomize.py").unwrap(), OpenHow { read: true, write: true, create: true, exclusive: false, truncate: false, nofollow: false, mode: Mode::new(0o644) }, now).unwrap();
            file.write_at(0, site.as_bytes(), now).unwrap();
            wish.files = Some(Arc::new(files));
            let t = Instant::now();
            let image = lane.unwrap().snapshot(wish, &recipe).await?;
            eprintln!("snapshot {:?}: {} bytes", t.elapsed(), image.bytes().len());
            std::fs::write(&args[2], image.bytes())?;
        }
        _ => {
            let n: usize = std::env::var("N").map_or(1, |n| n.parse().unwrap());
            let stdin = std::env::var("STDIN").map_or(vec![], |f| std::fs::read(f).unwrap());
            let t = Instant::now();
            match lane { Some(lane) => lane.warm(&module).await?, None => engine.warm(&module).await? }
            eprintln!("load {:?}", t.elapsed());
            let mut all = vec![];
            for i in 0..n {
                let env: Vec<Vec<u8>> = std::env::var("ENVS").map_or(vec![], |e| e.split(',').map(|x| x.as_bytes().to_vec()).collect());
                let wish = request(&module, &args[2..], env, stdin.clone());
                let t = Instant::now();
                let (report, streams) = match lane { Some(lane) => lane.run(wish).await?, None => engine.run(wish).await? };
                all.push(t.elapsed());
                if i == 0 {
                    print!("{}", String::from_utf8_lossy(&streams.stdout.into_captured()));
                    eprint!("{}", String::from_utf8_lossy(&streams.stderr.into_captured()));
                    eprintln!("{} in {:?}, peak {} MB", report.outcome, all[0], report.memory_bytes >> 20);
                }
            }
            all.sort();
            eprintln!("median {:?} best {:?}", all[n / 2], all[0]);
        }
    }
    Ok(())
}
