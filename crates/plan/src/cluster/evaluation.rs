//! Computes the cost of every way to do an operation.

use super::candidate::{Candidate, FarScheme};
use super::costs::{Message, TierCosts, ns, slowdown};
use super::doubling::Doubling;
use super::far_tree::FarTree;
use super::inside::{Inside, Part};
use super::layout::Layout;
use super::model::ClusterModel;
use super::near::NearCosts;
use super::request::{
    ClusterPlanError, ClusterRequest, GROUP_HALVED_BYTES, GROUP_LANES, GROUP_PIECE_BYTES, groups_can_halve,
};
use super::waits::{chains_of_both, chains_of_rounds, chains_of_tree, expected_interruptions};
use crate::operation::Operation;

/// Lengths of pieces that are tried.
const CHUNKS_BYTES: [u64; 6] = [16 << 10, 32 << 10, GROUP_PIECE_BYTES, GROUP_HALVED_BYTES, 128 << 10, 256 << 10];

/// The shortest part of a value that is worth a lane, in bytes.
const LEAST_LANE_BYTES: u64 = 64;

/// An operation on a cluster, to be evaluated.
pub(super) struct Evaluation<'a> {
    model: &'a ClusterModel,
    near: &'a NearCosts,
    request: ClusterRequest,
    layout: Layout,
}

/// A variant of a scheme.
#[derive(Clone, Copy, Debug)]
struct Variant {
    scheme: FarScheme,
    lanes: u32,
    chunk_bytes: Option<u64>,
}

/// The time of one piece.
struct Piece {
    up_ns: f64,
    down_ns: f64,
    /// From the first member's call to the last one's return.
    whole_ns: f64,
    /// How long the messages between nodes keep a leader busy, at least.
    busy_ns: f64,
    depth: u32,
    /// See `waits`.
    chains: Vec<f64>,
    is_exact: bool,
}

/// Both trees of a piece.
struct Trees {
    up: Option<FarTree>,
    down: Option<FarTree>,
    inside: Inside,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(model: &'a ClusterModel, near: &'a NearCosts, request: ClusterRequest) -> Self {
        Self { model, near, request, layout: Layout::new(model) }
    }

    /// All candidates, in no order.
    pub(super) fn candidates(&self) -> Result<Vec<Candidate>, ClusterPlanError> {
        self.variants().into_iter().map(|variant| self.candidate(variant)).collect()
    }

    /// Every scheme with every number of lanes and length of pieces that it could have here, or those that groups take.
    fn variants(&self) -> Vec<Variant> {
        let (operation, bytes) = (self.request.operation, self.request.bytes);
        let is_for_all = matches!(operation, Operation::Barrier | Operation::Allreduce);
        let schemes: &[FarScheme] = match is_for_all && self.layout.len() > 1 {
            true if operation == Operation::Allreduce => &[FarScheme::Tree, FarScheme::Doubling, FarScheme::Halving],
            true => &[FarScheme::Tree, FarScheme::Doubling],
            false => &[FarScheme::Tree],
        };
        let mut variants = Vec::new();
        for (&scheme, lanes) in schemes.iter().flat_map(|scheme| self.lanes().into_iter().map(move |k| (scheme, k))) {
            // In a group every lane has a piece of its own. Halving takes values as a whole, except in groups, which halve each
            // piece.
            let of_groups = [GROUP_PIECE_BYTES, GROUP_HALVED_BYTES].map(|piece| piece * u64::from(lanes));
            let further = of_groups.into_iter().filter(|chunk| !CHUNKS_BYTES.contains(chunk));
            let is_useful = |chunk: u64| scheme != FarScheme::Halving || chunk == of_groups[1];
            let chunks = CHUNKS_BYTES.into_iter().chain(further).filter(|&chunk| chunk < bytes && is_useful(chunk));
            let chunks = [None].into_iter().chain(chunks.map(Some));
            variants.extend(chunks.map(|chunk_bytes| Variant { scheme, lanes, chunk_bytes }));
        }
        variants.retain(|&variant| !self.request.is_of_groups || self.is_of_groups(variant));
        variants
    }

    /// True if a group can take this way: by one leader of each node or, if the values are longer than a piece, by several, and
    /// in pieces that all groups have, one for each lane. Where each node has one member, long values can also go as a whole by
    /// the engine's own operation.
    fn is_of_groups(&self, variant: Variant) -> bool {
        let Variant { scheme, lanes, chunk_bytes } = variant;
        let bytes = self.request.bytes;
        let is_halving = scheme == FarScheme::Halving;
        let most = u64::from(lanes) * if is_halving { GROUP_HALVED_BYTES } else { GROUP_PIECE_BYTES };
        let piece = Some(most).filter(|&most| bytes > most);
        let goes_by_messages = chunk_bytes == piece && (!is_halving || groups_can_halve(self.layout.len(), bytes));
        let is_alone = self.near.values().all(|near| near.members == 1);
        let is_of_engine = is_halving && is_alone && piece.is_some() && chunk_bytes.is_none();
        let has_lanes = lanes == 1 || (lanes <= GROUP_LANES && bytes > GROUP_PIECE_BYTES);
        has_lanes && (goes_by_messages || is_of_engine)
    }

