//! Reads costs of accesses field by field, so that an error names the field.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::Value;

use super::{Coherence, SmtCosts, StateCosts, SystemCosts};

impl<'de> Deserialize<'de> for Coherence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields { path: "coherence".to_owned(), values: BTreeMap::deserialize(deserializer)? };
        fields.coherence().map_err(D::Error::custom)
    }
}

/// The fields of an object that are not yet read.
struct Fields {
    path: String,
    values: BTreeMap<String, Value>,
}

impl Fields {
    /// Takes a field. The error names it.
    fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, String> {
        let value = self.values.remove(name);
        value.map(|value| serde_json::from_value(value).map_err(|error| self.error(name, &error))).transpose()
    }

    fn require<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, String> {
        self.take(name)?.ok_or_else(|| self.error(name, &"is missing"))
    }

    /// The fields of a field that is an object; none if it is missing.
    fn object(&mut self, name: &str) -> Result<Self, String> {
        let values = self.take(name)?.unwrap_or_default();
        Ok(Self { path: format!("{}.{name}", self.path), values })
    }

    fn error(&self, name: &str, words: &dyn Display) -> String {
        format!("`{}.{name}`: {words}", self.path)
    }

    fn coherence(mut self) -> Result<Coherence, String> {
        Ok(Coherence {
            unit: self.require("unit")?,
            units_per_us: self.take("units_per_us")?,
            classes: self.require("classes")?,
            distances: self.require("distances")?,
            protocol: self.take("protocol")?,
            load: self.object("load")?.states()?,
            store: self.object("store")?.states()?,
            read_modify_write: self.object("read_modify_write")?.states()?,
            memory: self.take("memory")?,
            hit: self.take("hit")?,
            read_modify_write_hit: self.take("read_modify_write_hit")?,
            pause: self.take("pause")?,
            look: self.take("look")?,
            hold: self.take("hold")?,
            ahead: self.take("ahead")?,
            store_buffer: self.take("store_buffer")?,
            gap: self.take("gap")?,
            beta: self.take("beta")?,
            service: self.take("service")?,
            kappa: self.take("kappa")?,
            system: self.object("system")?.system()?,
            smt: self.object("smt")?.smt()?,
            contended: self.take("contended")?.unwrap_or_default(),
            other: self.values,
        })
    }

    fn states(mut self) -> Result<StateCosts, String> {
        Ok(StateCosts {
            modified: self.take("modified")?,
            owned: self.take("owned")?,
            exclusive: self.take("exclusive")?,
            shared: self.take("shared")?,
        })
    }

    fn smt(mut self) -> Result<SmtCosts, String> {
        Ok(SmtCosts { slowdown: self.take("slowdown")?, line: self.take("line")? })
    }

    fn system(mut self) -> Result<SystemCosts, String> {
        Ok(SystemCosts {
            sleep: self.take("sleep")?,
            wake: self.take("wake")?,
            woken: self.take("woken")?,
            short_idle: self.take("short_idle")?,
            give_way: self.take("give_way")?,
            switch: self.take("switch")?,
            switch_spread: self.take("switch_spread")?,
            slice: self.take("slice")?,
            least_slice: self.take("least_slice")?,
        })
    }
}
