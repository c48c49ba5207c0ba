//! Rows and columns, printed as kubectl's tab writer does.

/// A column; `wide` ones show under `-o wide` only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub wide: bool,
}

/// Rows below a head. Widths only grow, so that the lines of a watch stay below their head.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<String>>,
    widths: Vec<usize>,
}

/// Blanks between columns (cli-runtime `printers/tabwriter.go`).
const GAP: usize = 3;

impl Table {
    pub fn new(columns: Vec<Column>) -> Self {
        Table { columns, rows: Vec::new(), widths: Vec::new() }
    }

    /// Plain columns of these names.
    pub fn of(names: &[&str]) -> Self {
        Table::new(names.iter().map(|n| Column { name: (*n).to_string(), wide: false }).collect())
    }

    /// The text of the head, if wanted, and of the rows; the rows are gone afterwards.
    pub fn flush(&mut self, head: bool) -> String {
        let mut lines = Vec::new();
        if head {
            lines.push(self.columns.iter().map(|c| c.name.to_uppercase()).collect::<Vec<_>>());
        }
        lines.append(&mut self.rows);
        for line in &lines {
            for (at, cell) in line.iter().enumerate() {
                let width = cell.chars().count();
                match self.widths.get_mut(at) {
                    Some(known) => *known = width.max(*known),
                    None => self.widths.push(width),
                }
            }
        }
        let text: Vec<String> = lines.iter().map(|line| self.line(line)).collect();
        text.join("\n")
    }

    fn line(&self, cells: &[String]) -> String {
        let mut out = String::new();
        for (at, cell) in cells.iter().enumerate() {
            let cell = cell.replace(['\n', '\r'], " ");
            out.push_str(&cell);
            if at + 1 < cells.len() {
                let width = self.widths.get(at).copied().unwrap_or(0) + GAP;
                out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count())));
            }
        }
        out
    }
}
