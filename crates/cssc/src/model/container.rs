//! The container of model files and checkpoints: safetensors with a checked head.
//!
//! A safetensors file is a JSON head (names, shapes, metadata) and raw numbers; reading one
//! never runs code. The metadata hold
//!
//! | key | content |
//! |---|---|
//! | `format` | `cssc-model` or `cssc-checkpoint` |
//! | `version` | 2 (1 had no `times` in models); a reader refuses newer ones |
//! | `about` | JSON: settings, scaler, summary, … |
//! | `sha256` | of format, version, `about` and every tensor with its name and shape |
//!
//! so that a file that was cut, changed or made by a newer program is refused, with the reason.

use crate::Error;
use crate::io::write_whole;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The newest version this program writes and reads.
pub(crate) const VERSION: u32 = 2;

/// A named matrix of numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

/// Writes a container, whole or not at all.
pub(crate) fn write(
    path: &Path,
    format: &str,
    about: &impl Serialize,
    tensors: &[Tensor],
) -> Result<(), Error> {
    let io = Error::writing(path);
    let about = serde_json::to_string(about).map_err(|error| io(std::io::Error::other(error)))?;
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|tensor| tensor.values.iter().flat_map(|x| x.to_le_bytes()).collect())
        .collect();
    let views = tensors.iter().zip(&bytes).map(|(tensor, bytes)| {
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), bytes)
            .expect("a tensor holds as many numbers as its shape says");
        (tensor.name.clone(), view)
    });
    let views: Vec<(String, TensorView<'_>)> = views.collect();
    let version = VERSION.to_string();
    let sum = digest(
        format,
        &version,
        &about,
        views.iter().map(|(n, v)| (n.as_str(), v)),
    );
    let metadata = HashMap::from([
        ("format".to_owned(), format.to_owned()),
        ("version".to_owned(), version),
        ("about".to_owned(), about),
        ("sha256".to_owned(), sum),
    ]);
    let file = safetensors::serialize(views, Some(metadata))
        .map_err(|error| io(std::io::Error::other(error)))?;
    let file = in_order(&file).map_err(&io)?;
    write_whole(path, |out| out.write_all(&file)).map_err(io)
}

/// The same file with the entries of its head in the order of their names, so that equal models
/// are equal files: the metadata come out of a hash map in any order.
fn in_order(file: &[u8]) -> std::io::Result<Vec<u8>> {
    let cut_short = || std::io::Error::other("a file without a head");
    let (length, rest) = file.split_first_chunk::<8>().ok_or_else(cut_short)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(std::io::Error::other)?;
    let (head, numbers) = rest.split_at_checked(length).ok_or_else(cut_short)?;
    let head: BTreeMap<String, BTreeMap<String, Value>> = serde_json::from_slice(head)?;
    let mut head = serde_json::to_vec(&head)?;
    head.resize(head.len().next_multiple_of(8), b' ');
    let length = (head.len() as u64).to_le_bytes();
    Ok([&length[..], &head, numbers].concat())
}

/// Reads a container and checks all of it.
pub(crate) fn read<A: DeserializeOwned>(
    path: &Path,
    format: &str,
) -> Result<(A, Vec<Tensor>), Error> {
    let file = std::fs::read(path).map_err(Error::reading(path))?;
    parse(&file, format).map_err(|problem| Error::content(path, problem))
}

fn parse<A: DeserializeOwned>(file: &[u8], format: &str) -> Result<(A, Vec<Tensor>), String> {
    let broken = |error: safetensors::SafeTensorError| {
        format!(
            "this is not a whole {format} file ({error}); it may be cut short or of another \
             kind: copy it again or write it anew"
        )
    };
    let (_, head) = SafeTensors::read_metadata(file).map_err(broken)?;
    let tensors = SafeTensors::deserialize(file).map_err(broken)?;
    let metadata = head.metadata().as_ref();
    let entry = |key: &str| {
        metadata
            .and_then(|all| all.get(key))
            .map(String::as_str)
            .ok_or_else(|| {
                format!("its head has no entry `{key}`; only files written by cssc can be read")
            })
    };
    let found = entry("format")?;
    if found != format {
        return Err(format!(
            "this is a {found} file where a {format} file is expected"
        ));
    }
    let version: u32 = entry("version")?
        .parse()
        .map_err(|_| "its version is not a number; it was changed by another program".to_owned())?;
    if version > VERSION {
        return Err(format!(
            "it has version {version}, and this program reads up to {VERSION}; use a newer cssc"
        ));
    }
    let views = tensors.tensors();
    let mut sorted: Vec<(&str, &TensorView<'_>)> = views
        .iter()
        .map(|(name, view)| (name.as_str(), view))
        .collect();
    sorted.sort_by_key(|(name, _)| *name);
    let sum = digest(
        format,
        entry("version")?,
        entry("about")?,
        sorted.iter().copied(),
    );
    if sum != entry("sha256")? {
        return Err(
            "its content does not fit its checksum: it was altered or damaged; copy it \
                    again or write it anew"
                .to_owned(),
        );
    }
    let about = serde_json::from_str(entry("about")?)
        .map_err(|error| format!("its settings cannot be read ({error})"))?;
    let tensors = sorted
        .into_iter()
        .map(|(name, view)| {
            if view.dtype() != Dtype::F32 {
                return Err(format!("tensor `{name}` is not of 32-bit numbers"));
            }
            let values = view
                .data()
                .chunks_exact(4)
                .map(|b| f32::from_le_bytes(b.try_into().expect("four bytes")))
                .collect();
            Ok(Tensor {
                name: name.to_owned(),
                shape: view.shape().to_vec(),
                values,
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok((about, tensors))
}

/// SHA-256 over everything that matters, tensors in the order of their names.
fn digest<'a>(
    format: &str,
    version: &str,
    about: &str,
    tensors: impl Iterator<Item = (&'a str, &'a TensorView<'a>)>,
) -> String {
    let mut sorted: Vec<_> = tensors.collect();
    sorted.sort_by_key(|(name, _)| *name);
    let mut sum = Sha256::new();
    for text in [format, version, about] {
        sum.update((text.len() as u64).to_le_bytes());
        sum.update(text);
    }
    for (name, view) in sorted {
        sum.update((name.len() as u64).to_le_bytes());
        sum.update(name);
        for &size in view.shape() {
            sum.update((size as u64).to_le_bytes());
        }
        sum.update((view.data().len() as u64).to_le_bytes());
        sum.update(view.data());
    }
    sum.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
