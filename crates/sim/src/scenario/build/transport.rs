//! The TCP of a flow: its profile, its law and recovery, and what the scenario sets of them.

use super::part::Part;
use super::{acks, events};
use crate::scenario::hosted;
use crate::scenario::value::Value;
use lasthop_stack::registry::{CongestionKind, LawConfig, Parts, RecoveryKind, tcp};
use lasthop_stack::transport::tcp::{
    Counting, EcnMode, FastRetransmit, FullAck, Halved, LossDetection, LostRetransmission, Pacing, Profile,
    RtoArithmetic, RtoFloor, SackAfterTimeout, SackPipe, SlowStart, Undo,
};

pub(super) fn tcp(flow: &Part<'_>) -> tcp::Config {
    let profile = match flow.word("tcp.profile") {
        "ns2-2004" => Profile::Ns2Of2004,
        "rfc" => Profile::Rfc,
        _ => Profile::Modern,
    };
    let mut config = profile.config();
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
    config.ecn = match flow.word("tcp.ecn") {
        "classic" => EcnMode::Classic,
        "accurate" => EcnMode::Accurate,
        _ => EcnMode::Off,
    };
    config.limited_transmit = flow.flag("tcp.limited-transmit");
    config.limited_transmit_resends = flow.flag("tcp.limited-transmit-resends");
    config.eln = flow.flag("tcp.eln");
    config.whole_ssthresh = flow.flag("tcp.whole-ssthresh");
    config.whole_window = flow.flag("tcp.whole-window");
    config.loss_ssthresh = halved(flow, "tcp.loss-ssthresh");
    config.timeout_ssthresh = halved(flow, "tcp.timeout-ssthresh");
    config.slow_start = match flow.known("tcp.slow-start") {
        Some(word) if word.is("hystart") => SlowStart::HyStart,
        Some(word) if word.is("hystart++") => SlowStart::HyStartPlusPlus,
        _ => SlowStart::Standard,
    };
    config.cubic_as_linux = flow.known("tcp.cubic.departures").is_some_and(|word| word.is("linux"));
    config.rto_floor =
        if flow.word("tcp.rto-floor") == "variation" { RtoFloor::Variation } else { RtoFloor::Timeout };
    config.rto_arithmetic =
        if flow.word("tcp.rto-arithmetic") == "ticks" { RtoArithmetic::Ticks } else { RtoArithmetic::Real };
    config.send_windows = send_windows(flow, &config.parts.law);
    config.receive_autotuning = flow.flag("tcp.receive-autotuning");
    config.receive_cushion = if config.receive_autotuning { flow.small("tcp.receive-cushion") } else { 0 };
    config.counting = match flow.word("tcp.growth") {
        "acks" => Counting::Acks,
        _ => Counting::Segments(flow.optional("tcp.growth-limit", Part::small)),
    };
    config.pacing = match flow.word("tcp.pacing") {
        "on" => Pacing::All,
        "off" => Pacing::None,
        _ => Pacing::ByLaw,
    };
    config.pacing_factors = (flow.real("tcp.pacing-slow-start"), flow.real("tcp.pacing-avoidance"));
    config.unpaced_start = flow.small("tcp.unpaced-start");
    config.small_queue = flow.optional("tcp.small-queue", Part::span);
    config.nagle = flow.flag("tcp.nagle");
    config.window_validation = flow.flag("tcp.window-validation");
    config.idle_restart = flow.flag("tcp.idle-restart");
    config.window_decay = flow.flag("tcp.window-decay");
    config.timeout_once = flow.flag("tcp.timeout-once");
    if flow.known("tcp.mark-floor").is_some() {
        config.mark_floor = flow.small("tcp.mark-floor");
    }
    config.window_scale = flow.optional("tcp.window-scale", |flow, key| flow.count(key) as u8);
    config.receive_buffer = flow.optional("sink.buffer", Part::count);
    choices_of_recovery(flow, &mut config);
    config
}

