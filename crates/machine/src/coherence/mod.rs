//! The costs of single accesses to cache lines, by the state of the line and the distance of its holder: a simulation of the
//! machine takes them, beyond those of messages.
//!
//! Every parameter is optional and says where it comes from. A program that needs one which is missing assumes it.

mod contended;
mod fields;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::machine_error::MachineError;
use crate::unit::Unit;

pub use self::contended::Contended;

/// The most classes of distance.
const MOST_CLASSES: usize = 256;
/// The longest time, in units: a second and more.
const LONGEST: f64 = 1e10;
/// The most stores that wait for their lines.
const MOST_STORES: u32 = 4096;
/// The most accesses under way.
pub const MOST_AHEAD: u32 = 64;

/// Where a parameter comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Measured on the machine.
    Measured,
    /// Published by others, of such a machine.
    Published,
    /// Chosen so that a simulation comes near to what was measured on the machine.
    Fitted,
    /// None of these: a usual value, or one that follows from other parameters.
    Assumed,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Measured => "measured",
            Self::Published => "published",
            Self::Fitted => "fitted",
            Self::Assumed => "assumed",
        })
    }
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter<T> {
    /// Its value, or its values by distance, the nearest first.
    pub value: T,
    /// Where that comes from.
    pub origin: Origin,
}

/// A time for each class of distance, if it is known.
pub type ByDistance = Option<Parameter<Vec<f64>>>;

/// How caches agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoherenceProtocol {
    /// A directory at a line's home answers requests; else all caches are asked.
    pub directory: bool,
    /// A written line may be shared without being written back first (the O of MOESI).
    pub owned: bool,
}

/// Times of an access that misses, by the state in which it finds the line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StateCosts {
    /// One CPU has written it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: ByDistance,
    /// One CPU has written it, and others have copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owned: ByDistance,
    /// One CPU has it, and memory has the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusive: ByDistance,
    /// Some CPUs have copies, and memory has the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: ByDistance,
}

/// Times of calls of the operating system.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SystemCosts {
    /// To fall asleep on a futex, or to find that its word has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep: Option<Parameter<f64>>,
    /// To wake a thread: the waker's own time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake: Option<Parameter<f64>>,
    /// From the call of the waker until the sleeper runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub woken: Option<Parameter<f64>>,
    /// A CPU that had nothing to run for less than this time needs half of `woken`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_idle: Option<Parameter<f64>>,
    /// To give the CPU away where no other thread wants it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub give_way: Option<Parameter<f64>>,
    /// To change from one thread to another on one CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch: Option<Parameter<f64>>,
    /// A change takes up to this much more or less than `switch`, by chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switch_spread: Option<Parameter<f64>>,
    /// For so long a thread runs while others want its CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<Parameter<f64>>,
    /// The time that a thread has on its CPU at least, before one that was woken takes its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_slice: Option<Parameter<f64>>,
}

/// Costs of CPUs that share a core.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SmtCosts {
    /// The factor by which computing takes longer while another CPU of the core computes, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<Parameter<f64>>,
    /// An access to a line that another CPU of the core has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Parameter<f64>>,
}

impl SmtCosts {
    fn is_unknown(&self) -> bool {
        *self == Self::default()
    }
}

/// The costs of single accesses to cache lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coherence {
    /// The unit of all times here.
    pub unit: Unit,
    /// Units in a microsecond: 1000 of nanoseconds, or the clock in MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units_per_us: Option<f64>,
    /// The classes of distance in words, the nearest first.
    pub classes: Vec<String>,
    /// The class of every two CPUs, indexed as the costs of messages are.
    pub distances: Vec<Vec<u8>>,
    /// How caches agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Parameter<CoherenceProtocol>>,
    /// Loads that miss.
    pub load: StateCosts,
    /// Stores that miss.
    pub store: StateCosts,
    /// Read-modify-writes that miss.
    pub read_modify_write: StateCosts,
    /// Accesses to a line that is in memory only, by the distance of its home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: ByDistance,
    /// A load that hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit: Option<Parameter<f64>>,
    /// A read-modify-write that hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_modify_write_hit: Option<Parameter<f64>>,
    /// The hint of a polling loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<Parameter<f64>>,
    /// A look at the clock, in a loop that looks and pauses until some time has come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look: Option<Parameter<f64>>,
    /// The time for which a CPU keeps a line that it got by a load or store before it answers the next request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<Parameter<f64>>,
    /// The loads and read-modify-writes that a CPU has under way at most: a number, no time; 0 if each waits for the one before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<Parameter<u32>>,
    /// The stores that wait for their lines at most: a number, no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_buffer: Option<Parameter<u32>>,
    /// The time from one request of the store buffer to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: ByDistance,
    /// The share of a load's time for which the line serves no other request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<Parameter<f64>>,
    /// The time that a home needs for each request which it sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<Parameter<f64>>,
    /// A request behind which another one waits, of a line with a holder in another package, takes longer by this factor of its
    /// time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<Parameter<f64>>,
    /// Calls of the operating system.
    pub system: SystemCosts,
    /// CPUs that share a core.
    #[serde(skip_serializing_if = "SmtCosts::is_unknown")]
    pub smt: SmtCosts,
    /// Measurements that no parameter is, to which a simulation can be fitted: increments of contended lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contended: Vec<Contended>,
    /// Fields that this version does not know, kept as they are when it is written again.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

