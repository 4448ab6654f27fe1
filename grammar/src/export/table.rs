//! The rules of the language, as data.
//!
//! Two things differ from `pipe.pest`, where repetition is greedy and choice is ordered:
//!   * An operand that reaches as far as it can (`not a`, `x => a`) stands only at the end of an expression, in `tail`.
//!     So at most one comparison stands between two of `??`, `or`, `and` and `not`.
//!   * The value of a block behind a `let` does not start with `-`, which would continue the value of the `let`: the rules
//!     that end in `_later`.
//!
//! A string in `"` ends on its line, and so does what it interpolates: the rules that end in `_line` are the same rules
//! with blanks where others have line breaks and comments.

use super::form::{Form, Rule, all, but, many, maybe, of, one, rule, some, text};
use super::names::{INNER, free};
use crate::words::UNITS;
use std::sync::OnceLock;

/// All rules, the one to start with first.
#[must_use]
pub fn table() -> &'static [Rule] {
    static TABLE: OnceLock<Vec<Rule>> = OnceLock::new();
    TABLE.get_or_init(build)
}

fn build() -> Vec<Rule> {
    let mut rules = Vec::new();
    let free = Layout { line: false };
    free.file(&mut rules);
    for layout in [free, Layout { line: true }] {
        layout.binding(&mut rules);
        layout.types(&mut rules);
        layout.operators(&mut rules, "");
        layout.operators(&mut rules, "_later");
        layout.operands(&mut rules);
        layout.brackets(&mut rules);
        layout.control(&mut rules);
        layout.strings(&mut rules);
    }
    words(&mut rules);
    rules
}

/// Where line breaks and comments may stand: everywhere between words, or nowhere.
#[derive(Clone, Copy)]
struct Layout {
    line: bool,
}

impl Layout {
    fn name(self, name: &str) -> String {
        if self.line { format!("{name}_line") } else { name.to_owned() }
    }

    fn r(self, name: &str) -> Form {
        rule(self.name(name))
    }

    fn put(self, rules: &mut Vec<Rule>, name: &str, form: Form) {
        rules.push(Rule { name: self.name(name), form, word: false });
    }

    /// What separates two words.
    fn gap(self) -> Form {
        self.r("gap")
    }

    /// What may separate two signs.
    fn g(self) -> Form {
        maybe(self.gap())
    }

    /// A sign with blanks around it where there are any.
    fn sign(self, sign: &str) -> Form {
        all([self.g(), text(sign), self.g()])
    }

    /// A word with what separates it from the words around it.
    fn between(self, word: &str) -> Form {
        all([self.gap(), text(word), self.gap()])
    }

    /// `open a, b, close`, empty where that is `allowed`.
    fn bracketed(self, open: &str, element: Form, close: &str, allowed: bool) -> Form {
        let more = many(all([self.sign(","), element.clone()]));
        let last = maybe(all([self.g(), text(",")]));
        let inner = all([element, more, last, self.g()]);
        let inner = if allowed { maybe(inner) } else { inner };
        all([text(open), self.g(), inner, text(close)])
    }

    fn attributes(self) -> Form {
        many(all([self.r("attribute"), self.gap()]))
    }

    /// `: T`, where it may stand.
    fn of_type(self) -> Form {
        maybe(all([self.sign(":"), self.r("type")]))
    }

    fn value(self) -> Form {
        all([self.sign("="), self.r("expr")])
    }

    /// `name`, or `(a, b)`, before `in` and `=>`.
    fn bound(self) -> Form {
        one([rule("name"), self.bracketed("(", rule("name"), ")", true)])
    }