/// The recovery, the law, and the laws that only judge.
fn parts(flow: &Part<'_>) -> Parts {
    let recovery = RecoveryKind::named(flow.word("tcp.recovery"));
    let law = flow.word("tcp.congestion");
    let judges = match flow.value("tcp.judges") {
        Value::List(names) => names.iter().filter_map(|name| CongestionKind::named(&name.text())).collect(),
        _ => Vec::new(),
    };
    Parts {
        recovery: recovery.unwrap_or_else(|| flow.broken("tcp.recovery")),
        law: match CongestionKind::named(law) {
            Some(kind) => self::law(flow, kind),
            None => match hosted::hosted(law) {
                Ok(hosted) => LawConfig::Custom(hosted.law),
                Err(_) => flow.broken("tcp.congestion"),
            },
        },
        judges: judges.into_iter().map(|kind| self::law(flow, kind)).collect(),
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
    match law {
        _ if !flow.flag("tcp.send-autotuning") => 0,
        LawConfig::Bbr(_) | LawConfig::Bbr3(_) => 3,
        _ => 2,
    }
}

fn halved(flow: &Part<'_>, key: &str) -> Halved {
    if flow.word(key) == "window" { Halved::Window } else { Halved::Flight }
}

/// Choices that only one recovery has; where another recovery runs, they have no value and no effect.
fn choices_of_recovery(flow: &Part<'_>, config: &mut tcp::Config) {
    let tcp = flow.below("tcp");
    let choice = |key: &str, word: &str| tcp.known(key).map(|value| value.is(word));
    if let Some(once) = choice("reno.fast-retransmit", "once-a-window") {
        config.reno_fast_retransmit =
            if once { FastRetransmit::OnceAWindow } else { FastRetransmit::EveryHole };
    }
    if let Some(impatient) = choice("newreno.retransmit-timer", "impatient") {
        config.newreno_impatient = impatient;
    }
    config.newreno_counts = choice("newreno.duplicates", "count") == Some(true);
    config.newreno_recovery_burst = match flow.known("tcp.newreno.recovery-burst") {
        Some(_) => flow.optional("tcp.newreno.recovery-burst", Part::small),
        None => None,
    };
    for (word, full_ack) in
        [("flight", FullAck::Flight), ("ssthresh", FullAck::Ssthresh), ("deflated", FullAck::Deflated)]
    {
        if choice("newreno.full-ack", word) == Some(true) {
            config.newreno_full_ack = full_ack;
        }
    }
    if let Some(Value::Bool(grows)) = flow.known("tcp.growth-at-recovery-end") {
        config.growth_at_recovery_end = *grows;
    }
    if let Some(counted) = choice("sack-pipe", "counted") {
        config.sack_pipe = if counted { SackPipe::Counted } else { SackPipe::Scoreboard };
    }
    if let Some(Value::Bool(paced)) = flow.known("tcp.prr") {
        config.prr = *paced;
    }
    choices_of_detection(flow, config);
    if let Some(timer) = choice("lost-retransmission", "timer") {
        config.lost_retransmission =
            if timer { LostRetransmission::Timer } else { LostRetransmission::Overtaken };
    }
    if let Some(kept) = choice("sack-after-timeout", "kept") {
        config.sack_after_timeout = if kept { SackAfterTimeout::Kept } else { SackAfterTimeout::Cleared };
    }
}

/// How SACK's recovery detects losses, and what it does about those that were none.
fn choices_of_detection(flow: &Part<'_>, config: &mut tcp::Config) {
    let flag = |key: &str| flow.known(key) == Some(&Value::Bool(true));
    let by_time = flow.known("tcp.loss-detection").is_some_and(|value| value.is("rack"));
    config.loss_detection = if by_time { LossDetection::Time } else { LossDetection::Duplicates };
    config.tail_loss_probe = flag("tcp.tail-loss-probe");
    config.f_rto = flag("tcp.f-rto");
    config.dsack = flag("tcp.dsack");
    config.undo = Undo::None;
    for (word, undo) in [("dsack", Undo::Dsack), ("timestamps", Undo::Timestamps), ("both", Undo::Both)] {
        if flow.known("tcp.undo").is_some_and(|value| value.is(word)) {
            config.undo = undo;
        }
    }
    if config.newreno_counts {
        (config.f_rto, config.undo, config.prr) = (true, Undo::Timestamps, true);
    }
}
