//! All members deliver the same events in the same order, in any order of publishing.

use corecast_base::wait::Wait;
use corecast_collective::{AtomicStream, Error, Loss};

use crate::{SIZES, group};

/// An event as it was delivered: number, publisher, bytes.
type Seen = (u64, usize, Vec<u8>);

/// More than an edge holds.
const EVENTS: u8 = 50;

/// Publishes `count` events of random lengths that tell their numbers, delivering in between at random.
fn publish_and_finish(mut stream: AtomicStream<'_>, count: u8, seed: u64) -> Result<Vec<Seen>, Error> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut seen = Vec::new();
    let mut see = |number, origin, bytes: &[u8]| seen.push((number, origin, bytes.to_vec()));
    for number in 0..count {
        let most = if random.u8(0..8) == 0 { 3000 } else { 500 };
        let mut bytes = vec![number; random.usize(1..=most)];
        bytes[0] = number;
        match random.u32(0..4) {
            0 => drop(stream.deliver(&mut see)?),
            1 => stream.progress()?,
            2 => (0..random.u32(0..4)).for_each(|_| std::thread::yield_now()),
            _ => {}
        }
        stream.publish(&bytes, &mut see)?;
    }
    stream.finish(&mut see)?;
    Ok(seen)
}

#[test]
fn all_deliver_the_same_sequence() {
    for shape in ["sequential", "binary"] {
        for members in SIZES {
            let wait = [Wait::Adaptive, Wait::Yield, Wait::Park][members % 3];
            let group = group(members, |builder| builder.shape(shape).wait(wait));
            let seen = group.run(|me| {
                let seed = me.rank() as u64;
                let seen = publish_and_finish(me.atomic_stream()?, EVENTS, seed)?;
                assert_eq!(me.allreduce(1, |a: usize, b| a + b)?, members, "the stream left nothing behind");
                Ok::<_, Error>(seen)
            });
            let seen: Result<Vec<_>, Error> = seen.expect("nobody panics").into_iter().collect();
            let seen = seen.expect("nobody is lost");
            assert!(seen.iter().all(|order| order == &seen[0]), "{shape}, {members} members, {wait}");
            for rank in 0..members {
                let own = seen[0].iter().filter(|(_, origin, _)| *origin == rank).map(|(_, _, bytes)| bytes[0]);
                assert!(own.eq(0..EVENTS), "in the order in which {rank} published");
            }
            assert!(seen[0].windows(2).all(|pair| pair[0].0 < pair[1].0), "numbers ascend");
        }
    }
}

#[test]
fn nothing_is_delivered_before_what_its_publisher_had_delivered() {
    // Each member answers what it delivers from member 0; an answer comes behind what it answers.
    let group = group(5, |builder| builder);
    let results = group.run(|me| {
        let rank = me.rank() as u8;
        let mut stream = me.atomic_stream()?;
        let mut questions = [false; 50];
        let mut answers = Vec::new();
        let mut asked = 0;
        let mut answered = 0;
        let mut total = 0;
        while total < 50 * 5 {
            let mut heard = Vec::new();
            total += stream.deliver(|_, origin, bytes| {
                let question = usize::from(bytes[0]);
                if origin == 0 {
                    questions[question] = true;
                    heard.push(bytes[0]);
                } else {
                    assert!(questions[question], "an answer to what nobody here has heard");
                }
            })?;
            answers.extend(heard);
            if rank == 0 && asked < 50 && stream.try_publish(&[asked])? {
                asked += 1;
            }
            if rank != 0 && answered < answers.len() && stream.try_publish(&[answers[answered]])? {
                answered += 1;
            }
            std::thread::yield_now();
        }
        stream.finish(|_, _, _| panic!("everything was delivered"))
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(()); 5]);
}

#[test]
fn a_stream_that_is_dropped_is_missed_by_name() {
    for leaver in 0..4 {
        let group = group(4, |builder| builder.shape("binary"));
        let results = group.run(|me| {
            let is_leaver = me.rank() == leaver;
            let stream = me.atomic_stream()?;
            if is_leaver {
                drop(stream);
                return me.barrier();
            }
            publish_and_finish(stream, 200, 1).map(drop)
        });
        let left = Err(Error::MemberLost { rank: leaver, loss: Loss::Left });
        assert_eq!(results.expect("nobody panics"), vec![left; 4]);
    }
}

#[test]
fn events_have_any_length() {
    for members in [2, 3, 5] {
        let group = group(members, |builder| builder);
        let results = group.run(|me| {
            let mut random = fastrand::Rng::with_seed(me.rank() as u64);
            let mut stream = me.atomic_stream()?;
            let mut seen = Vec::new();
            let mut see = |number, origin, bytes: &[u8]| seen.push((number, origin, bytes.to_vec()));
            for len in [0, 500, 501, 1000, 1001, 100_000, 3] {
                let bytes: Vec<u8> = (0..len).map(|_| random.u8(..)).collect();
                if len % 2 == 0 {
                    stream.publish(&bytes, &mut see)?;
                } else {
                    // Its parts may still be on their way when the next one is published.
                    while !stream.try_publish(&bytes)? {
                        stream.deliver(&mut see)?;
                    }
                }
            }
            stream.finish(&mut see)?;
            Ok::<_, Error>(seen)
        });
        let seen: Result<Vec<Vec<Seen>>, Error> = results.expect("nobody panics").into_iter().collect();
        let seen = seen.expect("nobody is lost");
        assert!(seen.iter().all(|order| order == &seen[0]), "{members} members");
        assert!(seen[0].windows(2).all(|pair| pair[0].0 < pair[1].0), "numbers ascend");
        for rank in 0..members {
            let mut random = fastrand::Rng::with_seed(rank as u64);
            let own: Vec<&Vec<u8>> = seen[0].iter().filter(|seen| seen.1 == rank).map(|seen| &seen.2).collect();
            assert_eq!(own.iter().map(|bytes| bytes.len()).collect::<Vec<_>>(), [0, 500, 501, 1000, 1001, 100_000, 3]);
            assert!(own.into_iter().flatten().all(|&byte| byte == random.u8(..)), "the bytes that {rank} published");
        }
    }
}
