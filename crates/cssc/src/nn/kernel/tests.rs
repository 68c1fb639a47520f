//! The products against three nested loops, on every instruction set of this machine.

use super::super::arch::instruction_sets;
use super::super::float::Float;
use super::{Aligned, Orientation, Output, Packed, Use, outer_product, product};
use crate::data::Random;

/// Shapes (rows, k, n): all rows with a few widths, all widths with a few rows, and the
/// paper's sizes. Odd numbers meet every edge: tiles of every height, panels of one and two
/// registers, full and cut.
fn shapes() -> impl Iterator<Item = [usize; 3]> {
    let by_rows = (1..=40).flat_map(|rows| [[rows, 7, 19], [rows, 33, 5]]);
    let by_inputs = (1..=70).flat_map(|k| [[5, k, 17], [13, k, 3]]);
    let by_outputs = (1..=70).flat_map(|n| [[5, 9, n], [13, 2, n]]);
    let large = [
        [25, 300, 300],
        [25, 15, 300],
        [25, 300, 15],
        [97, 300, 33],
        [300, 31, 70],
    ];
    by_rows.chain(by_inputs).chain(by_outputs).chain(large)
}

fn random<T: Float>(random: &mut Random, count: usize) -> Vec<T> {
    (0..count)
        .map(|_| T::from_f64(random.uniform(-1.0, 1.0)))
        .collect()
}

/// a [rows, inner] · b [inner, columns] in double precision.
fn naive<T: Float>(a: &[T], b: &[T], [rows, inner, columns]: [usize; 3]) -> Vec<f64> {
    let mut out = vec![0.0; rows * columns];
    for r in 0..rows {
        for i in 0..inner {
            for c in 0..columns {
                out[r * columns + c] += a[r * inner + i].to_f64() * b[i * columns + c].to_f64();
            }
        }
    }
    out
}

fn transpose<T: Float>(a: &[T], rows: usize, columns: usize) -> Vec<T> {
    (0..rows * columns)
        .map(|i| a[i % rows * columns + i / rows])
        .collect()
}

/// Sums of `terms` numbers below 1 differ by their rounding and no more.
fn compare<T: Float>(found: &[T], expected: &[f64], terms: usize, unit: f64, what: &str) {
    assert_eq!(found.len(), expected.len());
    for (i, (x, y)) in found.iter().zip(expected).enumerate() {
        let tolerance = unit * (terms + 2) as f64;
        assert!(
            (x.to_f64() - y).abs() <= tolerance,
            "{what}, entry {i}: {x} is not {y}"
        );
    }
}

fn check_products<T: Float>(unit: f64) {
    let mut chance = Random::new(1);
    for arch in instruction_sets() {
        let mut packed = Packed::default();
        for shape @ [rows, k, n] in shapes() {
            let (x, w) = (
                random::<T>(&mut chance, rows * k),
                random::<T>(&mut chance, k * n),
            );
            let (bias, old) = (
                random::<T>(&mut chance, n),
                random::<T>(&mut chance, rows * n),
            );
            let plain = naive(&x, &w, shape);
            let what = format!("{arch:?} {shape:?}");

            packed.pack(arch, &w, k, n, Orientation::Straight);
            let mut out = vec![T::from_f64(f64::NAN); rows * n];
            product(arch, &x, &packed, Some(&bias), &mut out, Output::Store);
            let biased: Vec<f64> = plain
                .iter()
                .enumerate()
                .map(|(i, y)| y + bias[i % n].to_f64())
                .collect();
            compare(&out, &biased, k, unit, &what);

            // Wᵀ stored [n, k], laid out as its transpose, is W again.
            packed.pack(arch, &transpose(&w, k, n), n, k, Orientation::Transposed);
            let mut out = old.clone();
            product(arch, &x, &packed, None, &mut out, Output::Add);
            let added: Vec<f64> = plain
                .iter()
                .zip(&old)
                .map(|(y, o)| y + o.to_f64())
                .collect();
            compare(&out, &added, k, unit, &what);
        }
    }
}

