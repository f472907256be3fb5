//! The machine that the tests run on.

use corecast_machine::source::{DiscoveryRequest, discover};
use corecast_machine::{TopologyJson, pin};
use serde_json::Value;

#[test]
fn usable_cpus_are_those_that_threads_can_be_pinned_to() {
    let topology = discover(&DiscoveryRequest::default()).expect("this machine");
    let allowed = pin::affinity().expect("own mask");
    for cpu in &topology.cpus {
        assert!(allowed.contains(cpu.id), "CPU {}", cpu.id);
        drop(pin::pin(cpu.id).expect("a usable CPU"));
    }
}

#[test]
fn a_pinned_thread_finds_one_cpu() {
    std::thread::spawn(|| {
        let last = *pin::affinity().expect("own mask").as_slice().last().expect("a CPU to run on");
        let _pinned = pin::pin(last).expect("an allowed CPU");
        let topology = discover(&DiscoveryRequest { sysfs_root: Some("/".into()), ..DiscoveryRequest::default() })
            .expect("this machine");
        assert_eq!(topology.cpus.iter().map(|cpu| cpu.id).collect::<Vec<_>>(), [last]);
    })
    .join()
    .expect("no panic");
}

#[test]
fn json_has_all_documented_fields() {
    let topology = discover(&DiscoveryRequest::default()).expect("this machine");
    let json = serde_json::to_value(TopologyJson::from(&topology)).expect("plain data");
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    let mut documented = ["cpus", "quota", "numa_distances", "source", "notes"];
    documented.sort_unstable();
    assert_eq!(keys(&json), documented);
    let cpus = json["cpus"].as_array().expect("a list");
    assert_eq!(cpus.len(), topology.cpus.len());
    for (cpu, found) in cpus.iter().zip(&topology.cpus) {
        let mut documented = ["id", "core", "package", "numa", "l2", "l3", "kind"];
        documented.sort_unstable();
        assert_eq!(keys(cpu), documented);
        assert_eq!(cpu["id"], found.id.get());
    }
}

/// The hwloc library, where it is built in, is the higher source and must tell what the files tell.
#[cfg(feature = "hwloc")]
#[test]
fn the_library_agrees_with_the_files() {
    use crate::partition::{cpu_ids, partition};
    use corecast_machine::Cpu;

    let library = discover(&DiscoveryRequest::default()).expect("this machine, by the library");
    let files = discover(&DiscoveryRequest { sysfs_root: Some("/".into()), ..DiscoveryRequest::default() })
        .expect("this machine");
    assert_eq!((library.source.as_str(), files.source.as_str()), ("hwloc", "sysfs"));
    assert_eq!(cpu_ids(&library), cpu_ids(&files));
    assert_eq!(library.quota, files.quota);
    let groups: [fn(&Cpu) -> Option<u32>; 4] = [|cpu| cpu.core, |cpu| cpu.package, |cpu| cpu.l3, |cpu| cpu.numa];
    for group in groups {
        assert_eq!(partition(&library, group), partition(&files, group));
    }
}
