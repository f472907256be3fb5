//! Shades for a matrix in the terminal: ten colours where there are some, else ten characters.
//!
//! Both go from little to much by lightness alone, so that the order survives colour blindness: from dark violet over green to
//! pale yellow as viridis does (S. van der Walt, N. Smith, 2015), in colours that every terminal with 256 of them has. Most
//! terminals are dark, and much has to be seen first: much is bright. On a bright terminal the scale below says the same.

/// The number of shades.
pub(crate) const SHADES: usize = 10;

/// Colours of the palette of 256.
const COLOURS: [u8; SHADES] = [53, 25, 30, 36, 41, 77, 148, 184, 220, 229];
/// From these on black text is easier to read than white.
const FIRST_LIGHT: usize = 2;
/// The same without colours: more ink is more.
const CHARACTERS: [char; SHADES] = ['.', ':', '-', '=', '+', 'o', 'x', '*', '#', '@'];

/// How shades are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shading {
    /// As the ground behind a text.
    Colours,
    /// As characters.
    Characters,
}

/// The shade of a share from 0 to 1.
pub(crate) fn shade(share: f64) -> usize {
    ((share.clamp(0.0, 1.0) * SHADES as f64) as usize).min(SHADES - 1)
}

impl Shading {
    /// A text on a ground of that shade; without colours the text alone.
    pub(crate) fn behind(self, shade: usize, text: &str) -> String {
        match self {
            Self::Characters => text.to_owned(),
            Self::Colours => {
                let ink = if shade < FIRST_LIGHT { 255 } else { 16 };
                format!("\x1b[48;5;{};38;5;{ink}m{text}\x1b[0m", COLOURS[shade])
            }
        }
    }

    /// A cell of that shade, `width` columns wide.
    pub(crate) fn cell(self, shade: usize, width: usize) -> String {
        match self {
            Self::Characters => CHARACTERS[shade].to_string().repeat(width),
            Self::Colours => self.behind(shade, &" ".repeat(width)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::ramp::Rgb;

    /// The colour of a number of the palette's cube.
    fn colour(number: u8) -> Rgb {
        let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
        let number = number - 16;
        Rgb(level(number / 36), level(number / 6 % 6), level(number % 6))
    }

    #[test]
    fn more_is_brighter_and_text_on_it_can_be_read() {
        let luminances: Vec<f64> = COLOURS.iter().map(|&number| colour(number).luminance()).collect();
        assert!(luminances.windows(2).all(|pair| pair[0] < pair[1]), "{luminances:?}");
        for (shade, luminance) in luminances.iter().enumerate() {
            let contrast = if shade < FIRST_LIGHT { 1.05 / (luminance + 0.05) } else { (luminance + 0.05) / 0.05 };
            assert!(contrast > 4.5, "{shade}: {contrast}");
        }
    }

    #[test]
    fn characters_are_plain_and_shares_outside_have_the_nearer_end() {
        assert_eq!([-1.0, 0.0, 0.55, 1.0, 7.0].map(shade), [0, 0, 5, 9, 9]);
        let cell = Shading::Characters.cell(9, 2);
        assert_eq!((cell.as_str(), Shading::Characters.behind(9, "12")), ("@@", "12".to_owned()));
        assert!(Shading::Colours.cell(0, 1).starts_with("\x1b[48;5;53"));
    }
}
