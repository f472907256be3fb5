//! Requests: the fields of a line, read strictly; a refusal names the field.

use std::path::PathBuf;

use corecast_base::{CpuId, CpuSet, MAX_CPU_ID};
use corecast_machine::{Machine, ModelError, model_file};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::answer::{Refusal, RefusalKind};
use super::version::VERSION;
use crate::effort::Effort;
use crate::limits::Limits;
use crate::operation::Operation;
use crate::request::AUTO;

/// The requests of a client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Question {
    /// For a plan.
    Plan(Box<PlanRequest>),
    /// The status of the service.
    Status,
    /// Ask for the names that requests may use.
    List,
}

/// A request for a plan; what is not set is as in [`crate::Request`].
///
/// ```
/// use corecast_plan::service::{PlanRequest, Question, parse_request};
/// use corecast_plan::{Effort, Operation};
/// let line = r#"{"corecast-plan": 1, "op": "reduce", "cpus": "0-3", "effort": "quick"}"#;
/// let request = PlanRequest {
///     cpus: Some("0-3".parse()?),
///     effort: Effort::Quick,
///     ..PlanRequest::new(Operation::Reduce)
/// };
/// assert_eq!(parse_request(line)?, Question::Plan(Box::new(request)));
/// let refused = parse_request(r#"{"corecast-plan": 1, "op": "reduce", "speed": 9}"#).unwrap_err();
/// assert!(refused.message.contains("unknown field `speed`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PlanRequest {
    /// The operation to plan.
    pub operation: Operation,
    /// The machine to plan for.
    pub machine: MachineSource,
    /// The CPUs to plan among; all of the machine's if `None`.
    pub cpus: Option<CpuSet>,
    /// The CPU of the root; the best one if `None`.
    pub root: Option<CpuId>,
    /// The planner: a planner, a shape, or [`AUTO`].
    pub planner: String,
    /// How hard to search.
    pub effort: Effort,
    /// The seed of everything random.
    pub seed: u64,
    /// The limits that the trees must keep.
    pub limits: Limits,
    /// The cost model.
    pub terms: TermsChoice,
    /// The lower bound: rounds of the tight one, 0 for the quick one; none if `None`.
    pub bound: Option<u32>,
}

/// The machine that a plan is for.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum MachineSource {
    /// The one that the service was started for.
    #[default]
    Service,
    /// The one in this model file, which the service reads: an absolute path.
    File(PathBuf),
    /// The one that this text describes: JSON as in a model file.
    Model(String),
}

/// The cost model that a plan is made by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TermsChoice {
    /// Costs of pairs only.
    #[default]
    Pairwise,
    /// Those and every term beyond pairs that the machine model has: see [`crate::Terms`].
    Extended,
}

impl MachineSource {
    /// This machine, sent along.
    ///
    /// # Errors
    ///
    /// If [`Machine::check`] fails, or the machine is too large for a model file.
    pub fn model(machine: &Machine) -> Result<Self, ModelError> {
        // A line break in JSON is never part of a value.
        model_file::render(machine).map(|text| Self::Model(text.replace('\n', " ")))
    }
}

impl PlanRequest {
    /// A request for the best plan that [`Effort::Normal`] finds, for the service's own machine.
    #[must_use]
    pub fn new(operation: Operation) -> Self {
        Self {
            operation,
            machine: MachineSource::default(),
            cpus: None,
            root: None,
            planner: AUTO.to_owned(),
            effort: Effort::default(),
            seed: 0,
            limits: Limits::default(),
            terms: TermsChoice::default(),
            bound: None,
        }
    }

    /// The line that asks for it, without its end.
    ///
    /// # Errors
    ///
    /// If the model is not JSON.
    pub(super) fn line(&self) -> Result<String, serde_json::Error> {
        let model;
        let machine = match &self.machine {
            MachineSource::Service => None,
            MachineSource::File(path) => Some(MachineFields::Path(path.clone())),
            MachineSource::Model(text) => {
                model = RawValue::from_string(text.clone())?;
                Some(MachineFields::Model(&model))
            }
        };
        serde_json::to_string(&Fields { machine, ..self.fields() })
    }

    /// Everything but the machine that decides the plan, as text.
    pub(super) fn key(&self) -> String {
        serde_json::to_string(&self.fields()).expect("these fields have only what JSON can say")
    }

    fn fields(&self) -> Fields<'_> {
        let limits = LimitsFields { children: self.limits.children, depth: self.limits.depth };
        Fields {
            version: VERSION,
            op: self.operation.name().to_owned(),
            machine: None,
            cpus: self.cpus.as_ref().map(CpuSet::to_string),
            root: self.root.map(CpuId::get),
            planner: Some(self.planner.clone()),
            effort: Some(self.effort.name().to_owned()),
            seed: Some(self.seed),
            limits: (!self.limits.is_none()).then_some(limits),
            terms: Some(self.terms),
            bound: self.bound,
        }
    }
}

