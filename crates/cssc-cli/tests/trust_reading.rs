//! What a table means is recognised, or asked about, and never guessed silently.

mod support;

use support::Place;

/// What is said about a table that is only looked at.
fn said(table: &str, more: &[&str]) -> String {
    let place = Place::with("in.csv", table);
    let mut arguments = vec!["fill", "in.csv", "--budget", "0s"];
    arguments.extend_from_slice(more);
    let outcome = place.run(&arguments);
    assert!(matches!(outcome.code, Some(0 | 2)), "{outcome:?}");
    outcome.stderr
}

fn filled(table: &str, more: &[&str]) -> String {
    let place = Place::with("in.csv", table);
    let mut arguments = vec![
        "fill", "in.csv", "-o", "out.csv", "--method", "linear", "--quiet",
    ];
    arguments.extend_from_slice(more);
    let outcome = place.run(&arguments);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    place.read("out.csv")
}

#[test]
fn thousands_are_asked_about_and_never_guessed() {
    for table in [
        "time,x\n0,\"1,000\"\n1,\n2,900\n",
        "time;x\n0;1.000\n1;\n2;900\n",
    ] {
        let asked = said(table, &[]);
        assert!(asked.contains("can be read in two ways"), "{asked}");
        assert!(
            asked.contains("--thousands") && asked.contains("--decimal-comma"),
            "{asked}"
        );
    }
    let comma = filled("time,x\n0,\"1,000\"\n1,\n2,900\n", &["--thousands", ","]);
    assert_eq!(comma, "time,x\n0,\"1,000\"\n1,950\n2,900\n");
    let point = filled("time;x\n0;1.000\n1;\n2;900\n", &["--thousands", "."]);
    assert_eq!(point, "time;x\n0;1.000\n1;950\n2;900\n");
    let decimals = filled("time;x\n0;1,000\n1;\n2;3\n", &["--decimal-comma"]);
    assert_eq!(decimals, "time;x\n0;1,000\n1;2\n2;3\n");
}

/// Far behind the rows that the columns are recognised by.
#[test]
fn thousands_are_asked_about_wherever_they_begin() {
    let small: String = (0..20_000).map(|k| format!("{k};{}\n", k % 1000)).collect();
    let table = format!("t;x\n{small}20000;1.000\n20001;\n20002;1.002\n");
    let place = Place::with("in.csv", &table);
    let fill = ["fill", "in.csv", "-o", "out.csv", "--method", "linear"];
    let refused = place.run(&fill);
    let said = refused.complaint();
    assert!(
        said.contains("line 20002") && said.contains("`1.000` can be read in two ways"),
        "{said}"
    );
    assert_eq!(place.files(), ["in.csv"]);
    let asked = place.run(&[&fill[..], &["--thousands", "."]].concat());
    assert_eq!(asked.code, Some(0), "{}", asked.stderr);
    assert!(
        place.read("out.csv").contains("\n20001;1001\n"),
        "{}",
        asked.stderr
    );
}

#[test]
fn a_quote_that_is_not_closed_is_warned_of_with_its_line() {
    let mut table = String::from("time,x,note\n");
    for row in 0..40 {
        let quote = if row == 5 { "\"" } else { "" };
        table += &format!("{row},{row},{quote}ok\n");
    }
    let text = said(&table, &[]);
    assert!(
        text.contains("line 7 holds 34 lines that look like rows"),
        "{text}"
    );
    // Among the values it takes the only column of numbers away.
    let mut table = String::from("time,x\n");
    for row in 0..40 {
        let quote = if row % 30 == 5 { "\"" } else { "" };
        table += &format!("{row},{quote}{row}\n");
    }
    let text = said(&table, &[]);
    assert!(
        text.contains("line 7 holds 30 lines that look like rows"),
        "{text}"
    );
}

#[test]
fn usual_ways_to_write_times_are_recognised() {
    for (table, middle) in [
        (
            "Datum,x\n2012/01/01,1\n2012/01/02,\n2012/01/03,3\n",
            "2012/01/02,2",
        ),
        ("Month,x\n2020-01,0\n2020-02,\n2020-03,60\n", "2020-02,31"),
        ("when,x\n2020-Q1,0\n2020-Q2,\n2020-Q3,182\n", "2020-Q2,91"),
        ("week,x\n2020-W01,1\n2020-W02,\n2020-W03,3\n", "2020-W02,2"),
        ("day,x\n20240130,1\n20240131,\n20240201,3\n", "20240131,2"),
        (
            "Zeit,x\n31.01.2024 11:00,1\n31.01.2024 12:00,\n31.01.2024 13:00,3\n",
            "31.01.2024 12:00,2",
        ),
        (
            "time,x\n1/31/2024 11:00 AM,1\n1/31/2024 12:00 PM,\n1/31/2024 1:00 PM,3\n",
            "1/31/2024 12:00 PM,2",
        ),
    ] {
        let text = filled(table, &[]);
        assert!(text.contains(middle), "{text}");
    }
    let epoch = said(
        "time,x\n1700000000,1\n1700003600,\n1700007200,3\n",
        &["--every", "5min"],
    );
    assert!(epoch.contains("read as seconds since 1970"), "{epoch}");
}

