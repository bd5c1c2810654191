"""Programs on the nodes of a scenario, in real time.

Each bound node is a network namespace with one interface (`system`), in which programs run (`programs`).
Between the interfaces `lasthop._core` moves packets through the network of the scenario (`session`).
"""