/// The line that asks for something other than a plan.
pub(super) fn query(op: &str) -> String {
    format!("{{\"corecast-plan\":{VERSION},\"op\":\"{op}\"}}")
}

/// The request in this line.
///
/// # Errors
///
/// With [`RefusalKind::Json`] if it is not a JSON object, [`RefusalKind::Version`] if it is of another version, and
/// [`RefusalKind::Request`] if a field is unknown, missing, of the wrong type or names nothing known.
pub fn parse_request(line: impl AsRef<[u8]>) -> Result<Question, Refusal> {
    let line = line.as_ref();
    let head: Head = serde_json::from_slice(line).map_err(no_request)?;
    if head.version != Some(VERSION) {
        let found = head.version.map_or_else(|| "nothing".to_owned(), |version| version.to_string());
        let message = format!("expected \"corecast-plan\": {VERSION}, found {found}");
        return Err(Refusal::new(RefusalKind::Version, message));
    }
    let wrong = |error: String| Refusal::new(RefusalKind::Request, error);
    let op = head.op.ok_or_else(|| wrong("missing field `op`".to_owned()))?;
    if let Some(question) =
        [("status", Question::Status), ("list", Question::List)].into_iter().find(|(name, _)| op == *name)
    {
        let Bare { .. } = serde_json::from_slice(line).map_err(|error| wrong(format!("op {op}: {error}")))?;
        return Ok(question.1);
    }
    let fields: Fields<'_> = serde_json::from_slice(line).map_err(|error| wrong(error.to_string()))?;
    fields.request().map(|request| Question::Plan(Box::new(request))).map_err(wrong)
}

/// Whether the text is not JSON at all or not of this kind.
fn no_request(error: serde_json::Error) -> Refusal {
    let expected = "expected an object with \"corecast-plan\" and \"op\"";
    let kind = if error.is_data() { RefusalKind::Request } else { RefusalKind::Json };
    Refusal::new(kind, format!("{expected}: {error}"))
}

/// The part read first: whether the rest is of this version, and which fields it may have.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Head {
    #[serde(rename = "corecast-plan")]
    version: Option<u64>,
    op: Option<String>,
}

/// A request that has an operation and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bare {
    #[serde(rename = "corecast-plan")]
    _version: u64,
    #[serde(rename = "op")]
    _op: String,
}

