//! The bytes of a client of `corecast kv serve`: requests, or an error, however they are cut into pieces.
//!
//! The first byte says into pieces of which length the rest comes.

#![no_main]
#![allow(dead_code, reason = "the program uses more of these files")]

use corecast_replica::Wire;
use corecast_replica::kv::Op;
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/cli/src/kv/command.rs"]
mod command;
#[path = "../../crates/cli/src/kv/reply.rs"]
mod reply;
#[path = "../../crates/cli/src/kv/request.rs"]
mod request;

use command::{Command, tell_answer};
use reply::Replies;
use request::{ProtocolError, RequestReader};

fuzz_target!(|input: &[u8]| {
    let Some((&piece, bytes)) = input.split_first() else { return };
    let whole = read_all(bytes, bytes.len().max(1));
    assert_eq!(read_all(bytes, usize::from(piece) + 1), whole, "pieces make no difference");
    for words in whole.0 {
        let line: Vec<u8> =
            [format!("*{}\r\n", words.len()).into_bytes(), words.iter().flat_map(bulk).collect()].concat();
        carry_out(&line);
    }
});

/// Requests as their arguments, and why there are no more, if there is a reason.
type Requests = (Vec<Vec<Vec<u8>>>, Option<ProtocolError>);

fn read_all(bytes: &[u8], piece: usize) -> Requests {
    let (mut reader, mut buffer, mut requests) = (RequestReader::default(), Vec::new(), Vec::new());
    for come in bytes.chunks(piece) {
        buffer.extend_from_slice(come);
        loop {
            match reader.read(&buffer) {
                Ok(Some((arguments, len))) => {
                    assert!(len > 0 && len <= buffer.len());
                    if arguments.len() > 0 {
                        requests.push(arguments.from(0).map(<[u8]>::to_vec).collect());
                    }
                    buffer.drain(..len);
                }
                Ok(None) => break,
                Err(error) => return (requests, Some(error)),
            }
        }
    }
    (requests, None)
}

fn bulk(argument: &Vec<u8>) -> Vec<u8> {
    [format!("${}\r\n", argument.len()).as_bytes(), argument, b"\r\n"].concat()
}

/// The same request once more, as a command: its operation comes back from its bytes.
fn carry_out(line: &[u8]) {
    let mut reader = RequestReader::default();
    let (arguments, len) = reader.read(line).expect("it was one before").expect("it is whole");
    assert_eq!(len, line.len());
    let mut replies = Replies::default();
    match Command::parse(arguments) {
        Ok(Command::Write(op, _)) => {
            let mut bytes = Vec::new();
            op.encode(&mut bytes);
            assert_eq!(Op::decode(&bytes).as_ref(), Some(&op));
        }
        Ok(Command::Read(query)) => {
            let store = corecast_replica::kv::Store::default();
            tell_answer(&corecast_replica::StateMachine::query(&store, &query), &mut replies);
        }
        Ok(_) => {}
        Err(error) => replies.error(error.to_string()),
    }
    assert!(replies.0.is_empty() || replies.0.ends_with(b"\r\n"));
}
