//! Text with tabs laid out in columns, as Go's `text/tabwriter` does with a padding of two.
//!
//! A column is a run of lines that have a cell ended by a tab in it; the last cell of a line belongs to no column.

const PADDING: usize = 2;
/// Most columns that are laid out; later tabs become blanks.
const COLUMNS_MAX: usize = 40;

pub fn columns(lines: &[String]) -> String {
    let cells: Vec<Vec<&str>> = lines.iter().map(|l| l.splitn(COLUMNS_MAX, '\t').collect()).collect();
    let mut out = Vec::new();
    block(&cells, &mut Vec::new(), &mut out);
    out.join("\n")
}

fn block(lines: &[Vec<&str>], widths: &mut Vec<usize>, out: &mut Vec<String>) {
    let column = widths.len();
    let has = |line: &Vec<&str>| column + 1 < line.len();
    let mut at = 0;
    while at < lines.len() {
        if !has(&lines[at]) {
            out.push(line(&lines[at], widths));
            at += 1;
            continue;
        }
        let end = at + lines[at..].iter().take_while(|l| has(l)).count();
        let widest = lines[at..end].iter().map(|l| l[column].chars().count()).max().unwrap_or(0);
        widths.push(widest + PADDING);
        block(&lines[at..end], widths, out);
        widths.pop();
        at = end;
    }
}

fn line(cells: &[&str], widths: &[usize]) -> String {
    let mut out = String::new();
    for (at, cell) in cells.iter().enumerate() {
        out.push_str(cell);
        if let Some(width) = widths.get(at).filter(|_| at + 1 < cells.len()) {
            out.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count())));
        }
    }
    out
}
