//! Saturated stations compared with Bianchi's model and an independent table.

use super::super::{MacConfig, PhyRate, Preset, Rules};
use super::cell::{Cell, at};
use crate::units::{Span, Time};

/// Throughput in bits of payload per second: `count` stations that always have a packet for the next.
fn saturated(config: MacConfig, count: usize, payload: u32, exchanges: u64) -> f64 {
    let mut cell = Cell::new(config, count.max(2));
    cell.quieten();
    let mut given = 0;
    for _ in 0..2 {
        for number in 0..count {
            given += 1;
            cell.enqueue(number, (number + 1) % count.max(2), given, payload);
        }
    }
    let delivered = |cell: &Cell| cell.sides.iter().map(|side| side.delivered).sum::<u64>();
    let (mut begin, mut skipped) = (Time::ZERO, 0);
    let warmup = exchanges / 50;
    loop {
        assert!(cell.step(Time::NEVER), "saturated stations never rest");
        let done = delivered(&cell);
        if done > given - 2 * count as u64 {
            for number in 0..count {
                while cell.stations[number].backlog() < 2 {
                    given += 1;
                    cell.enqueue(number, (number + 1) % count.max(2), given, payload);
                }
            }
            if done >= warmup && begin == Time::ZERO {
                (begin, skipped) = (cell.now, done);
            }
            if done >= exchanges + warmup {
                return ((done - skipped) * 8 * u64::from(payload)) as f64 / (cell.now - begin).as_secs();
            }
        }
    }
}

/// A model of saturated DCF.
struct Model {
    /// First contention window, counted from 1, and how often it doubles.
    window: f64,
    doublings: u32,
    slot: f64,
    /// Time of a success and of a collision, in seconds.
    success: f64,
    collision: f64,
    payload: f64,
}

impl Model {
    /// The probability of sending in a slot, from the fixed point of tau and p, by bisection.
    fn tau(&self, count: f64) -> f64 {
        let excess = |tau: f64| {
            let p = 1.0 - libm::pow(1.0 - tau, count - 1.0);
            let sum: f64 = (0..self.doublings).map(|stage| libm::pow(2.0 * p, f64::from(stage))).sum();
            2.0 / (1.0 + self.window + p * self.window * sum) - tau
        };
        let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if excess(middle) > 0.0 { low = middle } else { high = middle }
        }
        low
    }

    fn throughput(&self, count: usize) -> f64 {
        let count = count as f64;
        let tau = self.tau(count);
        let busy = 1.0 - libm::pow(1.0 - tau, count);
        let alone = count * tau * libm::pow(1.0 - tau, count - 1.0);
        let mean = (1.0 - busy) * self.slot + alone * self.success + (busy - alone) * self.collision;
        alone * self.payload / mean
    }
}

/// The constants of Bianchi's tables.
fn bianchi(window: u32, doublings: u32, rts: bool) -> (MacConfig, Model) {
    let config = MacConfig {
        cw_min: window - 1,
        cw_max: (window << doublings) - 1,
        rts_threshold: rts.then_some(0),
        ..Preset::Bianchi.config()
    };
    let (header, payload, ack, cts, rts_frame) = (400.0, 8_184.0, 240.0, 240.0, 288.0);
    let (sifs, difs, delay) = (28.0, 128.0, 1.0);
    let data = header + payload + sifs + delay + ack + difs + delay;
    let (success, collision) = if rts {
        (rts_frame + sifs + delay + cts + sifs + delay + data, rts_frame + difs + delay)
    } else {
        (data, header + payload + difs + delay)
    };
    let model = Model {
        window: f64::from(window),
        doublings,
        slot: 50e-6,
        success: success * 1e-6,
        collision: collision * 1e-6,
        payload,
    };
    (config, model)
}

const COUNTS: [usize; 5] = [2, 5, 10, 20, 50];
const EXCHANGES: u64 = 20_000;

fn agrees(name: &str, count: usize, ours: f64, theirs: f64, tolerance: f64) {
    let off = ours / theirs - 1.0;
    println!("{name} n={count}: {ours:.0} against {theirs:.0} bit/s, {:+.2} %", 100.0 * off);
    assert!(off.abs() <= tolerance, "{name} n={count}: {ours} against {theirs}");
}

