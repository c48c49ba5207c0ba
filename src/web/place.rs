//! Where a pointer is inside an element.

use wasm_bindgen::JsCast;

/// The pointer's place across the element it is over, in thousandths of its width.
#[must_use]
pub fn across(event: &web_sys::PointerEvent) -> Option<u64> {
    let element = event.current_target()?.dyn_into::<web_sys::Element>().ok()?;
    let frame = element.get_bounding_client_rect();
    let share = (f64::from(event.client_x()) - frame.left()) / frame.width().max(1.0);
    Some((share.clamp(0.0, 1.0) * 100_000.0) as u64)
}

/// Keeps the pointer's events with the element while it is dragged.
pub fn capture(event: &web_sys::PointerEvent) {
    if let Some(element) = event.current_target().and_then(|t| t.dyn_into::<web_sys::Element>().ok()) {
        let _ = element.set_pointer_capture(event.pointer_id());
    }
}

/// Puts the writing mark at a line and column, so that the reader sees the place an error names.
pub fn point_at(area: &web_sys::HtmlTextAreaElement, line: usize, column: usize) {
    let text = area.value();
    let before: usize = text.split('\n').take(line.saturating_sub(1)).map(|l| l.encode_utf16().count() + 1).sum();
    let at = u32::try_from(before + column.saturating_sub(1)).unwrap_or(0);
    let _ = area.focus();
    let _ = area.set_selection_range(at, at + 1);
}
