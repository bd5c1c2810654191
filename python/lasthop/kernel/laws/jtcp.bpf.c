/* JTCP, as crates/stack/src/transport/congestion/jtcp.rs: a loss is congestion only if the jitter ratio indicates a queue.
 * Departure and arrival are TSecr and TSval of the acknowledgement. */

#include "law.h"

LAW("lasthop_jtcp");

INLINE void on_rtt(struct law *law)
{
}

INLINE u32 on_loss(struct law *law, enum kind kind, u64 now, u64 srtt_ns)
{
	u32 half = law->window.cwnd / 2;
	bool is_random = !is_queueing(law);

	if (is_same_event(law, kind, now, srtt_ns))
		return CONGESTION;
	if (is_random && kind == DUPLICATES)
		return RANDOM;
	if (is_random && parameters.timeout_rule == TIMEOUT_HALF)
		reduce(law, now, half, half);
	else
		halve(law, kind, now);
	return is_random ? RANDOM : CONGESTION;
}
