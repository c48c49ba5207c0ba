//! Where a run stands in a lesson.

use super::Step;
use engine::event::Record;

/// For each step the number of records after which it is done.
#[must_use]
pub fn marks(records: &[Record], steps: &[Step]) -> Vec<Option<usize>> {
    let mut marks = vec![None; steps.len()];
    let mut step = 0;
    for (i, record) in records.iter().enumerate() {
        if step < steps.len() && steps[step].until.shows(record) {
            marks[step] = Some(i + 1);
            step += 1;
        }
    }
    marks
}

/// The step that is under way at the cursor: the number of those that are done.
#[must_use]
pub fn current(marks: &[Option<usize>], cursor: usize) -> usize {
    marks.iter().take_while(|mark| mark.is_some_and(|mark| mark <= cursor)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_done_only_once_the_cursor_has_passed_its_record() {
        let marks = [Some(3), Some(9), None];
        assert_eq!([0, 2, 3, 8, 9, 99].map(|cursor| current(&marks, cursor)), [0, 0, 1, 1, 2, 2]);
    }
}
