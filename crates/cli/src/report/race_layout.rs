//! Where things are in the chart of a race: on a broad page in one line, on a narrow one with the name above the marks.

use super::widths;

/// Places in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct RaceLayout {
    pub(super) width: f64,
    /// The height of a contender's row.
    pub(super) row: f64,
    /// Where names are; they begin or end there, as their class says.
    pub(super) names: f64,
    pub(super) name_class: &'static str,
    /// Names longer than this are cut; the longest of ours has 35 characters.
    pub(super) name_length: usize,
    pub(super) axis_start: f64,
    pub(super) axis_length: f64,
    /// The most ticks that have room for their words.
    pub(super) ticks: usize,
    pub(super) medians_end: f64,
    pub(super) ratios_end: f64,
    /// Whether there is room to say over the ratios what they are of.
    pub(super) names_reference: bool,
    /// From the top of a row to the middle of its words.
    pub(super) words: f64,
    /// From the top of a row to the middle of its marks.
    pub(super) marks: f64,
}

/// For pages and pictures that are as wide as a sheet of paper.
pub(super) const BROAD: RaceLayout = RaceLayout {
    width: widths::BROAD,
    row: 22.0,
    names: 248.0,
    name_class: "end",
    name_length: 38,
    axis_start: 262.0,
    axis_length: 424.0,
    ticks: 16,
    medians_end: 776.0,
    ratios_end: 850.0,
    names_reference: true,
    words: 11.0,
    marks: 11.0,
};

/// For pages of about 400 pixels.
pub(super) const NARROW: RaceLayout = RaceLayout {
    width: widths::NARROW,
    row: 38.0,
    names: 4.0,
    name_class: "",
    name_length: 36,
    axis_start: 20.0,
    axis_length: 312.0,
    ticks: 6,
    medians_end: 298.0,
    ratios_end: 346.0,
    names_reference: false,
    words: 11.0,
    marks: 27.0,
};
