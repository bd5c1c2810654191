/* What JTCP and EJTCP have in common: the window, the jitter ratio, and the calls of the kernel, which become the events
 * of crates/stack/src/hooks/congestion.rs. A law is a file that includes this one and defines on_rtt and on_loss.
 *
 * The window of a law is its own. The kernel's (snd_cwnd) is set from it at each acknowledgement, so that PRR never
 * shrinks it, and is smaller only where the burst limit holds segments back. */

#pragma once

#include "header.h"

/* One for each acknowledgement in the window of the ratio; where more are needed, the oldest are left out. */
enum { SAMPLES = 2048 };
enum { TIMEOUT_KEEP, TIMEOUT_SLOW_START, TIMEOUT_HALF, TIMEOUT_RENO };
enum { RTT_OFF, RTT_SHARE, RTT_FIXED };
enum kind { START, ACK, DUPLICATES, TIMEOUT, REPEATED_TIMEOUT, MARK, UNDO };
enum { RANDOM, CONGESTION, UNJUDGED };
/* Flags of an event. */
enum { STAMPED = 1, OPEN = 2, MICROSECONDS = 4, RECOVERING = 8 };

/* The parameters of a scenario (docs/keys.md); shares are in millionths. */
struct parameters {
	u64 k;
	u64 alpha;
	u64 rtt_threshold_ns;
	u32 jitter_test;
	u32 jitter_margin;
	u32 rtt_rule;
	u32 smooth;
	u32 timeout_rule;
	u32 is_recorded;
	u32 has_header;
	u32 reserved;
};

const volatile struct parameters parameters SEC(".rodata.parameters") = {};

/* What the law saw, and what it did: python/lasthop/kernel/record.py reads it. */
struct event {
	u64 now_ns;
	u64 connection;
	u32 kind;
	u32 flags;
	u32 acked;
	s32 rtt_us;
	u32 tsval;
	u32 tsecr;
	u32 srtt_us;
	u32 limit;
	u32 before[3];
	u32 after[3];
	u32 judgement;
	u32 number;
};

struct window {
	u32 cwnd;
	u32 credit;
	u32 ssthresh;
};

struct stamps {
	u32 sent;
	u32 received;
};

struct sample {
	u32 packet;
	struct stamps sums;
};

struct law {
	struct window window;
	struct window before_loss;
	u32 recorded;
	u64 reduced_ns;
	u64 connection;
	u64 max_rtt_us;
	u64 rtt_us;
	u32 packets;
	u32 has_last;
	struct stamps last;
	struct stamps sums;
	struct stamps span;
	u32 oldest;
	u32 next;
	struct sample samples[SAMPLES];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct law);
} connections SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} events SEC(".maps");

/* Events for which the ring had no room, and the number of connections. */
struct {
	u64 missed;
	u64 connections;
} counts;

static void on_rtt(struct law *law);
static u32 on_loss(struct law *law, enum kind kind, u64 now, u64 srtt_ns);

INLINE struct law *law_of(struct sock *sk)
{
	return bpf_sk_storage_get(&connections, sk, 0, 0);
}

/* The packets over which the ratio is computed (Reach). */
INLINE u32 reach(const struct law *law)
{
	return law->window.cwnd + parameters.jitter_margin;
}

/* Whether the jitter ratio exceeds k / w (JitterRatio::exceeds). */
INLINE bool is_queueing(const struct law *law)
{
	s64 received = (s32)law->span.received;
	s64 longer = (s32)(law->span.received - law->span.sent);

	return longer * (s64)reach(law) * 1000000 > (s64)parameters.k * received;
}

/* Records the times of the packet that an acknowledgement is for (JitterRatio::on_ack). */
INLINE void measure(struct law *law, bool is_stamped, struct stamps now, u32 segments)
{
	u32 packets, window, first;
	int turn;

	law->packets += segments;
	if (!is_stamped) {
		law->has_last = 0;
		return;
	}
	if (law->has_last) {
		law->sums.sent += now.sent - law->last.sent;
		law->sums.received += now.received - law->last.received;
	}
	law->last = now;
	law->has_last = 1;
	if (law->next - law->oldest == SAMPLES)
		law->oldest++;
	law->samples[law->next % SAMPLES] = (struct sample){ law->packets, law->sums };
	law->next++;
	packets = law->packets;
	window = most(reach(law), 1) - 1;
	first = packets > window ? packets - window : 0;
	for (turn = 0; turn < SAMPLES; turn++) {
		if (law->samples[law->oldest % SAMPLES].packet >= first)
			break;
		law->oldest++;
	}
	law->span.sent = law->sums.sent - law->samples[law->oldest % SAMPLES].sums.sent;
	law->span.received = law->sums.received - law->samples[law->oldest % SAMPLES].sums.received;
}

