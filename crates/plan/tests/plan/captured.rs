//! Every captured machine is read, written, read again and planned on.

use corecast_machine::model_file;
use corecast_plan::{Operation, Problem, SHAPES};

use crate::machines;

#[test]
fn every_captured_machine_is_read_written_and_planned_by_every_shape() {
    for (path, machine) in machines::captured() {
        let text = model_file::render(&machine).expect("what was read can be written");
        assert_eq!(model_file::parse(text).expect("own text"), machine, "{path}");
        let problem = Problem::of_machine(&machine).expect("a machine");
        for shape in SHAPES {
            let tree = shape.build(&problem, None);
            let cost = Operation::Broadcast.cost(&problem, &tree);
            assert!(tree.len() == problem.len() && cost > 0.0, "{} on {path}", shape.name());
        }
    }
}
