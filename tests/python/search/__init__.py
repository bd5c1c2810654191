"""Searches for faults: random scenarios whose runs must keep what always holds, and mutated files.

`draw`       random values that a seed repeats
`tree`       a scenario as nested tables, and its TOML text
`networks`   nodes and links of every kind; `traffic`: flows over them
`multi_link` further links of the stations of a link
`events`     outages and hand-offs; `marking`: queues that mark, and ECN
`twists`     any key of the table of keys, set to some legal value
`cases`      a number makes a scenario; the same number makes the same one
`invariants` what must hold after a run, by the rules in `flow_rules`, `metric_rules` and `trace_rules`
`trial`      one scenario run and judged; `observed`: what rules see of it
`minimise`   the smallest scenario that fails in the same way
`mutations`  shipped files that are broken in a known way

    ./lasthop test --case 4711           shows a case, runs it and says what it breaks
    ./lasthop test --soak                runs 10 000 of them, and 20 000 mutated files
"""
