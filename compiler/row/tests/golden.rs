//! The rules of `spec/rows.md`, value by value.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use Scalar::{Duration, Float, Int, None, Size, Time};
use pipe_row::ir::{BinaryOp, ColumnRef, Expr, Function, RowFn, Scalar, Ty, UnaryOp};
use pipe_row::{Column, Engine, Program, RowError, Values};

#[allow(dead_code, reason = "each test program uses a part of this module")]
mod sample;

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;
const SECOND: i64 = 1_000_000_000;
const EDGE: i64 = 1 << 53;
const YES: Scalar = Scalar::Bool(true);
const NO: Scalar = Scalar::Bool(false);

fn text(value: &str) -> Scalar {
    Scalar::Str(value.to_owned())
}

fn literal(value: &Scalar) -> Box<Expr> {
    Box::new(Expr::Literal(value.clone()))
}

/// A function of columns `a`, `b`, `c` with these types.
fn function(body: Expr, ty: Ty, types: &[Ty]) -> RowFn {
    let column =
        |(name, ty): (&str, &Ty)| ColumnRef { name: name.to_owned(), ty: *ty, optional: true };
    let columns = ["a", "b", "c"].into_iter().zip(types).map(column).collect();
    RowFn { columns, body, ty, optional: true }
}

/// The value of `body` over constants, of type `ty`.
fn value(body: Expr, ty: Ty) -> Scalar {
    by_both(&function(body, ty, &[]), &[])
}

/// The value of one row by the interpreter, after a kernel gave the same for three such rows.
fn by_both(function: &RowFn, row: &[Scalar]) -> Scalar {
    let value = function.evaluate_one(row).unwrap();
    let program = Program::new(&[function]).unwrap();
    let columns: Vec<Column> = program
        .columns()
        .iter()
        .map(|reads| {
            let place = function.columns.iter().position(|column| column == reads).unwrap();
            sample::collect(reads.ty, std::iter::repeat_n(row[place].clone(), 3))
        })
        .collect();
    let columns: Vec<&Column> = columns.iter().collect();
    let (results, _) = program.run_by(Engine::Kernel, &columns, 3).unwrap();
    let expected = sample::collect(function.ty, std::iter::repeat_n(value.clone(), 3));
    assert_eq!(results, [expected], "{function:?} of {row:?}");
    value
}

/// Equal by bits, and so for NaN too.
fn assert_same(found: &Scalar, expected: &Scalar, what: &str) {
    let equal = match (found, expected) {
        (Float(found), Float(expected)) => found.to_bits() == expected.to_bits(),
        (found, expected) => found == expected,
    };
    assert!(equal, "{what}: {found:?}, expected {expected:?}");
}

/// Checks `left op right`, once over constants and once over columns.
fn operator(left: Scalar, op: &str, right: Scalar, expected: Scalar) {
    let op = BinaryOp::ALL.into_iter().find(|known| known.symbol() == op).unwrap();
    let types = [left.ty(), right.ty()];
    let other = types[0].or(types[1]).unwrap();
    let [a, b] = types.map(|ty| ty.unwrap_or(other));
    let ty = pipe_row::typing::binary_result(op, a, b).unwrap();
    let what = format!("{left:?} {} {right:?}", op.symbol());
    let constants = Expr::Binary(op, literal(&left), literal(&right));
    // A constant -0.0 is 0.0, a column's is not.
    if left != Float(0.0) && right != Float(0.0) {
        assert_same(&value(constants, ty), &expected, &what);
    }
    let columns = Expr::Binary(op, Box::new(Expr::Column(0)), Box::new(Expr::Column(1)));
    let found = by_both(&function(columns, ty, &[a, b]), &[left, right]);
    assert_same(&found, &expected, &what);
}

