//! The commands of the protocol of Redis that a store understands, as operations and questions of its own.
//!
//! Names, numbers of arguments and errors are those of Redis 7. `CAS key old new` is this server's own: it sets the key if it
//! has exactly the old value, and answers 1, else 0.

use corecast::replica::kv::{Answer, Condition, Key, MAX_KEY_BYTES, MAX_KEYS, Op, Out, Query, Value};

use super::reply::Replies;
use super::request::{Arguments, ProtocolError};

/// The longest answer to MGET, in bytes. A reply lies in memory as a whole.
const MAX_ANSWER_BYTES: usize = 256 << 20;

/// A command that is to be carried out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// An operation, and how its result is told.
    Write(Op, Told),
    /// A question.
    Read(Query),
    /// The answer is PONG.
    Ping,
    /// These bytes come back.
    Echo(Vec<u8>),
    /// Names and values about the server.
    Info,
    /// OK, and nothing else.
    Accept,
    /// An empty array.
    Nothing,
    /// Settings: the name and the value of the one that is asked for, if it is known.
    Setting(Option<(&'static str, &'static str)>),
    /// The number of this connection.
    Number,
    /// The end of the connection.
    Quit,
    /// A request that cannot be carried out.
    Refuse(CommandError),
    /// Bytes that are no request: the error is told, and the connection ends.
    Garbage(ProtocolError),
}

/// How the result of an operation is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// OK, or no value where the condition does not hold.
    OkOrNothing,
    /// 1, or 0 where the condition does not hold.
    OneOrZero,
    /// A number.
    Number,
}

/// An error that the client is told; its connection goes on.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("ERR unknown command '{}', with args beginning with: {arguments}", shown(name, 128))]
    Unknown { name: Vec<u8>, arguments: String },
    #[error("ERR unknown subcommand '{}'. Try {command} HELP.", shown(name, 128))]
    Subcommand { command: &'static str, name: Vec<u8> },
    #[error("ERR wrong number of arguments for '{0}' command")]
    Arguments(&'static str),
    #[error("ERR syntax error")]
    Syntax,
    #[error("ERR value is not an integer or out of range")]
    NoInteger,
    #[error("ERR decrement would overflow")]
    Decrement,
    #[error("ERR DB index is out of range")]
    Database,
    #[error("ERR a key has 1 to {MAX_KEY_BYTES} bytes")]
    Key,
    #[error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")]
    Value,
    #[error("ERR a command names at most {MAX_KEYS} keys")]
    Keys,
}

/// At most this many bytes as text.
fn shown(bytes: &[u8], most: usize) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(most)]).into_owned()
}

/// The longest name of a command.
const NAME_BYTES: usize = 8;

impl Command {
    /// Of a request that has a name.
    pub(crate) fn parse(request: Arguments<'_>) -> Result<Self, CommandError> {
        let mut upper = [0; NAME_BYTES];
        match upper_case(request.get(0), &mut upper) {
            b"GET" => one_key(request, "get").map(|key| Self::Read(Query::Get(key))),
            b"SET" => set(request),
            b"SETNX" => {
                exactly(request, 3, "setnx")?;
                let (key, value) = (key(request.get(1))?, value(request.get(2))?);
                Ok(Self::Write(Op::Set { key, value, condition: Condition::Absent }, Told::OneOrZero))
            }
            b"CAS" => {
                exactly(request, 4, "cas")?;
                let (key, old, new) = (key(request.get(1))?, value(request.get(2))?, value(request.get(3))?);
                Ok(Self::Write(Op::CompareAndSet { key, old, new }, Told::OneOrZero))
            }
            b"DEL" => Ok(Self::Write(Op::Delete { keys: keys(request, "del")? }, Told::Number)),
            b"EXISTS" => Ok(Self::Read(Query::Exists(keys(request, "exists")?))),
            b"MGET" => Ok(Self::Read(Query::MultiGet(keys(request, "mget")?))),
            b"INCR" => increment(one_key(request, "incr")?, 1),
            b"DECR" => increment(one_key(request, "decr")?, -1),
            b"INCRBY" => {
                exactly(request, 3, "incrby")?;
                increment(key(request.get(1))?, integer(request.get(2))?)
            }
            b"DECRBY" => {
                exactly(request, 3, "decrby")?;
                let by = integer(request.get(2))?.checked_neg().ok_or(CommandError::Decrement)?;
                increment(key(request.get(1))?, by)
            }
            b"APPEND" => {
                exactly(request, 3, "append")?;
                let (key, bytes) = (key(request.get(1))?, value(request.get(2))?);
                Ok(Self::Write(Op::Append { key, bytes }, Told::Number))
            }
            b"STRLEN" => one_key(request, "strlen").map(|key| Self::Read(Query::Length(key))),
            b"DBSIZE" => exactly(request, 1, "dbsize").map(|()| Self::Read(Query::Size)),
            name => Self::of_connection(name, request),
        }
    }