#[test]
fn the_model_gives_the_published_values() {
    let rows: [(u32, u32, bool, [f64; 5]); 5] = [
        (32, 3, false, [0.8473, 0.8097, 0.7532, 0.6788, 0.5529]),
        (32, 5, false, [0.8473, 0.8102, 0.7579, 0.6975, 0.6109]),
        (128, 3, false, [0.7676, 0.8250, 0.8263, 0.7981, 0.7252]),
        (32, 3, true, [0.8189, 0.8342, 0.8371, 0.8356, 0.8270]),
        (128, 3, true, [0.7318, 0.7979, 0.8217, 0.8327, 0.8363]),
    ];
    for (window, doublings, rts, row) in rows {
        let (_, model) = bianchi(window, doublings, rts);
        for (count, expected) in COUNTS.into_iter().zip(row) {
            let share = model.throughput(count) / 1e6;
            assert!((share - expected).abs() < 6e-5, "W{window} m{doublings} rts {rts} n={count}: {share}");
        }
    }
}

#[test]
fn saturated_stations_reach_the_throughput_of_bianchis_model() {
    for (window, doublings, rts) in
        [(32, 3, false), (32, 5, false), (128, 3, false), (32, 3, true), (128, 3, true)]
    {
        let (config, model) = bianchi(window, doublings, rts);
        for count in COUNTS {
            let ours = saturated(config, count, 1_023, EXCHANGES);
            let name = format!("W{window} m{doublings} {}", if rts { "RTS" } else { "basic" });
            agrees(&name, count, ours, model.throughput(count), 0.02);
        }
    }
}

#[test]
fn saturated_stations_reach_the_throughput_of_an_independent_table() {
    let counts = [5, 10, 20, 50];
    let slow_b = MacConfig {
        data_rate: PhyRate::Dsss1,
        basic_rates: super::super::RateSet::of(&[PhyRate::Dsss1]),
        ..Preset::Dot11b.config()
    };
    let slow_a = MacConfig { data_rate: PhyRate::Ofdm6, ..Preset::Dot11a.config() };
    for (name, config, row) in [
        ("11b 1 Mbit/s", slow_b, [0.8437, 0.7861, 0.7226, 0.6336]),
        ("11a 6 Mbit/s", slow_a, [4.7087, 4.3453, 3.9899, 3.5071]),
    ] {
        for (count, expected) in counts.into_iter().zip(row) {
            let ours = saturated(config.under_model_assumptions(), count, 1_500, EXCHANGES);
            agrees(name, count, ours, expected * 1e6, 0.02);
        }
    }
}

#[test]
fn a_single_saturated_station_sends_a_packet_per_exchange_time() {
    for preset in Preset::ALL {
        for rts_threshold in [None, Some(0)] {
            let config = MacConfig { rts_threshold, ..preset.config() };
            let rules = Rules::new(config);
            let rate = config.data_rate;
            let control = config.basic_rates.response_to(rate);
            let airtime = |bytes, rate| config.phy.airtime(bytes, 0, rate).total;
            let mut exchange = rules.difs
                + airtime(1_000 + config.llc + config.header + config.fcs, rate)
                + config.sifs
                + airtime(config.ack, control);
            if rts_threshold.is_some() {
                exchange += airtime(config.rts, control) + airtime(config.cts, control) + config.sifs * 2;
            }
            let backoff = Span(config.slot.0 * u64::from(rules.draw_bound(config.cw_min)) / 2);
            let expected = 8_000.0 / (exchange + backoff).as_secs();
            let ours = saturated(config, 1, 1_000, 100_000);
            agrees(preset.name(), 1, ours, expected, 0.001);
        }
    }
}

#[test]
fn a_minute_of_two_stations_serves_both_alike() {
    let mut cell = Cell::new(Preset::Dot11b.config(), 2);
    cell.quieten();
    let mut handle = 0;
    while cell.now < at(60_000_000) {
        for number in 0..2 {
            while cell.stations[number].backlog() < 2 {
                handle += 1;
                cell.enqueue(number, 1 - number, handle, 1_000);
            }
        }
        cell.step(Time::NEVER);
    }
    let [first, second] = [cell.sides[0].delivered, cell.sides[1].delivered];
    assert!(first.abs_diff(second) * 50 < first + second, "{first} and {second}");
}
