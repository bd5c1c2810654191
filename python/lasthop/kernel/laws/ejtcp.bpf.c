/* EJTCP, as crates/stack/src/schemes/ejtcp.rs: a loss is congestion only if the jitter ratio and the round trip indicate
 * it; an acknowledgement releases a few segments at most. The kernel sends one copy of a lost segment. */

#include "law.h"

LAW("lasthop_ejtcp");

INLINE bool is_jittery(const struct law *law)
{
	return !parameters.jitter_test || is_queueing(law);
}

INLINE bool is_late(const struct law *law)
{
	if (parameters.rtt_rule == RTT_OFF)
		return 1;
	if (parameters.rtt_rule == RTT_FIXED)
		return law->rtt_us * 1000 > parameters.rtt_threshold_ns;
	return law->rtt_us * 1000000 > parameters.alpha * law->max_rtt_us;
}

INLINE void on_rtt(struct law *law)
{
	if (law->rtt_us > law->max_rtt_us && is_jittery(law))
		law->max_rtt_us = law->rtt_us;
}

/* The window after a timeout that is random. */
INLINE void after_random_timeout(struct law *law, enum kind kind, u64 now)
{
	u32 cwnd = law->window.cwnd;

	if (parameters.timeout_rule == TIMEOUT_RENO)
		halve(law, kind, now);
	else if (parameters.timeout_rule == TIMEOUT_HALF)
		reduce(law, now, cwnd / 2, cwnd / 2);
	else if (parameters.timeout_rule == TIMEOUT_SLOW_START)
		reduce(law, now, 1, kind == REPEATED_TIMEOUT ? law->window.ssthresh : cwnd);
}

INLINE u32 on_loss(struct law *law, enum kind kind, u64 now, u64 srtt_ns)
{
	bool is_congestion;

	if (is_same_event(law, kind, now, srtt_ns))
		return CONGESTION;
	is_congestion = is_jittery(law) && is_late(law);
	if (is_congestion)
		halve(law, kind, now);
	else if (kind != DUPLICATES)
		after_random_timeout(law, kind, now);
	if (kind != DUPLICATES)
		law->max_rtt_us = 0;
	return is_congestion ? CONGESTION : RANDOM;
}
