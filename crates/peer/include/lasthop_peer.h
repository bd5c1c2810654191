/* An end of a transport without input and output, with its application: four functions.
 *
 * Times are nanoseconds since the start and never decrease. `send` is called first. After each `receive`, and at each
 * deadline, `send` is called until it returns 0. */
#ifndef LASTHOP_PEER_H
#define LASTHOP_PEER_H

#include <stddef.h>
#include <stdint.h>

/* A deadline that never comes. */
#define LASTHOP_NEVER UINT64_MAX

struct lasthop_peer {
    /* What each function gets as its first argument. */
    void *context;
    /* A datagram has arrived, with these two bits of ECN (RFC 3168, 5). */
    void (*receive)(void *context, uint64_t now, const uint8_t *datagram, size_t length, uint8_t ecn);
    /* Handles the timers that are due, and writes the next datagram that leaves now. Returns its length, at most `room`, or 0
     * if nothing leaves now. `*ecn` is 0 and may be set to its two bits of ECN. */
    size_t (*send)(void *context, uint64_t now, uint8_t *into, size_t room, uint8_t *ecn);
    /* When `send` has to be called if nothing arrives before. */
    uint64_t (*deadline)(void *context);
    /* Bytes that this end's application has received. */
    uint64_t (*delivered)(void *context);
};

#endif
