//! Many names in one line.

/// So many names are listed; of more, the first ones, the last one and their number.
const MOST: usize = 40;
const FIRST: usize = 3;

/// Names for people: all of them, or where there are too many the first ones, the last, and how many there are.
///
/// ```
/// let pixels: Vec<String> = (0..1024).map(|at| format!("x{at}")).collect();
/// assert_eq!(cssc::data::listed(&pixels), "x0, x1, x2, ..., x1023 (1024 columns)");
/// assert_eq!(cssc::data::listed(&pixels[..2]), "x0, x1");
/// ```
pub fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let text = |names: &[S]| {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        names.join(", ")
    };
    match names {
        [.., last] if names.len() > MOST => format!(
            "{}, ..., {} ({} columns)",
            text(&names[..FIRST]),
            last.as_ref(),
            names.len()
        ),
        _ => text(names),
    }
}
