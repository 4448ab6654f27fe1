//! `exec`: an external program with declared inputs and outputs.
//!
//! It runs in a folder of its own. What is declared lies in `inputs/`, copied and read-only; what it promises it writes
//! where `outputs` says. It sees no other environment than the one that is declared, and no shell stands between.

use crate::content;
use crate::op::{Args, Context, Op, OpError};
use crate::value::{Artifact, Value};
use crossbeam_channel::{Receiver, bounded, select};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How long a program may take to end once it is asked to.
const GRACE: Duration = Duration::from_secs(2);
/// Bytes of standard error that a failure quotes.
const QUOTED: u64 = 2000;

/// Whether external programs may be run: the permission of `--allow exec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programs {
    /// Somebody has allowed it for this run.
    Allowed,
    /// Nobody has.
    Refused,
}

/// The op.
#[derive(Clone, Copy, Debug)]
pub struct Exec(pub Programs);

impl Op for Exec {
    fn name(&self) -> &'static str {
        "process.exec"
    }

    fn version(&self) -> u32 {
        1
    }

    fn run(&self, args: &Args, context: &dyn Context) -> Result<Value, OpError> {
        let argv = args.strings("argv")?;
        let Some((program, rest)) = argv.split_first() else {
            return Err(OpError::new(
                "run::argument",
                "`argv` is empty: it begins with a program.",
            ));
        };
        if self.0 == Programs::Refused {
            let message =
                format!("`{program}` is an external program, and running those is not allowed.");
            return Err(OpError::new("run::exec_not_allowed", message).help(
                "Look at what the program does, then allow it for this run with `--allow exec`.",
            ));
        }
        let folder = context.scratch("work")?;
        fs::create_dir_all(folder.join("inputs"))
            .map_err(|error| cannot("make", &folder, &error))?;
        stage(args, &folder.join("inputs"), context)?;
        let outputs = outputs(args)?;
        for (_, path) in &outputs {
            if let Some(parent) = folder.join(path).parent() {
                fs::create_dir_all(parent).map_err(|error| cannot("make", parent, &error))?;
            }
        }
        let env = match args.optional_record("env")? {
            Some(env) => {
                let one = |name: &str| Ok((name.to_owned(), env.str(name)?.to_owned()));
                env.names().into_iter().map(one).collect::<Result<BTreeMap<_, _>, OpError>>()?
            }
            None => BTreeMap::new(),
        };
        let mut command = match args.optional_str("image")? {
            Some(image) => contained(image, &argv, &env, &folder)?,
            None => {
                let mut command = Command::new(find(program)?);
                command.args(rest).current_dir(&folder).env_clear().envs(&env);
                command
            }
        };
        command.stdin(Stdio::null()).process_group(0);
        let (said, complained) = (folder.join(".stdout"), folder.join(".stderr"));
        let open = |path: &Path| {
            File::create(path).map(Stdio::from).map_err(|error| cannot("write", path, &error))
        };
        command.stdout(open(&said)?).stderr(open(&complained)?);
        let child = command.spawn().map_err(|error| {
            OpError::new("run::exec_start", format!("`{program}` cannot be started: {error}."))
        })?;
        let status = wait(child, context)?;
        if !status.success() {
            return Err(failure(program, status, &complained));
        }
        let collect = |(name, path): (String, PathBuf)| {
            let artifact = collected(&name, &path, &folder, context)?;
            Ok((name, Value::Artifact(artifact)))
        };
        outputs
            .into_iter()
            .map(collect)
            .collect::<Result<BTreeMap<_, _>, OpError>>()
            .map(Value::Record)
    }
}

/// Programs that run containers, the first that is there.
const RUNTIMES: [&str; 2] = ["podman", "docker"];