impl Coherence {
    /// One of these classes, of which nothing else is known.
    #[must_use]
    pub fn unknown(unit: Unit, classes: Vec<String>, distances: Vec<Vec<u8>>) -> Self {
        Self {
            unit,
            units_per_us: None,
            classes,
            distances,
            protocol: None,
            load: StateCosts::default(),
            store: StateCosts::default(),
            read_modify_write: StateCosts::default(),
            memory: None,
            hit: None,
            read_modify_write_hit: None,
            pause: None,
            look: None,
            hold: None,
            ahead: None,
            store_buffer: None,
            gap: None,
            beta: None,
            service: None,
            kappa: None,
            system: SystemCosts::default(),
            smt: SmtCosts::default(),
            contended: Vec::new(),
            other: BTreeMap::new(),
        }
    }

    /// All numbers that are known, in the order of the file: the name, the values, and where they come from.
    #[must_use]
    pub fn parameters(&self) -> Vec<(String, Vec<f64>, Origin)> {
        let by_distance = self.by_distance().map(|(name, times)| (name, times.value.clone(), times.origin));
        let single = self.single().map(|(name, number)| (name.to_owned(), vec![number.value], number.origin));
        let counts = [("store_buffer", self.store_buffer), ("ahead", self.ahead)].into_iter();
        let counts = counts.filter_map(|(name, count)| {
            let count = count?;
            Some((name.to_owned(), vec![f64::from(count.value)], count.origin))
        });
        by_distance.chain(single).chain(counts).collect()
    }

    /// The parameters with a time for each distance, by name.
    fn by_distance(&self) -> impl Iterator<Item = (String, &Parameter<Vec<f64>>)> {
        let accesses = [("load", &self.load), ("store", &self.store), ("read_modify_write", &self.read_modify_write)];
        let states = accesses.into_iter().flat_map(|(access, costs)| {
            let StateCosts { modified, owned, exclusive, shared } = costs;
            let states = [("modified", modified), ("owned", owned), ("exclusive", exclusive), ("shared", shared)];
            states.map(|(state, times)| (format!("{access}.{state}"), times))
        });
        let others = [("memory", &self.memory), ("gap", &self.gap)].map(|(name, times)| (name.to_owned(), times));
        states.chain(others).filter_map(|(name, times)| Some((name, times.as_ref()?)))
    }

    /// The parameters that are one number, by name.
    fn single(&self) -> impl Iterator<Item = (&'static str, Parameter<f64>)> {
        let Self { hit, read_modify_write_hit, pause, look, hold, beta, service, kappa, system, smt, .. } = self;
        let SystemCosts { sleep, wake, woken, short_idle, give_way, switch, switch_spread, slice, least_slice } =
            system;
        let all = [
            ("hit", hit),
            ("read_modify_write_hit", read_modify_write_hit),
            ("pause", pause),
            ("look", look),
            ("hold", hold),
            ("beta", beta),
            ("service", service),
            ("kappa", kappa),
            ("system.sleep", sleep),
            ("system.wake", wake),
            ("system.woken", woken),
            ("system.short_idle", short_idle),
            ("system.give_way", give_way),
            ("system.switch", switch),
            ("system.switch_spread", switch_spread),
            ("system.slice", slice),
            ("system.least_slice", least_slice),
            ("smt.slowdown", &smt.slowdown),
            ("smt.line", &smt.line),
        ];
        all.into_iter().filter_map(|(name, &parameter)| Some((name, parameter?)))
    }

