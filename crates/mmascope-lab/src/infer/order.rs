//! Asks a device for the order of its sum: by what masks lose, and by what they change.

use super::run::Run;
use crate::error::Result;
use crate::reveal::{DeviceSum, Nature, RevealOptions, order_by_change, reveal};
use crate::tree::Tree;

/// The order that masks show.
#[derive(Clone)]
pub(super) enum Order {
    Tree(Tree),
    /// No single tree.
    Unknown,
    /// No masks work on the device.
    NoMasks,
}

/// Whether masks were not asked yet and may take more than a quarter of the budget. (An estimate: where formats reach less far than the
/// sum, masks of several sizes take more.)
pub(super) fn is_dear(run: &Run<'_>) -> bool {
    let leaves = run.signature.k as u64 + 1;
    run.order.is_none() && leaves.pow(2) > run.options.budget / 4
}

/// The order that masks show; they are asked once.
pub(super) fn order(run: &mut Run<'_>) -> Result<Order> {
    let known = match run.order.take() {
        Some(known) => known,
        None => asked_order(run)?,
    };
    run.order = Some(known.clone());
    Ok(known)
}

fn asked_order(run: &mut Run<'_>) -> Result<Order> {
    let options = RevealOptions {
        verify: false,
        ..RevealOptions::default()
    };
    let mut subject = DeviceSum::new(run.asker.device())?;
    let report = reveal(&mut subject, &options);
    let Ok(report) = report else {
        // A device that fails fails again below.
        return Ok(Order::NoMasks);
    };
    run.asker.spend(report.all_measurements);
    // A node that keeps every bit that short formats reach is unresolved, and taken for a step like any other.
    Ok(match report.nature {
        Nature::Tree => {
            run.ask_along(&report.tree)?;
            Order::Tree(report.tree)
        }
        _ => Order::Unknown,
    })
}

/// The most leaves for which each unit is looked at by itself where masks show a tree already.
const FEW_LEAVES: usize = 17;

/// Another order, by what masks change rather than lose: what they show of sums that round away from zero or to
/// odd, and of exact sums. It is asked for once.
pub(super) fn order_of_changes(run: &mut Run<'_>, shown: &Order) -> Result<Option<Tree>> {
    let known = match run.order_of_changes.take() {
        Some(known) => known,
        None => asked_order_of_changes(run, shown)?,
    };
    run.order_of_changes = Some(known.clone());
    Ok(known)
}

fn asked_order_of_changes(run: &mut Run<'_>, shown: &Order) -> Result<Option<Tree>> {
    let leaves = run.signature.k + 1;
    let is_shown = matches!(shown, Order::Tree(_));
    // A chain against the order of k takes the most.
    let most = leaves.pow(3) / 3;
    if is_shown && leaves > FEW_LEAVES || !run.asker.affords(most) {
        return Ok(None);
    }
    let mut subject = DeviceSum::new(run.asker.device())?;
    let Ok((tree, asked)) = order_by_change(&mut subject, leaves) else {
        // A device that fails fails again below; one whose factors are no powers of two has no masks.
        return Ok(None);
    };
    run.asker.spend(asked);
    let is_known = |tree: &Tree| matches!(shown, Order::Tree(known) if known == tree);
    Ok(tree.filter(|tree| !is_known(tree)))
}
