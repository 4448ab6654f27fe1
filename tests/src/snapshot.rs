//! Making what a command says comparable: times, sizes and digests differ between runs and machines.

/// Patterns and what stands in their place, for `insta::with_settings!`.
pub const FILTERS: [(&str, &str); 8] = [
    (r"[0-9a-f]{64}", "[digest]"),
    (r"[ ]+\d+(\.\d+)? (ns|us|ms|s|min)\b( left)?", " [time]"),
    (r"[ ]+\d+(\.\d+)? (B|KiB|MiB|GiB)\b", " [size]"),
    (r"(?m)^[0-9a-f]{8}  ", "[key]  "),
    (r"\b\d\d-\d\d \d\d:\d\d\b", "[moment]"),
    (r#""time":"[^"]*""#, r#""time":"[time]""#),
    (r#""seconds":[0-9.e-]+"#, r#""seconds":[time]"#),
    (r#""bytes":\d+"#, r#""bytes":[size]"#),
];

/// Compare what a command said with its stored snapshot.
#[macro_export]
macro_rules! snapshot {
    ($said:expr) => {
        insta::with_settings!({ filters => $crate::snapshot::FILTERS.to_vec(), omit_expression => true }, {
            insta::assert_snapshot!($said.snapshot());
        })
    };
}
