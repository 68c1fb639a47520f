//! Text in columns, for a terminal.

/// Text in columns: the first to the left, the others to the right, the last free.
#[derive(Debug)]
pub struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// Begins with a row of names.
    #[must_use]
    pub fn new(names: &[&str]) -> Self {
        Self {
            rows: vec![names.iter().map(|&name| name.to_owned()).collect()],
        }
    }

    /// Adds a row of as many cells as there are names.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The rows, one a line, indented by two.
    #[must_use]
    pub fn text(&self) -> String {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            let widths = self.rows.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::from("  ");
            for (column, cell) in row.iter().enumerate() {
                let fill = " ".repeat(widths[column] - cell.chars().count());
                match column {
                    0 => line += &format!("{cell}{fill}"),
                    _ => line += &format!("   {fill}{cell}"),
                }
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_laid_out() {
        let mut table = TextTable::new(&["a", "number"]);
        table.row(vec!["long name".into(), "5".into()]);
        assert_eq!(table.text(), "  a           number\n  long name        5\n");
    }
}
