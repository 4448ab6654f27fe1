//! Parts of plans: what holds of every split.

use crate::support::plan;
use pipe_compiler::plan::split::{Item, Limit, Split, split, split_plan};
use proptest::prelude::*;

fn item(name: &str, costs: &[u64], reads: &[usize]) -> Item {
    Item { name: name.to_owned(), costs: costs.to_vec(), reads: reads.to_vec() }
}

fn limit(what: &str, most: u64) -> Limit {
    Limit { what: what.to_owned(), most }
}

/// Items that read a few of those before them, with two costs each.
fn items() -> impl Strategy<Value = Vec<Item>> {
    let one = (1..20_u64, 0..9_u64, prop::collection::vec(1..12_usize, 0..4));
    prop::collection::vec(one, 1..60).prop_map(|all| {
        let each = all.into_iter().enumerate();
        each.map(|(at, (bytes, seconds, back))| {
            let reads = back.into_iter().filter_map(|back| at.checked_sub(back)).collect();
            Item { name: format!("n{at}"), costs: vec![1, bytes, seconds], reads }
        })
        .collect()
    })
}

fn limits() -> impl Strategy<Value = Vec<Limit>> {
    (1..12_u64, 20..80_u64, 8..40_u64).prop_map(|(nodes, bytes, seconds)| {
        vec![limit("nodes", nodes), limit("bytes", bytes), limit("seconds", seconds)]
    })
}

/// Every part may only read parts before it, so what parts need of each other has no cycle.
fn holds(items: &[Item], limits: &[Limit], split: &Split) {
    let mut seen = vec![0; items.len()];
    for (number, part) in split.parts.iter().enumerate() {
        assert!(!part.items.is_empty());
        for item in &part.items {
            seen[*item] += 1;
            assert_eq!(split.part_of[*item], number);
        }
        for (at, limit) in limits.iter().enumerate() {
            let sum: u64 = part.items.iter().map(|item| items[*item].costs[at]).sum();
            assert_eq!(sum, part.costs[at]);
            assert!(sum <= limit.most, "{} {sum} of {}", limit.what, limit.most);
        }
        for (place, item) in part.items.iter().enumerate() {
            for from in &items[*item].reads {
                let inside = part.items[..place].contains(from);
                assert!(inside || split.part_of[*from] < number, "{from} comes before {item}");
            }
        }
    }
    assert!(seen.iter().all(|times| *times == 1), "each item is in one part");
    assert!(split.edges().iter().all(|(from, to)| from < to), "no cycle");
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        edges.extend(
            item.reads
                .iter()
                .filter(|from| split.part_of[**from] != split.part_of[at])
                .map(|from| (*from, at)),
        );
    }
    edges.sort_unstable();
    edges.dedup();
    let mut cut = split.cut.clone();
    cut.sort_unstable();
    assert_eq!(cut, edges, "each edge is inside a part or cut");
}

/// The least cost over all intervals of the items as they stand.
fn least(items: &[Item], limits: &[Limit]) -> usize {
    let count = items.len();
    let mut best = usize::MAX;
    for ends in 0..1_usize << (count - 1) {
        let mut part = vec![0; count];
        for at in 1..count {
            part[at] = part[at - 1] + usize::from(ends & (1 << (at - 1)) != 0);
        }
        let parts = part[count - 1] + 1;
        let fits = (0..parts).all(|number| {
            limits.iter().enumerate().all(|(at, limit)| {
                let own = (0..count).filter(|item| part[*item] == number);
                own.map(|item| items[item].costs[at]).sum::<u64>() <= limit.most
            })
        });
        let mut cut: Vec<(usize, usize)> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            cut.extend(
                item.reads.iter().filter(|from| part[**from] != part[at]).map(|from| (*from, at)),
            );
        }
        cut.sort_unstable();
        cut.dedup();
        if fits {
            best = best.min(parts + cut.len());
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_split_holds((items, limits) in (items(), limits())) {
        let found = split(&items, &limits).unwrap();
        holds(&items, &limits, &found);
        prop_assert_eq!(split(&items, &limits).unwrap(), found, "the same again");
    }

    #[test]
    fn no_intervals_of_the_given_order_are_better((mut items, limits) in (items(), limits())) {
        items.truncate(9);
        let found = split(&items, &limits).unwrap();
        prop_assert!(found.parts.len() + found.cut.len() <= least(&items, &limits));
    }
}

/// A walk by depth would put `a`, `b` and `d` together and need `c` from outside, which needs `a`.
#[test]
fn a_diamond_has_no_cycle() {
    let items = [
        item("a", &[1], &[]),
        item("b", &[1], &[0]),
        item("c", &[1], &[0]),
        item("d", &[1], &[1, 2]),
    ];
    let found = split(&items, &[limit("nodes", 3)]).unwrap();
    holds(&items, &[limit("nodes", 3)], &found);
    assert_eq!(found.parts.len(), 2);
}

#[test]
fn chains_stay_together() {
    // Four chains of five, given level by level: cut anywhere but between chains, five edges or so are lost.
    let mut items = Vec::new();
    for level in 0..5 {
        for chain in 0..4 {
            let reads: Vec<usize> =
                if level == 0 { Vec::new() } else { vec![(level - 1) * 4 + chain] };
            items.push(item(&format!("c{chain}.{level}"), &[1], &reads));
        }
    }
    let found = split(&items, &[limit("nodes", 5)]).unwrap();
    assert_eq!((found.parts.len(), found.cut.len()), (4, 0), "{found:?}");
}

#[test]
fn what_fits_nowhere_is_said() {
    let items = [item("small", &[1, 10], &[]), item("train", &[1, 2_400], &[0])];
    let error = split(&items, &[limit("nodes", 9), limit("bytes", 1_000)]).unwrap_err();
    assert_eq!(error.to_string(), "`train` alone takes 2400 bytes, and a part may have 1000");
    assert_eq!((error.item, error.takes), (1, 2_400));
    assert_eq!(split(&[], &[]).unwrap(), Split::default());
    let whole = split(&items, &[]).unwrap();
    assert_eq!(whole.parts.len(), 1, "without limits all is one part");
}

#[test]
fn a_plan_is_split_by_what_its_nodes_take() {
    let plan = plan(
        "let series = data.read(\"metrics.csv\")
let all = for limit in [0.1, 0.2, 0.3, 0.4] { series |> data.filter(row => row.cpu > limit) |> data.sort([\"cpu\"]) }
output all = all
",
    );
    let limits = [limit("nodes", 3), limit("bytes", 4_000)];
    let bytes = |node: &pipe_compiler::plan::Node| node.call.len() as u64;
    let found = split_plan(&plan, &limits, |node| vec![1, bytes(node)]).unwrap();
    assert_eq!(found.part_of.len(), plan.nodes.len());
    assert!(found.parts.iter().all(|part| part.items.len() <= 3));
    let last = found.parts.len() - 1;
    assert!(found.inputs_of(0).is_empty() && !found.inputs_of(last).is_empty());
}
