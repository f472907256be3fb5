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
        let mut bytes = vec![number; random.usize(1..=500)];
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
fn events_have_any_length_up_to_a_limit() {
    let group = group(2, |builder| builder);
    let results = group.run(|me| {
        let mut stream = me.atomic_stream()?;
        assert_eq!(stream.try_publish(&[0; 501]), Err(Error::TooLarge { bytes: 501, most: 500 }));
        let mut lens = Vec::new();
        stream.publish(&[], |_, _, bytes| lens.push(bytes.len()))?;
        stream.publish(&[1; 500], |_, _, bytes| lens.push(bytes.len()))?;
        stream.finish(|_, _, bytes| lens.push(bytes.len()))?;
        lens.sort_unstable();
        Ok::<_, Error>(lens)
    });
    assert_eq!(results.expect("nobody panics"), vec![Ok(vec![0, 0, 500, 500]); 2]);
}
