//! The properties of a measurement of this machine, and the requests that it refuses.

use corecast_base::{CpuId, CpuSet};
use corecast_machine::measure::{MeasureError, Options, Progress, Silent, Step, measure};
use corecast_machine::{Cpu, Curve, Fingerprint, LineProbe, Machine, Topology, model_file};

use crate::{brief, here, two_cpus};

fn costs_are_sound(machine: &Machine) {
    machine.check().expect("a machine that fits together");
    let bounce = machine.extended.bounce.as_ref().expect("measured");
    for matrix in [&machine.send, &machine.receive, bounce] {
        for (i, row) in matrix.rows().enumerate() {
            for (j, &cost) in row.iter().enumerate() {
                assert!(if i == j { cost == 0.0 } else { cost > 0.0 }, "[{i}][{j}] is {cost}");
            }
        }
    }
    assert_eq!(bounce.get(0, 1), bounce.get(1, 0), "half a round trip has no direction");
}

#[test]
fn a_measured_machine_is_complete_and_survives_its_file() {
    let Some(cpus) = two_cpus() else { return };
    let topology = here();
    let machine = measure(&topology, &LineProbe, &brief(cpus.clone()), &mut Silent).expect("measured");
    costs_are_sound(&machine);
    assert_eq!(machine.cpu_set(), cpus);
    assert_eq!(machine.provenance.kind, "measured");
    assert!(machine.provenance.source.contains("bare cache lines"), "{}", machine.provenance.source);
    assert_eq!(machine.provenance.groups, topology.source);

    let extended = &machine.extended;
    for cost in [extended.pause_ns, extended.yield_ns, extended.wake_ns] {
        assert!(cost.is_some_and(|cost| cost > 0.0), "{extended:?}");
    }
    let counts = |curve: &Option<Curve>| curve.iter().flatten().map(|&(k, _)| k).collect::<Vec<_>>();
    assert_eq!((counts(&extended.fan_out).first(), counts(&extended.fan_out).last()), (Some(&1), Some(&64)));
    assert_eq!(counts(&extended.fan_in), [1], "there is one other CPU, and more messages of it are no fan-in");
    assert_eq!(counts(&extended.readers), [1]);
    assert_eq!(counts(&extended.fetch_add), [1, 2]);
    for (_, cost_ns) in extended.readers.iter().chain(&extended.fetch_add).flatten() {
        assert!(*cost_ns > 0.0, "{extended:?}");
    }
    assert!(extended.notes.iter().any(|note| note.starts_with("fan_in ends at 1: ")), "{:?}", extended.notes);
    assert!(extended.send_spread.is_some() && extended.receive_spread.is_some());
    let measured = Topology { cpus: machine.cpus.clone(), ..topology };
    assert_eq!(extended.fingerprint, Some(Fingerprint::of_this_machine(&measured).id()));
    assert!(extended.measured_at.as_ref().is_some_and(|date| date.ends_with('Z') && date.len() == 20));

    let text = model_file::render(&machine).expect("a model");
    assert_eq!(model_file::parse(text).expect("its own text"), machine);
}

#[test]
fn progress_counts_rounds_up_to_a_total() {
    #[derive(Default)]
    struct Steps(Vec<(usize, usize)>);
    impl Progress for Steps {
        fn step(&mut self, step: &Step<'_>) {
            assert!(!step.label.is_empty() && step.done <= step.total, "{step:?}");
            if step.total > 0 {
                self.0.push((step.done, step.total));
            }
        }
    }
    let Some(cpus) = two_cpus() else { return };
    let mut steps = Steps::default();
    measure(&here(), &LineProbe, &brief(cpus), &mut steps).expect("measured");
    assert!(!steps.0.is_empty() && steps.0.iter().enumerate().all(|(i, step)| step.0 == i + 1), "{:?}", steps.0);
}

#[test]
fn one_cpu_is_a_machine_with_assumed_costs_and_says_so() {
    let topology = here();
    let only: CpuSet = [topology.cpus[0].id].into_iter().collect();
    let machine = measure(&topology, &LineProbe, &brief(only.clone()), &mut Silent).expect("a machine");
    machine.check().expect("fits together");
    assert_eq!(machine.cpu_set(), only);
    assert_eq!(machine.provenance.kind, "assumed");
    assert!(machine.extended.warnings[0].contains("no cost between CPUs could be measured"), "{:?}", machine.extended);
    assert_eq!(machine.extended.wake_ns, None);
    assert_eq!(
        (&machine.extended.fan_in, &machine.extended.readers, &machine.extended.fetch_add),
        (&None, &None, &None)
    );
    assert!(machine.extended.pause_ns.is_some_and(|cost| cost > 0.0));
}

#[test]
fn a_quota_is_a_warning() {
    let Some(cpus) = two_cpus() else { return };
    let half = Topology { quota: Some(0.5), ..here() };
    let machine = measure(&half, &LineProbe, &brief(cpus), &mut Silent).expect("measured");
    costs_are_sound(&machine);
    assert!(machine.extended.warnings.iter().any(|warning| warning.contains("0.5 CPUs")), "{:?}", machine.extended);
}

#[test]
fn cpus_that_cannot_be_had_are_named() {
    let topology = here();
    let beyond = Options { cpus: Some("0-99".parse().expect("a list")), ..Options::default() };
    let known = Topology { cpus: topology.cpus.iter().take(2).cloned().collect(), ..topology.clone() };
    let error = measure(&known, &LineProbe, &beyond, &mut Silent).expect_err("more than there are").to_string();
    assert!(error.contains("is not among the usable CPUs"), "{error}");

    let none = Options { cpus: Some(CpuSet::default()), ..Options::default() };
    assert_eq!(measure(&topology, &LineProbe, &none, &mut Silent), Err(MeasureError::NoCpus));

    let absent = CpuId::new(1022);
    let mut captured = topology;
    if captured.cpus.iter().any(|cpu| cpu.id == absent) {
        return corecast_testing::skipped("a CPU that is absent", format!("this machine has a CPU {absent}"));
    }
    captured.cpus.push(Cpu::flat(absent));
    let error = measure(&captured, &LineProbe, &Options::default(), &mut Silent).expect_err("elsewhere");
    assert!(matches!(error, MeasureError::Pin(_)) && error.to_string().contains("CPU 1022"), "{error}");
}
