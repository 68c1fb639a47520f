//! Model files and checkpoints taken apart and put together again with a right checksum, as somebody would who
//! wants the program to trust nonsense. Independent of the library's own code.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// A file of the library's own format.
#[derive(Clone)]
pub(crate) struct Container {
    head: Map<String, Value>,
    numbers: Vec<u8>,
}

impl Container {
    pub(crate) fn parse(file: &[u8]) -> Self {
        let (length, rest) = file.split_first_chunk::<8>().expect("a length");
        let length = u64::from_le_bytes(*length) as usize;
        Self {
            head: serde_json::from_slice(&rest[..length]).expect("a head of JSON"),
            numbers: rest[length..].to_vec(),
        }
    }

    /// Everything but the numbers.
    pub(crate) fn about(&self) -> Value {
        let about = self.head["__metadata__"]["about"].as_str().expect("text");
        serde_json::from_str(about).expect("JSON")
    }

    pub(crate) fn set_about(&mut self, about: &Value) {
        self.head["__metadata__"]["about"] = json!(about.to_string());
    }

    /// The numbers of all tensors.
    pub(crate) fn numbers_mut(&mut self) -> &mut Vec<u8> {
        &mut self.numbers
    }

    /// The file, with the checksum that fits.
    pub(crate) fn file(&self) -> Vec<u8> {
        let mut head = self.head.clone();
        head["__metadata__"]["sha256"] = json!(self.digest());
        let head = serde_json::to_vec(&head).expect("JSON");
        [&(head.len() as u64).to_le_bytes()[..], &head, &self.numbers].concat()
    }

    fn digest(&self) -> String {
        let mut sum = Sha256::new();
        for key in ["format", "version", "about"] {
            let text = self.head["__metadata__"][key].as_str().expect("text");
            sum.update((text.len() as u64).to_le_bytes());
            sum.update(text);
        }
        let mut names: Vec<&String> = self
            .head
            .keys()
            .filter(|name| *name != "__metadata__")
            .collect();
        names.sort();
        for name in names {
            let number = |value: &Value| value.as_u64().expect("an integer");
            let numbers = |key: &str| -> Vec<u64> {
                let list = self.head[name][key].as_array().expect("a list");
                list.iter().map(number).collect()
            };
            sum.update((name.len() as u64).to_le_bytes());
            sum.update(name);
            numbers("shape")
                .iter()
                .for_each(|size| sum.update(size.to_le_bytes()));
            let offsets = numbers("data_offsets");
            let data = &self.numbers[offsets[0] as usize..offsets[1] as usize];
            sum.update((data.len() as u64).to_le_bytes());
            sum.update(data);
        }
        let bytes = sum.finalize();
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Ways to every number and every list of a JSON value, as `/`-separated pointers.
pub(crate) fn pointers(value: &Value) -> Vec<String> {
    fn visit(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Number(_) => found.push(at.to_owned()),
            Value::Array(list) => {
                found.push(at.to_owned());
                for (index, item) in list.iter().enumerate() {
                    visit(item, &format!("{at}/{index}"), found);
                }
            }
            Value::Object(map) => {
                for (key, item) in map {
                    visit(item, &format!("{at}/{key}"), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    visit(value, "", &mut found);
    found
}

/// What a number or a list is replaced with, one after the other.
pub(crate) fn nonsense(value: &Value) -> Vec<Value> {
    match value {
        Value::Array(list) => {
            let mut shorter = list.clone();
            shorter.pop();
            let longer = [&list[..], &list[list.len().saturating_sub(1)..]].concat();
            vec![Value::Array(shorter), json!([]), Value::Array(longer)]
        }
        _ => vec![
            json!(0),
            json!(-1),
            json!(0.0),
            json!(1e300),
            json!(-1e300),
            json!(1e-300),
            json!(1u64 << 19),
            json!(u64::MAX),
            Value::Null,
            json!("NaN"),
        ],
    }
}