    /// The commands about the connection and the server.
    #[cold]
    fn of_connection(name: &[u8], request: Arguments<'_>) -> Result<Self, CommandError> {
        match name {
            b"PING" if request.len() > 2 => Err(CommandError::Arguments("ping")),
            b"PING" if request.len() == 2 => Ok(Self::Echo(request.get(1).to_vec())),
            b"PING" => Ok(Self::Ping),
            b"ECHO" => exactly(request, 2, "echo").map(|()| Self::Echo(request.get(1).to_vec())),
            b"INFO" => Ok(Self::Info),
            b"COMMAND" => Ok(Self::Nothing),
            b"CONFIG" => config(request),
            b"CLIENT" => client(request),
            b"SELECT" => {
                exactly(request, 2, "select")?;
                if integer(request.get(1))? == 0 { Ok(Self::Accept) } else { Err(CommandError::Database) }
            }
            b"QUIT" => Ok(Self::Quit),
            _ => Err(unknown(request)),
        }
    }
}

/// The name in upper case; of a longer one than any, nothing.
fn upper_case<'a>(name: &[u8], to: &'a mut [u8; NAME_BYTES]) -> &'a [u8] {
    let Some(to) = to.get_mut(..name.len()) else { return &[] };
    to.copy_from_slice(name);
    to.make_ascii_uppercase();
    to
}

#[cold]
fn unknown(request: Arguments<'_>) -> CommandError {
    let mut arguments = String::new();
    for argument in request.from(1) {
        if arguments.len() >= 128 {
            break;
        }
        let room = 128 - arguments.len();
        arguments.push_str(&format!("'{}' ", shown(argument, room)));
    }
    CommandError::Unknown { name: request.get(0).to_vec(), arguments }
}

fn exactly(request: Arguments<'_>, len: usize, name: &'static str) -> Result<(), CommandError> {
    if request.len() == len { Ok(()) } else { Err(CommandError::Arguments(name)) }
}

fn key(bytes: &[u8]) -> Result<Key, CommandError> {
    Key::new(bytes).map_err(|_| CommandError::Key)
}

fn value(bytes: &[u8]) -> Result<Value, CommandError> {
    Value::new(bytes).map_err(|_| CommandError::Value)
}

fn one_key(request: Arguments<'_>, name: &'static str) -> Result<Key, CommandError> {
    exactly(request, 2, name)?;
    key(request.get(1))
}

/// All arguments behind the name, at least one.
fn keys(request: Arguments<'_>, name: &'static str) -> Result<Vec<Key>, CommandError> {
    match request.len() - 1 {
        0 => Err(CommandError::Arguments(name)),
        len if len > MAX_KEYS => Err(CommandError::Keys),
        _ => request.from(1).map(key).collect(),
    }
}

fn integer(digits: &[u8]) -> Result<i64, CommandError> {
    let value = if digits.len() <= 20 { value(digits)? } else { return Err(CommandError::NoInteger) };
    value.to_integer().ok_or(CommandError::NoInteger)
}