/* Slow start below the threshold, a segment for each window above it: as Linux's Reno, for whole windows. */
INLINE void grow(struct window *window, u32 acked)
{
	u32 slow = 0, every;

	if (window->cwnd < window->ssthresh)
		slow = least(acked, window->ssthresh - window->cwnd);
	window->cwnd += slow;
	acked -= slow;
	if (!acked)
		return;
	every = most(window->cwnd, 1);
	if (window->credit >= every) {
		window->credit = 0;
		window->cwnd++;
	}
	window->credit += acked;
	window->cwnd += window->credit / every;
	window->credit %= every;
}

/* Whether a loss belongs to the congestion of the last reduction. */
INLINE bool is_same_event(const struct law *law, enum kind kind, u64 now, u64 srtt_ns)
{
	return kind == DUPLICATES && law->reduced_ns && srtt_ns && now - law->reduced_ns < srtt_ns;
}

INLINE void reduce(struct law *law, u64 now, u32 cwnd, u32 ssthresh)
{
	law->window = (struct window){ most(cwnd, 1), 0, most(ssthresh, 2) };
	law->reduced_ns = now;
}

/* Half of the window: without slow start after duplicates, with it after a timeout. */
INLINE void halve(struct law *law, enum kind kind, u64 now)
{
	u32 half = law->window.cwnd / 2;
	u32 ssthresh = kind == REPEATED_TIMEOUT ? law->window.ssthresh : half;

	reduce(law, now, kind == DUPLICATES ? half : 1, ssthresh);
}

/* The kernel's window: this law's, or less where an acknowledgement would release more than the burst limit. An
 * acknowledgement of more segments may release as many. */
INLINE u32 released(const struct law *law, struct tcp_sock *tp, u32 delivered)
{
	u32 flight = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;

	if (!parameters.smooth)
		return law->window.cwnd;
	return least(law->window.cwnd, flight + most(parameters.smooth, delivered));
}

INLINE void record(struct law *law, struct tcp_sock *tp, const struct event *seen,
		   const struct window *before)
{
	struct event *event;

	if (!parameters.is_recorded)
		return;
	law->recorded++;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		__sync_fetch_and_add(&counts.missed, 1);
		return;
	}
	*event = *seen;
	event->connection = law->connection;
	event->number = law->recorded;
	event->srtt_us = tp->srtt_us >> 3;
	event->limit = tp->snd_cwnd_clamp;
	event->before[0] = before->cwnd;
	event->before[1] = before->credit;
	event->before[2] = before->ssthresh;
	event->after[0] = law->window.cwnd;
	event->after[1] = law->window.credit;
	event->after[2] = law->window.ssthresh;
	bpf_ringbuf_submit(event, 0);
}

SEC("struct_ops/init")
void BPF_PROG(init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct event seen = { .now_ns = bpf_ktime_get_ns(), .kind = START, .judgement = UNJUDGED };
	struct law *law = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	if (!law)
		return;
	__builtin_memset(law, 0, offsetof(struct law, samples));
	law->window = (struct window){ tp->snd_cwnd, 0, tp->snd_ssthresh };
	law->before_loss = law->window;
	law->connection = __sync_fetch_and_add(&counts.connections, 1);
	record(law, tp, &seen, &law->window);
}

/* Reads when a segment left and arrived, from the timestamps or from the option; returns whether it is there. */
INLINE bool stamp(struct sock *sk, struct event *seen)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct header *header;

	if (!parameters.has_header) {
		seen->tsval = tp->rx_opt.rcv_tsval;
		seen->tsecr = tp->rx_opt.rcv_tsecr;
		seen->flags = BPF_CORE_READ_BITFIELD(tp, rx_opt.saw_tstamp) ? STAMPED : 0;
		if (BPF_CORE_READ_BITFIELD(tp, tcp_usec_ts))
			seen->flags |= MICROSECONDS;
		return seen->flags & STAMPED;
	}
	header = bpf_sk_storage_get(&headers, sk, 0, 0);
	if (!header || !header->has_echo)
		return 0;
	header->has_echo = 0;
	seen->tsval = header->echo_received;
	seen->tsecr = header->echo_sent;
	seen->flags = STAMPED | MICROSECONDS;
	return 1;
}

