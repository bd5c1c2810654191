//! What holds in safe mode whatever the hop does, and what paper mode breaks.

use proptest::prelude::*;

use super::super::{AckScheme, Config, Counters, Mode, OnUndelivered};
use super::world::{Draws, Fate, Outcome, Plan, Reader, Upset, World};
use crate::hooks::Criterion;
use crate::registry::tcp::{self, Profile, State};
use crate::registry::{LawConfig, Parts, RecoveryKind};
use crate::units::{Span, Time};

fn seconds(s: u64) -> Time {
    Time::ZERO.after(Span::from_secs(s))
}

fn agent(mode: Mode) -> Config {
    Config::new(mode, Criterion::default())
}

/// The plan with agents of this mode and nothing else changed.
fn in_mode(mode: Mode, plan: Plan) -> Plan {
    Plan { agents: [agent(mode), agent(mode)], ..plan }
}

/// A plan in which nothing goes wrong.
fn quiet(mode: Mode) -> Plan {
    let tcp = tcp::Config { receive_buffer: Some(40_000), packet: 1000, ..Profile::Modern.config() };
    Plan {
        seed: 1,
        agents: [agent(mode), agent(mode)],
        wired: None,
        opener: 0,
        tcp,
        readers: [Reader::AtOnce; 2],
        bytes: [200_000, 0],
        pieces: 1,
        written_by: Time(1_000_000),
        close_at: Time(1_000_000),
        lost: 0,
        losers: [true; 2],
        delivered_unnoticed: 0,
        dropped_above: 0,
        link_down: (Time::ZERO, Time::ZERO),
        calm: seconds(20),
        fate: Fate::Lives,
        upsets: Vec::new(),
    }
}

fn reader(draws: &mut Draws) -> Reader {
    match draws.below(4) {
        0 | 1 => Reader::AtOnce,
        2 => Reader::Slow(500 + draws.below(8000), Span::from_millis(5 + draws.below(100))),
        _ => Reader::Stalled(Time(draws.below(8_000_000_000))),
    }
}

/// An agent with every option drawn; one in ten has no room for a flow.
fn drawn_agent(draws: &mut Draws, mode: Mode) -> Config {
    let every = 1 + draws.below(3) as u32;
    Config {
        acknowledge: match draws.below(2) {
            0 => AckScheme::EveryPacket,
            _ => AckScheme::Delayed { every, delay: Span::from_millis(draws.below(150)) },
        },
        on_undelivered: match draws.below(3) {
            0 => OnUndelivered::Nothing,
            1 => OnUndelivered::ResubmitOnce,
            _ => OnUndelivered::ThreeDuplicates,
        },
        hold: Span::from_millis(1 + draws.below(40)),
        max_kept: if draws.below(4) == 0 { draws.below(20_000) } else { 8_000_000 },
        max_flows: usize::from(draws.below(10) > 0),
        ..agent(mode)
    }
}

/// A plan in which everything is drawn.
fn drawn(seed: u64, mode: Mode) -> Plan {
    let mut draws = Draws(seed);
    let draws = &mut draws;
    let recovery = RecoveryKind::ALL[draws.below(RecoveryKind::ALL.len() as u64) as usize];
    let sack = matches!(recovery, RecoveryKind::Sack | RecoveryKind::Fack) || draws.below(2) == 0;
    let tcp = tcp::Config {
        parts: Parts::new(recovery, LawConfig::Reno(())),
        sack,
        timestamps: draws.below(2) == 0,
        packet: 200 + draws.below(1300) as u32,
        receive_buffer: Some(4_000 + draws.below(200_000)),
        ack_every: 1 + draws.below(2) as u32,
        nagle: draws.below(2) == 0,
        ..Profile::Modern.config()
    };
    let down = draws.below(6_000_000_000);
    let written_by = Time(1_000_000 + draws.below(8_000_000_000));
    let mut some = |most: u64| if draws.below(2) == 0 { 0 } else { draws.below(most) };
    Plan {
        seed,
        lost: some(150),
        delivered_unnoticed: some(100),
        dropped_above: some(100),
        link_down: (Time(down), Time(down + some(3_000_000_000))),
        wired: if some(2) == 0 { None } else { Some(Span::from_millis(20)) },
        opener: draws.below(2) as usize,
        bytes: [draws.below(200_000), if draws.below(2) == 0 { 0 } else { draws.below(100_000) }],
        pieces: 1 + draws.below(20),
        written_by,
        close_at: written_by,
        readers: [reader(draws), reader(draws)],
        agents: [drawn_agent(draws, mode), drawn_agent(draws, mode)],
        tcp,
        ..quiet(mode)
    }
}

