//! Sections as Markdown and as a page.

use super::Results;
use std::fmt::Write;

impl Results {
    /// The table as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# Results\n\n{}\n", preface());
        for section in self.sections() {
            let _ = writeln!(text, "\n## {}", section.title);
            if !section.text.is_empty() {
                let _ = writeln!(text, "\n{}", section.text);
            }
            if let Some(picture) = &section.picture {
                let _ = writeln!(text, "\n![{}]({})", section.title, picture.file);
            }
            if !section.rows.is_empty() {
                text.push('\n');
            }
            for (number, row) in section.rows.iter().enumerate() {
                let _ = writeln!(text, "| {} |", row.join(" | "));
                if number == 0 {
                    let _ = writeln!(text, "|{}", "---|".repeat(row.len()));
                }
            }
        }
        text
    }

    /// The same as a page that needs nothing else.
    #[must_use]
    pub fn html(&self) -> String {
        let mut text = String::from(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>cssc: results</title>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>\n\
             body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }\n\
             div { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n\
             th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap; }\n\
             th:first-child, td:first-child { text-align: left; }\n</style></head><body>\n<h1>Results</h1>\n",
        );
        let _ = writeln!(text, "<p>{}</p>", inline(&preface()));
        for section in self.sections() {
            let (title, about) = (inline(&section.title), inline(&section.text));
            let _ = writeln!(text, "<h2>{title}</h2>\n<p>{about}</p>");
            if let Some(picture) = &section.picture {
                let _ = writeln!(text, "<div>{}</div>", picture.html);
            }
            text += "<div><table>\n";
            for (number, row) in section.rows.iter().enumerate() {
                let tag = if number == 0 { "th" } else { "td" };
                let cells = row
                    .iter()
                    .map(|cell| format!("<{tag}>{}</{tag}>", inline(cell)));
                let _ = writeln!(text, "<tr>{}</tr>", cells.collect::<String>());
            }
            text += "</table></div>\n";
        }
        text + "</body></html>\n"
    }
}

fn preface() -> String {
    "Made by `cssc report` from the files in `experiments/results`, which `cssc reproduce table1` writes. Mean squared \
     error over all points of the test series (`mse_all`); settings and steps are chosen on validation series. The \
     paper's data are not public: our sets are like them, not the same, so its numbers are a guide and no target of \
     equality. In bold: the best of the paper's systems, and ours where it is better still."
        .to_owned()
}

/// Markdown inside a line, as HTML: bold and code.
fn inline(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let mut out = String::new();
    for (mark, open, close) in [("**", "<b>", "</b>"), ("`", "<code>", "</code>")] {
        let source = if out.is_empty() {
            text.clone()
        } else {
            std::mem::take(&mut out)
        };
        for (number, part) in source.split(mark).enumerate() {
            if number > 0 {
                out += if number % 2 == 1 { open } else { close };
            }
            out += part;
        }
    }
    out
}
