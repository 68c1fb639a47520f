//! Sums over a row in a fixed order that vector registers can follow: sixteen partial sums,
//! entry i into sum i mod 16, which are then added one after the other. Plain code that becomes
//! vector code inside `Arch::dispatch`; the same bits on every instruction set.

use super::float::Float;

const PARTS: usize = 16;

/// Σ x.
#[inline(always)]
pub(crate) fn sum<T: Float>(x: &[T]) -> T {
    let mut parts = [T::ZERO; PARTS];
    let (chunks, rest) = x.as_chunks::<PARTS>();
    for chunk in chunks {
        for (part, &x) in parts.iter_mut().zip(chunk) {
            *part += x;
        }
    }
    for (part, &x) in parts.iter_mut().zip(rest) {
        *part += x;
    }
    total(parts)
}

/// Σ x·y.
#[inline(always)]
pub(crate) fn dot<T: Float>(x: &[T], y: &[T]) -> T {
    let mut parts = [T::ZERO; PARTS];
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<PARTS>(), y.as_chunks::<PARTS>());
    for (x, y) in x.iter().zip(y) {
        for ((part, &x), &y) in parts.iter_mut().zip(x).zip(y) {
            *part += x * y;
        }
    }
    for ((part, &x), &y) in parts.iter_mut().zip(x_rest).zip(y_rest) {
        *part += x * y;
    }
    total(parts)
}

/// The largest entry that is a number.
#[inline(always)]
pub(crate) fn largest<T: Float>(x: &[T]) -> T {
    let mut parts = [x[0]; PARTS];
    let (chunks, rest) = x.as_chunks::<PARTS>();
    for chunk in chunks {
        for (part, &x) in parts.iter_mut().zip(chunk) {
            *part = if x > *part { x } else { *part };
        }
    }
    for (part, &x) in parts.iter_mut().zip(rest) {
        *part = if x > *part { x } else { *part };
    }
    let bigger = |a: T, b: T| if b > a { b } else { a };
    parts.into_iter().fold(x[0], bigger)
}

#[inline(always)]
fn total<T: Float>(parts: [T; PARTS]) -> T {
    let mut sum = T::ZERO;
    for part in parts {
        sum += part;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_maxima_of_any_length_miss_nothing() {
        for len in 1..70 {
            let x: Vec<f64> = (0..len).map(|i| f64::from(i * i % 37)).collect();
            let y: Vec<f64> = (0..len).map(|i| f64::from(i % 5)).collect();
            assert_eq!(sum(&x), x.iter().sum::<f64>());
            assert_eq!(
                dot(&x, &y),
                x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>()
            );
            assert_eq!(largest(&x), x.iter().copied().fold(f64::MIN, f64::max));
        }
    }
}