    /// Checks that the classes are those of `cpus` CPUs, and that each number can be one.
    pub(crate) fn check(&self, cpus: usize) -> Result<(), MachineError> {
        self.check_classes(cpus)?;
        for (field, parameter) in self.by_distance() {
            let (found, expected) = (parameter.value.len(), self.classes.len());
            if found != expected {
                let rule = format!("has {found} values, expected {expected}, one for each of `classes`");
                return Err(wrong(&field, rule));
            }
            parameter.value.iter().try_for_each(|&time| check_number(&field, time, LONGEST))?;
        }
        let most = |field: &str| if field == "beta" { 1.0 } else { LONGEST };
        self.single().try_for_each(|(field, number)| check_number(field, number.value, most(field)))?;
        if let Some(stores) = self.store_buffer.filter(|stores| !(1..=MOST_STORES).contains(&stores.value)) {
            return Err(wrong("store_buffer", format!("is {}, expected from 1 to {MOST_STORES}", stores.value)));
        }
        if let Some(ahead) = self.ahead.filter(|ahead| ahead.value > MOST_AHEAD) {
            return Err(wrong("ahead", format!("is {}, expected from 0 to {MOST_AHEAD}", ahead.value)));
        }
        self.contended.iter().enumerate().try_for_each(|(number, row)| row.check(number, cpus))?;
        match self.units_per_us {
            Some(units) if !(1.0..=1e6).contains(&units) => {
                Err(wrong("units_per_us", format!("is {units}, expected a number from 1 to 1e6")))
            }
            _ => Ok(()),
        }
    }

    fn check_classes(&self, cpus: usize) -> Result<(), MachineError> {
        let classes = self.classes.len();
        if classes == 0 || classes > MOST_CLASSES {
            return Err(wrong("classes", format!("has {classes} entries, expected from 1 to {MOST_CLASSES}")));
        }
        if self.distances.len() != cpus {
            let rule = format!("has {} rows, expected {cpus}, one for each CPU", self.distances.len());
            return Err(wrong("distances", rule));
        }
        for (number, row) in self.distances.iter().enumerate() {
            if row.len() != cpus {
                let rule = format!("has {} entries in row {number}, expected {cpus}", row.len());
                return Err(wrong("distances", rule));
            }
            if let Some(class) = row.iter().find(|&&class| usize::from(class) >= classes) {
                let rule = format!("has class {class} in row {number}, and there are {classes}, from 0");
                return Err(wrong("distances", rule));
            }
        }
        Ok(())
    }

    /// The part of it for the CPUs at these positions, in their order.
    #[must_use]
    pub fn restricted_to(&self, kept: &[usize]) -> Self {
        let row = |&i: &usize| kept.iter().map(|&j| self.distances[i][j]).collect();
        let contended = self.contended.iter().filter_map(|row| row.restricted_to(kept)).collect();
        Self { distances: kept.iter().map(row).collect(), contended, ..self.clone() }
    }
}

fn check_number(field: &str, number: f64, most: f64) -> Result<(), MachineError> {
    if (0.0..=most).contains(&number) {
        return Ok(());
    }
    Err(wrong(field, format!("is {number}, expected a number from 0 to {most:e}")))
}

