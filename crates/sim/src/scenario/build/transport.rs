//! The TCP of a flow: its profile, its law and recovery, and what the scenario sets of them.

use super::part::Part;
use super::{acks, events};
use crate::scenario::hosted;
use crate::scenario::keys::words::{Departures, Duplicates, Growth, RetransmitTimer};
use lasthop_stack::hooks::SlowStart;
use lasthop_stack::registry::{CongestionKind, LawConfig, Parts, RecoveryKind, tcp};
use lasthop_stack::transport::tcp::{Counting, LossDetection, Profile, Undo};

pub(super) fn tcp(flow: &Part<'_>) -> tcp::Config {
    let mut config = flow.choice::<Profile>("tcp.profile").config();
    config.parts = parts(flow);
    config.packet = flow.small("tcp.packet");
    config.extra_header = flow.small("tcp.extra-header") as u16;
    config.window = flow.small("tcp.window");
    config.initial_window = flow.small("tcp.initial-window");
    config.initial_ssthresh = flow.optional("tcp.initial-ssthresh", Part::real);
    config.min_rto = flow.span("tcp.min-rto");
    config.max_rto = flow.span("tcp.max-rto");
    config.initial_rto = flow.span("tcp.initial-rto");
    config.tick = flow.span("tcp.tick");
    acks::acks(flow, &mut config);
    config.timestamps = flow.flag("tcp.timestamps");
    config.sack = flow.flag("tcp.sack");
    config.ecn = flow.choice("tcp.ecn");
    config.limited_transmit = flow.flag("tcp.limited-transmit");
    config.limited_transmit_resends = flow.flag("tcp.limited-transmit-resends");
    config.eln = flow.flag("tcp.eln");
    config.whole_ssthresh = flow.flag("tcp.whole-ssthresh");
    config.whole_window = flow.flag("tcp.whole-window");
    config.loss_ssthresh = flow.choice("tcp.loss-ssthresh");
    config.timeout_ssthresh = flow.choice("tcp.timeout-ssthresh");
    config.slow_start = flow.given("tcp.slow-start", Part::choice).unwrap_or(SlowStart::Standard);
    config.cubic_as_linux = flow.given("tcp.cubic.departures", Part::choice) == Some(Departures::Linux);
    config.rto_floor = flow.choice("tcp.rto-floor");
    config.rto_arithmetic = flow.choice("tcp.rto-arithmetic");
    config.send_windows = send_windows(flow, &config.parts.law);
    config.receive_autotuning = flow.flag("tcp.receive-autotuning");
    config.receive_cushion = if config.receive_autotuning { flow.small("tcp.receive-cushion") } else { 0 };
    config.counting = match flow.choice("tcp.growth") {
        Growth::Acks => Counting::Acks,
        Growth::Segments => Counting::Segments(flow.optional("tcp.growth-limit", Part::small)),
    };
    config.pacing = flow.choice("tcp.pacing");
    config.pacing_factors = (flow.real("tcp.pacing-slow-start"), flow.real("tcp.pacing-avoidance"));
    config.unpaced_start = flow.small("tcp.unpaced-start");
    config.small_queue = flow.optional("tcp.small-queue", Part::span);
    config.nagle = flow.flag("tcp.nagle");
    config.window_validation = flow.flag("tcp.window-validation");
    config.idle_restart = flow.flag("tcp.idle-restart");
    config.window_decay = flow.flag("tcp.window-decay");
    config.timeout_once = flow.flag("tcp.timeout-once");
    set(&mut config.mark_floor, flow.given("tcp.mark-floor", Part::small));
    config.window_scale = flow.optional("tcp.window-scale", |flow, key| flow.count(key) as u8);
    config.receive_buffer = flow.optional("sink.buffer", Part::count);
    choices_of_recovery(flow, &mut config);
    config
}

/// The recovery, the law, and the laws that only judge.
fn parts(flow: &Part<'_>) -> Parts {
    let recovery = RecoveryKind::named(flow.word("tcp.recovery"));
    let law = flow.word("tcp.congestion");
    let judges = flow.optional("tcp.judges", Part::names).unwrap_or_default();
    Parts {
        recovery: recovery.unwrap_or_else(|| flow.broken("tcp.recovery")),
        law: match CongestionKind::named(law) {
            Some(kind) => self::law(flow, kind),
            None => match hosted::hosted(law) {
                Ok(hosted) => LawConfig::Custom(hosted.law),
                Err(_) => flow.broken("tcp.congestion"),
            },
        },
        judges: judges
            .iter()
            .filter_map(|name| Some(self::law(flow, CongestionKind::named(name)?)))
            .collect(),
        reaction: events::reaction(flow),
    }
}

/// A law with the constants that the scenario sets.
fn law(flow: &Part<'_>, kind: CongestionKind) -> LawConfig {
    let mut law = kind.config();
    let prefix = format!("tcp.{}", kind.entry().name);
    flow.described(&prefix, &kind.parameters(), |name, value| law.set(name, value));
    law
}

/// Windows for which Linux's send buffer has room under a law (`tcp_sndbuf_expand`, `bbr_sndbuf_expand`); zero for no limit.
fn send_windows(flow: &Part<'_>, law: &LawConfig) -> u8 {
    let windows = if CongestionKind::DEEP_BUFFERED.contains(&law.kind()) { 3 } else { 2 };
    if flow.flag("tcp.send-autotuning") { windows } else { 0 }
}

/// Choices that only one recovery has; where another recovery runs, they have no value and no effect.
fn choices_of_recovery(flow: &Part<'_>, config: &mut tcp::Config) {
    let tcp = flow.below("tcp");
    set(&mut config.reno_fast_retransmit, tcp.given("reno.fast-retransmit", Part::choice));
    let timer = tcp.given("newreno.retransmit-timer", Part::choice);
    set(
        &mut config.newreno_impatient,
        timer.map(|timer: RetransmitTimer| timer == RetransmitTimer::Impatient),
    );
    config.newreno_counts = tcp.given("newreno.duplicates", Part::choice) == Some(Duplicates::Count);
    let burst = tcp.given("newreno.recovery-burst", |tcp, key| tcp.optional(key, Part::small));
    config.newreno_recovery_burst = burst.flatten();
    set(&mut config.newreno_full_ack, tcp.given("newreno.full-ack", Part::choice));
    set(&mut config.growth_at_recovery_end, tcp.given("growth-at-recovery-end", Part::flag));
    set(&mut config.sack_pipe, tcp.given("sack-pipe", Part::choice));
    set(&mut config.prr, tcp.given("prr", Part::flag));
    choices_of_detection(&tcp, config);
    set(&mut config.lost_retransmission, tcp.given("lost-retransmission", Part::choice));
    set(&mut config.sack_after_timeout, tcp.given("sack-after-timeout", Part::choice));
}

/// How SACK's recovery detects losses, and how it reverts a spurious recovery.
fn choices_of_detection(tcp: &Part<'_>, config: &mut tcp::Config) {
    let flag = |key: &str| tcp.given(key, Part::flag) == Some(true);
    config.loss_detection = tcp.given("loss-detection", Part::choice).unwrap_or(LossDetection::Duplicates);
    config.tail_loss_probe = flag("tail-loss-probe");
    config.f_rto = flag("f-rto");
    config.dsack = flag("dsack");
    config.undo = tcp.given("undo", Part::choice).unwrap_or(Undo::None);
    if config.newreno_counts {
        (config.f_rto, config.undo, config.prr) = (true, Undo::Timestamps, true);
    }
}

/// Keeps the value of the profile where the scenario gives none.
fn set<T>(place: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *place = given;
    }
}