#[test]
fn days_and_months_that_can_be_exchanged_are_asked_about() {
    let asked = said("time,x\n1/2/2024,1\n2/2/2024,\n3/2/2024,3\n", &[]);
    assert!(
        asked.contains("`%d/%m/%Y` or like `%m/%d/%Y`") && asked.contains("--time-format"),
        "{asked}"
    );
}

#[test]
fn hours_that_the_clocks_left_out_or_showed_twice_are_named_as_such() {
    let rome = ["--time-zone", "Europe/Rome"];
    let gap = said(
        "time,x\n2024-03-31 01:00,1\n2024-03-31 02:00,2\n2024-03-31 03:00,3\n",
        &rome,
    );
    assert!(
        gap.contains("line 3") && gap.contains("clocks of Europe/Rome were put forward"),
        "{gap}"
    );
    let fold = said(
        "time,x\n2024-10-27 02:00,1\n2024-10-27 02:00,2\n2024-10-27 03:00,3\n",
        &rome,
    );
    assert!(
        fold.contains("line 3") && fold.contains("clocks were put back"),
        "{fold}"
    );
}

#[test]
fn index_columns_of_pandas_are_no_values() {
    let text = said(",time,x\n0,5,1\n1,6,\n2,7,3\n", &[]);
    assert!(text.contains("time: time; values: x;"), "{text}");
    let text = said("Unnamed: 0,time,x\n0,5,1\n1,6,\n2,7,3\n", &[]);
    assert!(text.contains("time: time; values: x;"), "{text}");
}

#[test]
fn a_column_that_tells_repeated_times_apart_is_offered_as_id() {
    let mut table = String::from("time,origin,x\n");
    for row in 0..4 {
        for origin in ["EWR", "JFK", "LGA"] {
            table += &format!("{row},{origin},{row}\n");
        }
    }
    let text = said(&table, &[]);
    assert!(
        text.contains("the 3 values of `origin` tell such rows apart"),
        "{text}"
    );
    assert!(text.contains("--id"), "{text}");
    assert!(filled(&table, &["--id", "origin"]).contains("3,LGA,3"));
}

#[test]
fn several_columns_can_tell_series_apart() {
    let table = "site,pump,t,x\na,1,0,1\na,1,1,\na,1,2,3\na,2,0,5\na,2,1,\na,2,2,7\nb,1,0,9\n";
    let text = filled(table, &["--id", "site,pump"]);
    assert!(
        text.contains("a,1,1,2\n") && text.contains("a,2,1,6\n"),
        "{text}"
    );
}

#[test]
fn usual_marks_of_missing_are_known() {
    for mark in ["NA", "#N/A", "?", "-", "<NA>", "n/a", "NaN"] {
        let text = filled(&format!("time,x\n0,1\n1,{mark}\n2,3\n"), &[]);
        assert_eq!(text, "time,x\n0,1\n1,2\n2,3\n", "{mark}");
    }
}

#[test]
fn one_word_among_numbers_and_suspected_marks_are_said_aloud() {
    let mut table = String::from("time,x,y\n");
    for row in 0..12 {
        let x = if row == 7 {
            "12 C".to_owned()
        } else {
            row.to_string()
        };
        let y = if row % 4 == 1 {
            "-999".to_owned()
        } else {
            format!("{row}.5")
        };
        table += &format!("{row},{x},{y}\n");
    }
    let text = said(&table, &[]);
    assert!(
        text.contains("column `x` is passed through")
            && text.contains("line or row 9 holds `12 C`"),
        "{text}"
    );
    assert!(text.contains("column `y` holds -999 3 times"), "{text}");
    // In the only column of values it is named, too.
    let alone: String = (0..9)
        .map(|k| format!("{k},{}\n", if k == 4 { "12 C" } else { "5" }))
        .collect();
    let text = said(&format!("time,x\n{alone}"), &[]);
    assert!(
        text.contains("line 6") && text.contains("`x` has `12 C`"),
        "{text}"
    );
    let told = said(&table, &["--missing=-999,12 C"]);
    assert!(
        !told.contains("passed through and not filled") && !told.contains("-999"),
        "{told}"
    );
}
