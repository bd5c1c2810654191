# An access point of 802.11a at 6 Mbit/s without RTS in ns-2: a bulk NewReno flow to each station of its cell. All hear
# each other and the access point is one end of each flow, so that packets need no relay.
# Usage: ns access-point.tcl SECONDS STATIONS [SEED]; prints "delivered N", packets in order at the sinks.

source [file join [file dirname [info script]] radio.tcl]
set seconds  [lindex $argv 0]
set stations [lindex $argv 1]
ns-random [expr {$argc > 2 ? [lindex $argv 2] : 1}]

Mac/802_11 set dataRate_         6Mb
Mac/802_11 set basicRate_        6Mb
Mac/802_11 set RTSThreshold_     3000
Mac/802_11 set SlotTime_         0.000009
Mac/802_11 set SIFS_             0.000016
Mac/802_11 set CWMin_            15
# Preamble and header are 20 us. ns-2 has no symbols; 5.33 us stand for the service and tail bits and for rounding up
# to symbols of 4 us, and make its ACK the 44 us of the standard. With 20 us its ACK ends between two microseconds, the
# NAV is rounded up to the next, and stations that only overheard it are late in each slot, and so do not collide.
Mac/802_11 set PreambleLength_   96
Mac/802_11 set PLCPHeaderLength_ 56
Mac/802_11 set PLCPDataRate_     6Mb

set sim [radio [expr {$stations + 1}] 200 200 DumbAgent]
set ap [station $sim 100 100]
for {set i 0} {$i < $stations} {incr i} {
    set turn [expr {8 * atan(1) * $i / $stations}]
    set node [station $sim [expr {100 + 20 * cos($turn)}] [expr {100 + 20 * sin($turn)}]]
    lappend senders [bulk $sim Agent/TCP/Newreno $ap $node 0.0]
}
$sim at $seconds {delivered $senders}
$sim run
