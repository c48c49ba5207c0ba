//! The one source of chance: a small PRNG that forks by name, so that a new draw in one
//! component never shifts the draws of another.

use serde::{Deserialize, Serialize};

/// SplitMix64. State is one word, so a fork or a checkpoint costs nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rng {
    state: u64,
}

impl Rng {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Rng { state: seed }
    }

    /// An independent stream for the component called `name`; `self` is not advanced.
    #[must_use]
    pub fn fork(&self, name: &str) -> Self {
        let hashed = name
            .bytes()
            .fold(self.state ^ 0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
        let mut child = Rng { state: hashed };
        child.next_u64();
        child
    }

    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `0..bound`; `0` when `bound` is 0. Multiply-shift, so no division and no float.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in `low..=high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True with probability `per_mille`/1000.
    pub fn chance(&mut self, per_mille: u32) -> bool {
        self.below(1_000) < u64::from(per_mille)
    }

    /// `n` characters of `alphabet`, which must be ASCII and not empty.
    pub fn text(&mut self, alphabet: &[u8], n: usize) -> String {
        (0..n).map(|_| alphabet[self.below(alphabet.len() as u64) as usize] as char).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_do_not_depend_on_each_other() {
        let root = Rng::new(7);
        let mut a = root.fork("a");
        let first = root.fork("b").next_u64();
        a.next_u64();
        assert_eq!(root.fork("b").next_u64(), first);
        assert_ne!(root.fork("a").next_u64(), first);
    }

    #[test]
    fn draws_stay_in_bounds() {
        let mut rng = Rng::new(1);
        for _ in 0..1_000 {
            assert!(rng.below(7) < 7);
            assert!((3..=5).contains(&rng.between(3, 5)));
        }
        assert_eq!(rng.below(0), 0);
    }
}
