//! Times derived from the constants of the MAC: interframe spaces, timeouts, airtime of control frames.

use super::edca::SingleRadio;
use super::mode::DataRate;
use super::rates::{Airtime, PhyRate, RATES};
use super::standard::{BackoffDraw, MacConfig, ResponseTimeout};
use crate::link::fec::Coded;
use crate::packet::NodeId;
use crate::units::{Span, Time};

/// The answer to a frame at some rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Response {
    pub(super) rate: PhyRate,
    pub(super) cts: Airtime,
    pub(super) ack: Airtime,
}

/// The constants of a MAC and what follows from them. The stations of a medium share one.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The constants.
    pub config: MacConfig,
    /// PIFS: SIFS and a slot.
    pub pifs: Span,
    /// DIFS: SIFS and two slots.
    pub difs: Span,
    /// EIFS: SIFS, an ACK at the lowest mandatory rate, DIFS (IEEE 802.11-2012, 9.3.7). Equals DIFS when off.
    pub eifs: Span,
    /// Bytes of a data frame other than its body.
    pub(super) overhead: u32,
    /// Rate of control frames that answer nothing.
    pub(super) control_rate: PhyRate,
    /// Rate of an RTS, and of a CTS-to-self.
    pub(super) protection_rate: PhyRate,
    pub(super) rts: Airtime,
    pub(super) cts_to_self: Airtime,
    /// After an RTS without a frame that follows it, the reservation ends here.
    pub(super) nav_reset: Span,
    /// Longer data frames are protected and count as long.
    pub(super) rts_threshold: u32,
    /// Whether frames at rates of DSSS are not protected.
    spares_dsss: bool,
    /// Longest body of a data frame.
    pub(super) longest_body: u32,
    responses: [Response; RATES],
    /// The data rates of stations with one of their own, by node.
    own_rates: Box<[Option<DataRate>]>,
    /// The stations that receive no PPDU to several, by node.
    without_ofdma: Box<[bool]>,
    /// The multi-link stations with one radio for all of their links, by node.
    single_radios: Box<[Option<SingleRadio>]>,
}

/// An MSDU has at most 16 fragments: the number has four bits.
const MOST_FRAGMENTS: u32 = 16;
/// The largest MSDU in bytes, LLC included (IEEE 802.11-1999, 6.2.1.1.2). It bounds the shortest fragment too.
pub const LARGEST_MSDU: u32 = 2304;
/// The largest frame in bytes: OFDM and HR/DSSS express lengths of up to 4095 (IEEE 802.11-2012, 17.4.3 and 18.4.4).
pub const LARGEST_FRAME: u32 = 4095;

impl Rules {
    /// What follows from `config`.
    #[must_use]
    pub fn new(config: MacConfig) -> Rules {
        let difs = config.sifs + config.slot * 2;
        let responses = PhyRate::ALL.map(|rate| {
            let rate = config.basic_rates.response_to(rate);
            Response {
                rate,
                cts: config.phy.airtime(config.cts, 0, rate),
                ack: config.phy.airtime(config.ack, 0, rate),
            }
        });
        let control_rate = config.basic_rates.response_to(config.data_rate);
        let protection_rate = config.protection_rate.unwrap_or(control_rate);
        // Where DSSS protects OFDM, stations of both are there.
        let lowest = if protection_rate.is_ofdm() { PhyRate::Ofdm6 } else { PhyRate::Dsss1 };
        let ack_at_lowest = config.phy.airtime(config.ack, 0, lowest).total;
        let cts = responses[protection_rate as usize].cts.total;
        let rx_start = match config.access.timeout {
            ResponseTimeout::ReceptionStart(delay) => delay,
            ResponseTimeout::WholeResponse(_) => config.phy.preamble,
        };
        let overhead = config.header + config.fcs;
        let shortest_body = LARGEST_MSDU.div_ceil(MOST_FRAGMENTS);
        let longest_body = config
            .fragment_threshold
            .map_or(u32::MAX, |threshold| (threshold.saturating_sub(overhead) & !1).max(shortest_body));
        Rules {
            config,
            pifs: config.sifs + config.slot,
            difs,
            eifs: if config.access.eifs { config.sifs + ack_at_lowest + difs } else { difs },
            overhead,
            control_rate,
            protection_rate,
            rts: config.phy.airtime(config.rts, 0, protection_rate),
            cts_to_self: config.phy.airtime(config.cts, 0, protection_rate),
            nav_reset: config.sifs * 2 + cts + rx_start + config.slot * 2,
            rts_threshold: config.rts_threshold.unwrap_or(u32::MAX),
            spares_dsss: config.data_rate.is_ofdm() && !protection_rate.is_ofdm(),
            longest_body,
            responses,
            own_rates: Box::default(),
            without_ofdma: Box::default(),
            single_radios: Box::default(),
        }
    }

