//! What the documents say about the repository is true: named files, linked files and quoted tests exist.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(name: &str) -> String {
    fs::read_to_string(root().join(name)).expect("the document exists")
}

/// The parts of `text` between an `open` and the next `close`.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    let parts = text.split(open).skip(1);
    parts
        .filter_map(|part| part.split_once(close))
        .map(|(inside, _)| inside)
        .collect()
}

/// The names of all functions in the sources under `folder`.
fn functions(folder: &Path, into: &mut HashSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            functions(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).expect("text");
            into.extend(between(&source, "fn ", "(").into_iter().map(str::to_owned));
        }
    }
}

#[test]
fn every_test_quoted_in_the_paper_table_exists() {
    let mut names = HashSet::new();
    functions(&root().join("crates"), &mut names);
    let text = document("PAPER.md").replace("**", "");
    let sentences: Vec<&str> = text
        .split('*')
        .skip(1)
        .step_by(2)
        .filter(|quoted| quoted.contains(' '))
        .collect();
    let title = 1; // the paper's own
    assert!(
        sentences.len() > 10 + title,
        "quotes are found: {sentences:?}"
    );
    for sentence in &sentences[title..] {
        let words: Vec<&str> = sentence
            .split_whitespace()
            .filter(|word| *word != "…")
            .collect();
        let name = words.join("_");
        assert!(
            names.iter().any(|known| known.starts_with(&name)),
            "no test is called {name}"
        );
    }
}

#[test]
fn every_source_file_named_in_the_paper_table_exists() {
    let text = document("PAPER.md");
    let quoted = text.split('`').skip(1).step_by(2);
    let files: Vec<&str> = quoted.filter(|name| name.ends_with(".rs")).collect();
    assert!(files.len() > 10, "names are found: {files:?}");
    for file in files {
        let places = ["", "crates/cssc/src", "crates/cssc/tests"];
        assert!(
            places
                .iter()
                .any(|place| root().join(place).join(file).exists()),
            "there is no {file}"
        );
    }
}

#[test]
fn every_relative_link_in_the_documents_leads_somewhere() {
    for name in [
        "README.md",
        "DESIGN.md",
        "PAPER.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ] {
        for target in between(&document(name), "](", ")") {
            let outside = target.starts_with("https://");
            assert!(
                outside || root().join(target).exists(),
                "{name} links to {target}"
            );
        }
    }
}
