/* The option of the simulator (crates/stack/src/wire/write.rs, kind 253): when a segment was sent, and when it arrived. A
 * sender with the law writes the one into data, and the receiver both into the acknowledgement that a segment triggers. */

#pragma once

#include "linux.h"

/* <linux/bpf.h> */
enum { HDR_OPT_WRITE = 1 << 6, HDR_OPT_PARSE_UNKNOWN = 1 << 5 };
enum { OP_ACTIVE = 4, OP_PASSIVE = 5, OP_PARSE = 13, OP_LENGTH = 14, OP_WRITE = 15 };
enum { SOL_TCP = 6, TCP_CONGESTION = 13 };

struct bpf_sock;

struct bpf_sock_ops {
	u32 op;
	u32 args[4];
	u32 addresses[14];
	u32 snd_cwnd;
	u32 srtt_us;
	u32 bpf_sock_ops_cb_flags;
	u32 counts[20];
	u64 bytes[2];
	struct bpf_sock *sk;
	void *skb_data;
	void *skb_data_end;
	u32 skb_len;
};

struct option {
	u8 kind;
	u8 length;
	u8 experiment[2];
	u32 sent;
	u32 received;
	u32 trigger;
	u8 modulation;
} __attribute__((packed));

/* Microseconds; `arrived` is what the next acknowledgement reports, `echoed` what the last one reported. */
struct header {
	bool has_law;
	bool has_arrived;
	bool has_echo;
	u32 sent;
	u32 received;
	u32 trigger;
	u32 echo_sent;
	u32 echo_received;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct header);
} headers SEC(".maps");

INLINE u32 microseconds(void)
{
	return bpf_ktime_get_ns() / 1000;
}

/* Whether a connection has the law of this object. */
INLINE bool has_law(struct bpf_sock_ops *ops, const char *name)
{
	char found[16] = {};
	int at;

	if (bpf_getsockopt(ops, SOL_TCP, TCP_CONGESTION, found, sizeof(found)))
		return 0;
#pragma unroll
	for (at = 0; at < __builtin_strlen(name); at++)
		if (found[at] != name[at])
			return 0;
	return 1;
}

/* The sequence number of a segment, and whether it has data. */
INLINE bool has_data(struct bpf_sock_ops *ops, u32 *sequence)
{
	u8 *first = ops->skb_data;

	if ((void *)(first + 20) > ops->skb_data_end)
		return 0;
	*sequence = *(u32 *)(first + 4);
	return ops->skb_len > (first[12] >> 4) * 4;
}

INLINE void arrived(struct bpf_sock_ops *ops, struct header *header)
{
	struct option option = { .kind = 253, .length = 4, .experiment = { 0x4A, 0x54 } };
	u32 sequence;

	if (bpf_load_hdr_opt(ops, &option, sizeof(option), 0) != sizeof(option))
		return;
	if (has_data(ops, &sequence)) {
		header->has_arrived = 1;
		header->sent = option.sent;
		header->received = microseconds();
		header->trigger = sequence;
		bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags | HDR_OPT_WRITE);
	} else {
		header->has_echo = 1;
		header->echo_sent = __builtin_bswap32(option.sent);
		header->echo_received = __builtin_bswap32(option.received);
	}
}

INLINE void leaves(struct bpf_sock_ops *ops, const struct header *header)
{
	struct option option = { 253, sizeof(option), { 0x4A, 0x54 } };
	u32 sequence = 0;

	if (has_data(ops, &sequence)) {
		if (!header->has_law)
			return;
		option.sent = option.received = __builtin_bswap32(microseconds());
		option.trigger = sequence;
	} else {
		if (!header->has_arrived)
			return;
		option.sent = header->sent;
		option.received = __builtin_bswap32(header->received);
		option.trigger = header->trigger;
	}
	bpf_store_hdr_opt(ops, &option, sizeof(option), 0);
}

INLINE int on_header(struct bpf_sock_ops *ops, const char *name)
{
	struct bpf_sock *sk = ops->sk;
	struct header *header;

	if (!sk)
		return 1;
	header = bpf_sk_storage_get(&headers, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!header)
		return 1;
	switch (ops->op) {
	case OP_ACTIVE:
	case OP_PASSIVE:
		header->has_law = has_law(ops, name);
		bpf_sock_ops_cb_flags_set(ops, ops->bpf_sock_ops_cb_flags | HDR_OPT_PARSE_UNKNOWN |
						       (header->has_law ? HDR_OPT_WRITE : 0));
		break;
	case OP_PARSE:
		arrived(ops, header);
		break;
	case OP_LENGTH:
		bpf_reserve_hdr_opt(ops, sizeof(struct option), 0);
		break;
	case OP_WRITE:
		leaves(ops, header);
		break;
	}
	return 1;
}
