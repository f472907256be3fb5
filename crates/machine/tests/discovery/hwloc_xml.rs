//! Machines as hwloc exports them.

use corecast_machine::source::{DiscoverError, DiscoveryRequest, discover};
use corecast_machine::{CoreKind, Cpu, NumaDistances, Topology};

use crate::partition::{Partition, cpu_ids, groups, partition};
use crate::tree::Tree;

fn read(text: &str) -> Result<Topology, DiscoverError> {
    let folder = Tree::empty().file("machine.xml", text);
    discover(&DiscoveryRequest { file: Some(folder.root().join("machine.xml")), ..DiscoveryRequest::default() })
}

fn topology(text: &str) -> Topology {
    read(text).unwrap_or_else(|error| panic!("{error}"))
}

/// hwloc 2: nodes hang beside what they are near; one node of the machine has memory only. CPU 3 is not allowed.
const SECOND_FORM: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0x0000000f" allowed_cpuset="0x00000017">
  <info name="OSName" value="Linux"/>
  <object type="NUMANode" os_index="0" cpuset="0x0000001f"/>
  <object type="Package" os_index="3" cpuset="0x00000003">
   <object type="NUMANode" os_index="5" cpuset="0x00000003"/>
   <object type="Die"><object type="L3Cache"><object type="L2Cache">
    <object type="L2iCache"/>
    <object type="Core" os_index="0">
     <object type="PU" os_index="0"/><object type="PU" os_index="1"/>
    </object>
   </object></object></object>
  </object>
  <object type="Package" os_index="4" cpuset="0x0000001c">
   <object type="NUMANode" os_index="6" cpuset="0x0000001c"/>
   <object type="L3Cache">
    <object type="L2Cache"><object type="Core"><object type="PU" os_index="2"/></object></object>
    <object type="L2Cache"><object type="Core"><object type="PU" os_index="3"/></object></object>
    <object type="L2Cache"><object type="Core"><object type="PU" os_index="4"/></object></object>
   </object>
  </object>
 </object>
 <distances2 type="NUMANode" nbobjs="3" kind="5" name="NUMALatency" indexing="os">
  <indexes length="6">0 5 6 </indexes>
  <u64values length="15">10 17 28 17 10 </u64values><u64values length="12">28 28 28 10 </u64values>
 </distances2>
 <cpukind cpuset="0x00000003"><info name="CoreType" value="IntelCore"/></cpukind>
 <cpukind cpuset="0x0000001c"><info name="CoreType" value="IntelAtom"/></cpukind>
</topology>"#;

/// hwloc 1: CPUs lie within nodes, and all caches are of one type.
const FIRST_FORM: &str = r#"<topology>
 <object type="Machine" cpuset="0x0000000f" online_cpuset="0x0000000f" allowed_cpuset="0x0000000f">
  <object type="NUMANode" os_index="0" cpuset="0x00000003">
   <object type="Socket"><object type="Cache" depth="3" cache_type="0"><object type="Cache" depth="2" cache_type="0">
    <object type="Cache" depth="2" cache_type="2"><object type="Core"><object type="PU" os_index="0"/></object></object>
    <object type="Cache" depth="2" cache_type="2"><object type="Core"><object type="PU" os_index="1"/></object></object>
   </object></object></object>
  </object>
  <object type="NUMANode" os_index="1" cpuset="0x0000000c">
   <object type="Socket"><object type="Cache" depth="3"><object type="Cache" depth="2">
    <object type="Core"><object type="PU" os_index="2"/><object type="PU" os_index="3"/></object>
   </object></object></object>
  </object>
 </object>
</topology>"#;

#[test]
fn the_form_of_hwloc_2() {
    let topology = topology(SECOND_FORM);
    assert_eq!(topology.source, "hwloc-xml");
    assert_eq!(cpu_ids(&topology), [0, 1, 2, 4]);
    assert_eq!(partition(&topology, |cpu| cpu.core), groups("0-1 2 4"));
    assert_eq!(partition(&topology, |cpu| cpu.package), groups("0-1 2,4"));
    assert_eq!(partition(&topology, |cpu| cpu.l2), groups("0-1 2 4"));
    assert_eq!(partition(&topology, |cpu| cpu.l3), groups("0-1 2,4"));
    let nodes: Vec<Option<u32>> = topology.cpus.iter().map(|cpu| cpu.numa).collect();
    assert_eq!(nodes, [5, 5, 6, 6].map(Some), "the most local node, not the one beside the machine");
    let rows = vec![vec![10, 17, 28], vec![17, 10, 28], vec![28, 28, 10]];
    assert_eq!(topology.numa_distances, Some(NumaDistances { nodes: vec![0, 5, 6], rows }));
    let kinds: Vec<Option<CoreKind>> = topology.cpus.iter().map(|cpu| cpu.kind).collect();
    assert_eq!(kinds[..2], [Some(CoreKind::Performance); 2]);
    assert_eq!(kinds[2..], [Some(CoreKind::Efficiency); 2]);
}

