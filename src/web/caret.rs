//! Where the writing mark stands in a line, and moving it.

/// The writing mark's place in bytes of the line, whether something is selected, and the line.
#[must_use]
pub fn read(line: &web_sys::HtmlInputElement) -> (String, usize, bool) {
    let text = line.value();
    let end = |at: Result<Option<u32>, _>| at.ok().flatten().map_or(usize::MAX, |at| at as usize);
    let (from, to) = (end(line.selection_start()), end(line.selection_end()));
    let mut units = 0;
    let before = text.chars().take_while(|c| {
        units += c.len_utf16();
        units <= to
    });
    let at = before.map(char::len_utf8).sum();
    (text, at, from != to)
}

/// Writes a line and puts the mark at a place given in bytes.
pub fn write(line: &web_sys::HtmlInputElement, text: &str, at: usize) {
    line.set_value(text);
    let units = text.get(..at).unwrap_or(text).encode_utf16().count();
    let at = u32::try_from(units).unwrap_or(u32::MAX);
    let _ = line.set_selection_range(at, at);
}

pub fn leave(line: &web_sys::HtmlInputElement) {
    let _ = line.blur();
}

/// Shows the end of what an element scrolls over.
pub fn to_end(element: &web_sys::Element) {
    element.set_scroll_top(element.scroll_height());
}
