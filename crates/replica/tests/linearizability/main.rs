//! The checker of histories: planted violations, histories that are linearizable by construction, and a checker without
//! cleverness.

mod brute_force;
mod generate;
mod planted;

use corecast_replica::linearizability::{
    Counter, CounterOp, Model, Operation, Register, RegisterOp, USUAL_LIMIT, Verdict, check, split_by_key,
};

use generate::{Shape, changed, counter_op, history, register_op};

const SMALL: Shape = Shape { clients: 3, operations: 6, unanswered: 0.3, stopped: 0.1 };
const LARGE: Shape = Shape { clients: 12, operations: 10_000, unanswered: 0.005, stopped: 0.0005 };

fn explained<M: Model>(verdict: &Verdict, history: &[Operation<M::Op, M::Answer>]) -> String {
    let mut text = format!("{:?}\n", std::mem::discriminant(verdict));
    if let Verdict::Violated(violation) | Verdict::Undecided(violation) = verdict {
        violation.explain(history, &mut text).expect("a string");
    }
    text
}

#[test]
fn histories_that_are_linearizable_are_accepted() {
    for seed in 0..1_000 {
        let shape = Shape { clients: 1 + seed as usize % 8, operations: 40, unanswered: 0.1, stopped: 0.05 };
        let registers = history(&Register, shape, seed, register_op);
        let verdict = check(&Register, &registers, USUAL_LIMIT);
        assert!(verdict.is_linearizable(), "seed {seed}: {}", explained::<Register>(&verdict, &registers));
        let counts = history(&Counter, shape, seed, counter_op);
        let verdict = check(&Counter, &counts, USUAL_LIMIT);
        assert!(verdict.is_linearizable(), "seed {seed}: {}", explained::<Counter>(&verdict, &counts));
    }
}

#[test]
fn ten_thousand_operations_of_a_key_with_stopped_and_killed_clients() {
    for seed in 0..2 {
        let registers = history(&Register, LARGE, seed, register_op);
        let verdict = check(&Register, &registers, USUAL_LIMIT);
        assert!(verdict.is_linearizable(), "seed {seed}: {}", explained::<Register>(&verdict, &registers));
    }
}

#[test]
fn a_stale_read_among_ten_thousand_operations_is_found() {
    let shape = Shape { clients: 6, operations: 10_000, unanswered: 0.001, stopped: 0.0002 };
    let mut registers = history(&Register, shape, 7, register_op);
    let stale = generate::make_stale(&mut registers, 5_000);
    let verdict = check(&Register, &registers, USUAL_LIMIT);
    let Verdict::Violated(violation) = &verdict else { panic!("{}", explained::<Register>(&verdict, &registers)) };
    assert!(violation.stuck.contains(&stale), "{}", explained::<Register>(&verdict, &registers));
}

#[test]
fn the_verdict_is_that_of_trying_everything() {
    let mut verdicts = [0; 2];
    for seed in 0..6_000 {
        let mut registers = history(&Register, SMALL, seed, register_op);
        changed(&mut registers, seed);
        verdicts[usize::from(agree(&Register, &registers, seed))] += 1;
        let mut counts = history(&Counter, SMALL, seed, counter_op);
        changed(&mut counts, seed);
        verdicts[usize::from(agree(&Counter, &counts, seed))] += 1;
    }
    assert!(verdicts.iter().all(|count| *count > 1_500), "both verdicts are tried: {verdicts:?}");
}

#[test]
fn histories_of_mostly_unanswered_operations_are_judged_alike() {
    let mut verdicts = [0; 2];
    for seed in 0..4_000 {
        let shape = Shape { unanswered: 0.7, operations: 7, ..SMALL };
        let mut registers = history(&Register, shape, seed, register_op);
        changed(&mut registers, seed);
        verdicts[usize::from(agree(&Register, &registers, seed))] += 1;
        let mut counts = history(&Counter, shape, seed, counter_op);
        changed(&mut counts, seed);
        verdicts[usize::from(agree(&Counter, &counts, seed))] += 1;
    }
    assert!(verdicts.iter().all(|count| *count > 100), "both verdicts are tried: {verdicts:?}");
}

/// Whether the history is linearizable, on which both checkers have to agree.
fn agree<M: Model>(model: &M, history: &[Operation<M::Op, M::Answer>], seed: u64) -> bool {
    let expected = brute_force::is_linearizable(model, history);
    let verdict = check(model, history, USUAL_LIMIT);
    let found = match &verdict {
        Verdict::Linearizable => true,
        Verdict::Violated(_) => false,
        Verdict::Undecided(_) => panic!("seed {seed}: a small history is decided"),
    };
    assert_eq!(found, expected, "seed {seed}: {}\n{history:#?}", explained::<M>(&verdict, history));
    expected
}

#[test]
fn a_limit_ends_the_search_undecided() {
    let registers = history(&Register, LARGE, 1, register_op);
    let verdict = check(&Register, &registers, 100);
    let Verdict::Undecided(so_far) = verdict else { panic!("it takes 10,000 steps: {verdict:?}") };
    assert!(!so_far.order.is_empty());
}

#[test]
fn keys_are_judged_apart() {
    let tagged = (0..4_u8).flat_map(|key| {
        history(&Register, SMALL, key.into(), register_op).into_iter().map(move |operation| (key, operation))
    });
    let keys = split_by_key(tagged);
    assert_eq!(keys.len(), 4);
    for (key, operations) in &keys {
        assert_eq!(operations, &history(&Register, SMALL, u64::from(*key), register_op));
        assert!(check(&Register, operations, USUAL_LIMIT).is_linearizable());
    }
}

#[test]
fn nothing_is_linearizable() {
    let nothing: [Operation<CounterOp, i64>; 0] = [];
    assert!(check(&Counter, &nothing, USUAL_LIMIT).is_linearizable());
    let unanswered = [Operation { client: 0, op: RegisterOp::Set(1), call_ns: 0, returned: None }];
    assert!(check(&Register, &unanswered, USUAL_LIMIT).is_linearizable());
}
