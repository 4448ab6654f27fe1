//! Eigenvalues and eigenvectors of a real symmetric matrix.
//!
//! Householder reduction to tridiagonal form, then QL iteration with implicit shifts: Martin, Reinsch and Wilkinson (1968)
//! and Bowdler, Martin, Reinsch and Wilkinson (1968), in "Handbook for Automatic Computation" II/2 and II/3. Sequential sums only, so that
//! equal input gives equal bits.

#![expect(clippy::needless_range_loop, reason = "the formulas are in terms of indices")]

/// Eigenvalues in falling order, and the eigenvector of each as a row.
pub(crate) struct Eigen {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Vec<Vec<f64>>,
}

/// Decompose a symmetric matrix given by rows; `None` when an eigenvalue does not converge (only with values that are not finite).
pub(crate) fn symmetric(matrix: Vec<Vec<f64>>) -> Option<Eigen> {
    let size = matrix.len();
    if size == 0 {
        return Some(Eigen { values: Vec::new(), vectors: Vec::new() });
    }
    let mut z = matrix;
    let (mut diagonal, mut off) = tridiagonal(&mut z);
    iterate(&mut diagonal, &mut off, &mut z)?;
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|a, b| diagonal[*b].total_cmp(&diagonal[*a]));
    let vectors =
        order.iter().map(|column| oriented(z.iter().map(|row| row[*column]).collect())).collect();
    Some(Eigen { values: order.iter().map(|column| diagonal[*column]).collect(), vectors })
}

/// The vector whose largest element is positive: of v and -v always the same one.
fn oriented(mut vector: Vec<f64>) -> Vec<f64> {
    let mut largest = 0.0_f64;
    for value in &vector {
        if value.abs() > largest.abs() * (1.0 + 1e-9) {
            largest = *value;
        }
    }
    if largest < 0.0 {
        vector.iter_mut().for_each(|value| *value = -*value);
    }
    vector
}