    /// The same for stations of which some have a data rate of their own, by node.
    #[must_use]
    pub fn with_own_rates(self, own_rates: Box<[Option<DataRate>]>) -> Rules {
        Rules { own_rates, ..self }
    }

    /// The same for stations of which some receive no PPDU to several, by node.
    #[must_use]
    pub fn without_ofdma(self, without_ofdma: Box<[bool]>) -> Rules {
        Rules { without_ofdma, ..self }
    }

    /// The same for multi-link stations of which some have one radio for all of their links, by node.
    #[must_use]
    pub fn with_single_radios(self, single_radios: Box<[Option<SingleRadio>]>) -> Rules {
        Rules { single_radios, ..self }
    }

    /// The single radio of a multi-link station, if it has one.
    pub(super) fn single_radio(&self, node: NodeId) -> Option<SingleRadio> {
        self.single_radios.get(node.0 as usize).copied().flatten()
    }

    /// Whether some station has a single radio.
    pub(super) fn has_single_radios(&self) -> bool {
        !self.single_radios.is_empty()
    }

    /// Whether a station receives PPDUs to several.
    pub(super) fn takes_part(&self, node: NodeId) -> bool {
        !self.without_ofdma.get(node.0 as usize).copied().unwrap_or(false)
            && self.single_radio(node).is_none()
    }

    /// How data goes between two stations: at the rate that one of them has of its own, the slower if both do.
    #[inline]
    #[must_use]
    pub fn data_rate(&self, one: NodeId, other: NodeId) -> DataRate {
        let slower = if self.own_rates.is_empty() { None } else { self.slower_of(one, other) };
        slower
            .unwrap_or(DataRate { rate: self.config.data_rate, mode: self.config.edca.map(|edca| edca.mode) })
    }

    #[inline(never)]
    fn slower_of(&self, one: NodeId, other: NodeId) -> Option<DataRate> {
        let own = |node: NodeId| self.own_rates.get(node.0 as usize).copied().flatten();
        own(one).into_iter().chain(own(other)).min_by_key(DataRate::bps)
    }

    /// What protects a data frame with such a body, and the frame's bytes on the air.
    #[inline]
    pub(super) fn on_air(&self, body: u32) -> (Option<Coded>, u32) {
        let plain = self.overhead + body;
        match self.config.fec {
            None => (None, plain),
            Some(code) => {
                let bytes = body + self.config.fcs;
                (Some(Coded { code, bytes: bytes as u16 }), plain + code.redundancy(bytes))
            }
        }
    }

    /// Whether a data frame of this size at this rate is protected.
    #[inline]
    pub(super) fn is_protected(&self, bytes: u32, rate: PhyRate) -> bool {
        bytes > self.rts_threshold && (rate.is_ofdm() || !self.spares_dsss)
    }

    /// Bytes on the air of the longest frame that carries this packet, or a part of it.
    #[must_use]
    pub fn longest_frame(&self, packet: u32) -> u32 {
        self.on_air((packet + self.config.llc).min(self.longest_body)).1
    }

    /// The answer to a frame at `rate`.
    #[inline]
    pub(super) fn response(&self, rate: PhyRate) -> &Response {
        &self.responses[rate as usize]
    }

    /// How long after its frame a station waits for an answer that lasts `answer`.
    #[inline]
    pub(super) fn timeout(&self, answer: Span) -> Span {
        match self.config.access.timeout {
            ResponseTimeout::ReceptionStart(delay) => self.config.sifs + self.config.slot + delay,
            ResponseTimeout::WholeResponse(slack) => self.config.sifs + answer + slack,
        }
    }