/// Checks a call over columns whose types are those of the arguments.
fn call(path: &str, arguments: &[Scalar], expected: Scalar) {
    let called = Function::from_path(path).unwrap();
    let types: Vec<Ty> = arguments.iter().map(|value| value.ty().unwrap_or(Ty::Float)).collect();
    let ty = pipe_row::typing::result_of(called, &types).unwrap();
    let operands = (0..arguments.len()).map(|place| Expr::Column(u32::try_from(place).unwrap()));
    let f = function(Expr::Call(called, operands.collect()), ty, &types);
    let found = by_both(&f, arguments);
    assert_same(&found, &expected, &format!("{path}({arguments:?})"));
}

#[test]
fn a_derived_column_over_several_batches() {
    let rows = 3 * pipe_row::BATCH + 7;
    let half = Expr::Binary(BinaryOp::Multiply, Box::new(Expr::Column(0)), literal(&Float(0.5)));
    let body = Expr::Binary(BinaryOp::Add, Box::new(half), Box::new(Expr::Column(1)));
    let f = function(body, Ty::Float, &[Ty::Float, Ty::Float]);
    let a: Vec<f64> = (0_u16..4_000).take(rows).map(f64::from).collect();
    let b = Column::optional_float((0..rows).map(|row| (row % 5 != 0).then_some(1.0)));
    let result = f.evaluate(&[&Column::float(a), &b], rows).unwrap();
    assert_eq!(result.len(), rows);
    assert_eq!(result.get(0), None);
    assert_eq!(result.get(2049), Float(1025.5));
    assert_eq!(result.get(rows), None);
    assert_eq!(result.missing_count(), rows.div_ceil(5));
    assert_eq!(result.first_missing(), Some(0));
}

#[test]
fn binding_mistakes_are_named() {
    let f = function(Expr::Column(0), Ty::Float, &[Ty::Float]);
    let floats = Column::float(vec![1.0, 2.0]);
    assert_eq!(f.evaluate(&[], 2), Err(RowError::ColumnCount { expected: 1, found: 0 }));
    assert_eq!(f.evaluate_one(&[]), Err(RowError::ColumnCount { expected: 1, found: 0 }));
    let length = f.evaluate(&[&floats], 3).unwrap_err();
    assert_eq!(length.to_string(), "`a` has 2 rows where 3 are needed");
    let ty = f.evaluate(&[&Column::text(["x", "y"])], 2).unwrap_err();
    assert_eq!(ty.to_string(), "`a` is str and the expression reads float");
    assert_eq!(
        ty,
        RowError::ColumnType { column: "a".into(), expected: Ty::Float, found: Ty::Str }
    );
    assert_eq!(f.evaluate_one(&[text("x")]), Err(ty));
    assert_eq!(f.evaluate_one(&[Int(3)]), Ok(Float(3.0)));
    assert_eq!(f.evaluate(&[&Column::float(vec![])], 0).unwrap().len(), 0);
}

#[test]
fn columns_refuse_what_they_cannot_hold() {
    assert_eq!(Column::bind_int(&[1, EDGE, EDGE + 1]), Err(RowError::NotExact { row: 2 }));
    assert_eq!(Column::bind_size(&[-EDGE - 1]), Err(RowError::NotExact { row: 0 }));
    assert_eq!(Column::bind_int(&[EDGE, -EDGE]).unwrap().get(1), Int(-EDGE));
    for bad in [0.5, NAN, INF, 1e16] {
        let found = Column::new(Values::Int(vec![bad]), Option::None);
        assert_eq!(found, Err(RowError::NotExact { row: 0 }));
        assert!(Column::new(Values::Int(vec![bad]), Some(vec![false])).is_ok(), "missing anyway");
    }
    let short = Column::new(Values::Bool(vec![true, true]), Some(vec![true]));
    assert!(matches!(short, Err(RowError::ColumnLength { .. })));
    let cleared =
        Column::new(Values::Str(["x", "y"].into_iter().collect()), Some(vec![false, true]));
    assert_eq!(cleared.unwrap(), Column::optional_text([Option::None, Some("y")]));
}

