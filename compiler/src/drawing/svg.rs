//! A drawing as SVG: it follows light and dark mode, and what a colour says stands there in words too.

use super::layout::{Layout, Placed, Point, layout};
use super::{Drawing, Kind, Shape};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Most letters of one line in a box.
const LETTERS: usize = 34;

/// Width of a letter of the name, and of the smaller lines below it.
const WIDE: f64 = 7.3;
const NARROW: f64 = 6.7;

/// Space around all, and above the graph for title and legend.
const MARGIN: f64 = 24.0;
const HEAD: f64 = 64.0;

const LINE: f64 = 15.0;

const STYLE: &str = "
svg { --paper: #ffffff; --ink: #1f2328; --dim: #59636e; --line: #8b949e; --cached: #f2f4f6; --cached-edge: #8b949e;
  --run: #dbeafe; --run-edge: #2563eb; --maybe: #fef3c7; --maybe-edge: #b45309; --expand: #ede9fe;
  --expand-edge: #7c3aed; --root: #dcfce7; --root-edge: #15803d;
  font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 12px; }
@media (prefers-color-scheme: dark) { svg { --paper: #0d1117; --ink: #e6edf3; --dim: #9198a1; --line: #6e7681;
  --cached: #1c2128; --cached-edge: #6e7681; --run: #10264a; --run-edge: #58a6ff; --maybe: #3a2a05; --maybe-edge: #e3b341;
  --expand: #2a1a4a; --expand-edge: #bc8cff; --root: #0f2f1a; --root-edge: #3fb950; } }
.paper { fill: var(--paper); } text { fill: var(--ink); } .op, .state, .dim { fill: var(--dim); font-size: 11px; }
.name { font-weight: 600; } .box rect { stroke-width: 1.4; }
.cached rect { fill: var(--cached); stroke: var(--cached-edge); } .cached .name { fill: var(--dim); }
.run rect { fill: var(--run); stroke: var(--run-edge); } .run .state { fill: var(--run-edge); }
.maybe rect { fill: var(--maybe); stroke: var(--maybe-edge); stroke-dasharray: 5 3; } .maybe .state { fill: var(--maybe-edge); }
.expand rect { fill: var(--expand); stroke: var(--expand-edge); } .expand .state { fill: var(--expand-edge); }
.root rect { fill: var(--root); stroke: var(--root-edge); }
.edge { fill: none; stroke: var(--line); stroke-width: 1.2; } .edge.critical { stroke: var(--ink); stroke-width: 2.2; }
.arrow { fill: var(--line); }
";

/// The plan of `file` as an SVG document. `Drawing::grouped` keeps large ones readable.
#[must_use]
pub fn svg(drawing: &Drawing, file: &str) -> String {
    let sizes: Vec<(f64, f64)> = drawing.shapes.iter().map(size).collect();
    let edges: Vec<(usize, usize)> = drawing.edges.iter().copied().collect();
    let placed = layout(&sizes, &edges);
    let legend = legend(drawing);
    let title = headline(drawing, file);
    let wide = letters(&title, WIDE + 1.0).max(legend.1);
    let (width, height) =
        (placed.width.max(wide) + 2.0 * MARGIN, placed.height + HEAD + 2.0 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">\n<style>{STYLE}</style>\n",
        escaped(&title)
    );
    out.push_str("<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"arrow\" d=\"M0 0.8 L8 4 L0 7.2 z\"/></marker></defs>\n");
    let _ = writeln!(out, "<rect class=\"paper\" width=\"{width:.0}\" height=\"{height:.0}\"/>");
    let _ =
        writeln!(out, "<text class=\"name\" x=\"{MARGIN}\" y=\"34\">{}</text>", escaped(&title));
    let _ = writeln!(out, "<g transform=\"translate({MARGIN} 50)\">{}</g>", legend.0);
    let left = MARGIN + (width - 2.0 * MARGIN - placed.width).max(0.0) / 2.0;
    let _ = writeln!(out, "<g transform=\"translate({left:.1} {:.1})\">", MARGIN + HEAD);
    paths(&mut out, drawing, &placed);
    for (shape, place) in drawing.shapes.iter().zip(&placed.boxes) {
        draw(&mut out, shape, place);
    }
    out.push_str("</g>\n</svg>\n");
    out
}

fn letters(text: &str, each: f64) -> f64 {
    text.chars().count() as f64 * each
}

/// The lines in a box, with their classes.
fn lines(shape: &Shape) -> Vec<(&'static str, String)> {
    let times = |text: &str| match shape.count {
        1 => text.to_owned(),
        count => format!("{text} × {count}"),
    };
    let tool = if shape.kind == Kind::Torch { " · torch" } else { "" };
    let mut found = Vec::new();
    match shape.name.as_str() {
        "" => found.push(("name", times(&shape.op) + tool)),
        name => {
            // Two that have nothing of their names in common stand there by both.
            let both = shape.count == 2 && name.contains(", ");
            found.push(("name", if both { name.to_owned() } else { times(name) }));
            found.push(("op", shape.op.clone() + tool));
        }
    }
    if !shape.states.is_empty() {
        let made = match shape.made {
            0 => String::new(),
            made => format!(" to {made}"),
        };
        found.push(("state", states(&shape.states) + &made));
    }
    found.into_iter().map(|(class, text)| (class, cut(&text))).collect()
}

/// `cached`, or `380 cached, 20 will run`.
fn states(states: &BTreeMap<String, usize>) -> String {
    let all: Vec<String> = states
        .iter()
        .map(|(state, count)| match states.len() {
            1 => word(state, 1).to_owned(),
            _ => format!("{count} {}", word(state, *count)),
        })
        .collect();
    all.join(", ")
}

fn word(state: &str, count: usize) -> &str {
    match state {
        "run" => "will run",
        "expand" if count == 1 => "expands",
        other => other,
    }
}

/// The state that decides the colour: of several the one that asks for most work.
fn class(shape: &Shape) -> &'static str {
    let has = |state: &str| shape.states.contains_key(state);
    match shape.kind {
        Kind::Output | Kind::Check => "root",
        _ if has("expand") => "expand",
        _ if has("run") => "run",
        _ if has("maybe") => "maybe",
        _ => "cached",
    }
}

fn size(shape: &Shape) -> (f64, f64) {
    let lines = lines(shape);
    let width = |(class, text): &(&str, String)| {
        letters(text, if *class == "name" { WIDE } else { NARROW })
    };
    let widest = lines.iter().map(width).fold(40.0, f64::max);
    (widest + 20.0, lines.len() as f64 * LINE + 11.0)
}

fn draw(out: &mut String, shape: &Shape, place: &Placed) {
    let (x, y, width, height) = (place.x, place.y, place.width, place.height);
    let round = if matches!(shape.kind, Kind::Output | Kind::Check) { height / 2.0 } else { 5.0 };
    let _ = write!(out, "<g class=\"box {}\">", class(shape));
    let note = if shape.note.is_empty() { String::new() } else { format!("\n{}", shape.note) };
    let title = match shape.name.as_str() {
        "" => &shape.op,
        name => name,
    };
    let _ = write!(out, "<title>{}{}</title>", escaped(title), escaped(&note));
    if shape.count > 1 || shape.states.contains_key("expand") {
        // A second sheet behind the first one: it stands for several.
        let _ = write!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round}\"/>",
            x + 4.0,
            y + 4.0
        );
    }
    let _ = write!(
        out,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round}\"/>"
    );
    for (at, (class, text)) in lines(shape).iter().enumerate() {
        let base = y + 18.0 + at as f64 * LINE;
        let _ = write!(
            out,
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{base:.1}\" text-anchor=\"middle\">{}</text>",
            x + width / 2.0,
            escaped(text)
        );
    }
    out.push_str("</g>\n");
}