/// A plan with hand-offs, of which the next may begin before the state of the last has arrived.
fn moved(seed: u64, mode: Mode) -> Plan {
    let mut draws = Draws(seed ^ 0x5eed);
    let mut upset = || {
        let takes = Span::from_millis(draws.below(300) * draws.below(2));
        (Time(draws.below(6_000_000_000)), Upset::Handoff(takes))
    };
    let upsets = vec![upset(), upset(), upset()];
    Plan { wired: Some(Span::from_millis(20)), upsets, ..drawn(seed, mode) }
}

/// A plan in which agents restart.
fn restarted(seed: u64, mode: Mode) -> Plan {
    let mut draws = Draws(seed ^ 0x5eed);
    let mut upset = || (Time(draws.below(6_000_000_000)), Upset::Restart(draws.below(2) as usize));
    let upsets = vec![upset(), upset(), upset()];
    Plan { upsets, ..drawn(seed, mode) }
}

fn arrives_whole(plan: &Plan, outcome: &Outcome) -> Result<(), TestCaseError> {
    prop_assert_eq!(outcome.beyond_edge, 0, "{:?}", plan);
    prop_assert!(outcome.whole, "{:?}\n{:?}", outcome, plan);
    Ok(())
}

fn holds_for_the_living(plan: &Plan, outcome: &Outcome) -> Result<(), TestCaseError> {
    arrives_whole(plan, outcome)?;
    let unconfirmed = outcome.counters.map(|counters| counters.unconfirmed + counters.never_confirmed);
    prop_assert_eq!(unconfirmed[0].max(unconfirmed[1]), 0, "{:?}\n{:?}", outcome, plan);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_arrives_whole_whatever_the_hop_does_while_the_receiver_lives(seed in any::<u64>()) {
        let plan = drawn(seed, Mode::Safe);
        holds_for_the_living(&plan, &World::run(&plan))?;
    }

    #[test]
    fn it_does_though_the_receiver_moves_from_station_to_station(seed in any::<u64>()) {
        let plan = moved(seed, Mode::Safe);
        arrives_whole(&plan, &World::run(&plan))?;
    }

    #[test]
    fn it_does_though_agents_restart_unless_the_link_loses_what_it_has_delivered(seed in any::<u64>()) {
        let plan = Plan { dropped_above: 0, ..restarted(seed, Mode::Safe) };
        arrives_whole(&plan, &World::run(&plan))?;
    }

    #[test]
    fn a_receiver_that_dies_leaves_at_most_one_window_acknowledged_and_the_counter_says_how_much(
        seed in any::<u64>(), dies in 0u64..8_000_000_000
    ) {
        let plan = Plan { fate: Fate::Dies(Time(dies)), ..drawn(seed, Mode::Safe) };
        let outcome = World::run(&plan);
        let counted = outcome.counters[0].unconfirmed + outcome.counters[0].never_confirmed;
        prop_assert_eq!(outcome.beyond_edge, 0);
        prop_assert!(outcome.acknowledged_falsely <= outcome.window, "{:?}\n{:?}", outcome, plan);
        prop_assert!(counted >= outcome.acknowledged_falsely, "{:?}\n{:?}", outcome, plan);
        prop_assert!(counted <= outcome.window, "{:?}\n{:?}", outcome, plan);
    }

    #[test]
    fn a_receiver_that_resets_ends_the_flow_and_at_most_one_window_was_acknowledged_falsely(
        seed in any::<u64>(), resets in 1u64..8_000_000_000
    ) {
        let plan = Plan { fate: Fate::Resets(Time(resets)), ..drawn(seed, Mode::Safe) };
        let outcome = World::run(&plan);
        prop_assert_eq!(outcome.beyond_edge, 0);
        prop_assert!(outcome.acknowledged_falsely <= outcome.window, "{:?}\n{:?}", outcome, plan);
        prop_assert!(outcome.counters[0].never_confirmed <= outcome.window);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_repaired_when_nothing_is_lost_above_the_link(seed in any::<u64>()) {
        let plan = drawn(seed, Mode::Safe);
        let tcp = tcp::Config { ack_every: 1, ..plan.tcp };
        let agents = plan.agents.map(|agent| Config { max_flows: 1, max_kept: 8_000_000, ..agent });
        let plan = Plan {
            dropped_above: 0, delivered_unnoticed: 0, losers: [true, false], bytes: [plan.bytes[0], 0],
            link_down: (Time::ZERO, Time::ZERO), readers: [Reader::AtOnce; 2], tcp, agents, ..plan
        };
        let outcome = World::run(&plan);
        holds_for_the_living(&plan, &outcome)?;
        let Counters { repaired, probed, .. } = outcome.counters[0];
        prop_assert_eq!(repaired - probed, 0, "{:?}\n{:?}", outcome, plan);
    }
}

#[test]
fn on_a_good_hop_all_is_acknowledged_here_and_few_acknowledgements_are_on_the_air() {
    for wired in [None, Some(Span::from_millis(20))] {
        let plan = Plan { wired, bytes: [1_000_000, 0], ..quiet(Mode::Safe) };
        let outcome = World::run(&plan);
        holds_for_the_living(&plan, &outcome).expect("nothing goes wrong");
        let [sending, receiving] = outcome.counters;
        assert_eq!((outcome.retransmits, sending.repaired, sending.false_negatives), (0, 0, 0));
        assert!(sending.generated >= 1000);
        assert!(receiving.passed * 8 < receiving.suppressed, "{receiving:?}");
        assert_eq!((sending.flows, receiving.flows, sending.state_bytes), (0, 0, 0), "freed at the end");
    }
}

#[test]
fn a_connection_that_either_agent_refuses_is_acknowledged_by_its_receiver_alone() {
    for mode in [Mode::Paper, Mode::Safe] {
        for (refuses, opener) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut plan = Plan { opener, ..quiet(mode) };
            plan.agents[refuses].max_flows = 0;
            let outcome = World::run(&plan);
            assert!(outcome.whole, "{mode:?}: agent {refuses} refuses, side {opener} opens: {outcome:?}");
            let acts = |counters: &Counters| (counters.generated, counters.suppressed);
            assert_eq!(outcome.counters.map(|counters| acts(&counters)), [(0, 0); 2]);
            assert_eq!(outcome.counters[refuses].flows_refused, 1);
        }
    }
}