/// What the client of a container runtime needs of our environment to find its service and its settings.
const CLIENT: [&str; 5] = ["PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "CONTAINER_HOST"];

/// The command that runs a program in a container: with the folder as the only place that it shares, as the user who
/// runs `pipe`, without a network. The image has to be there.
fn contained(
    image: &str,
    argv: &[&str],
    env: &BTreeMap<String, String>,
    folder: &Path,
) -> Result<Command, OpError> {
    use std::os::unix::fs::MetadataExt;
    let found = RUNTIMES.iter().find_map(|name| find(name).ok().map(|path| (*name, path)));
    let Some((name, runtime)) = found else {
        let message = format!("{image} needs a container runtime, and there is none.");
        return Err(OpError::new("run::exec_start", message)
            .help("Install podman or docker, or leave `image` out."));
    };
    let owner = fs::metadata(folder).map_err(|error| cannot("read", folder, &error))?;
    let mut command = Command::new(runtime);
    command.env_clear();
    for name in CLIENT {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    command.args(["run", "--rm", "--init", "--pull=never", "--network=none"]);
    command.arg(format!("--volume={}:/work", folder.display())).arg("--workdir=/work");
    // Podman maps the user who runs it by itself.
    match name {
        "podman" => command.arg("--userns=keep-id"),
        _ => command.arg(format!("--user={}:{}", owner.uid(), owner.gid())),
    };
    for (name, value) in env {
        command.arg(format!("--env={name}={value}"));
    }
    command.arg(image).args(argv);
    Ok(command)
}

/// The program's path: as it is with a `/` in it (relative to the folder it runs in), else looked up in `PATH`.
fn find(program: &str) -> Result<PathBuf, OpError> {
    if program.contains('/') {
        return Ok(PathBuf::from(program));
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).map(|folder| folder.join(program));
    found.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        OpError::new("run::exec_start", format!("There is no program `{program}` in PATH."))
            .help("Install it, or give its whole path.")
    })
}

/// Copy what is declared into `inputs/NAME.EXTENSION`; several files become a folder `inputs/NAME/`.
fn stage(args: &Args, folder: &Path, context: &dyn Context) -> Result<(), OpError> {
    let Some(inputs) = args.optional_record("inputs")? else { return Ok(()) };
    for name in inputs.names() {
        if let Ok(files) = inputs.files(name) {
            for file in files {
                let path = Path::new(&file.path);
                let own = path.file_name().unwrap_or_default();
                let ending = path.extension().unwrap_or_default().to_string_lossy();
                let to = if files.len() == 1 {
                    folder.join(named(name, &ending))
                } else {
                    folder.join(name).join(own)
                };
                copy(path, &to)?;
            }
        } else {
            let artifact = inputs.artifact(name)?;
            copy(&context.path(artifact)?, &folder.join(named(name, &artifact.extension)))?;
        }
    }
    Ok(())
}

fn named(name: &str, ending: &str) -> String {
    if ending.is_empty() { name.to_owned() } else { format!("{name}.{ending}") }
}

/// Copy a file or a folder, read-only.
fn copy(from: &Path, to: &Path) -> Result<(), OpError> {
    if from.is_dir() {
        let names = content::folder_files(from).map_err(|error| cannot("read", from, &error))?;
        return names.iter().try_for_each(|name| copy(&from.join(name), &to.join(name)));
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(|error| cannot("make", parent, &error))?;
    }
    fs::copy(from, to).map_err(|error| cannot("copy", from, &error))?;
    let mut rights = fs::metadata(to).map_err(|error| cannot("read", to, &error))?.permissions();
    rights.set_readonly(true);
    fs::set_permissions(to, rights).map_err(|error| cannot("write", to, &error))
}

/// The declared outputs: name and path below the folder.
fn outputs(args: &Args) -> Result<Vec<(String, PathBuf)>, OpError> {
    let Some(outputs) = args.optional_record("outputs")? else { return Ok(Vec::new()) };
    let one = |name: &str| {
        let path = PathBuf::from(outputs.str(name)?);
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        if inside && path.components().next().is_some() {
            return Ok((name.to_owned(), path));
        }
        let message = format!(
            "`outputs.{name}` is {}, which leaves the folder that the program runs in.",
            path.display()
        );
        Err(OpError::new("run::argument", message))
    };
    outputs.names().into_iter().map(one).collect()
}

