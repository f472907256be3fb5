//! The store against a map, its operations and answers as bytes, and its snapshots, whole and damaged.

use std::collections::HashMap;

use proptest::prelude::*;

use super::super::pool::LONG_BYTES;
use super::*;
use crate::Wire;
use crate::kv::{MAX_KEY_BYTES, MAX_VALUE_BYTES};

fn key(text: &str) -> Key {
    Key::try_from(text).expect("short")
}

fn value(text: &str) -> Value {
    Value::try_from(text).expect("short")
}

fn set(name: &str, text: &str) -> Op {
    Op::Set { key: key(name), value: value(text), condition: Condition::Always }
}

fn get(store: &Store, name: &str) -> Option<Value> {
    match store.query(&Query::Get(key(name))) {
        Answer::Value(value) => value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn operations_do_what_they_say() {
    let mut store = Store::default();
    let mut apply = |op: Op| store.apply(0, &op);
    assert_eq!(apply(set("a", "1")), Out::Done);
    assert_eq!(apply(Op::Increment { key: key("a"), by: 41 }), Out::Integer(42));
    assert_eq!(apply(Op::Increment { key: key("new"), by: -3 }), Out::Integer(-3));
    assert_eq!(apply(Op::Increment { key: key("new"), by: i64::MIN }), Out::Overflow);
    assert_eq!(apply(set("text", "4x")), Out::Done);
    assert_eq!(apply(Op::Increment { key: key("text"), by: 1 }), Out::NotAnInteger);
    assert_eq!(apply(Op::Append { key: key("text"), bytes: value("yz") }), Out::Count(4));
    let swap = |old: &str| Op::CompareAndSet { key: key("text"), old: value(old), new: value("5") };
    assert_eq!((apply(swap("4x")), apply(swap("4xyz")), apply(swap("4xyz"))), (Out::Refused, Out::Done, Out::Refused));
    let condition = |name: &str, condition| Op::Set { key: key(name), value: value("6"), condition };
    assert_eq!(apply(condition("text", Condition::Absent)), Out::Refused);
    assert_eq!(apply(condition("none", Condition::Present)), Out::Refused);
    assert_eq!(apply(condition("none", Condition::Absent)), Out::Done);
    assert_eq!(apply(condition("none", Condition::Present)), Out::Done);
    assert_eq!(apply(Op::Delete { keys: vec![key("none"), key("none"), key("new")] }), Out::Count(2));
    assert_eq!(
        [get(&store, "a"), get(&store, "text"), get(&store, "new")],
        [Some(value("42")), Some(value("5")), None]
    );
    let ask = |query: Query| store.query(&query);
    assert_eq!(ask(Query::Size), Answer::Count(2));
    assert_eq!(ask(Query::Length(key("a"))), Answer::Count(2));
    assert_eq!(ask(Query::Exists(vec![key("a"), key("b"), key("a")])), Answer::Count(2));
    assert_eq!(ask(Query::MultiGet(vec![key("b"), key("text")])), Answer::Values(vec![None, Some(value("5"))]));
}

#[test]
fn a_value_grows_up_to_its_limit() {
    let mut store = Store::default();
    let bytes = Value::new(&vec![b'a'; MAX_VALUE_BYTES / 2]).expect("allowed");
    let append = Op::Append { key: key("k"), bytes };
    assert_eq!(store.apply(0, &append), Out::Count(MAX_VALUE_BYTES as u64 / 2));
    assert_eq!(store.apply(1, &append), Out::Count(MAX_VALUE_BYTES as u64));
    let digest = store.digest();
    assert_eq!(store.apply(2, &Op::Append { key: key("k"), bytes: value("b") }), Out::TooLong);
    assert_eq!(store.digest(), digest);
}

#[test]
fn a_set_of_8_bytes_to_16_fits_a_line_of_the_log() {
    let mut bytes = Vec::new();
    set("12345678", "1234567812345678").encode(&mut bytes);
    assert_eq!(bytes.len(), 27);
}

fn keys() -> impl Strategy<Value = Key> {
    let bytes = prop_oneof![
        9 => prop::collection::vec(b'a'..=b'd', 1..=2),
        1 => prop::collection::vec(any::<u8>(), 1..=MAX_KEY_BYTES),
    ];
    bytes.prop_map(|bytes| Key::new(&bytes).expect("within the limits"))
}

fn values() -> impl Strategy<Value = Value> {
    let bytes = prop_oneof![
        4 => any::<i16>().prop_map(|number| number.to_string().into_bytes()),
        4 => prop::collection::vec(b'0'..=b'2', 0..=2),
        1 => prop::collection::vec(any::<u8>(), 0..=5000),
        1 => Just(i64::MAX.to_string().into_bytes()),
    ];
    bytes.prop_map(|bytes| Value::new(&bytes).expect("within the limits"))
}

fn operations() -> impl Strategy<Value = Op> {
    let condition = prop_oneof![Just(Condition::Always), Just(Condition::Absent), Just(Condition::Present)];
    prop_oneof![
        (keys(), values(), condition).prop_map(|(key, value, condition)| Op::Set { key, value, condition }),
        (keys(), values(), values()).prop_map(|(key, old, new)| Op::CompareAndSet { key, old, new }),
        prop::collection::vec(keys(), 0..4).prop_map(|keys| Op::Delete { keys }),
        (keys(), any::<i64>()).prop_map(|(key, by)| Op::Increment { key, by }),
        (keys(), values()).prop_map(|(key, bytes)| Op::Append { key, bytes }),
    ]
}

fn queries() -> impl Strategy<Value = Query> {
    prop_oneof![
        keys().prop_map(Query::Get),
        prop::collection::vec(keys(), 0..4).prop_map(Query::MultiGet),
        prop::collection::vec(keys(), 0..4).prop_map(Query::Exists),
        keys().prop_map(Query::Length),
        Just(Query::Size),
    ]
}

fn outs() -> impl Strategy<Value = Out> {
    prop_oneof![
        any::<u64>().prop_map(Out::Count),
        any::<i64>().prop_map(Out::Integer),
        prop::sample::select(vec![Out::Done, Out::Refused, Out::NotAnInteger, Out::Overflow, Out::TooLong]),
    ]
}

fn answers() -> impl Strategy<Value = Answer> {
    prop_oneof![
        prop::option::of(values()).prop_map(Answer::Value),
        prop::collection::vec(prop::option::of(values()), 0..4).prop_map(Answer::Values),
        any::<u64>().prop_map(Answer::Count),
    ]
}

fn comes_back<T: Wire + PartialEq + std::fmt::Debug>(value: &T) {
    let mut bytes = Vec::new();
    value.encode(&mut bytes);
    assert_eq!(T::decode(&bytes).as_ref(), Some(value));
}

/// A value that these bytes stand for is encoded as these bytes.
fn is_the_only_form<T: Wire>(bytes: &[u8]) {
    if let Some(value) = T::decode(bytes) {
        let mut again = Vec::new();
        value.encode(&mut again);
        assert_eq!(again, bytes);
    }
}

type Model = HashMap<Vec<u8>, Vec<u8>>;

fn number_of(value: Option<&Vec<u8>>) -> Option<i64> {
    let Some(value) = value else { return Some(0) };
    let number: i64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (number.to_string().as_bytes() == value).then_some(number)
}

/// The same by a map of vectors.
fn apply_to_model(model: &mut Model, op: &Op) -> Out {
    match op {
        Op::Set { key, value, condition } => {
            let is_there = model.contains_key(key.as_bytes());
            if *condition != Condition::Always && is_there != (*condition == Condition::Present) {
                return Out::Refused;
            }
            model.insert(key.as_bytes().to_vec(), value.to_vec());
        }
        Op::CompareAndSet { key, old, new } => match model.get_mut(key.as_bytes()) {
            Some(value) if value[..] == old[..] => *value = new.to_vec(),
            _ => return Out::Refused,
        },
        Op::Delete { keys } => {
            let is_there = |key: &&Key| model.remove(key.as_bytes()).is_some();
            return Out::Count(keys.iter().filter(is_there).count() as u64);
        }
        Op::Increment { key, by } => {
            let Some(number) = number_of(model.get(key.as_bytes())) else { return Out::NotAnInteger };
            let Some(sum) = number.checked_add(*by) else { return Out::Overflow };
            model.insert(key.as_bytes().to_vec(), sum.to_string().into_bytes());
            return Out::Integer(sum);
        }
        Op::Append { key, bytes } => {
            let value = model.entry(key.as_bytes().to_vec()).or_default();
            value.extend_from_slice(bytes);
            return Out::Count(value.len() as u64);
        }
    }
    Out::Done
}

fn snapshot_of(store: &Store) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.snapshot(&mut bytes).expect("a vector takes all");
    bytes
}

fn restored(bytes: &[u8]) -> Result<Store, io::ErrorKind> {
    Store::restore(&mut &bytes[..]).map_err(|error| error.kind())
}

proptest! {
    #[test]
    fn whatever_is_encoded_comes_back(op in operations(), query in queries(), out in outs(), answer in answers()) {
        comes_back(&op);
        comes_back(&query);
        comes_back(&out);
        comes_back(&answer);
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(kind in 0..9u8, mut bytes in prop::collection::vec(0..4u8, 0..40)) {
        bytes.insert(0, kind);
        is_the_only_form::<Op>(&bytes);
        is_the_only_form::<Out>(&bytes);
        is_the_only_form::<Query>(&bytes);
        is_the_only_form::<Answer>(&bytes);
    }

    #[test]
    fn it_agrees_with_a_map(ops in prop::collection::vec(operations(), 0..60)) {
        let (mut store, mut model) = (Store::default(), Model::new());
        for (at, op) in ops.iter().enumerate() {
            prop_assert_eq!(store.apply(at as u64, op), apply_to_model(&mut model, op), "{:?}", op);
        }
        prop_assert_eq!(store.len(), model.len());
        let shown: Model = store.iter().map(|(key, value)| (key.as_bytes().to_vec(), value.to_vec())).collect();
        prop_assert_eq!(&shown, &model);
        let mut other = Store::default();
        for (name, bytes) in &model {
            let (key, value) = (Key::new(name).expect("a key"), Value::new(bytes).expect("a value"));
            prop_assert_eq!(store.get(&key), Some(&value));
            other.set(&key, value, ());
        }
        prop_assert_eq!(store.digest(), other.digest(), "whatever came before");
        let back = restored(&snapshot_of(&store)).expect("whole");
        prop_assert_eq!((back.digest(), back.len()), (store.digest(), store.len()));
    }
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let mut store = Store::default();
    for number in 0..20 {
        store.apply(number, &set(&format!("key {number}"), &"v".repeat(number as usize)));
    }
    let bytes = snapshot_of(&store);
    let mut followed = bytes.clone();
    followed.extend_from_slice(b"of another");
    let mut rest = &followed[..];
    assert_eq!(Store::restore(&mut rest).expect("whole").digest(), store.digest());
    assert_eq!(rest, b"of another");
    for len in 0..bytes.len() {
        assert_eq!(restored(&bytes[..len]).err(), Some(io::ErrorKind::InvalidData), "{len} bytes");
    }
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(restored(&flipped).err(), Some(io::ErrorKind::InvalidData), "bit {bit}");
    }
}

#[test]
fn long_values_come_back_in_pieces_that_live_as_long_as_they() {
    let mut store = Store::default();
    let lengths = [LONG_BYTES - 1, LONG_BYTES, LONG_BYTES + 1, 300_000, 700_001, 1 << 20, 3 << 20, 5, 900_000];
    let value = |at: usize| Value::new(&vec![at as u8 + 1; lengths[at]]).expect("allowed");
    let name = |at: usize| key(&format!("key {at}"));
    for at in 0..lengths.len() {
        store.set(&name(at), value(at), ());
    }
    let mut back = restored(&snapshot_of(&store)).expect("whole");
    assert_eq!((back.digest(), back.len()), (store.digest(), lengths.len()));
    let kept: Vec<Value> = (0..lengths.len()).map(|at| back.get(&name(at)).expect("it came back").clone()).collect();
    (0..lengths.len()).for_each(|at| assert!(back.delete(&name(at))));
    assert_eq!(back.digest(), 0);
    drop(back);
    assert!((0..lengths.len()).all(|at| kept[at] == value(at)));
    let bytes = snapshot_of(&store);
    for cut in [bytes.len() - 17, bytes.len() / 2, 100] {
        assert_eq!(restored(&bytes[..cut]).err(), Some(io::ErrorKind::InvalidData), "{cut} bytes");
    }
}

#[test]
fn entries_taken_from_each_other_leave_no_trace() {
    let mut store = Store::default();
    assert_eq!((store.digest(), store.is_empty()), (0, true));
    store.apply(0, &set("a", "1"));
    let one = store.digest();
    store.apply(1, &set("b", "2"));
    store.apply(2, &set("a", "2"));
    store.apply(3, &Op::Delete { keys: vec![key("b")] });
    assert_ne!(store.digest(), one);
    store.apply(4, &set("a", "1"));
    assert_eq!(store.digest(), one);
}
