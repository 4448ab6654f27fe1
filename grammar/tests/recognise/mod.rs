//! A recogniser for GBNF: it reads the exported text and follows every way at once.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

enum Form {
    Text(Vec<char>),
    Class(bool, Vec<(char, char)>),
    Rule(String),
    All(Vec<Form>),
    OneOf(Vec<Form>),
    Maybe(Box<Form>),
    Many(Box<Form>),
}

/// A grammar read from GBNF.
pub(crate) struct Gbnf {
    rules: BTreeMap<String, Form>,
}

impl Gbnf {
    pub(crate) fn read(text: &str) -> Self {
        let mut reader = Reader { text: text.chars().collect(), at: 0 };
        let mut rules = BTreeMap::new();
        reader.blanks(true);
        while reader.peek().is_some() {
            let name = reader.name();
            reader.blanks(false);
            assert!(reader.takes("::="), "`::=` behind {name}");
            reader.blanks(true);
            let form = reader.choice(false);
            reader.blanks(true);
            assert!(rules.insert(name.clone(), form).is_none(), "{name} twice");
        }
        Self { rules }
    }

    /// Whether `root` derives all of `text`.
    pub(crate) fn accepts(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let mut known = BTreeMap::new();
        let root = Form::Rule("root".to_owned());
        self.ends(&root, 0, &text, &mut known).contains(&text.len())
    }

    /// Where what `form` derives from `at` on may end.
    fn ends<'a>(
        &'a self,
        form: &'a Form,
        at: usize,
        text: &[char],
        known: &mut BTreeMap<(&'a str, usize), Rc<BTreeSet<usize>>>,
    ) -> Rc<BTreeSet<usize>> {
        let found = match form {
            Form::Text(wanted) => {
                let matches = text[at..].starts_with(wanted);
                matches.then_some(at + wanted.len()).into_iter().collect()
            }
            Form::Class(not, ranges) => {
                let within =
                    |sign: &char| ranges.iter().any(|(a, z)| (*a..=*z).contains(sign)) != *not;
                text.get(at).filter(|sign| within(sign)).map(|_| at + 1).into_iter().collect()
            }
            Form::Rule(name) => {
                if let Some(ends) = known.get(&(name.as_str(), at)) {
                    return Rc::clone(ends);
                }
                let rule = self.rules.get(name).unwrap_or_else(|| panic!("no rule {name}"));
                let ends = self.ends(rule, at, text, known);
                known.insert((name, at), Rc::clone(&ends));
                return ends;
            }
            Form::All(forms) => {
                let mut places = BTreeSet::from([at]);
                for form in forms {
                    let next = places.iter().map(|at| self.ends(form, *at, text, known));
                    places = next
                        .collect::<Vec<_>>()
                        .iter()
                        .flat_map(|ends| ends.iter().copied())
                        .collect();
                }
                places
            }
            Form::OneOf(forms) => {
                let ends: Vec<_> =
                    forms.iter().map(|form| self.ends(form, at, text, known)).collect();
                ends.iter().flat_map(|ends| ends.iter().copied()).collect()
            }
            Form::Maybe(form) => {
                let mut places = self.ends(form, at, text, known).as_ref().clone();
                places.insert(at);
                places
            }
            Form::Many(form) => {
                let mut places = BTreeSet::from([at]);
                let mut open = vec![at];
                while let Some(at) = open.pop() {
                    for end in self.ends(form, at, text, known).iter() {
                        if places.insert(*end) {
                            open.push(*end);
                        }
                    }
                }
                places
            }
        };
        Rc::new(found)
    }
}

struct Reader {
    text: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> char {
        self.at += 1;
        self.text[self.at - 1]
    }

    fn takes(&mut self, wanted: &str) -> bool {
        let wanted: Vec<char> = wanted.chars().collect();
        let found = self.text[self.at..].starts_with(&wanted);
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    /// Blanks and comments; a line break ends a rule, so it is passed over only where it is welcome.
    fn blanks(&mut self, breaks: bool) {
        while let Some(sign) = self.peek() {
            match sign {
                ' ' | '\t' => self.at += 1,
                '\n' if breaks => self.at += 1,
                '#' => {
                    while self.peek().is_some_and(|sign| sign != '\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while self.peek().is_some_and(|sign| sign.is_ascii_alphanumeric() || sign == '-') {
            name.push(self.next());
        }
        assert!(!name.is_empty(), "a name at {}", self.at);
        name
    }

    fn choice(&mut self, nested: bool) -> Form {
        let mut ways = vec![self.sequence(nested)];
        self.blanks(nested);
        while self.takes("|") {
            self.blanks(true);
            ways.push(self.sequence(nested));
            self.blanks(nested);
        }
        Form::OneOf(ways)
    }

    fn sequence(&mut self, nested: bool) -> Form {
        let mut forms = Vec::new();
        loop {
            self.blanks(nested);
            let form = match self.peek() {
                None | Some('|' | ')' | '\n') => return Form::All(forms),
                Some('(') => {
                    self.next();
                    self.blanks(true);
                    let inner = self.choice(true);
                    assert!(self.takes(")"), "`)` at {}", self.at);
                    inner
                }
                Some('"') => {
                    self.next();
                    let mut text = Vec::new();
                    while !self.takes("\"") {
                        text.push(self.sign());
                    }
                    Form::Text(text)
                }
                Some('[') => {
                    self.next();
                    let not = self.takes("^");
                    let mut ranges = Vec::new();
                    while !self.takes("]") {
                        let first = self.sign();
                        let ranged = self.peek() == Some('-');
                        if ranged {
                            self.next();
                        }
                        ranges.push((first, if ranged { self.sign() } else { first }));
                    }
                    Form::Class(not, ranges)
                }
                Some(_) => Form::Rule(self.name()),
            };
            forms.push(match self.peek() {
                Some('?') => {
                    self.next();
                    Form::Maybe(Box::new(form))
                }
                Some('*') => {
                    self.next();
                    Form::Many(Box::new(form))
                }
                _ => form,
            });
        }
    }

    fn sign(&mut self) -> char {
        match self.next() {
            '\\' => match self.next() {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'x' => {
                    let digits: String = [self.next(), self.next()].iter().collect();
                    char::from(u8::from_str_radix(&digits, 16).unwrap())
                }
                sign => {
                    assert!("\"\\[]".contains(sign), "escape {sign}");
                    sign
                }
            },
            sign => sign,
        }
    }
}