/// Wait for the end; a cancel ends the program and all that it has started.
fn wait(mut child: Child, context: &dyn Context) -> Result<ExitStatus, OpError> {
    let group = child.id();
    let (send, ended) = bounded(1);
    std::thread::spawn(move || send.send(child.wait()));
    select! {
        recv(ended) -> status => match status {
            Ok(Ok(status)) => Ok(status),
            Ok(Err(error)) => {
                let message = format!("The program cannot be waited for: {error}.");
                Err(OpError::new("run::exec_start", message))
            }
            Err(_) => Err(OpError::new("run::exec_start", "The program cannot be waited for.")),
        },
        recv(context.stopped()) -> _ => {
            end(group, &ended);
            Err(OpError::cancelled())
        }
    }
}

/// End a program and all that it has started: it is asked first, so that it can put things in order.
fn end<T>(group: u32, ended: &Receiver<T>) {
    let signal =
        |name: &str| Command::new("kill").args([name, "--", &format!("-{group}")]).status();
    let _ = signal("-TERM");
    let _ = ended.recv_timeout(GRACE);
    // What it has started may outlive it.
    let _ = signal("-KILL");
    let _ = ended.recv_timeout(GRACE);
}

fn failure(program: &str, status: ExitStatus, complained: &Path) -> OpError {
    let how = match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "was ended by a signal".to_owned(),
    };
    let tail = tail(complained).unwrap_or_default();
    let said = match tail.trim() {
        "" => "It said nothing on standard error.".to_owned(),
        text => format!("It said:\n{text}"),
    };
    OpError::new("run::exec_failed", format!("`{program}` {how}. {said}"))
}

