//! One long series: memory and time that do not grow with what a method needs for each row.
#![cfg(target_os = "linux")]

mod support;

use std::fmt::Write;
use std::time::Duration;
use support::Place;

/// Rows of the table; the text of one takes about 16 bytes.
const ROWS: u32 = 2_000_000;
/// Memory allowed: four times the file, and what a program takes anyway.
const MEGABYTES: u64 = 4 * 32 + 200;

/// A wave with gaps of many lengths.
fn table() -> String {
    let mut text = "time,x\n".to_owned();
    for k in 0..ROWS {
        let time = 60 * u64::from(k);
        // A gap of up to 40 rows in each 400.
        let is_missing = k % 400 < k / 400 % 41 && k > 0 && k < ROWS - 50;
        let written = match is_missing {
            true => writeln!(text, "{time},"),
            false => writeln!(text, "{time},{:.4}", 10.0 + (0.05 * f64::from(k)).sin()),
        };
        written.expect("text can be written");
    }
    text
}

/// Runs to its end; gives the exit code and the most memory it had, in megabytes.
fn run(place: &Place, arguments: &[&str]) -> (Option<i32>, u64) {
    let mut command = place.command(arguments);
    command.stderr(std::process::Stdio::null());
    let mut child = command.spawn().expect("the binary starts");
    let mut most = 0;
    while child.try_wait().expect("it can be asked").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let status = status.unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        most = most.max(peak.unwrap_or(0) / 1024);
        std::thread::sleep(Duration::from_millis(5));
    }
    (child.wait().expect("it has ended").code(), most)
}

#[test]
fn a_long_series_is_filled_in_little_memory_and_every_row_is_kept() {
    let table = table();
    let place = Place::with("in.csv", &table);
    for method in [&["--method", "natural"][..], &["--budget", "0s"]] {
        let fill = ["fill", "in.csv", "-o", "out.csv"];
        let (code, memory) = run(&place, &[&fill[..], method].concat());
        assert_eq!(code, Some(0));
        assert!(
            memory <= MEGABYTES,
            "{method:?}: {memory} MB of {MEGABYTES}"
        );
        let filled = place.read("out.csv");
        assert_eq!(filled.lines().count(), table.lines().count());
        for (number, (before, after)) in table.lines().zip(filled.lines()).enumerate() {
            if !before.ends_with(',') {
                assert_eq!(before, after, "line {}", number + 1);
                continue;
            }
            let value = after
                .strip_prefix(before)
                .and_then(|text| text.parse::<f64>().ok());
            let wanted = 10.0 + (0.05 * (number as f64 - 1.0)).sin();
            let off = value.map(|value| (value - wanted).abs());
            assert!(
                off.is_some_and(|off| off < 0.05),
                "line {}: {after}",
                number + 1
            );
        }
    }
}
