//! What enters a key, and what does not.

use crate::{NONE, PROGRAM, edit, project, ran, ran_with};
use pipe_tests::pipe::{Project, nodes};

#[test]
fn n01_an_edit_of_a_body_is_in_the_key() {
    let project = project();
    ran(&project);
    edit(&project, "row.cpu > cutoff", "row.cpu >= cutoff");
    assert_eq!(ran(&project), ["high", "sorted"][..1], "the same rows: early cut-off");
    edit(&project, "row.cpu >= cutoff", "row.cpu < cutoff");
    assert_eq!(ran(&project), ["high", "sorted"]);
}

#[test]
fn n02_every_bound_value_is_an_input() {
    let program = r#"
let rows = data.read("m.csv")
fn above(rows: Table<{ cpu: float }>, limit: float, times: float) -> Table<{ cpu: float }> =
  rows |> data.filter(row => row.cpu * times > limit) |> data.select(["cpu"])
output parts = for limit in [0.1, 0.5] { above(rows, limit: limit, times: 1.0).rows }
"#;
    let project = Project::new(&[("p.pipe", program), ("m.csv", crate::TABLE)]);
    ran(&project);
    assert_eq!(ran(&project), NONE);
    edit(&project, "times: 1.0)", "times: 0.5)");
    assert_eq!(ran(&project).len(), 2, "both elements");
    assert_eq!(project.read("out/p/parts.json").split_whitespace().collect::<String>(), "[3,0]");
}

#[test]
fn n04_elements_are_kept_by_what_they_are_and_not_by_their_place() {
    let program = r#"
let rows = data.read("m.csv")
output parts = for host in data.values(rows, column: "host") {
  (rows |> data.filter(row => row.host == host) |> data.sort(["cpu"])).rows
}
"#;
    let project = Project::new(&[("p.pipe", program), ("m.csv", "host,cpu\na,1\nb,2\n")]);
    ran(&project);
    // Another order of the same values: the table differs, the elements' own rows do not, and what is new is kept as well.
    project.write("m.csv", "host,cpu\nb,2\na,1\nc,3\n");
    ran(&project);
    assert_eq!(ran(&project), NONE, "the second expansion is on record");
}

#[test]
fn n05_every_setting_that_changes_a_result_counts() {
    let project = Project::new(&[
        (
            "p.pipe",
            "let rows = data.read(\"m.csv\", malformed: \"error\")\noutput n = { n: rows.rows }\n",
        ),
        ("m.csv", crate::TABLE),
    ]);
    ran(&project);
    edit(&project, "\"error\"", "\"skip\"");
    assert!(ran(&project).contains(&"rows".to_owned()));
}

#[test]
fn n06_one_text_with_other_captured_values_is_another_step() {
    let program = r#"
let rows = data.read("m.csv")
fn pick(limit: float) -> int = (rows |> data.filter(row => row.cpu > limit)).rows
output low = { n: pick(0.1) }
output high = { n: pick(0.8) }
"#;
    let project = Project::new(&[("p.pipe", program), ("m.csv", crate::TABLE)]);
    ran(&project);
    assert!(project.read("out/p/low.json").contains('4'));
    assert!(project.read("out/p/high.json").contains('1'));
}

#[test]
fn n10_layout_names_comments_and_the_order_of_arguments_are_not_in_the_key() {
    let project = project();
    ran(&project);
    let again = "# another order, other names\noutput sorted = in_order\noutput count = { high: above.rows }\n\
        param cutoff: float = 0.5\nlet in_order = data.sort(above, [\"cpu\"])\n\
        ## What is high.\nlet above = data.filter(table, where: r => r.cpu > cutoff)\nlet table = data.read(\n  \"m.csv\",\n)\n";
    project.write("p.pipe", again);
    assert_eq!(ran(&project), NONE);
    assert_eq!(project.pipe(&["fmt", "p.pipe"]).code, 0);
    assert_eq!(ran(&project), NONE);
}

#[test]
fn n12_n14_n17_where_and_how_often_a_step_runs_is_not_in_the_key() {
    let project = project();
    ran(&project);
    edit(
        &project,
        "let sorted",
        "@retry(3)\n@timeout(1h)\n@memory(1GiB)\n@gpu(1, else: \"cpu\")\nlet sorted",
    );
    assert_eq!(ran(&project), NONE, "no retry, limit, memory or device");
}