    fn file(self, rules: &mut Vec<Rule>) {
        let items = all([self.r("item"), many(all([self.gap(), self.r("item")])), self.g()]);
        self.put(rules, "start", all([self.g(), maybe(items)]));
        let declarations = ["use", "param", "let", "output", "check", "type", "fn"]
            .map(|word| self.r(&format!("{word}_decl")));
        let native = all([
            self.attributes(),
            text("@"),
            text("native"),
            maybe(self.r("call")),
            self.gap(),
            self.attributes(),
            self.r("native_decl"),
        ]);
        self.put(rules, "item", one([all([self.attributes(), one(declarations)]), native]));
        let named = |word: &str| all([text(word), self.gap(), rule("name")]);
        let params = self.bracketed("<", rule("name"), ">", false);
        let typed = maybe(all([self.g(), params]));
        self.put(rules, "use_decl", all([named("use"), self.sign("="), self.r("plain")]));
        self.put(
            rules,
            "param_decl",
            all([
                named("param"),
                self.sign(":"),
                self.r("type"),
                maybe(self.value()),
                maybe(all([self.between("where"), self.r("expr")])),
            ]),
        );
        self.put(rules, "output_decl", all([named("output"), self.of_type(), self.value()]));
        self.put(rules, "check_decl", all([named("check"), self.value()]));
        self.put(
            rules,
            "type_decl",
            all([named("type"), typed.clone(), self.sign("="), self.r("type")]),
        );
        let result = maybe(all([self.sign("->"), self.r("type")]));
        let fun = |params: &str| {
            all([
                named("fn"),
                typed.clone(),
                self.g(),
                self.bracketed("(", self.r(params), ")", true),
                result.clone(),
            ])
        };
        let body = one([self.value(), all([self.g(), self.r("block")])]);
        self.put(rules, "fn_decl", all([fun("parameter"), body]));
        let native = one([fun("native_parameter"), all([named("type"), typed])]);
        self.put(rules, "native_decl", native);
        for (name, word) in [("parameter", "param_name"), ("native_parameter", "word")] {
            let rest = maybe(all([text(".."), self.g()]));
            let form = all([
                self.attributes(),
                rest,
                rule(word),
                self.sign(":"),
                self.r("type"),
                maybe(self.value()),
            ]);
            self.put(rules, name, form);
        }
    }

    /// What stands in files and in blocks.
    fn binding(self, rules: &mut Vec<Rule>) {
        self.put(rules, "attribute", all([text("@"), rule("word"), maybe(self.r("call"))]));
        let head = all([text("let"), self.gap(), rule("name")]);
        self.put(rules, "let_decl", all([head, self.of_type(), self.value()]));
    }

    fn types(self, rules: &mut Vec<Rule>) {
        let more = many(all([self.sign("|"), self.r("type_part")]));
        self.put(rules, "type", all([self.r("type_part"), more]));
        let optional = maybe(all([self.g(), text("?")]));
        let list = all([text("["), self.g(), self.r("type"), self.g(), text("]")]);
        let key = one([rule("word"), self.r("plain")]);
        let field = one([
            all([text(".."), self.g(), self.r("type")]),
            all([key, self.sign(":"), self.r("type")]),
        ]);
        let record = self.bracketed("{", field, "}", true);
        let last = maybe(all([self.g(), text(",")]));
        let group = all([text("("), self.g(), self.r("type"), last, self.g(), text(")")]);
        let params = self.bracketed("(", self.r("type"), ")", true);
        let function = all([params, self.sign("->"), self.r("type")]);
        let path = all([rule("name"), many(all([text("."), rule("word")]))]);
        let args = self.bracketed("<", self.r("type"), ">", false);
        let named = all([path, maybe(all([self.g(), args]))]);
        let part = one([self.r("plain"), list, record, group, function, named]);
        self.put(rules, "type_part", all([part, optional]));
    }

    /// Expressions from the loosest to the tightest, whose first operand is restricted as `first` says.
    fn operators(self, rules: &mut Vec<Rule>, first: &str) {
        let at = |name: &str| self.r(&format!("{name}{first}"));
        let negations = || many(all([text("-"), self.g()]));
        let leading = || if first.is_empty() { negations() } else { all([]) };
        let join = one([self.sign("??"), self.between("or"), self.between("and")]);
        let more = many(all([join, self.r("condition")]));
        self.put(rules, &format!("expr{first}"), all([at("condition"), more]));
        let compare = || self.r("compare");
        let calculate = || self.r("calculate");
        let conditions = one([
            all([at("piped"), maybe(all([compare(), self.r("piped")]))]),
            all([at("sum"), calculate(), self.r("tail")]),
            all([at("piped"), compare(), maybe(all([self.r("sum"), calculate()])), self.r("tail")]),
            at("tail"),
        ]);
        self.put(rules, &format!("condition{first}"), conditions);
        let not = all([text("not"), self.gap(), self.r("condition")]);
        let lambda = all([self.bound(), self.sign("=>"), self.r("expr")]);
        self.put(rules, &format!("tail{first}"), all([leading(), one([not, lambda])]));
        let step = all([self.sign("|>"), self.r("step")]);
        self.put(rules, &format!("piped{first}"), all([at("sum"), many(step)]));
        let more = many(all([calculate(), negations(), self.r("term")]));
        self.put(rules, &format!("sum{first}"), all([leading(), self.r("term"), more]));
    }

