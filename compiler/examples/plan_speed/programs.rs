//! Programs of any size that look like what people write, and the files that they read.

use pipe_compiler::{FileInfo, Host, HostError, HostErrorKind};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The kinds of programs.
pub(crate) const KINDS: [&str; 4] = ["fan", "sweep", "declarations", "lines"];

/// A program of about `size` nodes (`fan`, `sweep`), declarations or lines; `None` for another kind.
pub(crate) fn program(kind: &str, size: usize) -> Option<String> {
    Some(match kind {
        "fan" => fan(size),
        "sweep" => sweep(size),
        "declarations" => declarations(size),
        "lines" => lines(size),
        _ => return None,
    })
}

/// One chain of two ops over one table, for each of many values.
fn fan(nodes: usize) -> String {
    format!(
        "type Row = {{ time: time, cpu: float, mem: float }}
let series = data.read(\"metrics.csv\", row: Row)
let parts = series |> data.split(by: \"time\", train: 0.5, calib: 0.2, test: 0.3)
let normal = detect.robust_z(parts.train, columns: [\"cpu\", \"mem\"])
let scored = detect.score(normal, data: parts.calib)
let judged = detect.score(normal, data: parts.test)
output alerts = for at in 0..{} {{
  detect.alerts(judged, threshold: threshold.quantile(scored, q: at / {nodes}))
}}
",
        nodes / 2
    )
}

/// Trainings of one base under all combinations of four settings.
fn sweep(nodes: usize) -> String {
    let rates: Vec<String> = (1..=nodes / 40).map(|at| format!("{at}e-6")).collect();
    format!(
        "type Doc = {{ path: str, text: str }}
let docs = data.read(\"docs.jsonl\", row: Doc)
  |> data.split(by: \"hash\", train: 0.9, valid: 0.04, test: 0.06, key: row => row.path)
let tok = tokenizer.train(docs.train, vocab: 4096)
fn packed<P>(part: Table<Doc, P>) -> Tokens<P> = part
  |> tokenizer.encode(with: tok)
  |> data.pack(length: 128)
let rows = packed(docs.train)
let watched = packed(docs.valid)
let shape = {{ layers: 4, width: 160, heads: 4, context: 128 }}
let rates = [{}]
output adapters = for lr in rates, decay in [0.0, 0.1], warmup in [10, 20, 30, 40, 50], seed in 0..4 {{
  let base = model.decoder(shape, vocab: tok.size, seed: 17)
  base |> train.fit(
    data: rows,
    valid: watched,
    tokens: 1_000_000,
    batch: 16,
    optimizer: optim.adamw(lr: lr, betas: [0.9, 0.95], weight_decay: decay),
    schedule: sched.cosine(warmup: warmup, floor: 0.1),
    clip: 1.0,
    strategy: dist.none(),
    seed: seed,
  )
}}
",
        rates.join(", ")
    )
}

/// Declarations of scalars that depend on each other.
fn declarations(count: usize) -> String {
    let mut text = String::from("param start: float = 1.0\n\n");
    let mut line = |words: std::fmt::Arguments<'_>| {
        text.write_fmt(words).and_then(|()| text.write_str("\n")).ok();
    };
    for at in 1..count {
        let before = if at == 1 { "start".to_owned() } else { format!("v{}", at - 1) };
        match at % 4 {
            0 => line(format_args!(
                "fn f{at}(x: float) -> float = x / {at}.0 + {before}\nlet v{at} = f{at}({before})"
            )),
            1 => line(format_args!("let v{at} = {before} * 0.5 + {at}.0")),
            2 => line(format_args!(
                "let v{at} = if {before} > {at}.0 {{ {before} }} else {{ {at}.0 }}"
            )),
            _ => line(format_args!("let v{at} = math.max({before}, {at}.0) / 2.0")),
        }
    }
    line(format_args!("check last = v{} > 0.0", count - 1));
    text
}

/// Detections with all that belongs to one, again and again.
fn lines(count: usize) -> String {
    let mut text = String::from(SECTION_TYPES);
    let section = SECTION.lines().count();
    for at in 0..count / section {
        text.push_str(&SECTION.replace('@', &at.to_string()).replace('%', "@"));
    }
    text
}

const SECTION_TYPES: &str = "## A long program.

param metrics: path = \"metrics.csv\"

## A cell is empty when there was nothing to measure.
type Sample = { time: time, cpu: float?, mem: float?, requests: float?, errors: float?, host: str }
";

const SECTION: &str = r#"
## Share of calm steps that stay below the threshold.
param quantile@: float = 0.9@1 where quantile@ > 0.5 and quantile@ < 1.0

fn busy@(cpu: float?, least: float = 0.@5) -> bool? = cpu > least and cpu <= 100.0

let series@ = data.read(metrics, row: Sample)
  |> metrics.resample(every: 1s + @ms, by: "mean")

# Waiting times grow by factors, so their logarithms are compared.
let joined@ = series@
  |> data.filter(row => busy@(row.cpu))
  |> data.derive(
    load: row => math.log1p(row.cpu),
    memory: row => math.log1p(row.mem),
    error_share: row => row.errors / math.max(row.requests, @.0),
    complaints: row => (row.errors ?? 0.0) + (row.requests ?? 0.0),
  )

let signals@ = ["cpu", "load", "memory", "error_share", "complaints"]

## In time order: learn what is normal, choose the threshold, judge.
let parts@ = joined@ |> data.split(by: "time", train: 0.25, calib: 0.15, test: 0.6)

%retry(2)
let distance@ = detect.robust_z(parts@.train, columns: signals@)
let shape@ = detect.pca_window(parts@.train, columns: signals@, window: 20s)

let far@ = threshold.quantile(detect.score(distance@, data: parts@.calib), q: quantile@)
let odd@ = threshold.quantile(detect.score(shape@, data: parts@.calib), q: quantile@)
let scored@ = detect.score(distance@, data: parts@.test)
let scored_shape@ = detect.score(shape@, data: parts@.test)
let alerts@ = detect.alerts(scored@, threshold: far@, merge: 10s)
let odd_alerts@ = detect.alerts(scored_shape@, threshold: odd@, merge: 10s)
let truth@ = data.read("labels.csv")
let quality@ = eval.detection(scored@, labels: truth@, threshold: far@, merge: 10s)
let both@ = for at in [0.9, 0.95, 0.99] {
  eval.detection(scored_shape@, labels: truth@, threshold: odd@ * at, merge: 10s)
}

## At least eight in ten incidents raise an alert.
check recall@ = quality@.event_recall >= 0.8 and quality@.f1 > 2.0 * quality@.random.f1

output found@ = { alerts: alerts@, odd: odd_alerts@, comparison: { distance: quality@, shape: both@ } }
"#;

/// The files that the programs read.
pub(crate) struct Files {
    files: BTreeMap<&'static str, String>,
}

impl Files {
    /// Those files and `main.pipe`.
    pub(crate) fn with(program: String) -> Self {
        let files = [
            ("main.pipe", program),
            (
                "metrics.csv",
                "time,cpu,mem,requests,errors,host\n2024-01-01T00:00:00Z,0.5,10.5,100,1,a\n".into(),
            ),
            (
                "labels.csv",
                "start,end,kind,anomalous\n2024-01-01T00:00:00Z,2024-01-01T00:01:00Z,cpu,true\n"
                    .into(),
            ),
            ("docs.jsonl", "{\"path\": \"a\", \"text\": \"hello\"}\n".into()),
        ];
        Self { files: files.into() }
    }
}

impl Host for Files {
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        let missing = || HostError::new(HostErrorKind::Missing, format!("there is no `{path}`"));
        self.files.get(path).map(|text| text.as_bytes().to_vec()).ok_or_else(missing)
    }

    fn stat(&self, path: &str) -> Result<FileInfo, HostError> {
        Ok(FileInfo { bytes: self.read(path)?.len() as u64, is_dir: false })
    }

    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, HostError> {
        let mut content = self.read(path)?;
        content.truncate(bytes);
        Ok(content)
    }

    fn digest(&self, path: &str) -> Result<String, HostError> {
        Ok(pipe_compiler::key::Key(*blake3::hash(&self.read(path)?).as_bytes()).to_string())
    }

    fn glob(&self, _pattern: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }
}