#[test]
fn float_arithmetic() {
    operator(Float(0.1), "+", Float(0.2), Float(0.300_000_000_000_000_04));
    operator(Float(1.0), "/", Float(0.0), Float(INF));
    operator(Float(1.0), "/", Float(-0.0), Float(-INF));
    operator(Float(0.0), "/", Float(0.0), Float(NAN));
    operator(Float(7.5), "%", Float(2.0), Float(1.5));
    operator(Float(-7.5), "%", Float(2.0), Float(-1.5));
    operator(Float(1.0), "%", Float(0.0), Float(NAN));
    operator(Float(INF), "-", Float(INF), Float(NAN));
    operator(Int(1), "/", Int(3), Float(1.0 / 3.0));
    operator(Int(1), "+", Float(0.5), Float(1.5));
    let negative = Expr::Unary(UnaryOp::Negate, Box::new(Expr::Column(0)));
    let f = function(negative, Ty::Float, &[Ty::Float]);
    assert_same(&f.evaluate_one(&[Float(0.0)]).unwrap(), &Float(-0.0), "negated zero");
    assert_same(&value(*literal(&Float(-0.0)), Ty::Float), &Float(0.0), "a constant zero");
}

#[test]
fn nan_compares_as_false_except_for_unequal() {
    for op in ["==", "<", "<=", ">", ">="] {
        operator(Float(NAN), op, Float(1.0), NO);
        operator(Float(NAN), op, Float(NAN), NO);
    }
    operator(Float(NAN), "!=", Float(NAN), YES);
    operator(Float(NAN), "!=", Int(1), YES);
    operator(Float(-0.0), "==", Float(0.0), YES);
    call("math.min", &[Float(NAN), Float(1.0)], Float(NAN));
    call("math.min", &[Float(1.0), Float(NAN)], Float(NAN));
    call("math.max", &[Float(NAN), Int(1)], Float(NAN));
    call("math.clamp", &[Float(1.0), Float(NAN), Float(2.0)], Float(NAN));
    let list = Expr::In(literal(&Float(NAN)), vec![Float(NAN)]);
    assert_eq!(value(list, Ty::Bool), NO);
}

#[test]
fn whole_numbers_are_exact_or_missing() {
    operator(Int(7), "+", Int(5), Int(12));
    operator(Int(7), "*", Int(-5), Int(-35));
    operator(Int(-7), "%", Int(4), Int(-3));
    operator(Int(7), "%", Int(0), None);
    operator(Int(EDGE - 2), "+", Int(1), Int(EDGE - 1));
    operator(Int(EDGE), "+", Int(0), None);
    operator(Int(EDGE), "*", Int(EDGE), None);
    operator(Int(0), "*", Int(-1), Int(0));
    // There is no -0 to divide by.
    let zero = Expr::Binary(BinaryOp::Multiply, literal(&Int(0)), literal(&Int(-1)));
    let one = Expr::Binary(BinaryOp::Divide, literal(&Int(1)), Box::new(zero));
    assert_same(&value(one, Ty::Float), &Float(INF), "1 / (0 * -1)");
    let negated = Expr::Unary(UnaryOp::Negate, literal(&Int(0)));
    let one = Expr::Binary(BinaryOp::Divide, literal(&Int(1)), Box::new(negated));
    assert_same(&value(one, Ty::Float), &Float(INF), "1 / -0");
}

#[test]
fn sizes() {
    operator(Size(1_024), "+", Size(1), Size(1_025));
    operator(Size(1), "-", Size(3), Size(-2));
    operator(Size(10), "*", Float(0.25), Size(3));
    operator(Int(3), "*", Size(10), Size(30));
    operator(Size(10), "/", Int(4), Size(3));
    operator(Size(10), "/", Int(0), None);
    operator(Size(10), "/", Size(4), Float(2.5));
    operator(Size(10), "*", Float(NAN), None);
    operator(Size(10), ">", Size(9), YES);
}

