//! The instruction sets of this machine.

use pulp::Arch;
use std::sync::OnceLock;

/// The best instruction set, found once. `CSSC_SIMD=scalar` in the environment turns vector
/// code off, to compare or to reproduce a run of a machine without it.
pub(crate) fn best() -> Arch {
    static BEST: OnceLock<Arch> = OnceLock::new();
    *BEST.get_or_init(|| match std::env::var("CSSC_SIMD") {
        Ok(name) if name == "scalar" => Arch::Scalar,
        Ok(name) if name == "avx2" => avx2().unwrap_or_default(),
        _ => Arch::new(),
    })
}

#[cfg(target_arch = "x86_64")]
fn avx2() -> Option<Arch> {
    pulp::x86::V3::try_new().map(Arch::V3)
}

#[cfg(not(target_arch = "x86_64"))]
fn avx2() -> Option<Arch> {
    None
}

/// Every instruction set that this machine can run, scalar code first: tests run on all.
#[cfg(test)]
pub(crate) fn instruction_sets() -> Vec<Arch> {
    let mut sets = vec![Arch::Scalar];
    sets.extend(avx2());
    #[cfg(target_arch = "x86_64")]
    sets.extend(pulp::x86::V4::try_new().map(Arch::V4));
    sets
}
