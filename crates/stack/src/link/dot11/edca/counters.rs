//! What a station with EDCA counts besides attempts.

/// The counters of block acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdcaCounters {
    /// PPDUs with more than one MPDU.
    pub aggregates: u64,
    /// MPDUs in them.
    pub aggregated: u64,
    /// BlockAckReq sent.
    pub requests: u64,
    /// A-MPDUs and BlockAckReqs that no BlockAck answered.
    pub block_ack_missing: u64,
    /// Backoffs that ended together with that of a higher category.
    pub internal_collisions: u64,
    /// MPDUs that came after the window had passed them.
    pub late: u64,
    /// Packets discarded at the end of their lifetime.
    pub expired: u64,
    /// PPDUs to several stations.
    pub to_several: u64,
    /// The A-MPDUs in them, one for each station.
    pub parts: u64,
    /// Triggers sent that request BlockAcks, without those in A-MPDUs.
    pub triggers: u64,
    /// Triggers sent that request reports of what waits.
    pub report_requests: u64,
    /// Triggers sent that request data.
    pub solicitations: u64,
    /// Stations that answered them with MPDUs that arrived.
    pub uplink_parts: u64,
    /// Frames sent that ask for the single radio of a station (MU-RTS).
    pub initial: u64,
}

impl EdcaCounters {
    /// The sums of these and others.
    #[must_use]
    pub fn with(&self, other: &EdcaCounters) -> EdcaCounters {
        EdcaCounters {
            aggregates: self.aggregates + other.aggregates,
            aggregated: self.aggregated + other.aggregated,
            requests: self.requests + other.requests,
            block_ack_missing: self.block_ack_missing + other.block_ack_missing,
            internal_collisions: self.internal_collisions + other.internal_collisions,
            late: self.late + other.late,
            expired: self.expired + other.expired,
            to_several: self.to_several + other.to_several,
            parts: self.parts + other.parts,
            triggers: self.triggers + other.triggers,
            report_requests: self.report_requests + other.report_requests,
            solicitations: self.solicitations + other.solicitations,
            uplink_parts: self.uplink_parts + other.uplink_parts,
            initial: self.initial + other.initial,
        }
    }
}
