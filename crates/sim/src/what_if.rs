//! A machine with some of its parameters changed: what if its interconnect were faster, its caches agreed in another way, or a
//! parameter that nobody has measured were another one?

use std::fmt;
use std::str::FromStr;

use corecast_sim_core::{ByState, Costs, Protocol, TICKS, Ticks};
use serde::{Deserialize, Serialize};

/// The bounds of what can be asked for.
const INTERCONNECT: [f64; 2] = [0.01, 100.0];
const KAPPA: [f64; 2] = [0.0, 1000.0];
const SERVICE_NS: [f64; 2] = [0.0, 1e6];
const BETA: [f64; 2] = [0.0, 1.0];

/// Changes of a machine; `None` where it stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhatIf {
    /// The time by which far CPUs and memories take longer than near ones is multiplied by this.
    pub interconnect: Option<f64>,
    /// A request behind which another one waits, of a line with a holder in another package, takes longer by this factor of its
    /// time.
    pub kappa: Option<f64>,
    /// The time that a home needs for each request which it sees, in nanoseconds.
    pub service_ns: Option<f64>,
    /// The share of a load's time for which the line serves no other request.
    pub beta: Option<f64>,
    /// Whether a written line is shared without being written back.
    pub protocol: Option<CacheProtocol>,
}

/// How caches share a line that one of them has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheProtocol {
    /// The CPU that has written it owns it still.
    Moesi,
    /// It is written back. MESIF is the same here: of a shared line the nearest holder answers in any case.
    Mesi,
}

/// One change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Of [`WhatIf::interconnect`].
    Interconnect(f64),
    /// Of [`WhatIf::kappa`].
    Kappa(f64),
    /// Of [`WhatIf::service_ns`].
    ServiceNs(f64),
    /// Of [`WhatIf::beta`].
    Beta(f64),
    /// Of [`WhatIf::protocol`].
    Protocol(CacheProtocol),
}

/// A text that is no change of a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhatIfError {
    /// Nothing that can be changed, or not so.
    #[error(
        "expected interconnect=F (a factor from 0.01 to 100), kappa=F (0 to 1000), service=NS (0 to 1000000), beta=F (0 to 1), \
         or protocol=moesi, mesi or mesif, such as interconnect=0.5"
    )]
    Unknown,
    /// Two changes of one thing.
    #[error("{name} is changed twice: expected one value")]
    Twice {
        /// The name of the thing.
        name: &'static str,
    },
}

impl WhatIf {
    /// All of these changes.
    ///
    /// ```
    /// use corecast_sim::{Change, WhatIf};
    ///
    /// let changes: Vec<Change> = ["kappa=0", "service=20"].iter().map(|text| text.parse().unwrap()).collect();
    /// let what_if = WhatIf::of(&changes).unwrap();
    /// assert_eq!((what_if.kappa, what_if.service_ns, what_if.beta), (Some(0.0), Some(20.0), None));
    /// assert!(WhatIf::of(&[changes[0], changes[0]]).is_err());
    /// ```
    ///
    /// # Errors
    /// [`WhatIfError::Twice`] if two of them are of one thing.
    pub fn of(changes: &[Change]) -> Result<Self, WhatIfError> {
        let mut all = Self::default();
        for &change in changes {
            let (name, is_first) = match change {
                Change::Interconnect(factor) => ("interconnect", all.interconnect.replace(factor).is_none()),
                Change::Kappa(factor) => ("kappa", all.kappa.replace(factor).is_none()),
                Change::ServiceNs(ns) => ("service", all.service_ns.replace(ns).is_none()),
                Change::Beta(share) => ("beta", all.beta.replace(share).is_none()),
                Change::Protocol(protocol) => ("protocol", all.protocol.replace(protocol).is_none()),
            };
            if !is_first {
                return Err(WhatIfError::Twice { name });
            }
        }
        Ok(all)
    }

    /// These costs, changed; `units_per_us` is that of their machine.
    #[must_use]
    pub fn apply(&self, costs: &Costs, units_per_us: f64) -> Costs {
        let costs = costs.clone().with_interconnect(self.interconnect.unwrap_or(1.0));
        let costs = match self.protocol {
            Some(protocol) => with_protocol(costs, protocol),
            None => costs,
        };
        let service = self.service_ns.map(|ns| (ns * units_per_us / 1000.0 * TICKS as f64).round() as Ticks);
        let Costs { kappa, beta, .. } = costs;
        let service = service.unwrap_or(costs.service);
        with_contention(&costs, self.kappa.unwrap_or(kappa), service, self.beta.unwrap_or(beta))
    }
}

/// The changes in words, with a comma between two; nothing without any.
impl fmt::Display for WhatIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { interconnect, kappa, service_ns, beta, protocol } = self;
        let words = [
            interconnect.map(|factor| format!("interconnect x {factor}")),
            kappa.map(|factor| format!("kappa {factor}")),
            service_ns.map(|ns| format!("service {ns} ns")),
            beta.map(|share| format!("beta {share}")),
            protocol.map(|protocol| format!("protocol {protocol}")),
        ];
        f.write_str(&words.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for CacheProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Moesi => "moesi",
            Self::Mesi => "mesi",
        })
    }
}

impl FromStr for Change {
    type Err = WhatIfError;