fn paths(out: &mut String, drawing: &Drawing, placed: &Layout) {
    for edge in &placed.edges {
        let critical = drawing.is_critical(edge.from, edge.to);
        let class = if critical { "edge critical" } else { "edge" };
        let _ = writeln!(
            out,
            "<path class=\"{class}\" d=\"{}\" marker-end=\"url(#arrow)\"/>",
            way(&edge.points)
        );
    }
}

/// Straight where the edge passes a layer, bent between layers.
fn way(points: &[Point]) -> String {
    let mut text = String::new();
    let mut last: Option<Point> = None;
    for point in points {
        let Point { x, y } = *point;
        let _ = match last {
            None => write!(text, "M{x:.1} {y:.1}"),
            Some(from) if from.x == x => write!(text, " L{x:.1} {y:.1}"),
            Some(from) => {
                let middle = f64::midpoint(from.y, y);
                write!(text, " C{:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}", from.x)
            }
        };
        last = Some(*point);
    }
    text
}

/// `detect.pipe · 24 nodes · 15 cached · 9 will run`.
fn headline(drawing: &Drawing, file: &str) -> String {
    let mut total = BTreeMap::new();
    for (state, count) in drawing.shapes.iter().flat_map(|shape| &shape.states) {
        *total.entry(state.clone()).or_insert(0) += count;
    }
    let nodes: usize = total.values().sum();
    let mut parts =
        vec![file.to_owned(), format!("{nodes} node{}", if nodes == 1 { "" } else { "s" })];
    parts.extend(total.iter().map(|(state, count)| format!("{count} {}", word(state, *count))));
    parts.join(" · ")
}

/// What the colours stand for, as far as they are there; with its width.
fn legend(drawing: &Drawing) -> (String, f64) {
    let mut text = String::new();
    let mut x = 0.0;
    let there = |wanted: &str| drawing.shapes.iter().any(|shape| class(shape) == wanted);
    let known = [
        ("cached", "cached"),
        ("run", "will run"),
        ("maybe", "maybe: only if what it reads changes"),
        ("expand", "expands in the run"),
        ("root", "output or check"),
    ];
    for (class, words) in known.into_iter().filter(|(class, _)| there(class)) {
        let _ = write!(
            text,
            "<g class=\"box {class}\"><rect x=\"{x:.1}\" y=\"0\" width=\"16\" height=\"11\" rx=\"3\"/></g><text class=\"dim\" x=\"{:.1}\" y=\"10\">{words}</text>",
            x + 22.0
        );
        x += 22.0 + letters(words, NARROW) + 20.0;
    }
    if drawing.edges.iter().any(|(from, to)| drawing.is_critical(*from, *to)) {
        let words = "critical path";
        let _ = write!(
            text,
            "<path class=\"edge critical\" d=\"M{x:.1} 6 L{:.1} 6\"/><text class=\"dim\" x=\"{:.1}\" y=\"10\">{words}</text>",
            x + 18.0,
            x + 24.0
        );
        x += 24.0 + letters(words, NARROW) + 20.0;
    }
    (text, x)
}

fn cut(text: &str) -> String {
    let mut letters = text.chars();
    let shown: String = letters.by_ref().take(LETTERS).collect();
    if letters.next().is_none() {
        shown
    } else {
        shown.chars().take(LETTERS - 1).collect::<String>() + "…"
    }
}

/// Text as XML takes it; what XML cannot hold is left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {}
            letter => out.push(letter),
        }
    }
    out
}