    /// Numbers of lanes that the values and all nodes are large enough for.
    fn lanes(&self) -> Vec<u32> {
        let least = self.near.values().map(|near| near.members).min().unwrap_or(1);
        let points = self.model.nic.iter().flat_map(|nic| nic.curve.iter().map(|(lanes, _)| *lanes));
        let is_allreduce = self.request.operation == Operation::Allreduce;
        let is_useful =
            |lanes: &u32| *lanes <= least && self.request.bytes / u64::from(*lanes) >= LEAST_LANE_BYTES && is_allreduce;
        [1].into_iter().chain(points.filter(|lanes| *lanes > 1).filter(is_useful)).collect()
    }

    fn candidate(&self, variant: Variant) -> Result<Candidate, ClusterPlanError> {
        let arrival = self.model.arrival.as_ref();
        let mean_ns = arrival.map_or(0.0, |arrival| arrival.mean_ns.value);
        let quiet = self.piece(variant, 0.0)?;
        let waiting = if mean_ns > 0.0 { self.piece(variant, mean_ns)?.whole_ns - quiet.whole_ns } else { 0.0 };
        let chunk_bytes = variant.chunk_bytes.unwrap_or(self.request.bytes).max(1);
        let behind_first = self.request.bytes.div_ceil(chunk_bytes).saturating_sub(1) as f64;
        // The members' CPUs reduce a piece and take over another; the leader's messages go on beside that.
        let chunks_ns = behind_first * quiet.busy_ns.max(quiet.up_ns + quiet.down_ns);
        let interruptions = arrival.map_or(0.0, |arrival| {
            arrival.tail_ns.value * expected_interruptions(arrival.tail_share.value, &quiet.chains)
        });
        Ok(Candidate {
            scheme: variant.scheme,
            lanes: variant.lanes,
            chunk_bytes: variant.chunk_bytes,
            near_up_ns: quiet.up_ns,
            far_ns: (quiet.whole_ns - quiet.up_ns - quiet.down_ns).max(0.0),
            near_down_ns: quiet.down_ns,
            chunks_ns,
            quiet_ns: quiet.whole_ns + chunks_ns,
            mean_wait_ns: waiting,
            tail_wait_ns: interruptions,
            depth: quiet.depth,
            spread_ns: self.spread_ns() * f64::from(quiet.depth).sqrt(),
            is_exact: quiet.is_exact,
            is_of_groups: self.is_of_groups(variant),
        })
    }

    /// The deviation of one message on the largest tier that is in use.
    fn spread_ns(&self) -> f64 {
        let tier = self.layout.tier_between(self.layout.position(0), self.layout.position(self.layout.len() - 1));
        self.model.tiers[tier].spread_ns.as_ref().map_or(0.0, |spread| spread.value)
    }

    fn is_combining(&self) -> bool {
        self.request.operation != Operation::Broadcast
    }

    fn is_telling(&self) -> bool {
        self.request.operation != Operation::Reduce
    }

    fn piece(&self, variant: Variant, wait_ns: f64) -> Result<Piece, ClusterPlanError> {
        let (inside, message) = self.message(variant, wait_ns)?;
        Ok(match variant.scheme {
            FarScheme::Tree => self.tree_piece(inside, message),
            FarScheme::Doubling => self.doubling_piece(&inside, message),
            FarScheme::Halving => self.halving_piece(&inside, message),
        })
    }

    /// The work inside the nodes, and the message between them.
    fn message(&self, variant: Variant, wait_ns: f64) -> Result<(Inside, Message), ClusterPlanError> {
        let bytes = variant.chunk_bytes.unwrap_or(self.request.bytes);
        // Groups reduce the pieces of all lanes along one tree, taken from another member for each.
        let sharing = if self.is_of_groups(variant) { 1 } else { variant.lanes };
        let part = Part { bytes, lanes: sharing, is_combining: self.is_combining() };
        let inside = Inside::of(self.model, self.near, part)?;
        let message = Message {
            bytes: bytes.div_ceil(u64::from(variant.lanes)),
            slowdown: slowdown(self.model.nic.as_ref(), variant.lanes).unwrap_or(1.0),
            combine_byte_ns: inside.combine_byte_ns,
            wait_ns,
        };
        Ok((inside, message))
    }

    /// The root of the trees: the one asked for, or the first node of those that are busy inside for longest.
    pub(super) fn root(&self) -> u64 {
        if !matches!(self.request.operation, Operation::Barrier | Operation::Allreduce) {
            return self.request.root;
        }
        let busy = |kind: &str| self.near.get(kind).map_or(0.0, |near| near.up_ns + near.down_ns);
        let (mut root, mut most, mut rank) = (0, f64::NEG_INFINITY, 0);
        for run in &self.model.nodes {
            if busy(&run.kind) > most {
                (root, most) = (rank, busy(&run.kind));
            }
            rank += run.count;
        }
        root
    }