fn check_outer_products<T: Float>(unit: f64) {
    let mut chance = Random::new(2);
    for arch in instruction_sets() {
        let mut scratch = Aligned::default();
        for [rows, k, n] in shapes() {
            // Two uses of different height, as the tape collects them.
            let first = rows / 3;
            let (x, dy) = (
                random::<T>(&mut chance, rows * k),
                random::<T>(&mut chance, rows * n),
            );
            let uses = [
                Use {
                    x: &x[..first * k],
                    dy: &dy[..first * n],
                },
                Use {
                    x: &x[first * k..],
                    dy: &dy[first * n..],
                },
            ];
            let old = random::<T>(&mut chance, k * n);
            let mut gradient = old.clone();
            outer_product(arch, &uses, k, n, &mut gradient, &mut scratch);
            let plain = naive(&transpose(&x, rows, k), &dy, [k, rows, n]);
            let added: Vec<f64> = plain
                .iter()
                .zip(&old)
                .map(|(y, o)| y + o.to_f64())
                .collect();
            compare(
                &gradient,
                &added,
                rows,
                unit,
                &format!("{arch:?} {rows} {k} {n}"),
            );
        }
    }
}

#[test]
fn products_in_f32_equal_three_loops() {
    check_products::<f32>(2.0 * f64::from(f32::EPSILON));
}

#[test]
fn products_in_f64_equal_three_loops() {
    check_products::<f64>(2.0 * f64::EPSILON);
}

#[test]
fn outer_products_in_f32_equal_three_loops() {
    check_outer_products::<f32>(2.0 * f64::from(f32::EPSILON));
}

#[test]
fn outer_products_in_f64_equal_three_loops() {
    check_outer_products::<f64>(2.0 * f64::EPSILON);
}

#[test]
fn outer_products_of_more_uses_than_fit_a_pass_lose_none() {
    let ones = [1.0_f64; 3];
    for arch in instruction_sets() {
        let uses = [Use {
            x: &ones[..2],
            dy: &ones,
        }; 200];
        let mut gradient = [0.5; 6];
        outer_product(arch, &uses, 2, 3, &mut gradient, &mut Aligned::default());
        assert_eq!(gradient, [200.5; 6]);
    }
}

#[test]
fn a_row_does_not_depend_on_its_neighbours() {
    for arch in instruction_sets() {
        let mut chance = Random::new(3);
        let (k, n) = (23, 41);
        let (x, w) = (
            random::<f32>(&mut chance, 40 * k),
            random::<f32>(&mut chance, k * n),
        );
        let mut packed = Packed::default();
        packed.pack(arch, &w, k, n, Orientation::Straight);
        let run = |rows: usize| {
            let mut out = vec![0.0; rows * n];
            product(arch, &x[..rows * k], &packed, None, &mut out, Output::Store);
            out
        };
        let all = run(40);
        for rows in 1..40 {
            assert_eq!(run(rows), all[..rows * n], "{arch:?}, {rows} rows");
        }
    }
}

/// x·W and xᵀ·dy, for every set that fuses multiplication and addition: no sum depends on how
/// many numbers a register holds or how tall a tile is.
#[test]
fn all_vector_instructions_give_the_same_bits() {
    let mut chance = Random::new(4);
    for [rows, k, n] in shapes() {
        let (x, w) = (
            random::<f32>(&mut chance, rows * k),
            random::<f32>(&mut chance, k * n),
        );
        let dy = random::<f32>(&mut chance, rows * n);
        let all: Vec<_> = instruction_sets()[1..]
            .iter()
            .map(|&arch| {
                let mut packed = Packed::default();
                packed.pack(arch, &w, k, n, Orientation::Straight);
                let (mut out, mut gradient) = (vec![0.0; rows * n], vec![0.0; k * n]);
                product(arch, &x, &packed, None, &mut out, Output::Store);
                let uses = [Use { x: &x, dy: &dy }];
                outer_product(arch, &uses, k, n, &mut gradient, &mut Aligned::default());
                (out, gradient)
            })
            .collect();
        assert!(all.iter().all(|one| *one == all[0]), "{rows} {k} {n}");
    }
}
