//! Latent CSSC: see everything, jump nowhere (beyond the paper; method notes, section 11).
//!
//! Interpolation may look at all observations, but the prediction of an ODE-RNN at t knows only those
//! before t. Here an encoder reads *all* observations of a series at once, and a decoder gives a curve
//! o(t) that is smooth over the whole series:
//!
//! ```text
//!   observations ─> tokens ─> self-attention (L layers) ─> e ─┬─> mean ─> code z ─> sines whose
//!   (values, mask,                                            │           frequencies z chooses ┐
//!    features of time)                                        └─> keys and values               │
//!   time asked ─> features ─> h ──────────────────> + <── attention to e ── + <─────────────────┘
//!                                                   └─> network ─> o(t)
//! ```
//!
//! o has no jumps, so left and right limits agree, Theorem 1 with the rule `compensation` is the natural
//! spline of the residuals x - o at the knots, and training needs no derivatives. ô takes from o only
//! what is beyond cubic between knots, which is where the capacity goes.
//!
//! The two ways to the query complement each other: attention to the observations is general; sines
//! with frequencies of the series' own are what periodic series need.
//!
//! | file | |
//! |---|---|
//! | `config` | settings |
//! | `features` | times relative to the series, as smooth features with their derivatives |
//! | `encoder` | tokens and self-attention |
//! | `decoder` | from times asked to o(t), with or without derivatives |
//! | `bumps` | the rough part of the residuals, as narrow bumps of o |
//! | `predict` | the network: prediction, trace |

mod bumps;
mod config;
mod decoder;
mod encoder;
mod features;
mod predict;

pub use config::LatentCsscConfig;
pub use predict::LatentCssc;
