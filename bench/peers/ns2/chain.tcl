# TCP over a chain of 802.11 stations at 1 Mbit/s with RTS in ns-2, 200 m between neighbours: one NewReno flow.
#
# ns-2 has no static routes among stations. DSDV finds them before the flow starts, adds no more than its 20 bytes to
# each packet, and is then stopped: no update, no route that grows stale, nothing learnt from the MAC.
# Usage: ns chain.tcl SECONDS HOPS [SEED]; prints "delivered N", packets in order at the sink.

source [file join [file dirname [info script]] radio.tcl]
set seconds [lindex $argv 0]
set hops    [lindex $argv 1]
ns-random [expr {$argc > 2 ? [lindex $argv 2] : 1}]

Mac/802_11 set dataRate_     1Mb
Mac/802_11 set basicRate_    1Mb
Mac/802_11 set RTSThreshold_ 0
Agent/DSDV set use_mac_            0
Agent/DSDV set min_update_periods_ 1000000

set sim [radio [expr {$hops + 1}] [expr {200 * $hops + 200}] 200 DSDV]
for {set i 0} {$i <= $hops} {incr i} {
    lappend nodes [station $sim [expr {100 + 200 * $i}] 100]
}
set settled 100
set start   130
$sim at $settled {
    foreach node $nodes { [$node agent 255] set perup_ 1000000 }
}
lappend senders [bulk $sim Agent/TCP/Newreno [lindex $nodes 0] [lindex $nodes end] $start]
$sim at [expr {$start + $seconds}] {delivered $senders}
$sim run
