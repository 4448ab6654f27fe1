//! The library: signatures of ops with their documentation, and functions written in the language. Text only.

/// Module names with their texts, sorted by name.
pub const FILES: &[(&str, &str)] = &[
    ("data", include_str!("../data.pipe")),
    ("detect", include_str!("../detect.pipe")),
    ("dist", include_str!("../dist.pipe")),
    ("encode", include_str!("../encode.pipe")),
    ("eval", include_str!("../eval.pipe")),
    ("flow", include_str!("../flow.pipe")),
    ("list", include_str!("../list.pipe")),
    ("logs", include_str!("../logs.pipe")),
    ("lora", include_str!("../lora.pipe")),
    ("math", include_str!("../math.pipe")),
    ("metrics", include_str!("../metrics.pipe")),
    ("model", include_str!("../model.pipe")),
    ("optim", include_str!("../optim.pipe")),
    ("process", include_str!("../process.pipe")),
    ("report", include_str!("../report.pipe")),
    ("sched", include_str!("../sched.pipe")),
    ("stat", include_str!("../stat.pipe")),
    ("text", include_str!("../text.pipe")),
    ("threshold", include_str!("../threshold.pipe")),
    ("tokenizer", include_str!("../tokenizer.pipe")),
    ("train", include_str!("../train.pipe")),
    ("tune", include_str!("../tune.pipe")),
    ("value", include_str!("../value.pipe")),
    ("window", include_str!("../window.pipe")),
];