fn increment(key: Key, by: i64) -> Result<Command, CommandError> {
    Ok(Command::Write(Op::Increment { key, by }, Told::Number))
}

/// SET key value, with NX or XX.
fn set(request: Arguments<'_>) -> Result<Command, CommandError> {
    if request.len() < 3 {
        return Err(CommandError::Arguments("set"));
    }
    let mut condition = Condition::Always;
    for option in request.from(3) {
        let asked = match option {
            option if option.eq_ignore_ascii_case(b"NX") => Condition::Absent,
            option if option.eq_ignore_ascii_case(b"XX") => Condition::Present,
            _ => return Err(CommandError::Syntax),
        };
        if condition != Condition::Always && condition != asked {
            return Err(CommandError::Syntax);
        }
        condition = asked;
    }
    let (key, value) = (key(request.get(1))?, value(request.get(2))?);
    Ok(Command::Write(Op::Set { key, value, condition }, Told::OkOrNothing))
}

/// CONFIG GET of the settings that redis-benchmark prints.
fn config(request: Arguments<'_>) -> Result<Command, CommandError> {
    if request.len() < 2 {
        return Err(CommandError::Arguments("config"));
    }
    if !request.get(1).eq_ignore_ascii_case(b"GET") {
        return Err(CommandError::Subcommand { command: "CONFIG", name: request.get(1).to_vec() });
    }
    exactly(request, 3, "config|get")?;
    let known = [("save", ""), ("appendonly", "no")];
    let asked = known.into_iter().find(|(name, _)| request.get(2).eq_ignore_ascii_case(name.as_bytes()));
    Ok(Command::Setting(asked))
}

/// CLIENT SETNAME and SETINFO, which are accepted and forgotten, and CLIENT ID.
fn client(request: Arguments<'_>) -> Result<Command, CommandError> {
    if request.len() < 2 {
        return Err(CommandError::Arguments("client"));
    }
    let mut upper = [0; NAME_BYTES];
    match upper_case(request.get(1), &mut upper) {
        b"SETNAME" => exactly(request, 3, "client|setname").map(|()| Command::Accept),
        b"SETINFO" => exactly(request, 4, "client|setinfo").map(|()| Command::Accept),
        b"ID" => exactly(request, 2, "client|id").map(|()| Command::Number),
        _ => Err(CommandError::Subcommand { command: "CLIENT", name: request.get(1).to_vec() }),
    }
}

/// Tells the result of an operation.
pub(crate) fn tell_out(out: Out, told: Told, replies: &mut Replies) {
    match (out, told) {
        (Out::Done, Told::OkOrNothing) => replies.ok(),
        (Out::Refused, Told::OkOrNothing) => replies.nothing(),
        (Out::Done, _) => replies.integer(1),
        (Out::Refused, _) => replies.integer(0),
        (Out::Count(count), _) => replies.count(count),
        (Out::Integer(number), _) => replies.integer(number),
        (Out::NotAnInteger, _) => replies.error(CommandError::NoInteger.to_string()),
        (Out::Overflow, _) => replies.error("ERR increment or decrement would overflow"),
        (Out::TooLong, _) => replies.error(CommandError::Value.to_string()),
    }
}

/// Tells an answer.
pub(crate) fn tell_answer(answer: &Answer, replies: &mut Replies) {
    match answer {
        Answer::Value(value) => tell_value(value.as_ref(), replies),
        Answer::Values(values) if bytes_of(values) > MAX_ANSWER_BYTES => {
            replies.error(format!("ERR an answer has at most {MAX_ANSWER_BYTES} bytes"));
        }
        Answer::Values(values) => {
            replies.array(values.len());
            values.iter().for_each(|value| tell_value(value.as_ref(), replies));
        }
        Answer::Count(count) => replies.count(*count),
    }
}

