//! The difference of two texts by lines.

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Kept,
    Added,
    Removed,
}

/// Pairs of lines that are compared at most; beyond, everything between the equal ends counts as changed.
const PAIRS_MAX: usize = 250_000;

/// Lines of both texts in reading order, removed before added.
#[must_use]
pub fn lines<'a>(old: &'a str, new: &'a str) -> Vec<(Mark, &'a str)> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut out: Vec<_> = old[..head].iter().map(|l| (Mark::Kept, *l)).collect();
    middle(a, b, &mut out);
    out.extend(old[old.len() - tail..].iter().map(|l| (Mark::Kept, *l)));
    out
}

/// The longest common subsequence of what lies between the equal ends.
fn middle<'a>(a: &[&'a str], b: &[&'a str], out: &mut Vec<(Mark, &'a str)>) {
    if a.len().saturating_mul(b.len()) > PAIRS_MAX {
        out.extend(a.iter().map(|l| (Mark::Removed, *l)));
        out.extend(b.iter().map(|l| (Mark::Added, *l)));
        return;
    }
    let width = b.len() + 1;
    let mut best = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let here = if a[i] == b[j] {
                best[(i + 1) * width + j + 1] + 1
            } else {
                best[(i + 1) * width + j].max(best[i * width + j + 1])
            };
            best[i * width + j] = here;
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            out.push((Mark::Kept, a[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || best[(i + 1) * width + j] >= best[i * width + j + 1]) {
            out.push((Mark::Removed, a[i]));
            i += 1;
        } else {
            out.push((Mark::Added, b[j]));
            j += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_stand_beside_each_other() {
        let marks: Vec<_> = lines("a\nb\nc\nd", "a\nx\nc\nd\ne").into_iter().collect();
        let expected = [
            (Mark::Kept, "a"),
            (Mark::Removed, "b"),
            (Mark::Added, "x"),
            (Mark::Kept, "c"),
            (Mark::Kept, "d"),
            (Mark::Added, "e"),
        ];
        assert_eq!(marks, expected);
    }

    #[test]
    fn removing_and_adding_give_back_both_texts() {
        let (old, new) = ("1\n2\n3\n4\n5", "2\n3\nx\n5\n6");
        let marks = lines(old, new);
        let side =
            |without: Mark| marks.iter().filter(|(m, _)| *m != without).map(|(_, l)| *l).collect::<Vec<_>>().join("\n");
        assert_eq!(side(Mark::Added), old);
        assert_eq!(side(Mark::Removed), new);
    }
}
