//! The text of values that the profiles of TCP have.

use super::super::quantity::{Dim, Quantity};
use super::Decimal;
use lasthop_stack::registry::VARIANTS;
use lasthop_stack::registry::tcp;
use lasthop_stack::transport::tcp::{
    EcnMode, FastRetransmit, FullAck, Halved, LossDetection, SackAfterTimeout, SackPipe, SlowStart, Undo,
};
use lasthop_stack::units::Span;

pub(super) fn bytes(count: u64) -> String {
    quantity(Dim::Size, count)
}

pub(super) fn segments(count: u32) -> String {
    quantity(Dim::Segments, count.into())
}

pub(super) fn time(span: Span) -> String {
    quantity(Dim::Time, span.0)
}

pub(super) fn quantity(dim: Dim, base: u64) -> String {
    Quantity { dim, base: Decimal::new(base.into(), 0) }.text()
}

pub(super) fn variant_name(config: &tcp::Config) -> String {
    let pair = |variant: &&lasthop_stack::registry::Variant| {
        variant.recovery == config.parts.recovery && variant.congestion == config.parts.law.kind()
    };
    VARIANTS.iter().find(pair).map_or_else(String::new, |variant| variant.name.to_string())
}

pub(super) fn ecn(config: &tcp::Config) -> String {
    match config.ecn {
        EcnMode::Off => "off".to_string(),
        EcnMode::Classic => "classic".to_string(),
        EcnMode::Accurate => "accurate".to_string(),
    }
}

pub(super) fn retransmit_timer(config: &tcp::Config) -> String {
    if config.newreno_impatient { "impatient" } else { "slow-but-steady" }.to_string()
}

pub(super) fn fast_retransmit(config: &tcp::Config) -> String {
    match config.reno_fast_retransmit {
        FastRetransmit::EveryHole => "every-hole".to_string(),
        FastRetransmit::OnceAWindow => "once-a-window".to_string(),
    }
}

pub(super) fn full_ack(config: &tcp::Config) -> String {
    match config.newreno_full_ack {
        FullAck::Flight => "flight".to_string(),
        FullAck::Ssthresh => "ssthresh".to_string(),
        FullAck::Deflated => "deflated".to_string(),
    }
}

pub(super) fn halved(halved: Halved) -> String {
    match halved {
        Halved::Flight => "flight".to_string(),
        Halved::Window => "window".to_string(),
    }
}

pub(super) fn sack_pipe(config: &tcp::Config) -> String {
    match config.sack_pipe {
        SackPipe::Scoreboard => "scoreboard".to_string(),
        SackPipe::Counted => "counted".to_string(),
    }
}

pub(super) fn slow_start(config: &tcp::Config) -> String {
    match config.slow_start {
        SlowStart::Standard => "standard".to_string(),
        SlowStart::HyStart => "hystart".to_string(),
        SlowStart::HyStartPlusPlus => "hystart++".to_string(),
    }
}

pub(super) fn loss_detection(config: &tcp::Config) -> String {
    match config.loss_detection {
        LossDetection::Duplicates => "rfc6675".to_string(),
        LossDetection::Time => "rack".to_string(),
    }
}

pub(super) fn undo(config: &tcp::Config) -> String {
    match config.undo {
        Undo::None => "none".to_string(),
        Undo::Dsack => "dsack".to_string(),
        Undo::Timestamps => "timestamps".to_string(),
        Undo::Both => "both".to_string(),
    }
}

pub(super) fn sack_after_timeout(config: &tcp::Config) -> String {
    match config.sack_after_timeout {
        SackAfterTimeout::Kept => "kept".to_string(),
        SackAfterTimeout::Cleared => "cleared".to_string(),
    }
}
