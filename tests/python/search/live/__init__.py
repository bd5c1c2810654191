"""Searches for faults of `lasthop live` with the TCP of this machine's kernel.

`cases`    a number makes a case: a network with an agent, and connections over it
`traffic`  the connections of a case, and what disturbs them
`endpoint` the program at both ends, which sends, reads and compares
`quic`     the same by QUIC, with aioquic
`trial`    one case run and judged
`signals`  live runs that a signal ends at a random instant

    cd tests/python
    python -m search.live 200            runs 200 cases and counts them; `--case 17` runs one and shows it
    python -m search.live 60 --from 10000   runs 60 cases by QUIC
    python -m search.live --signals 50   ends 50 runs by each signal
"""