    /// What is left of a reservation after SIFS and an answer.
    #[inline]
    pub(super) fn left(&self, of: Span, answer: Airtime) -> Span {
        Span(of.0.saturating_sub((self.config.sifs + answer.total).0))
    }

    /// Whether the lifetime of an MSDU is over whose first transmission began then.
    #[inline]
    pub(super) fn is_over(&self, begun: Time, now: Time) -> bool {
        self.config.lifetime.is_some_and(|lifetime| now.since(begun) >= lifetime)
    }

    /// The bound of a backoff draw with this contention window.
    #[inline]
    pub(super) fn draw_bound(&self, window: u32) -> u32 {
        match self.config.access.draw {
            BackoffDraw::Standard => window,
            BackoffDraw::BelowWindow => window.saturating_sub(1),
        }
    }

    /// The contention window after a failure: twice as many values, up to the largest.
    #[inline]
    pub(super) fn widen(&self, window: u32) -> u32 {
        window.saturating_mul(2).saturating_add(1).min(self.config.cw_max)
    }
}

#[cfg(test)]
mod tests {
    use super::super::standard::Preset;
    use super::*;

    fn rules(preset: Preset) -> Rules {
        Rules::new(preset.config())
    }

    #[test]
    fn interframe_spaces_are_those_of_the_standard() {
        let micros = |span: Span| span.0 / 1_000;
        for (preset, pifs, difs, eifs) in [
            (Preset::Dot11, 30, 50, 364),
            (Preset::Dot11b, 30, 50, 364),
            (Preset::Dot11bShort, 30, 50, 364),
            (Preset::Dot11a, 25, 34, 94),
            (Preset::Ns2, 30, 50, 364),
            (Preset::Bianchi, 78, 128, 128),
        ] {
            let rules = rules(preset);
            assert_eq!(
                (micros(rules.pifs), micros(rules.difs), micros(rules.eifs)),
                (pifs, difs, eifs),
                "{preset:?}"
            );
        }
    }

    #[test]
    fn control_frames_go_at_a_basic_rate() {
        assert_eq!(rules(Preset::Dot11b).control_rate, PhyRate::Dsss2);
        assert_eq!(rules(Preset::Dot11a).control_rate, PhyRate::Ofdm24);
        assert_eq!(rules(Preset::Ns2b).control_rate, PhyRate::Dsss2);
        assert_eq!(rules(Preset::Ns2).rts.total, Span::from_micros(352));
    }

    #[test]
    fn dsss_protects_ofdm_and_nothing_else_where_both_are_there() {
        let erp = |protection_rate| {
            let config = MacConfig { rts_threshold: Some(100), protection_rate, ..Preset::Dot11g.config() };
            Rules::new(config)
        };
        let mixed = erp(Some(PhyRate::Cck11));
        assert!(mixed.is_protected(101, PhyRate::Ofdm6) && !mixed.is_protected(100, PhyRate::Ofdm6));
        assert!(!mixed.is_protected(101, PhyRate::Cck11));
        assert!(erp(None).is_protected(101, PhyRate::Cck11));
        // 112 bits at 11 Mbit/s are 10.2 µs, and the CTS that answers an RTS lasts as long.
        assert_eq!(mixed.cts_to_self.total, Span::from_micros(192 + 11));
        assert_eq!(mixed.response(mixed.protection_rate).cts, mixed.cts_to_self);
        // SIFS 10, an ACK at 1 Mbit/s, DIFS; without stations of 802.11b at 6 Mbit/s.
        assert_eq!(mixed.eifs, Span::from_micros(10 + 192 + 112 + 28));
        assert_eq!(erp(None).eifs, Span::from_micros(10 + 20 + 24 + 6 + 28));
    }

    #[test]
    fn the_window_doubles_up_to_its_largest() {
        let rules = rules(Preset::Dot11);
        let mut windows = vec![rules.config.cw_min];
        for _ in 0..6 {
            windows.push(rules.widen(windows[windows.len() - 1]));
        }
        assert_eq!(windows, [31, 63, 127, 255, 511, 1023, 1023]);
    }

    #[test]
    fn a_model_without_the_reception_delay_times_out_before_difs() {
        let rules = rules(Preset::Bianchi);
        let cts = rules.response(rules.protection_rate).cts.total;
        assert!(rules.timeout(cts) < rules.difs);
    }
}
