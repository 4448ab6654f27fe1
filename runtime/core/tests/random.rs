//! Random plans with random failures: every value is right, nothing runs twice, nothing is forgotten.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use pipe_runtime::Registry;
use pipe_runtime::events::NodeState;
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use proptest::prelude::*;
use std::collections::BTreeMap;
use support::{Counter, Place, PlanBuilder, int, op};

/// Each node reads up to two earlier ones; some fail.
#[derive(Clone, Debug)]
struct Shape {
    nodes: Vec<(Vec<usize>, bool)>,
    roots: Vec<usize>,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let node =
        (prop::collection::vec(any::<prop::sample::Index>(), 0..3), prop::bool::weighted(0.1));
    let roots = prop::collection::vec(any::<prop::sample::Index>(), 1..4);
    (prop::collection::vec(node, 1..20), roots).prop_map(|(nodes, roots)| {
        let many = nodes.len();
        let earlier = |at: usize, inputs: Vec<prop::sample::Index>| {
            if at == 0 { Vec::new() } else { inputs.iter().map(|input| input.index(at)).collect() }
        };
        let nodes = nodes.into_iter().enumerate();
        let nodes = nodes.map(|(at, (inputs, fails))| (earlier(at, inputs), fails)).collect();
        Shape { nodes, roots: roots.iter().map(|root| root.index(many)).collect() }
    })
}

/// What each node should give; nothing when it or something it needs fails.
fn expected(shape: &Shape) -> Vec<Option<i64>> {
    let mut values: Vec<Option<i64>> = Vec::new();
    for (at, (inputs, fails)) in shape.nodes.iter().enumerate() {
        let sum: Option<i64> = inputs.iter().map(|input| values[*input]).sum();
        values.push(sum.filter(|_| !fails).map(|sum| sum + i64::try_from(at).unwrap()));
    }
    values
}

fn plan(shape: &Shape) -> PlanBuilder {
    let mut plan = PlanBuilder::new();
    let mut made = Vec::new();
    for (at, (inputs, fails)) in shape.nodes.iter().enumerate() {
        let mut args =
            vec![("own", int(i64::try_from(at).unwrap())), ("fails", int(i64::from(*fails)))];
        let names = ["a", "b"];
        args.extend(inputs.iter().zip(names).map(|(input, name)| (name, made_at(&made, *input))));
        made.push(plan.node(&format!("n{at}"), "sum", &args));
    }
    for (number, root) in shape.roots.iter().enumerate() {
        plan.output(&format!("r{number}"), made[*root].clone());
    }
    plan
}

fn made_at(made: &[pipe_compiler::plan::Arg], at: usize) -> pipe_compiler::plan::Arg {
    made[at].clone()
}

fn ops(counter: &Counter) -> Registry {
    let mut registry = Registry::new();
    let ran = counter.clone();
    registry.register(op("sum", move |args, _| {
        if args.int("fails")? == 1 {
            return Err(OpError::new("run::test", "It fails."));
        }
        ran.add();
        let input = |name: &str| Ok::<_, OpError>(args.optional_int(name)?.unwrap_or(0));
        Ok(Value::Int(args.int("own")? + input("a")? + input("b")?))
    }));
    registry
}

fn needed(shape: &Shape) -> BTreeMap<usize, ()> {
    let mut look = shape.roots.clone();
    let mut found = BTreeMap::new();
    while let Some(at) = look.pop() {
        if found.insert(at, ()).is_none() {
            look.extend(&shape.nodes[at].0);
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_plan_ends_right(shape in shapes()) {
        let (place, counter) = (Place::new(), Counter::default());
        let registry = ops(&counter);
        let plan = plan(&shape).0;
        let expected = expected(&shape);
        let needed = needed(&shape);
        let first = place.run(&plan, &registry);
        let states = first.states();
        for (at, value) in expected.iter().enumerate() {
            let state = states[&format!("n{at}")];
            if !needed.contains_key(&at) {
                prop_assert_eq!(state, NodeState::Cached);
            } else if value.is_some() {
                prop_assert_eq!(state, NodeState::Ran);
            } else {
                prop_assert!(matches!(state, NodeState::Failed | NodeState::Skipped));
            }
        }
        for (number, root) in shape.roots.iter().enumerate() {
            let found = std::fs::read_to_string(place.out().join(format!("r{number}.json"))).ok();
            let found = found.map(|text| text.trim().parse::<i64>().unwrap());
            prop_assert_eq!(found, expected[*root]);
        }
        let ran = counter.get();
        let second = place.run(&plan, &registry);
        prop_assert_eq!(counter.get(), ran, "what has a result does not run again");
        prop_assert_eq!(second.summary.ran, 0);
        prop_assert_eq!(second.summary.failed, first.summary.failed);
    }
}