/// A request for a plan, field by field.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields<'a> {
    #[serde(rename = "corecast-plan")]
    version: u64,
    op: String,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    machine: Option<MachineFields<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cpus: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root: Option<u32>,
    planner: Option<String>,
    effort: Option<String>,
    seed: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limits: Option<LimitsFields>,
    terms: Option<TermsChoice>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bound: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MachineFields<'a> {
    Path(PathBuf),
    #[serde(borrow)]
    Model(&'a RawValue),
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsFields {
    children: Option<usize>,
    depth: Option<usize>,
}

impl Fields<'_> {
    fn request(self) -> Result<PlanRequest, String> {
        let operation = self.op.parse::<Operation>().map_err(|error| format!("{error}, status or list"))?;
        let limits = self.limits.unwrap_or_default();
        Ok(PlanRequest {
            machine: self.machine.map(machine).transpose()?.unwrap_or_default(),
            cpus: self.cpus.as_deref().map(cpus).transpose()?,
            root: self.root.map(root).transpose()?,
            planner: self.planner.unwrap_or_else(|| AUTO.to_owned()),
            effort: self.effort.map_or(Ok(Effort::default()), |effort| effort.parse()).map_err(text)?,
            seed: self.seed.unwrap_or(0),
            limits: Limits { children: limits.children, depth: limits.depth },
            terms: self.terms.unwrap_or_default(),
            bound: self.bound,
            ..PlanRequest::new(operation)
        })
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn machine(fields: MachineFields<'_>) -> Result<MachineSource, String> {
    match fields {
        MachineFields::Model(model) => Ok(MachineSource::Model(model.get().to_owned())),
        MachineFields::Path(path) if path.is_absolute() => Ok(MachineSource::File(path)),
        // The service has a working folder of its own, which no client means.
        MachineFields::Path(path) => {
            Err(format!("machine path '{}' is relative, expected an absolute one", path.display()))
        }
    }
}

fn cpus(list: &str) -> Result<CpuSet, String> {
    let cpus: CpuSet = list.parse().map_err(text)?;
    if cpus.is_empty() { Err("`cpus` is empty, expected a list such as 0-3,8".to_owned()) } else { Ok(cpus) }
}

fn root(id: u32) -> Result<CpuId, String> {
    if id > MAX_CPU_ID {
        Err(format!("root {id} is above {MAX_CPU_ID}, the highest CPU id believed"))
    } else {
        Ok(CpuId::new(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_written() {
        let full = PlanRequest {
            machine: MachineSource::Model("{\"any\": [\"thing\"]}".to_owned()),
            cpus: Some("0-2,9".parse().expect("a list")),
            root: Some(CpuId::new(9)),
            planner: "fibonacci".to_owned(),
            effort: Effort::Exact,
            seed: u64::MAX,
            limits: Limits { children: Some(3), depth: None },
            terms: TermsChoice::Extended,
            bound: Some(30),
            ..PlanRequest::new(Operation::TwoPhaseCommit)
        };
        let file = MachineSource::File(PathBuf::from("/models/a b.json"));
        let plain = PlanRequest { machine: file, ..PlanRequest::new(Operation::Reduce) };
        for request in [full, plain, PlanRequest::new(Operation::Barrier)] {
            let line = request.line().expect("JSON");
            assert_eq!(parse_request(&line).expect(&line), Question::Plan(Box::new(request)));
        }
        assert_eq!(parse_request(query("status")).expect("a query"), Question::Status);
        assert_eq!(parse_request(query("list")).expect("a query"), Question::List);
    }

    #[test]
    fn the_key_tells_requests_apart_but_not_by_machine() {
        let request = PlanRequest::new(Operation::Reduce);
        let elsewhere = PlanRequest { machine: MachineSource::Model("{}".to_owned()), ..request.clone() };
        assert_eq!(request.key(), elsewhere.key());
        let limited = PlanRequest { limits: Limits { depth: Some(2), ..Limits::default() }, ..request.clone() };
        assert_ne!(request.key(), limited.key());
        assert_ne!(request.key(), PlanRequest { terms: TermsChoice::Extended, ..request.clone() }.key());
    }

    #[test]
    fn lines_that_are_not_requests_are_refused_by_name() {
        let deep = "[".repeat(100_000);
        let deep_field = format!("{{\"corecast-plan\": 1, \"op\": \"reduce\", \"machine\": {{\"model\": {deep}");
        for (line, kind, expected) in [
            ("", RefusalKind::Json, "EOF"),
            ("hello", RefusalKind::Json, "line 1"),
            ("{\"corecast-plan\": 1", RefusalKind::Json, "EOF"),
            (&deep, RefusalKind::Request, "expected an object"),
            (&deep_field, RefusalKind::Json, "line 1"),
            ("null", RefusalKind::Request, "expected an object"),
            ("{}", RefusalKind::Version, "expected \"corecast-plan\": 1, found nothing"),
            ("{\"corecast-plan\": 2, \"op\": \"brew\", \"new\": 1}", RefusalKind::Version, "found 2"),
            ("{\"corecast-plan\": \"1\"}", RefusalKind::Request, "invalid type: string"),
            ("{\"corecast-plan\": 1}", RefusalKind::Request, "missing field `op`"),
        ] {
            let refusal = parse_request(line).expect_err(expected);
            assert_eq!(refusal.kind, kind, "{refusal:?}");
            assert!(refusal.message.contains(expected), "{refusal:?}");
        }
    }

    #[test]
    fn faults_in_a_request_are_refused_by_name() {
        for (fields, expected) in [
            (r#""op": "scatter""#, "'scatter' is not an operation; expected broadcast"),
            (r#""op": "reduce", "speed": 9"#, "unknown field `speed`, expected one of"),
            (r#""op": "reduce", "seed": -1"#, "invalid value: integer `-1`"),
            (r#""op": "reduce", "seed": 1, "seed": 2"#, "duplicate field `seed`"),
            (r#""op": "reduce", "cpus": [0]"#, "expected a string"),
            (r#""op": "reduce", "cpus": """#, "`cpus` is empty"),
            (r#""op": "reduce", "cpus": "0-4000000000""#, "above 65535"),
            (r#""op": "reduce", "root": 70000"#, "root 70000 is above 65535"),
            (r#""op": "reduce", "effort": "hard""#, "'hard' is not an effort"),
            (r#""op": "reduce", "terms": "all""#, "unknown variant `all`, expected `pairwise` or `extended`"),
            (r#""op": "reduce", "limits": {"width": 1}"#, "unknown field `width`"),
            (r#""op": "reduce", "machine": {"path": "a.json"}"#, "'a.json' is relative"),
            (r#""op": "reduce", "machine": {"url": "x"}"#, "unknown variant `url`, expected `path` or `model`"),
            (r#""op": "reduce", "machine": {"path": "/a", "model": {}}"#, "expected"),
            (r#""op": "status", "cpus": "0""#, "op status: unknown field `cpus`"),
        ] {
            let refusal = parse_request(format!("{{\"corecast-plan\": 1, {fields}}}")).expect_err(expected);
            assert!(refusal.message.contains(expected), "{fields}: {refusal:?}");
        }
    }
}
