//! Numbers that depend on a seed alone: not on the device, the thread count or the version of libtorch.

/// SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators", figure 13).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// A stream of its own for each (seed, stream) pair.
    #[must_use]
    pub fn new(seed: i64, stream: u64) -> Self {
        let seed = mix(u64::from_le_bytes(seed.to_le_bytes()).wrapping_add(GAMMA));
        Self { state: mix(seed ^ stream.wrapping_mul(GAMMA).rotate_left(32)) }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// Below `bound`, each number equally likely (Lemire 2019, "Fast random integer generation in an interval").
    pub fn below(&mut self, bound: u64) -> u64 {
        let threshold = bound.wrapping_neg() % bound.max(1);
        loop {
            let wide = u128::from(self.bits()) * u128::from(bound);
            let low = u64::try_from(wide & u128::from(u64::MAX)).unwrap_or(0);
            if low >= threshold {
                return u64::try_from(wide >> 64).unwrap_or(0);
            }
        }
    }

    /// In (0, 1], with 53 random bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact in an f64")]
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Two independent standard normal numbers (Box and Muller 1958).
    pub fn normals(&mut self) -> (f64, f64) {
        let radius = libm::sqrt(-2.0 * libm::log(self.unit()));
        let angle = std::f64::consts::TAU * self.unit();
        let (sin, cos) = libm::sincos(angle);
        (radius * cos, radius * sin)
    }
}

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of SplitMix64 from state 1234567, as published with the reference implementation.
    #[test]
    fn the_generator_is_splitmix64() {
        let mut random = Random { state: 1_234_567 };
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn normals_have_mean_zero_and_variance_one() {
        let mut random = Random::new(7, 0);
        let samples: Vec<f64> =
            (0..20_000).flat_map(|_| <[f64; 2]>::from(random.normals())).collect();
        let mean = samples.iter().sum::<f64>() / 40_000.0;
        let variance = samples.iter().map(|x| x * x).sum::<f64>() / 40_000.0;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }

    #[test]
    fn streams_differ_and_repeat() {
        assert_eq!(Random::new(1, 2).bits(), Random::new(1, 2).bits());
        assert_ne!(Random::new(1, 2).bits(), Random::new(1, 3).bits());
        assert_ne!(Random::new(1, 2).bits(), Random::new(2, 2).bits());
    }
}