#[test]
fn n16_n27_order_where_it_means_nothing_is_not_in_the_key() {
    let program = r#"
let made = exec(["sh", "-c", "echo $A $B > o.txt"], env: { A: "1", B: "2" },
  inputs: { x: "m.csv", y: "n.csv" }, outputs: { o: "o.txt" })
let all = data.read("d/*.csv")
output o = made.o
output n = { n: all.rows }
"#;
    let project = Project::new(&[
        ("p.pipe", program),
        ("m.csv", "a\n"),
        ("n.csv", "b\n"),
        ("d/2.csv", "cpu\n1\n"),
        ("d/1.csv", "cpu\n2\n"),
    ]);
    ran_with(&project, &["--allow", "exec"]);
    edit(&project, "{ A: \"1\", B: \"2\" }", "{ B: \"2\", A: \"1\" }");
    edit(&project, "{ x: \"m.csv\", y: \"n.csv\" }", "{ y: \"n.csv\", x: \"m.csv\" }");
    // Written again in another order: a folder lists them in another order then.
    for name in ["d/1.csv", "d/2.csv"] {
        let text = project.read(name);
        std::fs::remove_file(project.path().join(name)).unwrap();
        project.write(name, &text);
    }
    assert_eq!(ran_with(&project, &["--allow", "exec"]), NONE);
}

#[test]
fn n19_the_reason_names_the_field_that_changed() {
    let project = project();
    ran(&project);
    edit(&project, "= 0.5", "= 0.65");
    let said = project.pipe(&["why", "p.pipe", "high"]);
    assert!(
        said.stdout.contains("row.cpu > 0.5") && said.stdout.contains("row.cpu > 0.65"),
        "{said:?}"
    );
}

#[test]
fn n32_every_edge_of_data_counts() {
    let program = r#"
let a = data.read("a.csv")
let b = data.read("b.csv")
output joined = a |> data.join(with: b, on: ["id"])
"#;
    for name in ["a.csv", "b.csv"] {
        let project = Project::new(&[
            ("p.pipe", program),
            ("a.csv", "id,x\n1,1\n"),
            ("b.csv", "id,y\n1,1\n"),
        ]);
        ran(&project);
        let text = project.read(name).replace("1,1", "1,5");
        project.write(name, &text);
        assert!(ran(&project).contains(&"joined".to_owned()), "{name}");
    }
}

#[test]
fn n38_a_step_that_gives_the_same_stops_the_wave() {
    let project = project();
    ran(&project);
    // A row that the filter drops changes nothing behind it.
    project.write("m.csv", &format!("{}e,0.1\n", crate::TABLE));
    assert_eq!(ran(&project), ["high", "rows"]);
}

#[test]
fn n41_a_part_of_a_result_is_keyed_by_that_part() {
    let program = r#"
let made = exec(["sh", "-c", "cp inputs/one.txt 1.csv; cp inputs/two.txt 2.csv"],
  inputs: { one: "one.txt", two: "two.txt" }, outputs: { one: "1.csv", two: "2.csv" })
let first = exec(["cp", "inputs/in.csv", "o.csv"], inputs: { in: made.one }, outputs: { o: "o.csv" })
output first = first.o
output second = made.two
"#;
    let project = Project::new(&[("p.pipe", program), ("one.txt", "1\n"), ("two.txt", "2\n")]);
    ran_with(&project, &["--allow", "exec"]);
    project.write("two.txt", "3\n");
    assert_eq!(ran_with(&project, &["--allow", "exec"]), ["made"]);
}

#[test]
fn n42_values_from_outside_are_known_before_the_key_is_taken() {
    let project = project();
    ran_with(&project, &["--cutoff", "0.8"]);
    assert_eq!(ran_with(&project, &["--set", "cutoff=0.8"]), NONE, "the same value in another way");
    project.write("values.toml", "cutoff = 0.1\n");
    assert_eq!(ran_with(&project, &["--params", "values.toml"]), ["high", "sorted"]);
    edit(&project, "= 0.5", "= 0.1");
    assert_eq!(ran(&project), NONE, "a default is a value like any other");
}

#[test]
fn the_same_program_under_another_name_or_in_another_place_finds_its_results() {
    let project = project();
    ran(&project);
    std::fs::write(project.path().join("q.pipe"), PROGRAM).unwrap();
    let (said, events) = project.run("q.pipe", &[]);
    assert_eq!((said.code, nodes(&events, "ran")), (0, Vec::new()));
}