#[test]
fn times_and_durations() {
    operator(Time(5 * SECOND), "-", Time(2 * SECOND), Duration(3 * SECOND));
    operator(Time(5), "+", Duration(2), Time(7));
    operator(Duration(2), "+", Time(5), Time(7));
    operator(Time(i64::MAX), "+", Duration(1), Time(i64::MAX));
    operator(Time(i64::MIN), "-", Time(i64::MAX), Duration(i64::MIN));
    operator(Duration(i64::MAX - 1), "*", Int(1), Duration(i64::MAX - 1));
    operator(Duration(i64::MAX), "*", Int(-2), Duration(i64::MIN));
    operator(Duration(3), "*", Float(0.5), Duration(2));
    operator(Float(-0.5), "*", Duration(3), Duration(-2));
    operator(Duration(10), "*", Float(1e300), Duration(i64::MAX));
    operator(Duration(10), "*", Float(INF), None);
    operator(Duration(7), "/", Int(2), Duration(4));
    operator(Duration(-7), "/", Int(2), Duration(-4));
    operator(Duration(i64::MIN), "/", Int(-1), Duration(i64::MAX));
    operator(Duration(7), "/", Int(0), None);
    operator(Duration(7), "/", Float(0.0), None);
    operator(Duration(7), "/", Float(2.0), Duration(4));
    operator(Duration(SECOND), "/", Duration(4 * SECOND), Float(0.25));
    operator(Duration(1), "/", Duration(0), Float(INF));
    operator(Time(1), "<", Time(2), YES);
    let negated = Expr::Unary(UnaryOp::Negate, literal(&Duration(i64::MIN)));
    assert_eq!(value(negated, Ty::Duration), Duration(i64::MAX));
}

#[test]
fn text_compares_by_code_points() {
    operator(text("Z"), "<", text("a"), YES);
    operator(text("z"), "<", text("ä"), YES);
    operator(text("a"), "<", text("ab"), YES);
    operator(text("a"), "==", text("a"), YES);
    operator(text("a"), "!=", text("A"), YES);
    operator(YES, "==", NO, NO);
}

#[test]
fn missing_operands_give_missing() {
    for op in ["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="] {
        operator(None, op, Float(1.0), None);
        operator(Float(1.0), op, None, None);
    }
    operator(Float(NAN), "+", None, None);
    call("math.max", &[None, Float(1.0)], None);
    call("math.is_nan", &[None], None);
    let negated = Expr::Unary(UnaryOp::Negate, literal(&None));
    assert_eq!(value(negated, Ty::Float), None);
}

#[test]
fn kleene_tables() {
    let truths = [NO, None, YES];
    let and = [[NO, NO, NO], [NO, None, None], [NO, None, YES]];
    let or = [[NO, None, YES], [None, None, YES], [YES, YES, YES]];
    for (a, left) in truths.iter().enumerate() {
        for (b, right) in truths.iter().enumerate() {
            if (left, right) != (&None, &None) {
                operator(left.clone(), "and", right.clone(), and[a][b].clone());
                operator(left.clone(), "or", right.clone(), or[a][b].clone());
            }
        }
        let not = Expr::Unary(UnaryOp::Not, literal(left));
        assert_eq!(value(not, Ty::Bool), truths[2 - a]);
    }
    let f = function(
        Expr::Binary(BinaryOp::And, Box::new(Expr::Column(0)), Box::new(Expr::Column(1))),
        Ty::Bool,
        &[Ty::Bool, Ty::Bool],
    );
    assert_eq!(f.evaluate_one(&[None, None]), Ok(None));
}