    fn from_str(text: &str) -> Result<Self, WhatIfError> {
        let (name, value) = text.split_once('=').ok_or(WhatIfError::Unknown)?;
        let within = |[least, most]: [f64; 2]| value.parse().ok().filter(|number| (least..=most).contains(number));
        let change = match name {
            "interconnect" => within(INTERCONNECT).map(Self::Interconnect),
            "kappa" => within(KAPPA).map(Self::Kappa),
            "service" => within(SERVICE_NS).map(Self::ServiceNs),
            "beta" => within(BETA).map(Self::Beta),
            "protocol" => match value {
                "moesi" => Some(Self::Protocol(CacheProtocol::Moesi)),
                "mesi" | "mesif" => Some(Self::Protocol(CacheProtocol::Mesi)),
                _ => None,
            },
            _ => None,
        };
        change.ok_or(WhatIfError::Unknown)
    }
}

/// The same costs with the three parameters that are measured on few machines replaced.
pub(crate) fn with_contention(costs: &Costs, kappa: f64, service: Ticks, beta: f64) -> Costs {
    Costs { kappa, service, beta, ..costs.clone() }
}

/// The same costs where caches share written lines so. Costs of owned lines that are not known are assumed: loads take the
/// time of a modified line, others that of a shared one, as in the published times of the Opteron.
fn with_protocol(mut costs: Costs, protocol: CacheProtocol) -> Costs {
    let has_owned = protocol == CacheProtocol::Moesi;
    let owned = |times: &ByState, assumed: &[Ticks]| match (has_owned, times.owned.is_empty()) {
        (false, _) => Vec::new(),
        (true, true) => assumed.to_vec(),
        (true, false) => times.owned.clone(),
    };
    costs.load.owned = owned(&costs.load, &costs.load.modified);
    for times in [&mut costs.store, &mut costs.read_modify_write] {
        times.owned = owned(times, &times.shared);
    }
    costs.protocol = Protocol { has_owned, ..costs.protocol };
    costs
}

#[cfg(test)]
mod tests {
    use corecast_sim_core::{published, units};

    use super::*;

    fn changed(texts: &[&str]) -> Costs {
        let changes: Vec<Change> = texts.iter().map(|text| text.parse().expect("a change")).collect();
        let machine = published::xeon_8x10();
        WhatIf::of(&changes).expect("each once").apply(machine.costs(), machine.units_per_us())
    }

    #[test]
    fn parameters_are_replaced_and_the_others_stay() {
        let given = published::xeon_8x10().costs().clone();
        assert_eq!(changed(&[]), given);
        let costs = changed(&["kappa=0.5", "service=100", "beta=1"]);
        assert_eq!((costs.kappa, costs.service, costs.beta), (0.5, units(213), 1.0));
        assert_eq!(Costs { kappa: given.kappa, service: given.service, beta: given.beta, ..costs }, given);
        let halved = [units(109), units(199), units(254) + units(1) / 2];
        assert_eq!(changed(&["interconnect=0.5"]).load.modified, halved);
    }

    #[test]
    fn a_protocol_brings_the_state_of_owned_lines_with_their_costs_or_takes_it_away() {
        let given = published::xeon_8x10().costs().clone();
        let owned = changed(&["protocol=moesi"]);
        assert!(owned.protocol.has_owned && !owned.protocol.has_directory);
        assert_eq!((&owned.load.owned, &owned.store.owned), (&given.load.modified, &given.store.shared));
        assert_eq!(changed(&["protocol=mesif"]), given, "as it is");
        let opteron = published::opteron_4x12();
        let mesi = WhatIf { protocol: Some(CacheProtocol::Mesi), ..WhatIf::default() };
        let costs = mesi.apply(opteron.costs(), opteron.units_per_us());
        assert!(costs.load.owned.is_empty() && costs.protocol.has_directory && !costs.protocol.has_owned);
        assert!(opteron.clone().with_costs(costs).is_ok());
        let moesi = WhatIf { protocol: Some(CacheProtocol::Moesi), ..WhatIf::default() };
        assert_eq!(moesi.apply(opteron.costs(), opteron.units_per_us()), *opteron.costs());
        assert!(published::xeon_8x10().with_costs(owned).is_ok());
    }

    #[test]
    fn changes_are_told_and_what_is_none_is_refused() {
        let changes = ["interconnect=0.5", "kappa=0", "service=12.5", "beta=0.3", "protocol=mesif"];
        let changes: Vec<Change> = changes.iter().map(|text| text.parse().expect("a change")).collect();
        let words = "interconnect x 0.5, kappa 0, service 12.5 ns, beta 0.3, protocol mesi";
        assert_eq!(WhatIf::of(&changes).expect("each once").to_string(), words);
        assert_eq!(WhatIf::default().to_string(), "");
        for text in ["", "kappa", "kappa=", "kappa=-1", "kappa=nan", "beta=1.1", "service=1e7", "protocol=msi", "far=2"]
        {
            assert_eq!(text.parse::<Change>(), Err(WhatIfError::Unknown), "{text}");
        }
        let twice = WhatIf::of(&[Change::Beta(0.0), Change::Beta(0.0)]).expect_err("twice").to_string();
        assert_eq!(twice, "beta is changed twice: expected one value");
    }
}
