//! The root gets every value exactly once, combined in the order asked for.

use corecast_collective::op::in_order;
use corecast_collective::{Error, Order};

use crate::{SIZES, group};

const ORDERS: [Order; 3] = [Order::Plan, Order::Arrival, Order::Rank];

#[test]
fn every_value_counts_once_at_every_root_over_every_shape() {
    for shape in corecast_plan::SHAPES {
        for members in SIZES {
            let group = group(members, |builder| builder.shape(shape.name()));
            let results = group
                .run(|me| {
                    let mut results = Vec::new();
                    for root in 0..me.size() {
                        for order in ORDERS {
                            // A bit of its own for each member: lost and doubled values both show.
                            results.push((
                                root,
                                me.reduce_with(root, 1u64 << (4 * me.rank()), in_order(order, |a, b| a + b))?,
                            ));
                        }
                    }
                    Ok::<_, Error>(results)
                })
                .expect("nobody panics");
            let all: u64 = (0..members).map(|rank| 1u64 << (4 * rank)).sum();
            for (rank, results) in results.into_iter().enumerate() {
                for (root, result) in results.expect("no member is lost") {
                    assert_eq!(result, (rank == root).then_some(all), "{} to {root} at {rank}", shape.name());
                }
            }
        }
    }
}

type Matrix = [[u64; 2]; 2];

fn product(a: Matrix, b: Matrix) -> Matrix {
    let cell = |i: usize, j: usize| a[i][0].wrapping_mul(b[0][j]).wrapping_add(a[i][1].wrapping_mul(b[1][j]));
    [[cell(0, 0), cell(0, 1)], [cell(1, 0), cell(1, 1)]]
}

#[test]
fn rank_order_serves_operations_that_do_not_commute() {
    let matrix = |rank: usize| [[rank as u64 + 1, 1], [3, rank as u64]];
    for shape in corecast_plan::SHAPES {
        for members in SIZES {
            let group = group(members, |builder| builder.shape(shape.name()));
            let results = group
                .run(|me| me.allreduce_with(matrix(me.rank()), in_order(Order::Rank, product)))
                .expect("nobody panics");
            let expected = (1..members).map(matrix).fold(matrix(0), product);
            assert_eq!(results, vec![Ok(expected); members], "{}", shape.name());
        }
    }
}

fn awkward(rank: usize) -> f64 {
    (rank as f64 + 0.1).powi(7) * if rank % 2 == 0 { 1e-12 } else { 1e12 }
}

#[test]
fn rank_order_gives_the_same_bits_under_every_plan() {
    let bits = |shape: &str| {
        let group = group(9, |builder| builder.shape(shape));
        let sums = group.run(|me| me.allreduce_with(awkward(me.rank()), in_order(Order::Rank, |a, b| a + b)));
        sums.expect("nobody panics")
            .into_iter()
            .map(|sum| sum.expect("no member is lost").to_bits())
            .collect::<Vec<_>>()
    };
    let expected = bits("sequential");
    assert!(corecast_plan::SHAPES.iter().all(|shape| bits(shape.name()) == expected));
}

#[test]
fn plan_order_gives_the_same_bits_in_every_round() {
    let group = group(8, |builder| builder);
    let sums = group
        .run(|me| {
            let mut random = fastrand::Rng::with_seed(me.rank() as u64);
            let mut sums = Vec::new();
            for _ in 0..100 {
                (0..random.u32(0..4)).for_each(|_| std::thread::yield_now());
                sums.push(me.allreduce(awkward(me.rank()), |a, b| a + b)?.to_bits());
            }
            Ok::<_, Error>(sums)
        })
        .expect("nobody panics");
    let first = sums[0].as_ref().expect("no member is lost")[0];
    assert!(sums.iter().flatten().flatten().all(|&sum| sum == first));
}

#[test]
fn large_values_are_reduced_element_by_element() {
    let group = group(4, |builder| builder);
    let results = group
        .run(|me| me.allreduce([me.rank() as u64; 300], |a, b| std::array::from_fn(|i| a[i] + b[i])))
        .expect("nobody panics");
    assert_eq!(results, vec![Ok([6; 300]); 4]);
}

#[test]
fn operations_of_all_kinds_mix() {
    for members in SIZES {
        let group = group(members, |builder| builder);
        let results = group
            .run(|me| {
                let last = me.size() - 1;
                for round in 0..100u64 {
                    let mut start = if me.rank() == last { round } else { 0 };
                    me.broadcast(last, &mut start)?;
                    let sum = me.allreduce(start, |a, b| a + b)?;
                    assert_eq!(sum, round * me.size() as u64);
                    me.barrier()?;
                    me.reduce(0, (), |(), ()| ()).map(drop)?;
                    let least = me.reduce(last, me.rank() as i8, i8::min)?;
                    assert_eq!(least, (me.rank() == last).then_some(0));
                }
                Ok::<_, Error>(())
            })
            .expect("nobody panics");
        assert_eq!(results, vec![Ok(()); members]);
    }
}
