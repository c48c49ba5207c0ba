//! Drawing as text: a picture that changes as a whole is written as a whole.

use crate::model::number::coordinate;

/// SVG elements, one after the other.
#[derive(Default)]
pub struct Svg(pub String);

/// Text as it may stand inside markup.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}

impl Svg {
    pub fn rect(&mut self, class: &str, (x, y): (f32, f32), (w, h): (f32, f32), radius: u8) {
        let (x, y, w, h) = (coordinate(x), coordinate(y), coordinate(w.max(0.0)), coordinate(h.max(0.0)));
        self.0.push_str(&format!(r#"<rect class="{class}" x="{x}" y="{y}" width="{w}" height="{h}" rx="{radius}"/>"#));
    }

    pub fn text(&mut self, class: &str, (x, y): (f32, f32), text: &str) {
        let (x, y) = (coordinate(x), coordinate(y));
        self.0.push_str(&format!(r#"<text class="{class}" x="{x}" y="{y}">{}</text>"#, escape(text)));
    }

    /// A small box with words in its middle.
    pub fn chip(&mut self, class: &str, at: (f32, f32), size: (f32, f32), words: &str) {
        self.rect(class, at, size, 5);
        self.text(&format!("{class} mid"), (at.0 + size.0 / 2.0, at.1 + size.1 / 2.0 + 3.8), words);
    }

    pub fn path(&mut self, class: &str, d: &str) {
        self.0.push_str(&format!(r#"<path class="{class}" d="{d}"/>"#));
    }

    /// A drawing at a place: lines of one weight at every size.
    pub fn art(&mut self, class: &str, (x, y): (f32, f32), scale: f32, d: &str) {
        let (x, y, percent) = (coordinate(x), coordinate(y), (scale * 100.0) as u32);
        let scale = format!("{}.{:02}", percent / 100, percent % 100);
        self.0
            .push_str(&format!(r#"<path class="art {class}" transform="translate({x} {y}) scale({scale})" d="{d}"/>"#));
    }

    /// A group that can be chosen: `what` names the object for whoever listens.
    pub fn choosable(&mut self, what: &str, test: &str, inner: Svg) {
        let (what, test) = (escape(what), escape(test));
        self.0.push_str(&format!(r#"<g class="choose" data-object="{what}" data-testid="{test}">{}</g>"#, inner.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_names_an_object_cannot_become_markup() {
        let mut svg = Svg::default();
        svg.text("a", (1.0, 2.0), "<script>&\"");
        assert_eq!(svg.0, r#"<text class="a" x="1.0" y="2.0">&lt;script&gt;&amp;&quot;</text>"#);
    }
}
