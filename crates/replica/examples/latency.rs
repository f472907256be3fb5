use std::time::{Duration, Instant};
use corecast_replica::*;
use corecast_replica::kv::*;
fn main() {
    for placement in [Placement::Fused, Placement::Separate] {
        for nodes in [1, 2, 3] {
            let config = Config::default().placement(placement);
            let mut group = vec![Replicated::create(&config, kv::Store::new()).unwrap()];
            for _ in 1..nodes { let fd = group[0].share().unwrap(); group.push(Replicated::attach_fd(&config, fd).unwrap()); }
            for at in 0..nodes.min(2) {
                std::thread::sleep(Duration::from_millis(50));
                let mut s = group[at].session().unwrap();
                let mut times = vec![];
                let mut reads = vec![];
                for i in 0..20000u64 {
                    let op = StoreOp::Set { key: i.to_le_bytes().to_vec().into(), value: vec![1u8; 8].into() };
                    let t = Instant::now();
                    s.execute(&op).unwrap();
                    times.push(t.elapsed().as_nanos());
                    let q = StoreQuery::Get(i.to_le_bytes().to_vec().into());
                    let t = Instant::now();
                    for _ in 0..10 { std::hint::black_box(group[at].read(Level::Linearizable, &q).unwrap()); }
                    reads.push(t.elapsed().as_nanos() / 10);
                }
                times.sort(); reads.sort();
                let st = group[at].status();
                println!("{placement:?} nodes {nodes} at {at}: write p50 {} p99 {} read p50 {} ns; leader {} acceptor {} {:?}", times[10000], times[19800], reads[10000], st.leader, st.acceptor, st.counters);
            }
        }
    }
}