#[test]
fn choices() {
    let choose = |condition: &Scalar, a: &Scalar, b: &Scalar| {
        let ty = a.ty().or(b.ty()).unwrap();
        value(Expr::If(literal(condition), literal(a), literal(b)), ty)
    };
    assert_eq!(choose(&YES, &Int(1), &Int(2)), Int(1));
    assert_eq!(choose(&NO, &text("a"), &text("b")), text("b"));
    assert_eq!(choose(&None, &Int(1), &Int(2)), None);
    assert_eq!(choose(&YES, &None, &Int(2)), None);
    assert_eq!(choose(&NO, &None, &Int(2)), Int(2));

    let coalesce = |a: &Scalar, b: &Scalar| {
        value(Expr::Coalesce(literal(a), literal(b)), a.ty().or(b.ty()).unwrap())
    };
    assert_eq!(coalesce(&None, &Int(2)), Int(2));
    assert_eq!(coalesce(&Int(1), &Int(2)), Int(1));
    assert_eq!(coalesce(&Int(1), &None), Int(1));
    assert_same(&coalesce(&Float(NAN), &Float(1.0)), &Float(NAN), "NaN is not missing");

    assert_eq!(value(Expr::IsNone(literal(&None)), Ty::Bool), YES);
    assert_eq!(value(Expr::IsNone(literal(&Float(NAN))), Ty::Bool), NO);
}

#[test]
fn membership() {
    let within = |operand: &Scalar, items: &[Scalar]| {
        value(Expr::In(literal(operand), items.to_vec()), Ty::Bool)
    };
    assert_eq!(within(&text("b"), &[text("a"), text("b")]), YES);
    assert_eq!(within(&Float(2.0), &[Int(3), Int(2)]), YES);
    assert_eq!(within(&Float(2.5), &[Int(3), Int(2)]), NO);
    assert_eq!(within(&Duration(2), &[Duration(2)]), YES);
    assert_eq!(within(&YES, &[NO]), NO);
    assert_eq!(within(&Int(1), &[]), NO);
    assert_eq!(within(&None, &[Int(1)]), None);
    assert_eq!(within(&None, &[Int(1), None]), YES);
    assert_eq!(within(&Int(2), &[Int(1), None]), NO);
    let f = function(Expr::In(Box::new(Expr::Column(0)), vec![Float(0.0)]), Ty::Bool, &[Ty::Float]);
    assert_eq!(f.evaluate_one(&[Float(-0.0)]), Ok(YES));
}

#[test]
fn text_of_values() {
    let print = |values: &[Scalar]| {
        let pieces = values.iter().map(|value| *literal(value)).collect();
        value(Expr::Concat(pieces), Ty::Str)
    };
    let minute = 60 * SECOND;
    for (printed, expected) in [
        (Float(1.0), "1"),
        (Float(0.1), "0.1"),
        (Float(-2.5), "-2.5"),
        (Float(1e15), "1000000000000000"),
        (Float(1e16), "1e16"),
        (Float(1.5e-7), "1.5e-7"),
        (Float(NAN), "nan"),
        (Float(-INF), "-inf"),
        (Int(-42), "-42"),
        (YES, "true"),
        (text("x"), "x"),
        (Size(0), "0B"),
        (Size(1_500), "1500B"),
        (Size(2_000), "2KB"),
        (Size(10 << 30), "10GiB"),
        (Size(-2048), "-2KiB"),
        (Duration(0), "0s"),
        (Duration(90 * SECOND), "1m30s"),
        (Duration(-2 * 24 * 60 * minute), "-2d"),
        (Duration(60 * minute + 1_002_003), "1h1ms2us3ns"),
        (Duration(i64::MIN), "-106751d23h47m16s854ms775us808ns"),
        (Time(0), "1970-01-01T00:00:00Z"),
        (Time(-1), "1969-12-31T23:59:59.999999999Z"),
        (Time(951_782_400 * SECOND), "2000-02-29T00:00:00Z"),
        (Time(1_796_107_508 * SECOND + 250_000_000), "2026-12-01T06:45:08.250Z"),
        (Time(1_000), "1970-01-01T00:00:00.000001Z"),
        (Time(i64::MAX), "2262-04-11T23:47:16.854775807Z"),
        (Time(i64::MIN), "1677-09-21T00:12:43.145224192Z"),
    ] {
        assert_eq!(print(std::slice::from_ref(&printed)), text(expected), "{printed:?}");
    }
    assert_eq!(print(&[text("n="), Int(3), text("!")]), text("n=3!"));
    assert_eq!(print(&[text("n="), None]), None);
    assert_eq!(print(&[]), text(""));
}

