//! Pictures of plans: every node is shown or counted, and groups keep the graph going downwards.

use crate::support::plan;
use pipe_compiler::drawing::{Drawing, Kind, layout, svg};
use pipe_compiler::explain::{State, dot};
use pipe_compiler::plan::Plan;

fn states(plan: &Plan) -> Vec<State> {
    let state =
        |at: usize| ["cached", "run", "maybe"].get(at % 3).map_or("run", |state| state).to_owned();
    (0..plan.nodes.len()).map(|at| State { state: state(at), ..State::default() }).collect()
}

/// Nodes, outputs and checks are counted, and edges lead from earlier boxes to later ones.
fn is_whole(drawing: &Drawing, plan: &Plan) {
    let nodes = drawing.shapes.iter().filter(|shape| !shape.states.is_empty());
    assert_eq!(nodes.map(|shape| shape.count).sum::<usize>(), plan.nodes.len());
    let roots =
        drawing.shapes.iter().filter(|shape| matches!(shape.kind, Kind::Output | Kind::Check));
    assert_eq!(roots.map(|shape| shape.count).sum::<usize>(), plan.roots.len());
    for shape in drawing.shapes.iter().filter(|shape| !shape.states.is_empty()) {
        assert_eq!(shape.states.values().sum::<usize>(), shape.count, "{shape:?}");
    }
    for (from, to) in &drawing.edges {
        assert!(from < to && *to < drawing.shapes.len());
    }
}

const SMALL: &str =
    "let series = data.read(\"metrics.csv\") |> metrics.resample(every: 5s, by: \"mean\")
let hot = series |> data.filter(row => row.cpu > 0.9)
output hot = hot
check few = hot.rows <= 10
";

#[test]
fn a_small_plan_has_a_box_for_each_node() {
    let plan = plan(SMALL);
    let drawing = Drawing::of(&plan, &states(&plan)).grouped();
    is_whole(&drawing, &plan);
    assert_eq!(drawing.shapes.len(), plan.nodes.len() + plan.roots.len());
    let picture = svg(&drawing, "a <b> & \"c\".pipe");
    for words in [
        "hot",
        "data.filter",
        "cached",
        "will run",
        "maybe",
        "a &lt;b&gt; &amp; &quot;c&quot;.pipe",
    ] {
        assert!(picture.contains(words), "{words} is missing in\n{picture}");
    }
    assert!(picture.contains("prefers-color-scheme: dark"));
    let edges = drawing.edges.len();
    assert!(picture.matches("marker-end").count() == edges, "{picture}");
    let text = dot(&plan, &states(&plan));
    assert_eq!(text.matches(" -> ").count(), edges, "{text}");
}

#[test]
fn a_fan_out_is_one_box_with_its_number() {
    let limits: Vec<String> = (0..400).map(|at| format!("0.{at:03}")).collect();
    let source = format!(
        "let series = data.read(\"metrics.csv\")
let all = for limit in [{}] {{ series |> data.filter(row => row.cpu > limit) |> data.sort([\"cpu\"]) }}
output all = all
",
        limits.join(", ")
    );
    let plan = plan(&source);
    assert_eq!(plan.nodes.len(), 801);
    let states: Vec<State> = plan
        .nodes
        .iter()
        .map(|node| State {
            state: if node.name.contains("0.1") { "run" } else { "cached" }.to_owned(),
            ..State::default()
        })
        .collect();
    let drawing = Drawing::of(&plan, &states).grouped();
    is_whole(&drawing, &plan);
    assert_eq!(drawing.shapes.len(), 4, "{:#?}", drawing.shapes);
    let fan = drawing.shapes.iter().find(|shape| shape.op == "data.sort").unwrap();
    assert_eq!((fan.name.as_str(), fan.count), ("all", 400));
    let picture = svg(&drawing, "fan.pipe");
    assert!(picture.contains("all × 400") && picture.contains("cached, "), "{picture}");
}

#[test]
fn two_alike_have_both_names() {
    let mut source = String::from("let series = data.read(\"metrics.csv\")\n");
    for at in 0..40 {
        source +=
            &format!("let s{at} = series |> data.sort([\"cpu\"], descending: {})\n", at % 2 == 0);
        source += &format!("output o{at} = s{at} |> data.filter(row => row.cpu > 0.{at:02})\n");
    }
    let plan = plan(&source);
    let picture = svg(&Drawing::of(&plan, &[]).grouped(), "p.pipe");
    assert!(picture.contains("s0, s1"), "{picture}");
}

/// Different names and thresholds, the same op at the same place.
#[test]
fn whatever_is_alike_is_grouped() {
    let mut source = String::from("let series = data.read(\"metrics.csv\")\n");
    for at in 0..200 {
        source += &format!("output part{at} = series |> data.filter(row => row.cpu > 0.{at:03})\n");
    }
    let plan = plan(&source);
    let drawing = Drawing::of(&plan, &[]).grouped();
    is_whole(&drawing, &plan);
    assert_eq!(drawing.shapes.len(), 3, "{:#?}", drawing.shapes);
}

#[test]
fn a_long_chain_stays_a_chain() {
    let mut source = String::from("let s0 = data.read(\"metrics.csv\")\n");
    for at in 0..300 {
        source += &format!(
            "@retry(1)\nlet s{} = s{at} |> data.sort([\"cpu\"], descending: {})\n",
            at + 1,
            at % 2 == 0
        );
    }
    source += "output last = s300\n";
    let plan = plan(&source);
    let drawing = Drawing::of(&plan, &[]).grouped();
    is_whole(&drawing, &plan);
    let sizes = vec![(80.0, 40.0); drawing.shapes.len()];
    let edges: Vec<(usize, usize)> = drawing.edges.iter().copied().collect();
    let placed = layout(&sizes, &edges);
    assert!((placed.width - 80.0).abs() < 1.0, "{}", placed.width);
}