#[test]
fn data_both_ways_at_once_is_acknowledged_at_both_ends() {
    let plan = Plan { bytes: [300_000, 300_000], ..quiet(Mode::Safe) };
    let outcome = World::run(&plan);
    holds_for_the_living(&plan, &outcome).expect("nothing goes wrong");
    assert!(outcome.counters.iter().all(|counters| counters.generated >= 300), "{:?}", outcome.counters);
}

#[test]
fn what_the_receiver_drops_above_the_link_is_repaired_on_the_hop() {
    let plan = Plan { dropped_above: 30, ..quiet(Mode::Safe) };
    let outcome = World::run(&plan);
    holds_for_the_living(&plan, &outcome).expect("the receiver lives");
    assert!(outcome.counters[0].repaired > 0);
    assert!(outcome.ended < seconds(2), "{:?}", outcome.ended);
}

#[test]
fn a_stopped_reader_is_waited_for_though_a_third_of_the_air_is_lost() {
    let readers = [Reader::AtOnce, Reader::Stalled(seconds(3))];
    let plan = Plan { readers, lost: 300, calm: seconds(1_000), ..quiet(Mode::Safe) };
    let outcome = World::run(&plan);
    holds_for_the_living(&plan, &outcome).expect("the receiver lives");
    assert!(outcome.ended > seconds(3));
}

