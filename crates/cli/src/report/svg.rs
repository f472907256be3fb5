//! A writer of SVG: the few shapes that the pictures need, text escaped, coordinates short.
//!
//! The text is XML and stands alone as well as inside a page. Colours come from classes (see
//! `palette`), so that a picture follows the reader's light or dark scheme.

use std::fmt::Write;

/// A picture that is being written.
#[derive(Debug)]
pub struct Svg {
    text: String,
}

/// Where something is, in pixels from the top left corner.
pub type Point = (f64, f64);

/// A rectangle.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// Its left border.
    pub x: f64,
    /// Its upper border.
    pub y: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// The paint of a shape.
#[derive(Clone, Copy, Debug)]
pub enum Paint<'a> {
    /// As the classes say.
    Class(&'a str),
    /// Filled with that step of the ramp of the heat maps.
    Heat(usize),
}

impl Svg {
    /// Begins a picture of that size. `title` names it, `description` tells its content to readers who do not see it.
    pub fn begin(width: f64, height: f64, title: &str, description: &str) -> Self {
        let (width, height) = (coordinate(width), coordinate(height));
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" class=\"picture\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\"><title>{}</title><desc>{}</desc>",
            escaped(title),
            escaped(description)
        );
        Self { text }
    }

    /// Puts rules for the classes into the picture, for one that stands alone.
    pub fn style(&mut self, rules: &str) {
        self.put(format_args!("<style>{}</style>", escaped(rules)));
    }

    /// A rectangle; the tip is shown to a reader who points at it.
    pub fn rect(&mut self, area: Area, paint: Paint<'_>, tip: &str) {
        let [x, y, width, height] = [area.x, area.y, area.width, area.height].map(coordinate);
        self.put(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""));
        self.finish_shape("rect", paint, tip);
    }

    /// A circle.
    pub fn circle(&mut self, (x, y): Point, radius: f64, paint: Paint<'_>, tip: &str) {
        let [x, y, radius] = [x, y, radius].map(coordinate);
        self.put(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\""));
        self.finish_shape("circle", paint, tip);
    }

    /// A straight line.
    pub fn line(&mut self, from: Point, to: Point, class: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(coordinate);
        self.put(format_args!("<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\""));
        self.finish_shape("line", Paint::Class(class), "");
    }

    /// A path in SVG's own notation, `data`.
    pub fn path(&mut self, data: &str, class: &str, tip: &str) {
        self.put(format_args!("<path d=\"{data}\""));
        self.finish_shape("path", Paint::Class(class), tip);
    }

    /// Strokes of width 1 in the enclosing group's measure, in the colour of that step of the ramp.
    pub fn strokes(&mut self, data: &str, step: usize) {
        self.put(format_args!("<path d=\"{data}\" class=\"line{step}\"/>"));
    }

    /// A line of text that begins, or as `class` says ends or is centred, at a point on its base line.
    pub fn text(&mut self, (x, y): Point, class: &str, content: &str) {
        let [x, y] = [x, y].map(coordinate);
        self.put(format_args!("<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{}</text>", escaped(content)));
    }

    /// Begins a group whose content is moved by `offset` and then scaled.
    pub fn open_group(&mut self, offset: Point, scale: Point, class: &str) {
        let [x, y] = [offset.0, offset.1].map(coordinate);
        let (across, down) = scale;
        self.put(format_args!("<g class=\"{class}\" transform=\"translate({x} {y}) scale({across} {down})\">"));
    }

    /// Ends the group begun last.
    pub fn close_group(&mut self) {
        self.text.push_str("</g>");
    }

    /// The whole picture.
    pub fn finish(mut self) -> String {
        self.text.push_str("</svg>");
        self.text
    }

    fn finish_shape(&mut self, element: &str, paint: Paint<'_>, tip: &str) {
        match paint {
            Paint::Class(class) => self.put(format_args!(" class=\"{class}\"")),
            Paint::Heat(step) => self.put(format_args!(" class=\"heat{step}\"")),
        }
        if tip.is_empty() {
            self.text.push_str("/>");
        } else {
            self.put(format_args!("><title>{}</title></{element}>", escaped(tip)));
        }
    }

    fn put(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.text.write_fmt(arguments).expect("writing to a string does not fail");
    }
}

/// At most two decimals, and no more characters than needed.
pub fn coordinate(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text that XML takes as text, in content and in quoted attributes; characters that XML has no place for are replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push(character),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => escaped.push(char::REPLACEMENT_CHARACTER),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</title><script>alert(\"x\")</script>&\u{1b}\0";
        let mut svg = Svg::begin(10.0, 10.0, hostile, hostile);
        svg.text((1.0, 2.0), "label", hostile);
        svg.rect(Area { x: 0.0, y: 0.0, width: 1.0, height: 1.0 }, Paint::Class("cell"), hostile);
        let text = svg.finish();
        let document = roxmltree::Document::parse(&text).expect("well-formed");
        assert!(!document.descendants().any(|node| node.has_tag_name("script")), "{text}");
        let shown = document.descendants().find(|node| node.tag_name().name() == "text").and_then(|node| node.text());
        assert_eq!(shown, Some("</title><script>alert(\"x\")</script>&\u{fffd}\u{fffd}"));
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!([0.0, -0.001, 1.0, 2.5, 3.1428, -7.10].map(coordinate), ["0", "0", "1", "2.5", "3.14", "-7.1"]);
    }
}
