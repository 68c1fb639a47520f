//! The page of `--report`: its size is bounded, and a reader comes to the gaps.

mod support;

use support::Place;

/// As many rows and columns as a year of hourly air quality has, with gaps of all lengths.
fn table(rows: u32, columns: u32) -> String {
    let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
    let cell = |row: u32, column: u32| {
        let phase = (row + 37 * column) % 700;
        match phase < (row / 700) % 60 {
            true => String::new(),
            false => format!(
                "{:.2}",
                (0.1 * f64::from(row) + f64::from(column)).sin() * 40.0
            ),
        }
    };
    let row = |row: u32| {
        let cells: Vec<String> = (0..columns).map(|column| cell(row, column)).collect();
        format!("{},{}\n", 3600 * row, cells.join(","))
    };
    format!(
        "time,{}\n{}",
        names.join(","),
        (0..rows).map(row).collect::<String>()
    )
}

fn page(table: &str) -> String {
    let place = Place::with("in.csv", table);
    let outcome = place.run(&[
        "fill",
        "in.csv",
        "--method",
        "linear,makima",
        "-o",
        "out.csv",
        "--report",
        "page.html",
        "-q",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    place.read("page.html")
}

#[test]
fn a_year_of_thirteen_columns_is_a_page_of_a_megabyte_that_leads_from_gap_to_gap() {
    let page = page(&table(9357, 13));
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    assert!(page.contains("Next gap") && page.contains("Previous gap"));
    assert!(page.contains("name=\"viewport\""), "for phones");
}

#[test]
fn a_page_does_not_grow_with_the_series() {
    let (short, long) = (page(&table(20_000, 2)), page(&table(200_000, 2)));
    assert!(
        long.len() < 2 * short.len().max(500_000),
        "{} bytes",
        long.len()
    );
}