#[test]
fn a_host_that_dies_is_found_out_within_its_window() {
    let plan = Plan { fate: Fate::Dies(Time(100_000_000)), ..quiet(Mode::Safe) };
    let outcome = World::run(&plan);
    let counters = outcome.counters[0];
    assert!(outcome.acknowledged_falsely > 0 && outcome.acknowledged_falsely <= outcome.window);
    assert!((outcome.acknowledged_falsely..=outcome.window).contains(&counters.unconfirmed), "{outcome:?}");
}

/// The paper's limits, each on a hop without other faults.
mod the_paper {
    use super::*;

    #[test]
    fn carries_a_file_to_a_fast_reader() {
        let outcome = World::run(&quiet(Mode::Paper));
        assert!(outcome.whole);
        let receiving = outcome.counters[1];
        assert_eq!((receiving.passed, outcome.retransmits), (0, 0));
    }

    #[test]
    fn overruns_a_slow_reader() {
        let readers = [Reader::AtOnce, Reader::Slow(1000, Span::from_millis(10))];
        let outcome = World::run(&Plan { readers, ..quiet(Mode::Paper) });
        assert!(!outcome.whole && outcome.beyond_edge > 0);
        assert!(outcome.acknowledged_falsely > outcome.window, "{outcome:?}");
        assert!(World::run(&Plan { readers, ..quiet(Mode::Safe) }).whole);
    }

    #[test]
    fn never_establishes_when_the_server_speaks_first() {
        let plan = Plan { opener: 1, close_at: Time::NEVER, ..quiet(Mode::Paper) };
        let outcome = World::run(&plan);
        assert_eq!((outcome.states[0], outcome.in_order[1]), (State::SynReceived, 0));
        let outcome = World::run(&in_mode(Mode::Safe, plan));
        assert_eq!((outcome.states[0], outcome.in_order[1]), (State::Established, 200_000));
    }

    #[test]
    fn hangs_when_a_delivered_packet_is_dropped_above_the_link() {
        let plan = Plan { dropped_above: 30, ..quiet(Mode::Paper) };
        let outcome = World::run(&plan);
        assert!(!outcome.whole && outcome.acknowledged_falsely > 0, "{outcome:?}");
        assert!(World::run(&in_mode(Mode::Safe, plan)).whole);
    }

    #[test]
    fn acknowledges_without_bound_for_a_dead_host() {
        let plan = Plan { fate: Fate::Dies(Time(100_000_000)), ..quiet(Mode::Paper) };
        let outcome = World::run(&plan);
        assert!(outcome.acknowledged_falsely > 2 * outcome.window, "{outcome:?}");
    }

    #[test]
    fn destroys_data_that_goes_the_other_way() {
        let plan = Plan { bytes: [200_000, 200_000], ..quiet(Mode::Paper) };
        let outcome = World::run(&plan);
        assert!(!outcome.whole && outcome.counters[0].cleared > 0, "{outcome:?}");
        assert!(World::run(&in_mode(Mode::Safe, plan)).whole);
    }

    #[test]
    fn fails_where_safe_mode_holds() {
        let outcomes: Vec<Outcome> = (0..60).map(|seed| World::run(&drawn(seed, Mode::Paper))).collect();
        let broken = outcomes.iter().filter(|outcome| !outcome.whole).count();
        let beyond = outcomes.iter().filter(|outcome| outcome.beyond_edge > 0).count();
        assert!(broken > 30 && beyond > 30, "{broken} broken, {beyond} beyond the edge");
    }
}