    /// The trees of whole values.
    pub(super) fn trees(&self) -> Result<[Option<FarTree>; 2], ClusterPlanError> {
        let (inside, message) = self.message(Variant { scheme: FarScheme::Tree, lanes: 1, chunk_bytes: None }, 0.0)?;
        let Trees { up, down, .. } = self.trees_of(inside, message);
        Ok([up, down])
    }

    fn trees_of(&self, inside: Inside, message: Message) -> Trees {
        let costs = TierCosts::of_all(self.model, message);
        let tree = |hops, tails: &[u64]| FarTree::new(self.layout.clone(), hops, tails.to_vec(), Some(self.root()));
        Trees {
            up: self.is_combining().then(|| tree(costs.iter().map(|of| of.up).collect(), &inside.up_ps)),
            down: self.is_telling().then(|| tree(costs.iter().map(|of| of.down).collect(), &inside.down_ps)),
            inside,
        }
    }

    fn tree_piece(&self, inside: Inside, message: Message) -> Piece {
        let Trees { up, down, inside } = self.trees_of(inside, message);
        let spans = [&up, &down].map(|tree| tree.as_ref().map(FarTree::span));
        let chains = spans.each_ref().map(|span| span.as_ref().map_or(Vec::new(), |span| chains_of_tree(&span.depths)));
        let depth = |depths: &[f64]| depths.iter().rposition(|&nodes| nodes > 0.5).unwrap_or(0) as u32;
        let root = self.root();
        let busy_ps: u64 = [&up, &down].into_iter().flatten().map(|tree| tree.busy_ps(root)).sum();
        Piece {
            up_ns: self.longest_ns(up.is_some(), &inside.up_ps),
            down_ns: self.longest_ns(down.is_some(), &inside.down_ps),
            whole_ns: ns(spans.iter().flatten().map(|span| span.duration_ps).sum()),
            busy_ns: ns(busy_ps),
            depth: spans.iter().flatten().map(|span| depth(&span.depths)).sum(),
            chains: chains_of_both(&chains[0], &chains[1]),
            is_exact: true,
        }
    }

    fn longest_ns(&self, is_done: bool, times_ps: &[u64]) -> f64 {
        let longest = self.layout.kinds().map(|kind| times_ps[kind]).max().filter(|_| is_done);
        ns(longest.unwrap_or(0))
    }

    fn doubling_piece(&self, inside: &Inside, message: Message) -> Piece {
        let costs = TierCosts::of_all(self.model, message);
        let doubling = Doubling {
            layout: &self.layout,
            exchange_ps: costs.iter().map(|of| of.exchange_ps).collect(),
            fold_ps: costs.iter().map(|of| of.up.latency_ps).collect(),
            return_ps: costs.iter().map(|of| of.down.latency_ps).collect(),
            ready_ps: &inside.up_ps,
            tails_ps: &inside.down_ps,
        };
        let (duration_ps, is_exact) = doubling.duration_ps();
        let (up_ns, down_ns) = (self.longest_ns(true, &inside.up_ps), self.longest_ns(true, &inside.down_ps));
        let whole_ns = ns(duration_ps);
        let rounds = doubling.rounds() + if doubling.folds() { 2 } else { 0 };
        let chains = chains_of_rounds(self.layout.len(), doubling.rounds());
        let busy_ns = (whole_ns - up_ns - down_ns).max(0.0);
        Piece { up_ns, down_ns, whole_ns, busy_ns, depth: rounds, chains, is_exact }
    }

    /// Halving and doubling: nearest partners exchange the largest parts, so that far ones exchange small parts.
    fn halving_piece(&self, inside: &Inside, message: Message) -> Piece {
        let (up_ns, down_ns) = (self.longest_ns(true, &inside.up_ps), self.longest_ns(true, &inside.down_ps));
        let pairs = Doubling {
            layout: &self.layout,
            exchange_ps: Vec::new(),
            fold_ps: Vec::new(),
            return_ps: Vec::new(),
            ready_ps: &inside.up_ps,
            tails_ps: &inside.down_ps,
        };
        let cost_ps = |tier: usize, bytes: u64| {
            let combined = Message { bytes, ..message };
            let told = Message { combine_byte_ns: 0.0, ..combined };
            let of = |message| TierCosts::of(&self.model.tiers[tier], message).exchange_ps;
            of(combined) + of(told)
        };
        // The dearest pair of each round: in uneven units no node need be in all of these.
        let tiers = pairs.outermost_tiers().into_iter().enumerate();
        let rounds_ps: u64 = tiers.map(|(round, tier)| cost_ps(tier, message.bytes >> (round + 1))).sum();
        let fold_ps = if pairs.folds() {
            let costs = TierCosts::of(&self.model.tiers[pairs.outermost_fold()], message);
            costs.up.latency_ps + costs.down.latency_ps
        } else {
            0
        };
        let far_ns = ns(rounds_ps + fold_ps);
        let depth = 2 * pairs.rounds() + if pairs.folds() { 2 } else { 0 };
        let chains = chains_of_rounds(self.layout.len(), 2 * pairs.rounds());
        let (whole_ns, is_exact) = (up_ns + far_ns + down_ns, pairs.is_even());
        Piece { up_ns, down_ns, whole_ns, busy_ns: far_ns, depth, chains, is_exact }
    }
}
