//! Messages over a pair of byte streams: `Content-Length` headers around JSON.
//!
//! Reading goes on after a message that makes no sense; only the end of the stream ends it. A thread reads, so that the
//! client never waits for the server to take its input.

use lsp_server::Message;
use serde_json::Value;
use std::io::{BufRead, Read, Write};
use std::sync::mpsc::{Receiver, channel};

/// The largest message that is read; more cannot come from an editor.
const MAX_BYTES: usize = 64 << 20;

/// The longest header line.
const MAX_LINE: u64 = 4096;

/// What the stream holds.
pub(crate) enum Incoming {
    /// A message.
    Message(Message),
    /// Something that is none, with the reason.
    Garbage(String),
}

/// Read on a thread of its own until the stream ends; the channel then closes.
pub(crate) fn read(mut input: impl BufRead + Send + 'static) -> Receiver<Incoming> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        while let Some(incoming) = next(&mut input) {
            let exit = matches!(&incoming, Incoming::Message(Message::Notification(note)) if note.method == "exit");
            if sender.send(incoming).is_err() || exit {
                break;
            }
        }
    });
    receiver
}

/// The next message; `None` at the end of the stream.
fn next(input: &mut impl BufRead) -> Option<Incoming> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&line);
        match (line.trim_end_matches(['\r', '\n']), length) {
            ("", None) => {}
            ("", Some(length)) => return body(input, length),
            (header, _) => match header.split_once(':') {
                Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().ok();
                    if length.is_none() {
                        return Some(Incoming::Garbage(
                            "the length of a message is no number".into(),
                        ));
                    }
                }
                Some((name, _)) if name.trim().eq_ignore_ascii_case("content-type") => {}
                _ => return Some(Incoming::Garbage("a line that is no header".into())),
            },
        }
    }
}

fn body(input: &mut impl BufRead, length: usize) -> Option<Incoming> {
    if length > MAX_BYTES {
        std::io::copy(&mut input.by_ref().take(length as u64), &mut std::io::sink()).ok()?;
        return Some(Incoming::Garbage(format!("a message of {length} bytes is too large")));
    }
    let mut bytes = Vec::new();
    let read = input.by_ref().take(length as u64).read_to_end(&mut bytes).ok()?;
    if read < length {
        return None;
    }
    Some(match serde_json::from_slice(&bytes) {
        Ok(message) => Incoming::Message(message),
        Err(error) => Incoming::Garbage(format!("a message that makes no sense: {error}")),
    })
}

/// Write one message.
pub(crate) fn write(output: &mut impl Write, message: &Value) -> std::io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<Result<String, String>> {
        let mut input = std::io::BufReader::new(bytes);
        let mut found = Vec::new();
        while let Some(incoming) = next(&mut input) {
            found.push(match incoming {
                Incoming::Message(Message::Notification(note)) => Ok(note.method),
                Incoming::Message(_) => Ok("other".into()),
                Incoming::Garbage(why) => Err(why),
            });
        }
        found
    }

    #[test]
    fn reading_goes_on_after_garbage() {
        let note = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let framed = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let text = [
            framed("{"),
            "hello\r\n".to_owned(),
            "Content-Length: many\r\n".to_owned(),
            framed("[1, 2]"),
            framed(note),
            "Content-Length: 99999999999\r\n\r\n".to_owned(),
        ];
        let found = all(text.concat().as_bytes());
        let shown: Vec<bool> = found.iter().map(Result::is_ok).collect();
        assert_eq!(shown, [false, false, false, false, true, false], "{found:?}");
    }

    #[test]
    fn the_stream_may_end_anywhere() {
        let note = "Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}";
        for end in 0..note.len() {
            assert!(all(&note.as_bytes()[..end]).iter().all(Result::is_err));
        }
        assert_eq!(all(note.as_bytes()), [Ok("exit".to_owned())]);
    }
}