fn wrong(field: &str, rule: String) -> MachineError {
    MachineError::Coherence { field: field.to_owned(), rule }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"{"unit": "cycles", "units_per_us": 2100, "classes": ["near"], "distances": [[0, 0], [0, 0]],
        "load": {"modified": {"value": [81], "origin": "published"}},
        "hit": {"value": 3, "origin": "measured"},
        "store_buffer": {"value": 32, "origin": "assumed"}, "ahead": {"value": 12, "origin": "assumed"},
        "beta": {"value": 1, "origin": "assumed"},
        "system": {"woken": {"value": 30000, "origin": "assumed"}},
        "contended": [{"clusters": 1, "cpus": [0, 1], "lines": 8, "time": 12.5, "handed": 0.5}], "colour": "grey"}"#;

    fn parsed(text: &str) -> Result<Coherence, String> {
        let coherence: Coherence = serde_json::from_str(text).map_err(|error| error.to_string())?;
        coherence.check(2).map_err(|error| error.to_string())?;
        Ok(coherence)
    }

    #[test]
    fn it_comes_back_with_what_is_unknown() {
        let coherence = parsed(TWO).expect("as documented");
        assert_eq!(coherence.load.modified, Some(Parameter { value: vec![81.0], origin: Origin::Published }));
        assert_eq!(coherence.store, StateCosts::default());
        assert_eq!(coherence.other["colour"], "grey");
        let names: Vec<String> = coherence.parameters().into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["load.modified", "hit", "beta", "system.woken", "store_buffer", "ahead"]);
        let text = serde_json::to_string(&coherence).expect("all can be written");
        assert_eq!(parsed(&text), Ok(coherence));
    }

    #[test]
    fn a_wrong_value_is_told_with_its_field() {
        for (from, to, expected) in [
            ("\"cycles\"", "\"hours\"", "`coherence.unit`: unknown variant `hours`"),
            ("\"unit\": \"cycles\", ", "", "`coherence.unit`: is missing"),
            ("2100", "0", "`coherence.units_per_us` is 0"),
            ("[\"near\"]", "[]", "`coherence.classes` has 0 entries"),
            ("[[0, 0], [0, 0]]", "[[0, 0]]", "`coherence.distances` has 1 rows, expected 2"),
            ("[[0, 0], [0, 0]]", "[[0, 0], [0]]", "`coherence.distances` has 1 entries in row 1"),
            ("[[0, 0], [0, 0]]", "[[0, 1], [0, 0]]", "`coherence.distances` has class 1 in row 0"),
            ("[[0, 0], [0, 0]]", "[[0, -1], [0, 0]]", "`coherence.distances`: invalid value"),
            ("[81]", "[81, 90]", "`coherence.load.modified` has 2 values, expected 1"),
            ("[81]", "[-1]", "`coherence.load.modified` is -1, expected a number from 0 to 1e10"),
            ("[81]", "81", "`coherence.load.modified`: invalid type"),
            ("\"published\"", "\"guessed\"", "`coherence.load.modified`: unknown variant `guessed`"),
            ("{\"value\": 3, \"origin\": \"measured\"}", "3", "`coherence.hit`: invalid type"),
            ("\"value\": 3,", "\"value\": 1e11,", "`coherence.hit` is 100000000000"),
            ("\"value\": 3,", "", "`coherence.hit`: missing field `value`"),
            ("\"value\": 32", "\"value\": 0", "`coherence.store_buffer` is 0, expected from 1 to 4096"),
            ("\"value\": 12", "\"value\": 65", "`coherence.ahead` is 65, expected from 0 to 64"),
            ("\"value\": 1,", "\"value\": 1.5,", "`coherence.beta` is 1.5, expected a number from 0 to 1e0"),
            ("\"value\": 30000", "\"value\": null", "`coherence.system.woken`: invalid type: null"),
            ("{\"modified\"", "[{\"modified\"", "expected"),
            ("\"lines\": 8, ", "", "`coherence.contended`: missing field `lines`"),
            ("\"lines\": 8", "\"lines\": 0", "`coherence.contended` has 0 lines in row 0, expected from 1 to 65536"),
            ("\"clusters\": 1", "\"clusters\": 0", "`coherence.contended` has 0 clusters in row 0"),
            (
                "\"cpus\": [0, 1]",
                "\"cpus\": [0, 2]",
                "`coherence.contended` has CPU 2 in row 0, and there are 2, from 0",
            ),
            ("\"cpus\": [0, 1]", "\"cpus\": [0, 0]", "`coherence.contended` has CPU 0 twice in row 0"),
            ("\"cpus\": [0, 1]", "\"cpus\": []", "`coherence.contended` has no CPUs in row 0"),
            ("\"time\": 12.5", "\"time\": -1", "`coherence.contended.time` is -1"),
            (
                "\"handed\": 0.5",
                "\"handed\": 1.5",
                "`coherence.contended.handed` is 1.5, expected a number from 0 to 1e0",
            ),
        ] {
            let text = TWO.replacen(from, to, 1);
            assert_ne!(text, TWO, "{from}");
            let error = parsed(&text).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        }
        let error = parsed(&TWO.replace("{\"woken\": {\"value\": 30000, \"origin\": \"assumed\"}}", "7"));
        assert!(error.expect_err("no object").contains("`coherence.system`: invalid type"));
    }

    #[test]
    fn a_part_of_the_machine_has_the_same_costs() {
        let coherence = Coherence { distances: vec![vec![0, 1], vec![2, 3]], ..parsed(TWO).expect("as documented") };
        let part = coherence.restricted_to(&[1]);
        assert_eq!(part.distances, [[3]]);
        assert_eq!(part.load, coherence.load);
        let row = Contended { clusters: 1, cpus: vec![0, 1], lines: 8, time: 10.0, handed: 0.5 };
        let coherence =
            Coherence { contended: vec![row.clone(), Contended { cpus: vec![1], ..row.clone() }], ..coherence };
        assert_eq!(coherence.restricted_to(&[1]).contended, [Contended { cpus: vec![0], ..row.clone() }]);
        let turned = coherence.restricted_to(&[1, 0]).contended;
        assert_eq!([&turned[0].cpus, &turned[1].cpus], [&vec![1, 0], &vec![0]]);
    }
}
