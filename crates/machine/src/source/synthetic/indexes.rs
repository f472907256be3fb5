//! The attribute `indexes`: the numbers that the system gives to the objects of a level.

use std::collections::BTreeSet;

use corecast_base::MAX_CPU_ID;

/// The numbers of a level's objects, in the order of the tree.
#[derive(Debug)]
pub(super) enum Indexes {
    /// One number per object.
    List(Vec<u32>),
    /// Nested loops of a step and a count, innermost digit first: object i has in each loop the digit
    /// (i / step) mod count, and its number is made of these digits.
    Loops(Vec<(usize, usize)>),
}

impl Indexes {
    /// The value among attributes such as `memory=1GB indexes=0,2,1,3`.
    pub(super) fn in_attributes(attributes: &str) -> Result<Option<Self>, String> {
        let value = attributes.split_whitespace().find_map(|attribute| attribute.strip_prefix("indexes="));
        value.map(Self::read).transpose()
    }

    fn read(value: &str) -> Result<Self, String> {
        let wrong = || format!("indexes '{value}' are neither a list such as 0,2,1,3 nor loops such as 2*4:1*2");
        let pair = |text: &str| {
            let (step, count) = text.split_once('*')?;
            Some((step.parse().ok().filter(|&step| step > 0)?, count.parse().ok().filter(|&count| count > 0)?))
        };
        if value.contains('*') {
            value.split(':').map(pair).collect::<Option<_>>().map(Self::Loops).ok_or_else(wrong)
        } else {
            let number = |text: &str| text.parse().ok().filter(|&number| number <= MAX_CPU_ID);
            value.split(',').map(number).collect::<Option<_>>().map(Self::List).ok_or_else(wrong)
        }
    }

    /// The numbers of `total` objects, each once.
    pub(super) fn numbers(&self, total: usize) -> Result<Vec<u32>, String> {
        let numbers = match self {
            Self::List(list) => list.clone(),
            Self::Loops(loops) => (0..total)
                .map(|object| digits(loops, object))
                .collect::<Option<_>>()
                .ok_or("the loops of an attribute indexes make too large numbers".to_owned())?,
        };
        if numbers.len() != total || numbers.iter().collect::<BTreeSet<_>>().len() != total {
            return Err(format!("an attribute indexes does not number {total} objects, each differently"));
        }
        Ok(numbers)
    }
}

fn digits(loops: &[(usize, usize)], object: usize) -> Option<u32> {
    let (mut number, mut weight) = (0_usize, 1_usize);
    for (step, count) in loops {
        number = number.checked_add((object / step % count).checked_mul(weight)?)?;
        weight = weight.checked_mul(*count)?;
    }
    u32::try_from(number).ok().filter(|&number| number <= MAX_CPU_ID)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(value: &str, total: usize) -> Result<Vec<u32>, String> {
        Indexes::in_attributes(&format!("memory=1GB indexes={value}"))?.expect("there is one").numbers(total)
    }

    #[test]
    fn reads_lists_and_loops() {
        assert_eq!(numbers("3,1,0,2", 4), Ok(vec![3, 1, 0, 2]));
        assert_eq!(numbers("2*4:1*2", 8), Ok(vec![0, 4, 1, 5, 2, 6, 3, 7]), "SMT siblings four apart");
        assert!(Indexes::in_attributes("memory=1GB").expect("fine").is_none());
    }

    #[test]
    fn refuses_what_numbers_nothing() {
        for (value, reason) in [
            ("", "neither a list"),
            ("0,x", "neither a list"),
            ("core", "neither a list"),
            ("0*2", "neither a list"),
            ("2*0", "neither a list"),
            ("99999,0", "neither a list"),
            ("0,1", "does not number 4 objects"),
            ("0,1,1,2", "does not number 4 objects"),
            ("2*2:1*1", "does not number 4 objects"),
            ("1*9999999999999:1*9999999999999:1*2", "too large"),
        ] {
            let error = numbers(value, 4).expect_err(value);
            assert!(error.contains(reason), "{value}: {error}");
        }
    }
}
