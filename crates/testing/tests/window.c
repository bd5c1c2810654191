/* A transport with a fixed window, go-back-N and one timer, in the form of picoquic: the time is an argument. */
#include <lasthop_peer.h>
#include <stdlib.h>
#include <string.h>

#define PACKET 1200
#define WINDOW (16 * PACKET)
#define TIMEOUT 300000000

struct end { uint64_t bytes, next, acked, timer, received; int must_ack; };

static void receive(void *context, uint64_t now, const uint8_t *datagram, size_t length, uint8_t ecn) {
    struct end *end = context;
    uint64_t offset;
    memcpy(&offset, datagram, 8);
    if (length > 8) {
        if (offset == end->received) end->received += length - 8;
        end->must_ack = 1;
    } else if (offset > end->acked) {
        end->acked = offset;
        end->timer = now + TIMEOUT;
    }
}

static size_t send(void *context, uint64_t now, uint8_t *into, size_t room, uint8_t *ecn) {
    struct end *end = context;
    if (end->must_ack) {
        end->must_ack = 0;
        memcpy(into, &end->received, 8);
        return 8;
    }
    if (now >= end->timer) end->next = end->acked;
    if (end->next == end->acked) end->timer = now + TIMEOUT;
    if (end->next == end->bytes || end->next >= end->acked + WINDOW) return 0;
    size_t length = end->bytes - end->next < PACKET ? end->bytes - end->next : PACKET;
    memcpy(into, &end->next, 8);
    memset(into + 8, 0, length);
    end->next += length;
    return 8 + length;
}

static uint64_t deadline(void *context) {
    struct end *end = context;
    return end->acked < end->bytes ? end->timer : LASTHOP_NEVER;
}

static uint64_t delivered(void *context) { return ((struct end *)context)->received; }

/* An end that sends this many bytes. */
struct lasthop_peer window_end(uint64_t bytes) {
    struct end *end = calloc(1, sizeof *end);
    end->bytes = bytes;
    return (struct lasthop_peer){end, receive, send, deadline, delivered};
}
