//! `lib.rs` lists the modules in the order in which they use each other: none uses one below it.
#![allow(clippy::unwrap_used)] // a test may panic
use std::collections::{BTreeSet, HashMap};
use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// The modules as `lib.rs` declares them, and the module behind every name that it exports.
struct Root {
    modules: Vec<String>,
    exports: HashMap<String, String>,
}

impl Root {
    fn parse(text: &str) -> Self {
        let code = without_comments(text);
        let modules = code
            .split(';')
            .filter_map(|statement| {
                let words: Vec<&str> = statement.split_whitespace().collect();
                let at = words.iter().position(|word| *word == "mod")?;
                words.get(at + 1).map(|name| (*name).to_owned())
            })
            .collect();
        let exports = paths_after(&code, "pub use ")
            .into_iter()
            .filter(|path| path.len() > 1)
            .map(|path| (path[path.len() - 1].clone(), path[0].clone()))
            .collect();
        Self { modules, exports }
    }

    fn place(&self, module: &str) -> Option<usize> {
        self.modules.iter().position(|known| known == module)
    }

    /// The modules of the library that a file uses, whatever way it names them.
    fn used_by(&self, code: &str, depth: usize) -> BTreeSet<String> {
        let up = "super::".repeat(depth);
        let mut starts = vec!["crate::"];
        if depth > 0 {
            starts.push(&up);
        }
        let paths = starts
            .iter()
            .flat_map(|start| paths_after(code, start))
            .filter_map(|path| path.into_iter().next());
        let modules = paths.map(|name| self.exports.get(&name).unwrap_or(&name).clone());
        modules
            .filter(|module| self.place(module).is_some())
            .collect()
    }
}

/// The code without documentation, which may point anywhere.
fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths that follow `start`, with every group such as `a::{b, c::d}` written out.
fn paths_after(code: &str, start: &str) -> Vec<Vec<String>> {
    let begins = |at: usize| {
        let before = code[..at].chars().next_back();
        !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_' || letter == ':')
    };
    let found = code.match_indices(start).filter(|(at, _)| begins(*at));
    found
        .flat_map(|(at, _)| written_out(&code[at + start.len()..]).0)
        .collect()
}

/// The paths at the beginning of `code`, and how many bytes they take.
fn written_out(code: &str) -> (Vec<Vec<String>>, usize) {
    let name_end = code
        .find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .unwrap_or(code.len());
    if name_end > 0 {
        let name = code[..name_end].to_owned();
        if let Some(rest) = code[name_end..].strip_prefix("::") {
            let (paths, length) = written_out(rest);
            let longer = |path: Vec<String>| [vec![name.clone()], path].concat();
            return (
                paths.into_iter().map(longer).collect(),
                name_end + 2 + length,
            );
        }
        return (vec![vec![name]], name_end);
    }
    if !code.starts_with('{') {
        return (vec![Vec::new()], 0); // a glob, or generic arguments
    }
    let (mut paths, mut at) = (Vec::new(), 1);
    while let Some(letter) = code[at..].chars().next() {
        if letter == '}' {
            return (paths, at + 1);
        }
        let (inner, length) = written_out(&code[at..]);
        if length > 0 {
            paths.extend(inner);
            at += length;
        } else {
            at += letter.len_utf8();
        }
    }
    (paths, at)
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let entries = read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .flat_map(|path| match path.is_dir() {
            true => rust_files(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .collect();
    files.sort();
    files
}

/// The module of a file, and how often `super` leads from it to the root.
fn module_of(file: &Path) -> (String, usize) {
    let parts: Vec<&str> = file.iter().map(|part| part.to_str().unwrap()).collect();
    let module = parts[0].trim_end_matches(".rs").to_owned();
    let is_folder = file.ends_with("mod.rs");
    (module, parts.len() - usize::from(is_folder))
}

#[test]
fn no_module_uses_one_below_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root = Root::parse(&read_to_string(source.join("lib.rs")).unwrap());
    let mut wrong = Vec::new();
    for file in rust_files(&source) {
        let name = file.strip_prefix(&source).unwrap();
        let (module, depth) = module_of(name);
        let Some(place) = root.place(&module) else {
            continue; // lib.rs itself
        };
        let code = without_comments(&read_to_string(&file).unwrap());
        for used in root.used_by(&code, depth) {
            if root.place(&used) > Some(place) {
                wrong.push(format!("{} uses {used}", name.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_way_to_name_a_module_is_seen() {
    let root = Root::parse(
        "mod low;\npub mod high; // mod comment;\npub use high::{Thing, inner::Other};\npub use low::One;",
    );
    assert_eq!(root.modules, ["low", "high"]);
    let used = |code: &str, depth| {
        let used = root.used_by(&without_comments(code), depth);
        used.into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(used("use crate::high::inner::Other;", 1), "high");
    assert_eq!(used("use crate::{One, high};", 1), "high low");
    assert_eq!(
        used("use crate::{\n    low::{a, b},\n    Thing,\n};", 1),
        "high low"
    );
    assert_eq!(
        used("fn f(x: crate::Other) -> Vec<crate::low::One> {", 1),
        "high low"
    );
    assert_eq!(used("use super::super::high::Thing;", 2), "high");
    assert_eq!(
        used("use super::high::Thing;", 2),
        "",
        "a sibling of the same name"
    );
    assert_eq!(used("/// See [`Thing`](crate::Thing).", 1), "");
    assert_eq!(used("use mycrate::high;", 1), "");
}
