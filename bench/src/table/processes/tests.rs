//! Servers and clients over a region, as threads of the test; and processes that are not what was expected.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use corecast::base::region::SharedRegion;

use super::client::ProcessClient;
use super::memory::{self, Memory, client_ends};
use super::server::{Reply, Server};
use super::*;
use crate::table::host::{Client, Seat};
use crate::table::model::{MEAN, assert_is_a_map};
use crate::table::play::tests::SETTING;
use crate::table::play::{record, verify};

/// A region as processes have it, which the threads of a test attach to.
struct Stage {
    setting: Setting<'static>,
    deal: Deal,
    region: SharedRegion,
    memory: Memory,
}

impl Stage {
    fn new(threads: usize) -> Self {
        let setting = Setting { threads, buckets: 3, mean: MEAN, ..SETTING };
        let deal = Deal::new(&setting);
        let region = SharedRegion::memfd(&memory::plan(&setting, &deal).expect("it fits")).expect("a region");
        let memory = Memory::open(&region).expect("just planned");
        Self { setting, deal, region, memory }
    }

    fn server(&self, number: usize) -> Server<'_> {
        Server::open(&self.setting, &self.deal, number, (&self.region, &self.memory)).expect("its ends are free")
    }

    fn client(&self, rank: usize) -> ProcessClient<'_> {
        ProcessClient::open(&self.setting, &self.deal, rank, (&self.region, &self.memory)).expect("its ends are free")
    }
}

#[test]
fn without_a_program_or_with_one_that_ends_there_is_a_reason() {
    let reason = |setting: &Setting<'_>| check(setting).expect_err("no processes").to_string();
    assert_eq!(reason(&SETTING), "no program was named that processes could run");
    let arguments = ["-c".to_owned(), "exit 4".to_owned()].to_vec();
    let place = &Place::Processes { program: "/bin/sh".into(), arguments };
    let setting = Setting { place, ..SETTING };
    let died = reason(&setting);
    assert!(died.ends_with("ended: exit status: 4"), "{died}");
    assert!(turn(&setting).is_err());
}

#[test]
fn it_is_a_map_whose_buffers_are_where_they_were_written() {
    let stage = Stage::new(2);
    thread::scope(|scope| {
        let server = stage.server(0);
        let served = scope.spawn(|| server.serve());
        assert_is_a_map(&mut stage.client(0), stage.setting.keys(), 5);
        assert_eq!(served.join().expect("no panic"), Ok(()), "it ends when its client has left");
    });
}

#[test]
fn puts_minus_removes_of_all_clients_are_what_is_there() {
    let stage = &Stage::new(5);
    thread::scope(|scope| {
        let servers: Vec<_> = (0..2).map(|number| stage.server(number)).collect();
        servers.into_iter().for_each(|server| drop(scope.spawn(|| server.serve().expect("all is in order"))));
        let clients = (0..3).map(|rank| {
            let share = if rank == 0 { stage.setting.initial() } else { 0 };
            let mut seat = Seat { client: Box::new(stage.client(rank)), participant: stage.deal.clients[rank], share };
            scope.spawn(move || {
                let nets = record(&mut seat, &stage.setting, || ()).expect("what was put is got");
                (0..).zip(nets).for_each(|(key, net)| stage.memory.add_net(key, net));
                seat
            })
        });
        let clients: Vec<_> = clients.collect();
        let mut seats: Vec<_> = clients.into_iter().map(|client| client.join().expect("no panic")).collect();
        verify(&mut *seats[0].client, &stage.setting, &|key| stage.memory.net(key)).expect("the counts are right");
        let wrong = verify(&mut *seats[0].client, &stage.setting, &|key| stage.memory.net(key) + 1);
        assert!(wrong.is_err(), "another count is refused");
    });
}

#[test]
fn a_server_refuses_what_no_client_asks() {
    // The section ends where a pair of lines does.
    let buffers = memory::first_buffer(&Stage::new(2).setting, 1) + 1;
    for request in [[3, 1, 0], [3 << 8, 1, 0], [u64::MAX, 1, 0], [0, 1, buffers], [1, 1, u64::MAX]] {
        let stage = Stage::new(2);
        let (mut asking, _replies) = client_ends(&stage.region, 0, 0).expect("free");
        let mut room = asking.reserve(24).expect("room");
        room.write(&request);
        room.commit();
        drop(asking);
        let told = stage.server(0).serve().expect_err("nonsense").to_string();
        assert!(told.contains("client 0 asked for nonsense"), "{request:?}: {told}");
    }
    let stage = Stage::new(2);
    let (mut asking, _replies) = client_ends(&stage.region, 0, 0).expect("free");
    asking.send(&[0; 8]).expect("room");
    drop(asking);
    assert!(stage.server(0).serve().is_err(), "too short");
}

/// The failure of an operation of the client.
fn failure_of(client: &mut ProcessClient<'_>) -> String {
    let payload = catch_unwind(AssertUnwindSafe(|| client.remove(1))).expect_err("it cannot succeed");
    payload.downcast::<Failure>().expect("a reason").to_string()
}

#[test]
fn a_client_refuses_what_no_server_replies_and_tells_that_its_server_left() {
    let stage = Stage::new(2);
    let mut client = stage.client(0);
    let (_asked, mut replying) = memory::server_ends(&stage.region, 0, 0).expect("free");
    for reply in [[2, 0], [1, u64::MAX]] as [Reply; 2] {
        let mut room = replying.reserve(size_of::<Reply>()).expect("room");
        room.write(&reply);
        room.commit();
        let told = failure_of(&mut client);
        assert!(told.contains("server 0 replied nonsense"), "{told}");
    }
    drop((replying, _asked));
    let told = failure_of(&mut client);
    assert!(told.contains("closed"), "{told}");
}