/// `tred2`: the diagonal, the sub-diagonal (from index 1), and in `z` the transformation.
fn tridiagonal(z: &mut [Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    let size = z.len();
    let (mut d, mut e) = (vec![0.0; size], vec![0.0; size]);
    for i in (1..size).rev() {
        let mut h = 0.0;
        let scale: f64 = z[i][..i].iter().map(|value| value.abs()).sum();
        if i == 1 || scale == 0.0 {
            e[i] = z[i][i - 1];
        } else {
            for k in 0..i {
                z[i][k] /= scale;
                h += z[i][k] * z[i][k];
            }
            let f = z[i][i - 1];
            let g = if f >= 0.0 { -h.sqrt() } else { h.sqrt() };
            e[i] = scale * g;
            h -= f * g;
            z[i][i - 1] = f - g;
            reflect(z, &mut e, i, h);
        }
        d[i] = h;
    }
    d[0] = 0.0;
    e[0] = 0.0;
    accumulate(z, &mut d);
    (d, e)
}

/// One Householder step on the leading `i` rows.
fn reflect(z: &mut [Vec<f64>], e: &mut [f64], i: usize, h: f64) {
    let mut f = 0.0;
    for j in 0..i {
        z[j][i] = z[i][j] / h;
        let mut g = 0.0;
        for k in 0..=j {
            g += z[j][k] * z[i][k];
        }
        for k in j + 1..i {
            g += z[k][j] * z[i][k];
        }
        e[j] = g / h;
        f += e[j] * z[i][j];
    }
    let half = f / (h + h);
    for j in 0..i {
        let f = z[i][j];
        let g = e[j] - half * f;
        e[j] = g;
        for k in 0..=j {
            let change = f * e[k] + g * z[i][k];
            z[j][k] -= change;
        }
    }
}

/// Multiply the reflections together.
fn accumulate(z: &mut [Vec<f64>], d: &mut [f64]) {
    for i in 0..z.len() {
        if d[i] != 0.0 {
            for j in 0..i {
                let g: f64 = (0..i).map(|k| z[i][k] * z[k][j]).sum();
                for row in z.iter_mut().take(i) {
                    row[j] -= g * row[i];
                }
            }
        }
        d[i] = z[i][i];
        z[i][i] = 1.0;
        for j in 0..i {
            z[j][i] = 0.0;
            z[i][j] = 0.0;
        }
    }
}

/// `tql2`: QL iteration; `d` becomes the eigenvalues, the columns of `z` the eigenvectors.
fn iterate(d: &mut [f64], e: &mut [f64], z: &mut [Vec<f64>]) -> Option<()> {
    let size = d.len();
    e.rotate_left(1);
    for l in 0..size {
        let mut tries = 0;
        loop {
            let split = (l..size - 1).find(|m| {
                let sum = d[*m].abs() + d[m + 1].abs();
                e[*m].abs() <= f64::EPSILON * sum
            });
            let m = split.unwrap_or(size - 1);
            if m == l {
                break;
            }
            tries += 1;
            if tries > 60 {
                return None;
            }
            sweep(d, e, z, l, m);
        }
    }
    Some(())
}

/// One QL sweep over rows `l..=m`.
fn sweep(d: &mut [f64], e: &mut [f64], z: &mut [Vec<f64>], l: usize, m: usize) {
    let mut g = (d[l + 1] - d[l]) / (2.0 * e[l]);
    let r = length(g, 1.0);
    g = d[m] - d[l] + e[l] / (g + if g >= 0.0 { r } else { -r });
    let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
    for i in (l..m).rev() {
        let (f, b) = (s * e[i], c * e[i]);
        let r = length(f, g);
        e[i + 1] = r;
        if r == 0.0 {
            d[i + 1] -= p;
            e[m] = 0.0;
            return;
        }
        s = f / r;
        c = g / r;
        let base = d[i + 1] - p;
        let turn = (d[i] - base) * s + 2.0 * c * b;
        p = s * turn;
        d[i + 1] = base + p;
        g = c * turn - b;
        for row in z.iter_mut() {
            let f = row[i + 1];
            row[i + 1] = s * row[i] + c * f;
            row[i] = c * row[i] - s * f;
        }
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0.0;
}

/// sqrt(a^2 + b^2) by square root alone, which rounds the same everywhere.
fn length(a: f64, b: f64) -> f64 {
    let (large, small) = if a.abs() > b.abs() { (a.abs(), b.abs()) } else { (b.abs(), a.abs()) };
    if large == 0.0 {
        return 0.0;
    }
    let ratio = small / large;
    large * (1.0 + ratio * ratio).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// [[2, 1], [1, 2]] has the eigenvalues 3 and 1 along the diagonals.
    #[test]
    fn two_by_two() {
        let found = symmetric(vec![vec![2.0, 1.0], vec![1.0, 2.0]]).unwrap();
        assert!((found.values[0] - 3.0).abs() < 1e-12 && (found.values[1] - 1.0).abs() < 1e-12);
        assert!((found.vectors[0][0] - 0.5_f64.sqrt()).abs() < 1e-12);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// A v = w v, and the vectors are orthonormal.
        #[test]
        fn decomposes(size in 1..12_usize, seed in proptest::collection::vec(-10.0..10.0_f64, 144)) {
            let matrix: Vec<Vec<f64>> = (0..size)
                .map(|i| (0..size).map(|j| seed[i.min(j) * 12 + i.max(j)]).collect())
                .collect();
            let found = symmetric(matrix.clone()).unwrap();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            prop_assert!(found.values.is_sorted_by(|a, b| a >= b));
            for (i, (value, vector)) in found.values.iter().zip(&found.vectors).enumerate() {
                for (row, element) in matrix.iter().zip(vector) {
                    prop_assert!((dot(row, vector) - value * element).abs() < 1e-9);
                }
                for (j, other) in found.vectors.iter().enumerate() {
                    let expected = f64::from(u8::from(i == j));
                    prop_assert!((dot(vector, other) - expected).abs() < 1e-9);
                }
            }
        }
    }
}
