//! The rules that the parts of a cluster model keep, each named by the path of the field that breaks it.

use super::field::FieldError;
use super::model::{ClusterModel, MOST, MOST_MEMBERS, MOST_NODES, Nic, NodeRun, Tier};
use super::parameter::{Parameter, Provenance};

/// Messages that a node can begin while one is on the way: a tree has some times as many levels.
const MOST_STEPS: f64 = 1e5;

impl ClusterModel {
    /// Checks that the parts fit together, as the reader does with each file.
    ///
    /// # Errors
    ///
    /// The first field that breaks a rule, with what was expected.
    pub fn check(&self) -> Result<(), FieldError> {
        if self.machines.is_empty() {
            return Err(FieldError::new("machines", "at least one kind of machine", "none"));
        }
        for (kind, machine) in &self.machines {
            let members = machine.members.unwrap_or(1);
            within(&format!("machines.{kind}.members"), u64::from(members), 1, u64::from(MOST_MEMBERS))?;
        }
        self.parameters().iter().try_for_each(|(path, parameter)| check_parameter(path, parameter))?;
        self.check_nodes()?;
        self.check_tiers()?;
        self.nic.iter().try_for_each(check_nic)?;
        match &self.arrival {
            Some(arrival) if arrival.tail_share.value > 1.0 => {
                Err(FieldError::new("arrival.tail_share.value", "a share from 0 to 1", arrival.tail_share.value))
            }
            _ => Ok(()),
        }
    }

    fn check_nodes(&self) -> Result<(), FieldError> {
        if self.nodes.is_empty() {
            return Err(FieldError::new("nodes", "at least one node", "none"));
        }
        let mut next = 0;
        for (i, NodeRun { kind, count, place, .. }) in self.nodes.iter().enumerate() {
            if !self.machines.contains_key(kind) {
                let known: Vec<&str> = self.machines.keys().map(String::as_str).collect();
                let expected = format!("one of the machines: {}", known.join(", "));
                return Err(FieldError::new(format!("nodes[{i}].kind"), expected, format!("\"{kind}\"")));
            }
            within(&format!("nodes[{i}].count"), *count, 1, MOST_NODES)?;
            let first = place.unwrap_or(next);
            within(&format!("nodes[{i}].place"), first, next, MOST_NODES)?;
            next = first + count;
            within(&format!("nodes[{i}]"), next, 1, MOST_NODES)?;
        }
        Ok(())
    }

    /// One position behind the last node.
    fn span(&self) -> u64 {
        self.nodes.iter().fold(0, |next, run| run.place.unwrap_or(next) + run.count)
    }

    fn check_tiers(&self) -> Result<(), FieldError> {
        let Some(last) = self.tiers.len().checked_sub(1) else {
            return Err(FieldError::new("tiers", "at least one tier", "none"));
        };
        let mean_wait_ns = self.arrival.as_ref().map_or(0.0, |arrival| arrival.mean_ns.value);
        let mut before = 1;
        for (i, tier) in self.tiers.iter().enumerate() {
            let path = format!("tiers[{i}].size");
            match tier.size {
                None if i < last => {
                    return Err(FieldError::new(path, "a size, as all tiers but the last have", "none"));
                }
                Some(size) if size <= before.min(u64::MAX - 1) && i > 0 || size == 0 || size % before != 0 => {
                    let expected = format!("a multiple of {before} that is larger, as a unit holds whole smaller ones");
                    return Err(FieldError::new(path, expected, size));
                }
                Some(size) if i == last && size < self.span() => {
                    let expected = format!("at least {}, as the last tier holds all positions", self.span());
                    return Err(FieldError::new(path, expected, size));
                }
                size => before = size.unwrap_or(before),
            }
            check_tier(i, tier, mean_wait_ns)?;
        }
        Ok(())
    }
}

/// Checks that a node's messages follow each other in times that can be told from 0, and from those that they are on the way for.
fn check_tier(i: usize, tier: &Tier, mean_wait_ns: f64) -> Result<(), FieldError> {
    let value = |parameter: &Option<Parameter>| parameter.as_ref().map_or(0.0, |parameter| parameter.value);
    let busiest = tier.send_ns.value.min(tier.receive_ns.value);
    let step = busiest.max(value(&tier.gap_ns));
    if step < 1.0 {
        let expected = "at least 1, or `gap_ns` of at least 1, as no node sends any number of messages at once";
        return Err(FieldError::new(format!("tiers[{i}].send_ns"), expected, busiest));
    }
    if let Some(exchange) = tier.exchange_ns.as_ref().filter(|exchange| exchange.value < 1.0) {
        let expected = "at least 1, as an exchange takes time";
        return Err(FieldError::new(format!("tiers[{i}].exchange_ns"), expected, exchange.value));
    }
    let way = tier.latency_ns.value + value(&tier.rendezvous_ns) + mean_wait_ns;
    if way > MOST_STEPS * step {
        let expected = format!("with `rendezvous_ns` and waits at most {MOST_STEPS} times `gap_ns` or `send_ns`");
        return Err(FieldError::new(format!("tiers[{i}].latency_ns"), expected, way));
    }
    Ok(())
}

fn check_nic(nic: &Nic) -> Result<(), FieldError> {
    within("nic.bytes", nic.bytes, 1, MOST as u64)?;
    let mut before = 0;
    for (i, (lanes, cost)) in nic.curve.iter().enumerate() {
        let first = i == 0 && *lanes != 1;
        if first || *lanes <= before || *lanes > MOST_MEMBERS {
            let expected = format!("1 first, then ascending numbers of lanes to {MOST_MEMBERS}");
            return Err(FieldError::new(format!("nic.curve[{i}][0]"), expected, lanes));
        }
        if cost.value <= 0.0 {
            return Err(FieldError::new(format!("nic.curve[{i}][1].value"), "a time above 0", cost.value));
        }
        before = *lanes;
    }
    if nic.curve.is_empty() {
        return Err(FieldError::new("nic.curve", "at least one point", "none"));
    }
    Ok(())
}

fn check_parameter(path: &str, parameter: &Parameter) -> Result<(), FieldError> {
    if !(0.0..=MOST).contains(&parameter.value) {
        let expected = format!("a number from 0 to {MOST:e}");
        return Err(FieldError::new(format!("{path}.value"), expected, parameter.value));
    }
    if parameter.provenance == Provenance::Published && parameter.source.is_empty() {
        return Err(FieldError::new(format!("{path}.source"), "the publication", "none"));
    }
    Ok(())
}

fn within(path: &str, value: u64, least: u64, most: u64) -> Result<(), FieldError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(FieldError::new(path, format!("a whole number from {least} to {most}"), value))
}