/// The end of a text file.
fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(QUOTED)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn collected(
    name: &str,
    path: &Path,
    folder: &Path,
    context: &dyn Context,
) -> Result<Artifact, OpError> {
    let whole = folder.join(path);
    if !whole.exists() {
        let message = format!(
            "The program ended well, and `outputs.{name}` ({}) is not there.",
            path.display()
        );
        return Err(OpError::new("run::exec_output", message)
            .help("Correct the path, or let the program write it; paths are relative to the folder that it runs in."));
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = content::size(&whole).map_err(|error| unusable(name, path, &error))?;
    let meta = BTreeMap::from([(
        "bytes".to_owned(),
        Value::Int(i64::try_from(bytes).unwrap_or(i64::MAX)),
    )]);
    let kept = context.scratch(name)?;
    fs::rename(&whole, &kept).map_err(|error| cannot("move", &whole, &error))?;
    context.adopt(&kept, "file", &ending, meta)
}

fn unusable(name: &str, path: &Path, error: &io::Error) -> OpError {
    let message =
        format!("`outputs.{name}` ({}) cannot be kept as it is: {error}.", path.display());
    OpError::new("run::exec_output", message)
        .help("An output is a file, or a folder of files and folders without links.")
}

fn cannot(what: &str, path: &Path, error: &io::Error) -> OpError {
    OpError::new("run::file", format!("Cannot {what} {}: {error}.", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::ArgValue;
    use crate::standalone::Standalone;
    use pipe_compiler::plan::FileArg;

    fn texts(words: &[&str]) -> Value {
        Value::List(words.iter().map(|word| Value::Str((*word).to_owned())).collect())
    }

    fn run(script: &str, outputs: &[(&str, &str)], env: &[(&str, &str)]) -> Result<Value, OpError> {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("rows.csv");
        fs::write(&data, "a\n1\n").unwrap();
        let record = |pairs: &[(&str, &str)]| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Value::Str((*value).to_owned())));
            Value::Record(pairs.collect())
        };
        let digest = content::file_digest(&data).unwrap().0;
        let file = FileArg { path: data.to_string_lossy().into_owned(), digest };
        let inputs = BTreeMap::from([("rows".to_owned(), ArgValue::Files(vec![file]))]);
        let args = Args::of([
            ("argv", texts(&["/bin/sh", "-c", script])),
            ("outputs", record(outputs)),
            ("env", record(env)),
        ])
        .with("inputs", ArgValue::Record(inputs));
        let context = Standalone::new(folder.path().join("scratch"));
        let value = Exec(Programs::Allowed).run(&args, &context)?;
        let Value::Record(fields) = &value else { return Ok(value) };
        let read = fields.iter().map(|(name, value)| {
            let Value::Artifact(artifact) = value else { return (name.clone(), value.clone()) };
            let text = fs::read_to_string(context.path(artifact).unwrap()).unwrap();
            (name.clone(), Value::Str(text))
        });
        Ok(Value::Record(read.collect()))
    }

    #[test]
    fn outputs_are_what_the_program_wrote_from_its_inputs() {
        let made =
            run("wc -l < inputs/rows.csv > deep/count.txt", &[("count", "deep/count.txt")], &[]);
        let Ok(Value::Record(fields)) = made else { unreachable!("{made:?}") };
        assert!(
            matches!(fields.get("count"), Some(Value::Str(text)) if text.trim() == "2"),
            "{fields:?}"
        );
    }

    #[test]
    fn outputs_tell_their_size_and_a_folder_is_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let context = Standalone::new(folder.path().join("scratch"));
        let run = |script: &str| {
            let outputs = Value::record([("all", Value::Str("all".to_owned()))]);
            let args =
                Args::of([("argv", texts(&["/bin/sh", "-c", script])), ("outputs", outputs)]);
            Exec(Programs::Allowed).run(&args, &context)
        };
        let bytes = |made: Result<Value, OpError>| {
            let Ok(Value::Record(fields)) = made else { unreachable!("{made:?}") };
            let Some(Value::Artifact(all)) = fields.get("all") else { unreachable!("{fields:?}") };
            (all.meta.get("bytes").cloned(), all.bytes, all.files.clone())
        };
        let made = bytes(run("printf 12345 > all"));
        assert_eq!(made, (Some(Value::Int(5)), 5, Vec::new()));
        let made = bytes(run("mkdir -p all/deep; printf 123 > all/a; printf 4567 > all/deep/b"));
        let files = ["a", "deep/b"].map(str::to_owned).to_vec();
        assert_eq!(made, (Some(Value::Int(7)), 7, files));
        assert_eq!(bytes(run("mkdir all")).0, Some(Value::Int(0)));
        let error = run("mkdir all; ln -s /etc all/etc").unwrap_err();
        assert_eq!(error.code, "run::exec_output");
        assert!(error.message.contains("etc is neither a file nor a folder"), "{error}");
    }

    #[test]
    fn the_environment_is_what_is_declared() {
        let made =
            run("env > all; echo $GREETING >> all", &[("all", "all")], &[("GREETING", "hello")]);
        let Ok(Value::Record(fields)) = made else { unreachable!("{made:?}") };
        let Some(Value::Str(text)) = fields.get("all") else { unreachable!("{fields:?}") };
        assert!(text.contains("hello") && !text.contains("HOME="), "{text}");
    }

    #[test]
    fn what_goes_wrong_is_told() {
        let failed = run("echo no such table >&2; exit 7", &[], &[]).unwrap_err();
        assert_eq!(failed.code, "run::exec_failed");
        assert!(
            failed.message.contains("exit code 7") && failed.message.contains("no such table"),
            "{failed}"
        );
        assert_eq!(run("true", &[("a", "a.txt")], &[]).unwrap_err().code, "run::exec_output");
        assert_eq!(run("true", &[("a", "../a.txt")], &[]).unwrap_err().code, "run::argument");
        assert!(run("echo x > inputs/rows.csv", &[], &[]).is_err() || is_root());
        let args = Args::of([("argv", texts(&["true"]))]);
        let context = Standalone::new(std::env::temp_dir());
        let refused = Exec(Programs::Refused).run(&args, &context).unwrap_err();
        assert_eq!(refused.code, "run::exec_not_allowed");
    }

    /// Rights do not bind root.
    fn is_root() -> bool {
        std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0
    }
}
