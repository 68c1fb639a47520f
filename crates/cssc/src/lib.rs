//! Smooth, trainable interpolation of time series with gaps.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod data;
