//! What is measured: `n` steps, each of which needs the one before.

#[inline(never)]
pub fn steps(n: u64) -> u64 {
    (0..n).fold(n, |sum, i| sum.rotate_left(1) ^ i)
}