/* Before the kernel looks for losses: those that this acknowledgement shows are judged with it. */
SEC("struct_ops/pkts_acked")
void BPF_PROG(pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct law *law = law_of(sk);
	u32 acked = sample->pkts_acked, state = BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_state);
	struct event seen = { .kind = ACK, .judgement = UNJUDGED };
	struct window before;
	bool is_stamped;

	if (!law)
		return;
	before = law->window;
	seen.now_ns = bpf_ktime_get_ns();
	seen.acked = acked;
	seen.rtt_us = acked ? sample->rtt_us : -1;
	is_stamped = stamp(sk, &seen);
	if (state == TCP_CA_CWR || state == TCP_CA_RECOVERY) {
		seen.flags |= RECOVERING;
	} else if (acked) {
		bool is_full = BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited) &&
			       tp->packets_out + acked + parameters.smooth >= before.cwnd;

		if (is_full || (before.cwnd < before.ssthresh && before.cwnd < 2 * tp->max_packets_out)) {
			seen.flags |= OPEN;
			grow(&law->window, acked);
			law->window.cwnd = least(law->window.cwnd, tp->snd_cwnd_clamp);
		}
	}
	if (acked) {
		measure(law, is_stamped, (struct stamps){ seen.tsecr, seen.tsval }, acked);
		if (seen.rtt_us >= 0) {
			law->rtt_us = seen.rtt_us;
			on_rtt(law);
		}
	}
	record(law, tp, &seen, &before);
}

SEC("struct_ops/cong_control")
void BPF_PROG(cong_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *sample)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct law *law = law_of(sk);

	if (law)
		tp->snd_cwnd = released(law, tp, sample->acked_sacked);
}

/* The kernel asks before it names the cause, which set_state learns. */
SEC("struct_ops/ssthresh")
u32 BPF_PROG(ssthresh, struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_ssthresh;
}

/* The cause of a loss. A probe of the tail repairs one in a state that is otherwise that of a mark. */
INLINE enum kind cause(struct tcp_sock *tp, u8 state)
{
	if (state == TCP_CA_LOSS)
		return tp->inet_conn.icsk_retransmits ? REPEATED_TIMEOUT : TIMEOUT;
	return state == TCP_CA_CWR && tp->ecn_flags & TCP_ECN_OK ? MARK : DUPLICATES;
}

SEC("struct_ops/set_state")
void BPF_PROG(set_state, struct sock *sk, u8 state)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct law *law = law_of(sk);
	struct event seen = { .now_ns = bpf_ktime_get_ns(), .judgement = UNJUDGED };
	struct window before;

	if (!law || state < TCP_CA_CWR)
		return;
	before = law->window;
	law->before_loss = before;
	seen.kind = cause(tp, state);
	if (seen.kind == MARK)
		halve(law, DUPLICATES, seen.now_ns);
	else
		seen.judgement = on_loss(law, seen.kind, seen.now_ns, (u64)(tp->srtt_us >> 3) * 1000);
	tp->snd_ssthresh = law->window.ssthresh;
	tp->snd_cwnd = released(law, tp, 0);
	record(law, tp, &seen, &before);
}

SEC("struct_ops/undo_cwnd")
u32 BPF_PROG(undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct event seen = { .now_ns = bpf_ktime_get_ns(), .kind = UNDO, .judgement = UNJUDGED };
	struct law *law = law_of(sk);
	struct window before;

	if (!law)
		return tp->snd_cwnd;
	before = law->window;
	law->window.cwnd = most(before.cwnd, law->before_loss.cwnd);
	law->window.ssthresh = most(before.ssthresh, law->before_loss.ssthresh);
	record(law, tp, &seen, &before);
	return released(law, tp, 0);
}

#define LAW(law_name)                                     \
	SEC("sockops")                                    \
	int header_option(struct bpf_sock_ops *ops)       \
	{                                                 \
		return on_header(ops, law_name);          \
	}                                                 \
	                                                  \
	SEC(".struct_ops")                                \
	struct tcp_congestion_ops law = {                 \
		.init = (void *)init,                     \
		.pkts_acked = (void *)pkts_acked,         \
		.cong_control = (void *)cong_control,     \
		.ssthresh = (void *)ssthresh,             \
		.set_state = (void *)set_state,           \
		.undo_cwnd = (void *)undo_cwnd,           \
		.name = law_name,                         \
	};                                                \
	char _license[] SEC("license") = "Dual MIT/GPL"
