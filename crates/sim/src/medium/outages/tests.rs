use super::*;

const S: fn(u64) -> Span = Span::from_secs;

fn at(seconds: u64) -> Time {
    Time(S(seconds).0)
}

fn stream() -> Stream {
    Stream::named(1, 0, "links.air.outages")
}

fn first(law: OutageLaw, count: usize) -> Vec<(Time, Time)> {
    let mut outages = Outages::new(law, stream());
    let mut found = Vec::new();
    for _ in 0..count {
        found.push((outages.current().down, outages.current().up));
        outages.pass();
    }
    found
}

#[test]
fn a_script_and_a_period_say_when_and_for_how_long() {
    let script = OutageLaw::Script(vec![(at(10), S(2)), (at(30), S(5))]);
    let never = (Time::NEVER, Time::NEVER);
    assert_eq!(first(script, 3), [(at(10), at(12)), (at(30), at(35)), never]);
    let periodic = OutageLaw::Periodic { first: at(5), every: S(10), lasts: S(1) };
    assert_eq!(first(periodic, 3), [(at(5), at(6)), (at(15), at(16)), (at(25), at(26))]);
}

#[test]
fn what_is_drawn_has_the_means_of_its_law() {
    let drawn = first(OutageLaw::Random { mean_up: S(20), mean_down: S(2) }, 20_000);
    let down: f64 = drawn.iter().map(|(down, up)| up.since(*down).as_secs()).sum::<f64>() / 20_000.0;
    let whole = drawn[19_999].1.0 as f64 / 1e9 / 20_000.0;
    // Four standard errors.
    assert!((down - 2.0).abs() < 0.06, "{down}");
    assert!((whole - 22.0).abs() < 0.6, "{whole}");
    assert!(drawn.windows(2).all(|pair| pair[0].0 < pair[0].1 && pair[0].1 < pair[1].0));
}

#[test]
fn a_link_cuts_what_overlaps_with_an_outage_and_nothing_that_touches_it() {
    let law = OutageLaw::Script(vec![(at(10), S(2)), (at(20), S(1))]);
    let mut outages = Outages::new(law.clone(), stream());
    let asked = [(8, 9), (9, 10), (9, 11), (11, 11), (11, 12), (12, 13), (13, 25), (20, 20), (21, 30)];
    let cut: Vec<bool> = asked.map(|(from, to)| outages.cuts(at(from), at(to))).to_vec();
    assert_eq!(cut, [false, false, true, true, true, false, true, true, false]);
    let mut outages = Outages::new(law, stream());
    let up: Vec<Time> = [9, 10, 11, 12, 20, 30].map(|from| outages.up_from(at(from))).to_vec();
    assert_eq!(up, [9, 12, 12, 12, 21, 30].map(at));
}

#[test]
fn a_node_is_away_from_one_link_while_it_is_at_the_other_and_from_both_in_the_gap() {
    let law = HandoffLaw::Script(vec![at(10), at(20), at(30)]);
    let away = |begins_away| OutageLaw::Away { law: law.clone(), gap: S(1), begins_away };
    assert_eq!(first(away(false), 2), [(at(10), at(21)), (at(30), Time::NEVER)]);
    assert_eq!(first(away(true), 3)[..2], [(at(0), at(11)), (at(20), at(31))]);
    let [mut one, mut other] = [false, true].map(|begins| Outages::new(away(begins), stream()));
    for tenth in 0..400 {
        let now = Time(tenth * 100_000_000);
        let (here, there) = (!one.cuts(now, now), !other.cuts(now, now));
        assert!(!(here && there));
        let in_gap = [10, 20, 30].iter().any(|begin| now >= at(*begin) && now < at(begin + 1));
        assert_eq!(!here && !there, in_gap, "{now:?}");
    }
}

#[test]
fn cuts_of_one_station_leave_the_others_alone() {
    let outage = |down| Outages::new(OutageLaw::Script(vec![(at(down), S(1))]), stream());
    let mut cuts = Cuts::new(vec![(None, outage(10)), (Some(2), outage(20))], false).expect("two");
    assert_eq!(cuts.mask(at(1), at(2)), 0);
    let all = cuts.mask(at(10), at(11));
    assert!(cuts.between(all, 0, 1));
    let one = cuts.mask(at(20), at(21));
    assert!(cuts.between(one, 0, 2) && cuts.between(one, 2, 0) && !cuts.between(one, 0, 1));
    assert!(Cuts::new(Vec::new(), false).is_none());
}