fn bytes_of(values: &[Option<Value>]) -> usize {
    values.iter().flatten().map(|value| value.len()).sum()
}

fn tell_value(value: Option<&Value>, replies: &mut Replies) {
    match value {
        Some(value) => replies.bulk(value),
        None => replies.nothing(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kv::request::RequestReader;

    fn parse(line: &str) -> Result<Command, String> {
        let (line, mut reader) = (format!("{line}\n"), RequestReader::default());
        let (arguments, _) = reader.read(line.as_bytes()).expect("a line").expect("a whole one");
        Command::parse(arguments).map_err(|error| error.to_string())
    }

    fn a_key(name: &str) -> Key {
        Key::try_from(name).expect("short")
    }

    #[test]
    fn names_have_any_case() {
        for line in ["GET a", "get a", "gEt a"] {
            assert_eq!(parse(line), Ok(Command::Read(Query::Get(a_key("a")))));
        }
    }

    #[test]
    fn set_takes_conditions() {
        let set = |condition| {
            let (key, value) = (a_key("a"), Value::try_from("b").expect("short"));
            Ok(Command::Write(Op::Set { key, value, condition }, Told::OkOrNothing))
        };
        assert_eq!(parse("SET a b"), set(Condition::Always));
        assert_eq!([parse("SET a b nx"), parse("SET a b NX NX")], [set(Condition::Absent), set(Condition::Absent)]);
        assert_eq!(parse("SET a b XX"), set(Condition::Present));
        for line in ["SET a b NX XX", "SET a b EX 10", "SET a b GET", "SET a b KEEPTTL"] {
            assert_eq!(parse(line), Err("ERR syntax error".to_owned()), "{line}");
        }
    }

    #[test]
    fn errors_are_those_of_redis() {
        let error = |line: &str| parse(line).expect_err("refused");
        assert_eq!(error("FOO a 'b c'"), "ERR unknown command 'FOO', with args beginning with: 'a' 'b c' ");
        assert_eq!(error("HSET"), "ERR unknown command 'HSET', with args beginning with: ");
        assert_eq!(error("averylongname"), "ERR unknown command 'averylongname', with args beginning with: ");
        let long = "x".repeat(200);
        assert_eq!(
            error(&format!("FOO {long} y")).len(),
            "ERR unknown command 'FOO', with args beginning with: ".len() + 131
        );
        assert_eq!(error("GET"), "ERR wrong number of arguments for 'get' command");
        assert_eq!(error("SET a"), "ERR wrong number of arguments for 'set' command");
        assert_eq!(error("DEL"), "ERR wrong number of arguments for 'del' command");
        assert_eq!(error("INCRBY a 1.5"), "ERR value is not an integer or out of range");
        assert_eq!(error("DECRBY a -9223372036854775808"), "ERR decrement would overflow");
        assert_eq!(error("SELECT 1"), "ERR DB index is out of range");
        assert_eq!(error("CONFIG SET a b"), "ERR unknown subcommand 'SET'. Try CONFIG HELP.");
        assert_eq!(error(&format!("GET {}", "k".repeat(1025))), "ERR a key has 1 to 1024 bytes");
        assert_eq!(error("GET ''"), "ERR a key has 1 to 1024 bytes");
    }

    #[test]
    fn results_are_told() {
        let told = |out, told| {
            let mut replies = Replies::default();
            tell_out(out, told, &mut replies);
            String::from_utf8(replies.0).expect("text")
        };
        assert_eq!(told(Out::Done, Told::OkOrNothing) + &told(Out::Refused, Told::OkOrNothing), "+OK\r\n$-1\r\n");
        assert_eq!(told(Out::Done, Told::OneOrZero) + &told(Out::Refused, Told::OneOrZero), ":1\r\n:0\r\n");
        assert_eq!(told(Out::Integer(-7), Told::Number), ":-7\r\n");
        assert!(told(Out::Overflow, Told::Number).starts_with("-ERR increment"));
    }
}
