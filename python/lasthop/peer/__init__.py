"""The TCP of the Linux kernel over the path of a scenario, beside ours.

`path` reads from a scenario what the kernel is to do, and refuses what it cannot. `beside` runs both and
compares them. `crew` has processes that each run a `worker`, one path at a time in two new network
namespaces. Between these `lasthop._core` moves packets.
"""
