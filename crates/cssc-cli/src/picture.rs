//! Pictures and pages as files.

use crate::destination;
use crate::failure::Failure;
use cssc_report::{Picture, Report, write_html};
use std::path::Path;

/// The kind of picture that the ending tells; refused before any work is done if it tells none.
pub(crate) fn kind(path: &Path) -> Result<Picture, Failure> {
    Picture::from_ending(path).ok_or_else(|| {
        Failure::new(format!(
            "--plot {}: the ending tells the kind of picture. Give a name that ends in .svg or .png.",
            path.display()
        ))
    })
}

/// Refuses a page whose name does not say that it is one.
pub(crate) fn check_page(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    if ending.is_some_and(|ending| ending == "html" || ending == "htm") {
        return Ok(());
    }
    Err(Failure::new(format!(
        "--report {}: the page is HTML. Give a name that ends in .html.",
        path.display()
    )))
}

/// Writes picture and page.
pub(crate) fn write(
    report: &Report,
    plot: Option<&Path>,
    page: Option<&Path>,
) -> Result<(), Failure> {
    if let Some(path) = plot {
        let kind = kind(path)?;
        destination::write_to(path, |out| kind.write(report, out))?;
    }
    if let Some(path) = page {
        destination::write_to(path, |out| write_html(report, out))?;
    }
    Ok(())
}