/// Correctly rounded values, from mpmath with 200 bits; libm lies at most one unit in the last place beside
/// them, and where it does its own bits are pinned: other bits would change what cached keys stand for.
#[test]
fn mathematical_functions() {
    for (path, argument, bits) in [
        ("math.sqrt", 2.0, 0x3ff6_a09e_667f_3bcd),
        ("math.exp", 1.0, 0x4005_bf0a_8b14_5769 + 1),
        ("math.exp", -0.5, 0x3fe3_68b2_fc6f_960a),
        ("math.ln", 10.0, 0x4002_6bb1_bbb5_5516),
        ("math.log1p", 1e-10, 0x3ddb_7cdf_d9d1_d693_u64),
        ("math.log10", 1000.0, 0x4008_0000_0000_0000),
        ("math.log10", 2.0, 0x3fd3_4413_509f_79ff),
        ("math.sin", 1.0, 0x3fea_ed54_8f09_0cee),
        ("math.cos", 1.0, 0x3fe1_4a28_0fb5_068c),
        ("math.tanh", 0.5, 0x3fdd_9353_d756_8af3),
    ] {
        call(path, &[Float(argument)], Float(f64::from_bits(bits)));
    }
    call("math.pow", &[Float(2.0), Float(0.5)], Float(f64::from_bits(0x3ff6_a09e_667f_3bcd)));
    call("math.pow", &[Int(10), Int(-3)], Float(0.001));
    call("math.pow", &[Float(NAN), Int(0)], Float(1.0));
    call("math.sqrt", &[Float(-1.0)], Float(NAN));
    call("math.ln", &[Float(0.0)], Float(-INF));
    call("math.ln", &[Int(-1)], Float(NAN));
    call("math.exp", &[Float(1e3)], Float(INF));
}

#[test]
fn numeric_functions() {
    call("math.abs", &[Float(-0.0)], Float(0.0));
    call("math.abs", &[Int(-EDGE)], Int(EDGE));
    call("math.abs", &[Size(-3)], Size(3));
    call("math.abs", &[Duration(i64::MIN)], Duration(i64::MAX));
    call("math.min", &[Int(3), Int(2)], Int(2));
    call("math.min", &[Int(3), Float(2.5)], Float(2.5));
    call("math.min", &[Float(0.0), Float(-0.0)], Float(-0.0));
    call("math.min", &[Float(-0.0), Float(0.0)], Float(-0.0));
    call("math.max", &[Float(0.0), Float(-0.0)], Float(0.0));
    call("math.max", &[Float(-0.0), Float(0.0)], Float(0.0));
    call("math.max", &[Time(3), Time(7)], Time(7));
    call("math.min", &[Duration(3), Duration(7)], Duration(3));
    call("math.max", &[Size(3), Size(7)], Size(7));
    call("math.clamp", &[Float(5.0), Float(0.0), Float(1.0)], Float(1.0));
    call("math.clamp", &[Int(-5), Int(0), Int(9)], Int(0));
    call("math.clamp", &[Int(5), Int(9), Int(1)], Int(1));
    call("math.clamp", &[Time(5), Time(6), Time(9)], Time(6));
    call("math.floor", &[Float(-1.5)], Float(-2.0));
    call("math.ceil", &[Float(-1.5)], Float(-1.0));
    call("math.round", &[Float(2.5)], Float(3.0));
    call("math.round", &[Float(-2.5)], Float(-3.0));
    call("math.round", &[Float(0.499_999_999_999_999_94)], Float(0.0));
    call("math.floor", &[Int(3)], Int(3));
    call("math.is_nan", &[Float(NAN)], YES);
    call("math.is_nan", &[Float(INF)], NO);
    call("math.float", &[Int(3)], Float(3.0));
    call("math.float", &[Float(NAN)], Float(NAN));
    call("math.float", &[Size(3)], Float(3.0));
    call("math.float", &[YES], Float(1.0));
    call("math.seconds", &[Duration(1_500_000_000)], Float(1.5));
}

