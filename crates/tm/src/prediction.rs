//! Which form of transactional memory a machine's model prefers, and why: the first half of [`Form::Auto`].
//!
//! An access of a variable takes a round trip to its server and the transfer of its value's line, by messages; and two
//! transfers, of the line with its locks and of that of its value, in shared memory. The clients together get done what the
//! time of an access lets them, by messages as much as the servers can answer at most. Of one variable that all want,
//! accesses follow one another: a server takes a message and sends one for each, and in shared memory both lines move. The
//! form that is faster on balance, by the geometric mean of both, is preferred. The model knows nothing of the transactions:
//! a race of the real ones says more.

use crate::config::Form;
use crate::placement::Placement;

/// The accesses that both forms would get done in a thousand units of the model's time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Of variables that nobody else wants, by all participants together.
    pub apart: f64,
    /// Of one variable that all want.
    pub together: f64,
}

/// See the [module](self).
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The form that is preferred: messages or shared.
    pub form: Form,
    /// By messages; nothing gets done where there is no server, or no application.
    pub messages: Rates,
    /// In shared memory.
    pub shared: Rates,
    /// The reason in words.
    pub why: String,
}

/// The time in which accesses are counted, in units of the model.
const SPAN: f64 = 1000.0;

impl Prediction {
    /// Of participants that sit so.
    #[must_use]
    pub fn of(placement: &Placement) -> Self {
        let participants = placement.problem().len();
        let line = line(placement);
        let shared = Rates { apart: SPAN * participants as f64 / (2.0 * line), together: SPAN / (2.0 * line) };
        let messages = messages(placement, line);
        let balance = (messages.apart / shared.apart) * (messages.together / shared.together);
        let form = if balance > 1.0 { Form::Messages } else { Form::Shared };
        let clients = (0..participants).filter(|&id| !placement.is_server(id)).count();
        let why = format!(
            "of {participants} participants {clients} would run transactions beside servers; accesses in {SPAN} {}: {:.1} by messages, \
             {:.1} in shared memory; of one variable that all want {:.1} and {:.1}",
            placement.problem().unit(),
            messages.apart,
            shared.apart,
            messages.together,
            shared.together,
        );
        Self { form, messages, shared, why }
    }
}

/// A message from a participant to another one on average, which is a line that moves.
fn line(placement: &Placement) -> f64 {
    let problem = placement.problem();
    let pairs = (0..problem.len()).flat_map(|from| (0..problem.len()).map(move |to| (from, to)));
    let costs: Vec<f64> = pairs.filter(|(from, to)| from != to).map(|(from, to)| problem.message(from, to)).collect();
    mean(&costs).unwrap_or(1.0)
}

fn messages(placement: &Placement, line: f64) -> Rates {
    let problem = placement.problem();
    let (servers, clients): (Vec<usize>, Vec<usize>) = (0..problem.len()).partition(|&id| placement.is_server(id));
    let pairs = clients.iter().flat_map(|&client| servers.iter().map(move |&server| (client, server)));
    let busy: Vec<f64> =
        pairs.map(|(client, server)| problem.occupancy(client, server) + problem.send(server, client)).collect();
    let Some((trip, busy)) = placement.round_trip().zip(mean(&busy)) else {
        return Rates { apart: 0.0, together: 0.0 };
    };
    let asked = clients.len() as f64 / (trip + line);
    let answered = servers.len() as f64 / busy;
    Rates { apart: SPAN * asked.min(answered), together: SPAN / busy }
}

fn mean(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (!values.is_empty() && mean > 0.0).then_some(mean)
}

#[cfg(test)]
mod tests {
    use corecast_machine::Machine;
    use corecast_machine::source::{DiscoveryRequest, discover};

    use super::*;

    fn of(synthetic: &str, participants: usize, every: Option<usize>) -> Prediction {
        let request = DiscoveryRequest { synthetic: Some(synthetic.to_owned()), ..DiscoveryRequest::default() };
        let machine = Machine::from_topology(&discover(&request).expect("it is well written"));
        let placement = Placement::new(&machine, &machine.cpu_set(), participants, every).expect("there are CPUs");
        Prediction::of(&placement)
    }

    #[test]
    fn two_participants_share_memory_and_the_reason_has_the_figures() {
        let two = of("pack:1 core:2 pu:1", 2, Some(2));
        assert_eq!(two.form, Form::Shared, "{two:?}");
        assert!(two.why.starts_with("of 2 participants 1 would run transactions beside servers"), "{}", two.why);
        assert!(two.shared.apart > two.messages.apart);
    }

    #[test]
    fn without_servers_nothing_gets_done_by_messages() {
        let none = of("pack:2 core:4 pu:1", 8, None);
        assert_eq!((none.form, none.messages), (Form::Shared, Rates { apart: 0.0, together: 0.0 }));
    }

    #[test]
    fn more_participants_share_memory_better_and_one_variable_no_faster() {
        let (few, many) = (of("pack:2 core:2 pu:1", 4, Some(2)), of("pack:2 core:16 pu:1", 32, Some(2)));
        assert!(many.shared.apart > few.shared.apart && many.shared.together <= few.shared.together * 1.5);
    }
}