    fn operands(self, rules: &mut Vec<Rule>) {
        let signs = ["==", "!=", "<=", ">=", "<", ">"].map(text);
        let compare = one([all([self.g(), one(signs), self.g()]), self.between("in")]);
        self.put(rules, "compare", compare);
        let signs = ["+", "-", "*", "/", "%", ".."].map(text);
        self.put(rules, "calculate", all([self.g(), one(signs), self.g()]));
        let behind = || {
            let index = all([text("["), self.g(), self.r("expr"), self.g(), text("]")]);
            one([self.r("call"), index, all([text("."), rule("word")])])
        };
        let lambda = all([self.bound(), self.sign("=>"), self.r("let_block")]);
        self.put(rules, "term", one([lambda, all([self.r("primary"), many(behind())])]));
        let call = all([self.r("primary"), many(behind()), self.r("call")]);
        let group = all([text("("), self.g(), self.r("step"), self.g(), text(")")]);
        self.put(rules, "step", one([call, group]));
        let primary = one([
            rule("number"),
            self.r("string"),
            text("true"),
            text("false"),
            text("none"),
            rule("name"),
            self.r("list"),
            self.r("record"),
            all([text("("), self.g(), self.r("expr"), self.g(), text(")")]),
            self.r("if_expr"),
            self.r("for_expr"),
        ]);
        self.put(rules, "primary", primary);
    }

    fn brackets(self, rules: &mut Vec<Rule>) {
        let argument = all([maybe(all([rule("word"), self.sign(":")])), self.r("expr")]);
        self.put(rules, "call", self.bracketed("(", argument, ")", true));
        self.put(rules, "list", self.bracketed("[", self.r("expr"), "]", true));
        let key = one([rule("word"), self.r("plain")]);
        let entry = one([
            all([text(".."), self.g(), self.r("expr")]),
            all([key, self.sign(":"), self.r("expr")]),
        ]);
        self.put(rules, "record", self.bracketed("{", entry, "}", true));
    }

    fn control(self, rules: &mut Vec<Rule>) {
        let last = one([all([self.gap(), self.r("if_expr")]), all([self.g(), self.r("block")])]);
        let choice = all([
            text("if"),
            self.gap(),
            self.r("expr"),
            self.g(),
            self.r("block"),
            self.g(),
            text("else"),
            last,
        ]);
        self.put(rules, "if_expr", choice);
        let binder = || all([self.bound(), self.between("in"), self.r("expr")]);
        let repetition = all([
            text("for"),
            self.gap(),
            binder(),
            many(all([self.sign(","), binder()])),
            maybe(all([self.between("if"), self.r("expr")])),
            self.g(),
            self.r("block"),
        ]);
        self.put(rules, "for_expr", repetition);
        let value = all([text("{"), self.g(), self.r("expr"), self.g(), text("}")]);
        self.put(rules, "block", one([value, self.r("let_block")]));
        let binding = all([self.attributes(), self.r("let_decl"), self.gap()]);
        let lets =
            all([text("{"), self.g(), some(binding), self.r("expr_later"), self.g(), text("}")]);
        self.put(rules, "let_block", lets);
    }

    /// A string is whole, or it has a head, a middle between interpolations, and a tail.
    fn strings(self, rules: &mut Vec<Rule>) {
        let line = Self { line: true };
        let mut ways = vec![rule("text"), self.r("raw")];
        let parts = [
            (line, rule("text_head"), rule("text_middle"), rule("text_tail")),
            (self, self.r("raw_head"), self.r("raw_middle"), self.r("raw_tail")),
        ];
        for (layout, head, middle, tail) in parts {
            let value = || all([layout.g(), layout.r("expr"), layout.g(), text("}")]);
            ways.push(all([head, value(), many(all([middle, value()])), tail]));
        }
        self.put(rules, "string", one(ways));
        self.put(rules, "plain", one([rule("text"), self.r("raw")]));
    }
}

