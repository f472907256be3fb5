//! The colours of the heat maps: from pale yellow for little through teal to dark violet for much on a light page, and the other
//! way round on a dark one, so that much always stands out from the ground.
//!
//! A picture names a step of the ramp by its class, and the style sheet has the colours of the steps for both schemes.
//!
//! Seen by the eye the steps are even: the anchors lie on a line of evenly falling lightness in the OKLCH space (B.
//! Ottosson, A perceptual color space for image processing, 2020), with the hue turning from 105 to 305 degrees. Since
//! lightness alone orders them, the order survives colour blindness and a printer without colours.

use std::fmt;

/// The number of steps.
pub const STEPS: usize = 48;

/// The step of a share from 0 to 1; a share outside is taken as the nearer end.
pub fn step(share: f64) -> usize {
    (share.clamp(0.0, 1.0) * (STEPS - 1) as f64).round() as usize
}

/// The rules for the steps: `heat7` fills a shape, `line7` colours strokes, and `ink7` is a text that can be read on it.
pub(super) fn rules(is_dark: bool) -> String {
    let rule = |step: usize| {
        let share = step as f64 / (STEPS - 1) as f64;
        let colour = colour(if is_dark { 1.0 - share } else { share });
        let ink = if colour.is_light() { "#14171c" } else { "#ffffff" };
        format!(".heat{step}{{fill:{colour}}}.line{step}{{stroke:{colour}}}.picture .ink{step}{{fill:{ink}}}\n")
    };
    (0..STEPS).map(rule).collect()
}

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

const ANCHORS: [Rgb; 9] = [
    Rgb(0xf8, 0xf0, 0x85),
    Rgb(0xab, 0xe5, 0x8e),
    Rgb(0x58, 0xd4, 0x9f),
    Rgb(0x02, 0xb9, 0xaf),
    Rgb(0x06, 0x9a, 0xaf),
    Rgb(0x08, 0x7b, 0xad),
    Rgb(0x29, 0x5a, 0xa7),
    Rgb(0x3f, 0x38, 0x8c),
    Rgb(0x43, 0x16, 0x68),
];

/// The colour of a share from 0 to 1 on a light page; a share outside is taken as the nearer end.
pub fn colour(share: f64) -> Rgb {
    let place = share.clamp(0.0, 1.0) * (ANCHORS.len() - 1) as f64;
    let below = (place as usize).min(ANCHORS.len() - 2);
    let (Rgb(r0, g0, b0), Rgb(r1, g1, b1)) = (ANCHORS[below], ANCHORS[below + 1]);
    let between = |from: u8, to: u8| {
        let mixed = f64::from(from) + (f64::from(to) - f64::from(from)) * (place - below as f64);
        mixed.round() as u8
    };
    Rgb(between(r0, r1), between(g0, g1), between(b0, b1))
}

impl Rgb {
    /// How bright it is, from 0 to 1: the relative luminance of WCAG 2.
    pub fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// True if black on it reads better than white: the luminance at which both have the same contrast is 0.179.
    pub fn is_light(self) -> bool {
        self.luminance() > 0.179
    }
}

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_always_darker() {
        let luminances: Vec<f64> = (0..=100).map(|step| colour(f64::from(step) / 100.0).luminance()).collect();
        assert!(luminances.windows(2).all(|pair| pair[0] > pair[1]), "{luminances:?}");
    }

    #[test]
    fn every_step_has_its_rules_and_the_schemes_have_opposite_ends() {
        assert_eq!([-1.0, 0.0, 0.5, 1.0, 2.0].map(step), [0, 0, 24, STEPS - 1, STEPS - 1]);
        let [light, dark] = [rules(false), rules(true)];
        for (rules, first, last) in [(&light, ANCHORS[0], ANCHORS[8]), (&dark, ANCHORS[8], ANCHORS[0])] {
            assert_eq!(rules.lines().count(), STEPS);
            assert!(rules.contains(&format!(".heat0{{fill:{first}}}")), "{rules}");
            assert!(rules.contains(&format!(".line47{{stroke:{last}}}")), "{rules}");
        }
        assert!(light.contains(".picture .ink47{fill:#ffffff}") && dark.contains(".picture .ink47{fill:#14171c}"));
    }

    #[test]
    fn ends_are_the_anchors_and_outside_is_an_end() {
        assert_eq!((colour(0.0), colour(-3.0)), (ANCHORS[0], ANCHORS[0]));
        assert_eq!((colour(1.0), colour(9.0)), (ANCHORS[8], ANCHORS[8]));
        assert_eq!(colour(0.5).to_string(), "#069aaf");
    }

    #[test]
    fn text_on_every_colour_can_be_read() {
        for step in 0..=100 {
            let colour = colour(f64::from(step) / 100.0);
            let contrast =
                if colour.is_light() { (colour.luminance() + 0.05) / 0.05 } else { 1.05 / (colour.luminance() + 0.05) };
            assert!(contrast > 4.5, "{colour}: {contrast}");
        }
    }
}
