//! Templates: messages with everything that varies taken out, so that repeats of one message are equal.

/// The first line of a message with numbers, identifiers, quoted text, addresses and paths replaced by `#`.
#[must_use]
pub fn masked(message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    let mut out = String::with_capacity(first.len());
    for word in unquoted(first).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        mask(word, &mut out);
    }
    out
}

/// A number for the template of a message.
#[must_use]
pub fn template(message: &str) -> u64 {
    let hash = blake3::hash(masked(message).as_bytes());
    hash.as_bytes().iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

/// Quoted text replaced; an apostrophe within a word is not a quote.
fn unquoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['"', '\'', '`']) {
        let (before, quoted) = rest.split_at(start);
        out.push_str(before);
        let quote = quoted.chars().next().unwrap_or('"');
        let opens = !before.ends_with(char::is_alphanumeric);
        let inner = quoted.get(quote.len_utf8()..).unwrap_or_default();
        match inner.find(quote).filter(|_| opens) {
            Some(end) => {
                out.push('#');
                rest = inner.get(end + quote.len_utf8()..).unwrap_or_default();
            }
            None => {
                out.push(quote);
                rest = inner;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A word, with `#` for what varies in it; the key of `key=value` stays.
fn mask(word: &str, out: &mut String) {
    let (key, value) = match word.find(['=', ':']) {
        Some(at)
            if word.get(at + 1..).is_some_and(|value| !value.is_empty())
                && !word.contains("://") =>
        {
            word.split_at(at + 1)
        }
        _ => ("", word),
    };
    let key_varies = key.contains(|c: char| c.is_ascii_digit());
    out.push_str(if key_varies { "#" } else { key });
    out.push_str(if varies(value) { "#" } else { value });
}

fn varies(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
        || word.contains("://")
        || word.starts_with('/')
        || word.matches('/').count() > 1
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn what_varies_is_masked() {
        let same = [
            ("took 12ms for order 991", "took # for order #"),
            ("GET /api/v1/orders status=500", "GET # status=#"),
            ("user=\"ann\" won't log in", "user=# won't log in"),
            ("connect to http://10.0.0.1:80/x failed: timed out", "connect to # failed: timed out"),
            ("id 0x7f9a session 3f2b-11 closed", "id # session # closed"),
            ("trace\n  at line 3", "trace"),
        ];
        for (message, template) in same {
            assert_eq!(masked(message), template);
        }
    }
}
