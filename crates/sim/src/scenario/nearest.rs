//! Unknown names: the nearest known ones, and how a message lists them.

use std::fmt::Write as _;

/// The most names that one message lists.
const MOST_LISTED: usize = 8;
/// Shorter names are part of too many others to be a useful suggestion.
const LEAST_PART: usize = 3;

/// The known name nearest to `name`, if it is near enough to be what was meant.
pub(super) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known.iter().filter_map(|other| Some((far(name, other)?, *other)));
    near.min_by_key(|(far, _)| *far).map(|(_, other)| other)
}

/// Names for a message: those near to `name` first, then the others in their order, no more than eight.
pub(super) fn listed(name: &str, known: &[&str]) -> String {
    let mut names: Vec<(usize, &str)> =
        known.iter().map(|other| (far(name, other).unwrap_or(usize::MAX), *other)).collect();
    names.sort_by_key(|(far, _)| *far);
    let first: Vec<&str> = names.iter().take(MOST_LISTED).map(|(_, other)| *other).collect();
    let mut text = first.join(", ");
    if names.len() > MOST_LISTED {
        let _ = write!(text, ", … ({} in total)", names.len());
    }
    text
}

/// `unknown WHAT "name"; did you mean …? (known: …)`, or what is expected if no known name is near.
#[must_use]
pub fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    format!("unknown {what} \"{name}\"; {}", instead(what, name, known))
}

/// What a message about an unknown name ends with.
pub(super) fn instead(what: &str, name: &str, known: &[&str]) -> String {
    let list = listed(name, known);
    match nearest(name, known) {
        Some(near) => format!("did you mean \"{near}\"? (known: {list})"),
        None if known.is_empty() => format!("this scenario has no {what}"),
        None if known.len() == 1 => format!("expected \"{list}\""),
        None if ["variant", "congestion law"].contains(&what) => {
            format!("expected one of {list}, or the name of a law in Python that --law registers")
        }
        None if what == "law of the stack" => {
            format!("expected one of {list}, or instead of this key law, a law of tcp.congestion")
        }
        None => format!("expected one of {list}"),
    }
}

/// How far a known name is from what was given; none if it is too far to be what was meant.
fn far(name: &str, known: &str) -> Option<usize> {
    let (name, known) = (name.to_lowercase(), known.to_lowercase());
    let slips = |name: &str, known: &str| {
        let length = name.chars().count();
        let allowed = (length.max(known.chars().count()) / 3).max(1);
        let slips = distance(name, known);
        (slips <= allowed && slips < length).then_some(slips)
    };
    // A name without the table before it, such as a metric without its flow.
    let last = known.rsplit('.').next().filter(|last| !name.contains('.') && *last != known);
    let found = slips(&name, &known).or_else(|| last.and_then(|last| Some(slips(&name, last)? + 1)));
    found.or_else(|| {
        let part = |whole: &str, part: &str| {
            part.chars().count() >= LEAST_PART
                && part.starts_with(|c: char| c.is_alphabetic())
                && whole.contains(part)
        };
        let lengths = name.chars().count() + known.chars().count();
        // Ranked after all misspellings; the more of both names is shared, the nearer.
        let shared = if part(&known, &name) {
            name.chars().count()
        } else if part(&name, &known) {
            known.chars().count()
        } else {
            return None;
        };
        Some(1000 + lengths - 2 * shared)
    })
}

/// Edit distance where a swap of neighbours counts once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut cost = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(before[j - 2] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_a_slip_and_a_gap_each_count_once() {
        assert_eq!(distance("delay", "dealy"), 1);
        assert_eq!(distance("reno", "renno"), 1);
        assert_eq!(distance("load-adaptve", "load-adaptive"), 1);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn a_name_far_from_all_known_ones_has_no_nearest() {
        assert_eq!(nearest("newrneo", &["tahoe", "reno", "newreno"]), Some("newreno"));
        assert_eq!(nearest("cubic", &["tahoe", "reno", "newreno"]), None);
        assert_eq!(nearest("x", &[]), None);
    }

    #[test]
    fn a_part_of_a_name_is_near_and_the_longer_part_is_nearer() {
        let known = ["flows.a.rtt_mean_s", "flows.a.goodput_bps", "goodput_bps"];
        assert_eq!(nearest("flows.a.goodput", &known), Some("flows.a.goodput_bps"));
        assert_eq!(nearest("godput_bps", &known), Some("goodput_bps"));
        assert_eq!(nearest("rtt_mean", &known), Some("flows.a.rtt_mean_s"));
        assert_eq!(nearest("TcpNewReno", &["tahoe", "reno", "newreno"]), Some("newreno"));
        assert_eq!(nearest("100 %", &["0 %"]), None, "a number in another means nothing");
    }

    #[test]
    fn a_list_has_the_near_names_first_and_no_more_than_eight() {
        let known: Vec<String> = (0..20).map(|i| format!("word-{i}")).chain(["reno".to_string()]).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let list = listed("renno", &known);
        assert_eq!(list, "reno, word-0, word-1, word-2, word-3, word-4, word-5, word-6, … (21 in total)");
        assert_eq!(listed("x", &["tahoe", "reno"]), "tahoe, reno");
        assert_eq!(unknown("swept key", "a", &[]), "unknown swept key \"a\"; this scenario has no swept key");
    }
}
