//! Proofs of the engine: every operation and every composition of them.
//!
//! - `operations/` describes each operation once: operands, parameters, how it is called.
//! - `gradients` compares the gradient of each with central differences, in f64.
//! - `attention` compares attention and layer normalisation with plain loops.
//! - `jets` compares exact time derivatives with differences in time.
//! - `shards` shows that threads change nothing, not even the last bit.
//!
//! The crate `cssc-reference` compares the same operations with plain candle.

#[macro_use]
mod operations;
mod attention;
mod gradients;
mod jets;
mod shards;
