//! Training: samples, shards, the loss, the optimiser and the loop around them.

mod adamax;
mod checkpoint;
mod fit;
mod rate;
mod sample;
mod shards;
mod trainer;

pub use adamax::AdaMax;
pub use fit::fit;
pub use rate::RateSchedule;
pub use sample::{Observation, Sample};
pub use shards::{SHARD, Scores, Shards};
pub use trainer::{Control, MOST_RECOVERIES, Progress, Summary, TrainConfig, Trainer};
