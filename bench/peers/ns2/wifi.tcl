# Two 802.11 stations at 1 Mbit/s with RTS in ns-2: one Tahoe flow of 1000-byte packets.
# Usage: ns wifi.tcl SECONDS [SEED]; prints "delivered N", packets in order at the sink.

source [file join [file dirname [info script]] radio.tcl]
set seconds [lindex $argv 0]
ns-random [expr {$argc > 1 ? [lindex $argv 1] : 1}]

Mac/802_11 set dataRate_     1Mb
Mac/802_11 set basicRate_    1Mb
Mac/802_11 set RTSThreshold_ 0

set sim [radio 2 500 500 DumbAgent]
set a [station $sim 100 100]
set b [station $sim 200 100]
lappend senders [bulk $sim Agent/TCP $a $b 0.0]
$sim at $seconds {delivered $senders}
$sim run
