//! Reading and checking a model file of the default sizes.

use super::samples::grid;
use super::{Array, Program};
use cssc::Error;
use cssc::data::{Dataset, Random, Scaler, Series};
use cssc::model::{Model, ModelConfig};
use cssc::train::{Control, TrainConfig, fit};

/// A model file of the default sizes, read again and again.
pub(super) struct Load {
    file: tempfile::TempPath,
}

impl Load {
    pub(super) fn new() -> Self {
        let random = &mut Random::new(1);
        let series: Vec<Series> = grid(30, 2, 1, random)
            .into_iter()
            .map(|s| Series::new(None, 1, s.query, s.targets).expect("made data are sound"))
            .collect();
        let data = Dataset::new(vec!["x".into()], series).expect("series of one channel");
        let config = TrainConfig {
            steps: 1,
            ..TrainConfig::default()
        };
        let scaler = Scaler::identity(1);
        let model = ModelConfig::default();
        let model = fit(&model, &config, &scaler, &data, &data, |_, _| {
            Control::Continue
        })
        .expect("one step on made data");
        let file = tempfile::NamedTempFile::new()
            .expect("a temporary file")
            .into_temp_path();
        model.save(&file).expect("a file that was just made");
        Self { file }
    }
}

impl Program for Load {
    fn run(&mut self) -> Result<(), Error> {
        Model::load(&self.file).map(drop)
    }

    fn arrays(&mut self) -> Result<Vec<Array>, Error> {
        Ok(Vec::new())
    }
}