#[test]
fn text_functions() {
    call("text.length", &[text("日本語")], Int(3));
    call("text.length", &[text("")], Int(0));
    call("text.lower", &[text("STRASSE Ä")], text("strasse ä"));
    call("text.upper", &[text("straße")], text("STRASSE"));
    call("text.contains", &[text("error 502"), text("50")], YES);
    call("text.contains", &[text("a"), text("")], YES);
    call("text.starts_with", &[text("error"), text("err")], YES);
    call("text.starts_with", &[text("error"), text("x")], NO);
    call("text.ends_with", &[text("a.log"), text(".log")], YES);
}

#[test]
fn ill_formed_expressions_are_refused() {
    let check = |body: Expr, ty: Ty| function(body, ty, &[Ty::Float]).check().unwrap_err();
    let add = Expr::Binary(BinaryOp::Add, literal(&Int(1)), literal(&text("x")));
    assert_eq!(check(add, Ty::Int).to_string(), "`+` does not accept int and str");
    let call = Expr::Call(Function::Sqrt, vec![*literal(&YES)]);
    let message = "argument 1 of `math.sqrt` is bool where `float` or `int` is needed";
    assert_eq!(check(call, Ty::Float).to_string(), message);
    let call = Expr::Call(Function::Clamp, vec![Expr::Column(0)]);
    assert_eq!(check(call, Ty::Float).to_string(), "`math.clamp` takes 3 arguments, not 1");
    let mixed = Expr::If(literal(&YES), literal(&Int(1)), literal(&text("x")));
    assert_eq!(check(mixed, Ty::Int).code(), "row::type");
    assert_eq!(check(Expr::Column(0), Ty::Int).code(), "row::type");
    assert_eq!(check(Expr::Column(1), Ty::Float), RowError::UnknownColumn(1));
    assert_eq!(check(*literal(&Int(EDGE + 1)), Ty::Int), RowError::NotExact { row: 0 });
    let items = vec![Int(1); pipe_row::MAX_NODES];
    assert_eq!(check(Expr::In(Box::new(Expr::Column(0)), items), Ty::Bool), RowError::TooLarge);
    let mut deep = Expr::Column(0);
    for _ in 0..pipe_row::MAX_DEPTH {
        deep = Expr::Unary(UnaryOp::Negate, Box::new(deep));
    }
    assert_eq!(check(deep.clone(), Ty::Float), RowError::TooLarge);
    let Expr::Unary(_, shallower) = deep else { unreachable!() };
    let f = function(*shallower, Ty::Float, &[Ty::Float]);
    assert_eq!(f.evaluate_one(&[Float(1.0)]), Ok(Float(-1.0)));
}

/// Pinned: a change here changes every cached key and needs a new `ENCODING`.
#[test]
fn the_encoding_is_pinned() {
    let busy = Expr::Binary(BinaryOp::Greater, Box::new(Expr::Column(0)), literal(&Float(0.9)));
    let mut bytes = Vec::new();
    function(busy, Ty::Bool, &[Ty::Float]).encode(&mut bytes);
    let mut expected = vec![1];
    expected.extend(b"\x04\0\0\0\0\0\0\0bool\x01");
    expected.extend(b"\x01\0\0\0\0\0\0\0");
    expected.extend(b"\x01\0\0\0\0\0\0\0a\x05\0\0\0\0\0\0\0float\x01");
    expected.extend(b"\x03\x01\0\0\0\0\0\0\0>");
    expected.extend(b"\0\0\0\0\0");
    expected.extend(b"\x01\x01");
    expected.extend(0.9_f64.to_le_bytes());
    assert_eq!(bytes, expected);
}
