//! Videos: every frame becomes a few numbers, any model of this library works on those, and its answers become frames.
//!
//! ```text
//!   frames x_k ── encoder ──> codes z_k ── any model ──> codes z(t) ── decoder ──> frames o(t) in (0, 1)
//! ```
//!
//! The encoder has two residual blocks, the decoder transposed convolutions (paper, section 4.4). All three are trained
//! together on the squared error of the pixels: the inner model reads the codes as learned values
//! ([`Codes`](super::network::Codes)), so gradients reach the encoder. What the inner model compensates is smooth, and so are
//! the frames: the decoder is C². With hidden CSSC inside, the state passes through its updates (Theorem 3); with latent
//! CSSC the codes pass through those of the observed frames. A pixel that is missing in a frame counts as 0.
//!
//! | file | holds |
//! |---|---|
//! | `config` | shape and behaviour |
//! | `layers` | encoder and decoder |
//! | `network` | the model |

mod config;
mod layers;
mod network;

pub use config::FramesConfig;
pub use layers::{FrameDecoder, FrameEncoder};
pub use network::Frames;