/// What is read as one piece.
fn words(rules: &mut Vec<Rule>) {
    let number = all([
        one([rule("digits"), all([rule("digits"), rule("fraction")]), rule("scientific")]),
        maybe(rule("unit")),
    ]);
    rules.push(Rule { name: "number".to_owned(), form: number, word: false });
    let mut put = |name: &str, form: Form| {
        rules.push(Rule { name: name.to_owned(), form, word: true });
    };
    put("name", free("A-Z_a-z"));
    put("word", all([of("A-Z_a-z"), many(of(INNER))]));
    let unbound = one([free("A-Z_a-z"), all([of("0-9"), many(of(INNER))])]);
    put("param_name", one([free("A-Za-z"), all([text("_"), maybe(unbound)])]));
    let digits = || all([of("0-9"), many(all([maybe(text("_")), of("0-9")]))]);
    let exponent = || all([of("eE"), maybe(of("+-")), some(of("0-9"))]);
    put("digits", digits());
    put("scientific", all([digits(), exponent()]));
    put("fraction", all([text("."), digits(), maybe(exponent())]));
    put("unit", one(UNITS.map(|(unit, _)| text(unit))));
    let comment = all([text("#"), many(but("\n")), text("\n")]);
    put("gap", some(one([of(" \t\r\n"), comment])));
    put("gap_line", some(of(" \t\r")));
    let piece = |start: &str, end: &str, body: Form| all([text(start), body, text(end)]);
    let dollars = || many(text("$"));
    let escape = || all([text("\\"), of("ntr\"\\$")]);
    let body = || {
        let after = all([some(text("$")), one([but("\"\\$\n{"), escape()])]);
        all([many(one([but("\"\\$\n"), escape(), after])), dollars()])
    };
    put("text", piece("\"", "\"", body()));
    put("text_head", piece("\"", "${", body()));
    put("text_middle", piece("", "${", body()));
    put("text_tail", piece("", "\"", body()));
    for (suffix, breaks) in [("", ""), ("_line", "\n")] {
        let raw = Raw { breaks };
        put(&format!("raw{suffix}"), piece("\"\"\"", "\"\"\"", raw.closing()));
        put(&format!("raw_head{suffix}"), piece("\"\"\"", "${", raw.opening()));
        put(&format!("raw_middle{suffix}"), piece("", "${", raw.opening()));
        put(&format!("raw_tail{suffix}"), piece("", "\"\"\"", raw.closing()));
    }
}

/// Text between `"""`: neither three quotes nor `${` inside.
struct Raw {
    /// What it may not contain.
    breaks: &'static str,
}

impl Raw {
    fn quotes() -> Form {
        all([text("\""), maybe(text("\""))])
    }

    /// Quotes and dollars by turns, ending in quotes.
    fn to_quotes() -> Form {
        let turn = all([Self::quotes(), some(text("$"))]);
        all([many(text("$")), many(turn), Self::quotes()])
    }

    /// Quotes and dollars by turns, ending in dollars.
    fn to_dollars() -> Form {
        let turn = all([some(text("$")), Self::quotes()]);
        all([maybe(Self::quotes()), many(turn), some(text("$"))])
    }

    fn body(&self) -> Form {
        let other = but(&format!("\"${}", self.breaks));
        let after_dollar = but(&format!("\"${{{}", self.breaks));
        many(one([
            other.clone(),
            all([Self::to_quotes(), other]),
            all([Self::to_dollars(), after_dollar]),
        ]))
    }

    /// What may stand before the closing quotes.
    fn closing(&self) -> Form {
        all([self.body(), maybe(Self::to_dollars())])
    }

    /// What may stand before `${`.
    fn opening(&self) -> Form {
        all([self.body(), maybe(one([Self::to_quotes(), Self::to_dollars()]))])
    }
}