#[test]
fn the_form_of_hwloc_1() {
    let topology = topology(FIRST_FORM);
    assert_eq!(cpu_ids(&topology), [0, 1, 2, 3]);
    assert_eq!(partition(&topology, |cpu| cpu.core), groups("0 1 2-3"));
    let levels: [fn(&Cpu) -> Option<u32>; 4] = [|cpu| cpu.package, |cpu| cpu.l2, |cpu| cpu.l3, |cpu| cpu.numa];
    for group in levels {
        assert_eq!(partition(&topology, group), groups("0-1 2-3"));
    }
}

#[test]
fn kinds_by_capacity_need_two_of_them() {
    let kind = |capacity| format!(r#"<info name="LinuxCapacity" value="{capacity}"/></cpukind>"#);
    let text = |low, high| {
        let kinds = format!(r#"<cpukind cpuset="0x3">{}<cpukind cpuset="0xc">{}</topology>"#, kind(low), kind(high));
        FIRST_FORM.replace("</topology>", &kinds)
    };
    let kinds = |text: &str| topology(text).cpus.iter().map(|cpu| cpu.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&text(1000, 1024)), [None; 4]);
    assert_eq!(kinds(&text(400, 1024))[1..3], [Some(CoreKind::Efficiency), Some(CoreKind::Performance)]);
}

#[test]
fn a_list_of_pus_is_a_flat_machine() {
    let topology = topology(r#"<topology><object type="PU" os_index="9"/><object type="PU" os_index="2"/></topology>"#);
    assert_eq!(cpu_ids(&topology), [2, 9]);
    assert_eq!(partition(&topology, |cpu| cpu.core.or(cpu.l2).or(cpu.package).or(cpu.numa)), Partition::new());
}

#[test]
fn mistakes_are_named() {
    let pu = |attribute: &str| format!(r#"<topology><object type="PU" {attribute}/></topology>"#);
    for (text, reason) in [
        ("<".to_owned(), "is not hwloc XML"),
        (SECOND_FORM[..900].to_owned(), "is not hwloc XML"),
        ("<html><body/></html>".to_owned(), "its root element is <html>, expected <topology>"),
        ("<topology/>".to_owned(), "no object of type PU"),
        (pu(""), "a PU has no os_index"),
        (pu(r#"os_index="x""#), "'x' of a PU is no CPU number"),
        (pu(r#"os_index="65536""#), "'65536' of a PU is no CPU number up to 65535"),
        (FIRST_FORM.replace(r#"os_index="3""#, r#"os_index="2""#), "PU 2 is there twice"),
        (FIRST_FORM.replace(r#"allowed_cpuset="0x0000000f""#, r#"allowed_cpuset="0x0""#), "no usable CPU"),
    ] {
        let error = read(&text).expect_err(reason).to_string();
        assert!(error.contains(reason) && error.contains("machine.xml"), "{reason}: {error}");
    }
}

#[test]
fn bombs_do_not_go_off() {
    let deep = "<topology>".to_owned() + &r#"<object type="Group">"#.repeat(200_000);
    assert!(read(&deep).is_err(), "unclosed");
    let closed = deep + r#"<object type="PU" os_index="0"/>"# + &"</object>".repeat(200_000) + "</topology>";
    // Whether so deep a tree is refused or read, it must not exhaust the stack.
    if let Ok(topology) = read(&closed) {
        assert_eq!(cpu_ids(&topology), [0]);
    }
    let mut entities = String::from("<!DOCTYPE topology [<!ENTITY a0 \"lol\">");
    for level in 1..30 {
        entities += &format!("<!ENTITY a{level} \"&a{};&a{};\">", level - 1, level - 1);
    }
    assert!(read(&format!("{entities}]><topology>&a29;</topology>")).is_err());
    assert!(read(&format!("<topology>{}", " ".repeat(65 << 20))).is_err(), "larger than any export");
}
