/* The parts of Linux that the laws use. The loader moves each access to the place that the field has in the running kernel. */

#pragma once

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef int __s32;
typedef long long __s64;
typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef _Bool bool;
/* The byte orders that the helpers name. */
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

/* <linux/bpf.h> */
enum { BPF_MAP_TYPE_SK_STORAGE = 24, BPF_MAP_TYPE_RINGBUF = 27 };
enum { BPF_F_NO_PREALLOC = 1, BPF_SK_STORAGE_GET_F_CREATE = 1 };

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {
	unsigned long sk_pacing_rate;
};

struct inet_connection_sock {
	u8 icsk_ca_state : 5;
	u8 icsk_retransmits;
};

struct tcp_options_received {
	u32 rcv_tsval;
	u32 rcv_tsecr;
	u32 saw_tstamp : 1;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 max_packets_out;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 srtt_us;
	u8 ecn_flags;
	u8 is_cwnd_limited : 1;
	u8 tcp_usec_ts : 1;
	struct tcp_options_received rx_opt;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
};

struct rate_sample {
	u32 acked_sacked;
};

#pragma clang attribute pop

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 state);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
};

/* <net/tcp.h>, <uapi/linux/tcp.h> */
enum { TCP_CA_CWR = 2, TCP_CA_RECOVERY = 3, TCP_CA_LOSS = 4 };
enum { TCP_ECN_OK = 1 };

#define INLINE static inline __attribute__((always_inline))

INLINE u32 least(u32 one, u32 other)
{
	return one < other ? one : other;
}

INLINE u32 most(u32 one, u32 other)
{
	return one > other ? one : other;
}
