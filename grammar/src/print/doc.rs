//! A small document algebra: text, places where a line may break, and groups that break as a whole.
//!
//! A group is set on one line when it fits there and holds nothing that needs a line of its own.

/// Widest line, where lines can be broken.
pub(super) const WIDTH: usize = 88;

/// A document with the knowledge whether it needs more than one line.
#[derive(Clone, Debug, Default)]
pub(super) struct Doc {
    kind: Kind,
    tall: bool,
}

#[derive(Clone, Debug, Default)]
enum Kind {
    #[default]
    Nil,
    Text(String),
    /// Text whose blanks at the end of a line belong to it.
    Exact(String),
    /// A blank on one line, otherwise a line break.
    Line,
    /// Nothing on one line, otherwise a line break.
    Soft,
    /// Always a line break.
    Hard,
    /// An empty line before the break that follows, when lines break.
    Blank,
    /// A comma where lines break.
    Comma,
    /// A comment at the end of the line.
    Suffix(String),
    Nest(Box<Doc>),
    Group(Box<Doc>),
    Concat(Vec<Doc>),
}

pub(super) fn nil() -> Doc {
    Doc::default()
}

pub(super) fn text(text: impl Into<String>) -> Doc {
    let text = text.into();
    let tall = text.contains('\n');
    Doc { kind: Kind::Text(text), tall }
}

/// A line of a string: what it ends in is not the layout's.
pub(super) fn exact(text: impl Into<String>) -> Doc {
    Doc { kind: Kind::Exact(text.into()), tall: false }
}

pub(super) fn line() -> Doc {
    Doc { kind: Kind::Line, tall: false }
}

pub(super) fn soft() -> Doc {
    Doc { kind: Kind::Soft, tall: false }
}

pub(super) fn hard() -> Doc {
    Doc { kind: Kind::Hard, tall: true }
}

pub(super) fn blank() -> Doc {
    Doc { kind: Kind::Blank, tall: false }
}

pub(super) fn comma() -> Doc {
    Doc { kind: Kind::Comma, tall: false }
}

pub(super) fn suffix(comment: impl Into<String>) -> Doc {
    Doc { kind: Kind::Suffix(comment.into()), tall: true }
}

pub(super) fn nest(doc: Doc) -> Doc {
    let tall = doc.tall;
    Doc { kind: Kind::Nest(Box::new(doc)), tall }
}

pub(super) fn group(doc: Doc) -> Doc {
    let tall = doc.tall;
    Doc { kind: Kind::Group(Box::new(doc)), tall }
}

pub(super) fn concat(docs: impl IntoIterator<Item = Doc>) -> Doc {
    let docs: Vec<Doc> = docs.into_iter().collect();
    let tall = docs.iter().any(|doc| doc.tall);
    Doc { kind: Kind::Concat(docs), tall }
}

impl Doc {
    /// Whether the document needs more than one line.
    pub(super) fn is_tall(&self) -> bool {
        self.tall
    }
}

/// Sets a document in lines of at most [`WIDTH`] columns where that is possible.
pub(super) fn render(doc: &Doc) -> String {
    let mut out = Output::default();
    let mut stack = vec![(0usize, false, doc)];
    while let Some((indent, flat, doc)) = stack.pop() {
        match &doc.kind {
            Kind::Nil => {}
            Kind::Text(text) => out.text(text),
            Kind::Exact(text) => out.exact(text),
            Kind::Line if flat => out.text(" "),
            Kind::Soft | Kind::Blank | Kind::Comma if flat => {}
            Kind::Line | Kind::Soft | Kind::Hard => out.line(indent),
            Kind::Blank => out.blank = true,
            Kind::Comma => out.text(","),
            Kind::Suffix(comment) => out.suffix(comment),
            Kind::Nest(inner) => stack.push((indent + 2, flat, inner)),
            Kind::Group(inner) => {
                let flat = flat || (!inner.tall && out.fits(inner, &stack));
                stack.push((indent, flat, inner));
            }
            Kind::Concat(docs) => stack.extend(docs.iter().rev().map(|doc| (indent, flat, doc))),
        }
    }
    out.finish()
}

#[derive(Default)]
struct Output {
    text: String,
    column: usize,
    indent: usize,
    comments: Vec<String>,
    blank: bool,
    /// Where the text ends that must stay as it is.
    exact: usize,
}

impl Output {
    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.column == 0 && !text.starts_with('\n') {
            self.text.extend(std::iter::repeat_n(' ', self.indent));
            self.column = self.indent;
        }
        self.text.push_str(text);
        match text.rfind('\n') {
            Some(at) => self.column = text.get(at + 1..).map_or(0, |tail| tail.chars().count()),
            None => self.column += text.chars().count(),
        }
    }

    fn exact(&mut self, text: &str) {
        self.text(text);
        self.exact = self.text.len();
    }

    fn suffix(&mut self, comment: &str) {
        self.comments.push(comment.to_owned());
    }

    fn flush(&mut self) {
        for comment in std::mem::take(&mut self.comments) {
            let gap = if self.column == 0 { "" } else { " " };
            self.text(&format!("{gap}{comment}"));
        }
    }

    fn line(&mut self, indent: usize) {
        self.flush();
        while self.text.len() > self.exact && self.text.ends_with(' ') {
            self.text.pop();
        }
        self.text.push('\n');
        if std::mem::take(&mut self.blank) {
            self.text.push('\n');
        }
        (self.column, self.indent) = (0, indent);
    }

    /// Whether `doc` and what stands behind it up to the next line break fit on the current line.
    fn fits(&self, doc: &Doc, rest: &[(usize, bool, &Doc)]) -> bool {
        let start = if self.column == 0 { self.indent } else { self.column };
        let Some(mut room) = WIDTH.checked_sub(start) else { return false };
        let mut stack = vec![(true, doc)];
        let mut behind = rest.iter().rev();
        loop {
            let Some((flat, doc)) =
                stack.pop().or_else(|| behind.next().map(|(_, flat, doc)| (*flat, *doc)))
            else {
                return true;
            };
            let width = match &doc.kind {
                Kind::Text(text) | Kind::Exact(text) => match text.find('\n') {
                    Some(at) => {
                        return text.get(..at).is_some_and(|head| head.chars().count() <= room);
                    }
                    None => text.chars().count(),
                },
                Kind::Line if flat => 1,
                Kind::Line | Kind::Soft | Kind::Hard if !flat => return true,
                Kind::Hard => return true,
                Kind::Comma if !flat => 1,
                Kind::Nest(inner) => {
                    stack.push((flat, inner));
                    0
                }
                Kind::Group(inner) => {
                    stack.push((flat && !inner.tall, inner));
                    0
                }
                Kind::Concat(docs) => {
                    stack.extend(docs.iter().rev().map(|doc| (flat, doc)));
                    0
                }
                _ => 0,
            };
            match room.checked_sub(width) {
                Some(left) => room = left,
                None => return false,
            }
        }
    }

    fn finish(mut self) -> String {
        self.flush();
        self.text
    }
}
