//! Which vector instructions the engine runs on.

use pulp::Arch;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::OnceLock;

/// The environment variable that names an instruction set.
const VARIABLE: &str = "CSSC_SIMD";

/// A set of vector instructions that the engine is compiled for.
///
/// The best one of the processor is used, unless the environment variable `CSSC_SIMD` names
/// another (`scalar`, `avx2`, `avx512`; `neon` on ARM), to compare sets or to repeat a run of
/// another machine. AVX2 and AVX-512 give the same bits; scalar code rounds every product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InstructionSet {
    /// No vector instructions.
    Scalar,
    /// 16 registers of 256 bits, with fused multiplication and addition.
    Avx2,
    /// 32 registers of 512 bits (its parts F, BW, CD, DQ and VL).
    Avx512,
    /// 32 registers of 128 bits, on ARM.
    Neon,
}

/// `CSSC_SIMD` names no instruction set, or one that this processor lacks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{VARIABLE} is `{}`, which {}; set it to {}, or not at all for the best",
    .found.to_string_lossy(),
    if *.known { "this processor does not have" } else { "is no instruction set of the engine" },
    available_names()
)]
pub struct InstructionSetError {
    found: OsString,
    known: bool,
}

impl InstructionSet {
    /// All there are.
    const ALL: [Self; 4] = [Self::Scalar, Self::Neon, Self::Avx2, Self::Avx512];

    /// The set that the engine runs on: what `CSSC_SIMD` names, or the best of this processor if
    /// it is not set or cannot be followed. Found once, then kept.
    #[must_use]
    pub fn in_use() -> Self {
        in_use().0
    }

    /// The same, for programs that would rather stop than run on another set than they were told.
    ///
    /// # Errors
    /// If `CSSC_SIMD` names no instruction set, or one that this processor lacks.
    pub fn asked_for() -> Result<Self, InstructionSetError> {
        choose(std::env::var_os(VARIABLE).as_deref()).map(|(set, _)| set)
    }

    /// As `CSSC_SIMD` names it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    /// What runs its instructions, if this processor has them.
    fn arch(self) -> Option<Arch> {
        match self {
            Self::Scalar => Some(Arch::Scalar),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => pulp::x86::V3::try_new().map(Arch::V3),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => pulp::x86::V4::try_new().map(Arch::V4),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => pulp::aarch64::Neon::try_new().map(Arch::Neon),
            _ => None,
        }
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What the engine runs on.
pub(crate) fn best() -> Arch {
    in_use().1
}

fn in_use() -> (InstructionSet, Arch) {
    static IN_USE: OnceLock<(InstructionSet, Arch)> = OnceLock::new();
    *IN_USE.get_or_init(|| {
        choose(std::env::var_os(VARIABLE).as_deref()).unwrap_or_else(|_| best_available())
    })
}

/// The set that is asked for, or the best of this processor.
fn choose(wanted: Option<&OsStr>) -> Result<(InstructionSet, Arch), InstructionSetError> {
    let Some(wanted) = wanted else {
        return Ok(best_available());
    };
    let known = InstructionSet::ALL
        .into_iter()
        .find(|set| wanted == set.name());
    known
        .and_then(|set| Some((set, set.arch()?)))
        .ok_or_else(|| InstructionSetError {
            found: wanted.to_owned(),
            known: known.is_some(),
        })
}

/// Every set of this processor, scalar code first and the best last.
pub(crate) fn available() -> impl Iterator<Item = (InstructionSet, Arch)> {
    InstructionSet::ALL
        .into_iter()
        .filter_map(|set| Some((set, set.arch()?)))
}

fn best_available() -> (InstructionSet, Arch) {
    available()
        .last()
        .unwrap_or((InstructionSet::Scalar, Arch::Scalar))
}

fn available_names() -> String {
    let names: Vec<&str> = available().map(|(set, _)| set.name()).collect();
    names.join(" or ")
}

/// Every instruction set that this machine can run, scalar code first: tests run on all.
#[cfg(test)]
pub(crate) fn instruction_sets() -> Vec<Arch> {
    available().map(|(_, arch)| arch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(wanted: &str) -> Result<InstructionSet, String> {
        choose(Some(OsStr::new(wanted)))
            .map(|(set, _)| set)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_set_of_this_processor_can_be_asked_for_by_name() {
        for (set, _) in available() {
            assert_eq!(chosen(set.name()), Ok(set));
        }
    }

    #[test]
    fn without_a_wish_the_best_set_is_used() {
        let (set, arch) = choose(None).unwrap();
        assert_eq!(available().last().unwrap().0, set);
        // pulp finds the same.
        assert_eq!(format!("{arch:?}"), format!("{:?}", Arch::new()));
    }

    #[test]
    fn a_word_that_names_no_set_is_refused_with_those_that_would_do() {
        for word in ["", "avx", "AVX2", "avx-512", "sse2", "best", " avx2"] {
            let message = chosen(word).unwrap_err();
            let start =
                format!("CSSC_SIMD is `{word}`, which is no instruction set of the engine; ");
            assert!(message.starts_with(&start), "{message}");
            assert!(message.contains("set it to scalar"), "{message}");
        }
    }

    #[test]
    fn a_set_that_this_processor_lacks_is_refused() {
        let lacking = InstructionSet::ALL
            .into_iter()
            .filter(|set| set.arch().is_none());
        let mut found = 0;
        for set in lacking {
            let message = chosen(set.name()).unwrap_err();
            assert!(
                message.contains("which this processor does not have; set it to scalar"),
                "{message}"
            );
            found += 1;
        }
        assert!(found > 0, "no processor has both AVX and NEON");
    }
}
