# Cells of 802.11b at 11 Mbit/s without RTS in ns-2, 20 km apart: each station sends 2 packets a second of 1000 bytes in
# the mean, as a Poisson process, to the station in the middle of its cell.
# Usage: ns cells.tcl SECONDS CELLS STATIONS [SEED]; prints "delivered N", packets at the sinks.

source [file join [file dirname [info script]] radio.tcl]
set seconds  [lindex $argv 0]
set cells    [lindex $argv 1]
set stations [lindex $argv 2]
ns-random [expr {$argc > 3 ? [lindex $argv 3] : 1}]

Mac/802_11 set dataRate_     11Mb
Mac/802_11 set basicRate_    1Mb
Mac/802_11 set RTSThreshold_ 3000

set sim [radio [expr {$cells * ($stations + 1)}] [expr {20000 * $cells}] 200 DumbAgent]
for {set cell 0} {$cell < $cells} {incr cell} {
    set x [expr {100 + 20000 * $cell}]
    set hub [station $sim $x 100]
    for {set i 0} {$i < $stations} {incr i} {
        set turn [expr {8 * atan(1) * $i / $stations}]
        set node [station $sim [expr {$x + 20 * cos($turn)}] [expr {100 + 20 * sin($turn)}]]
        set agent [new Agent/UDP]
        # With headers, which ns-2 does not add to a datagram.
        $agent set packetSize_ 1028
        set sink [new Agent/LossMonitor]
        $sim attach-agent $node $agent
        $sim attach-agent $hub $sink
        $sim connect $agent $sink
        # A burst of no length and an exponential pause are a Poisson process.
        set source [new Application/Traffic/Exponential]
        $source set packetSize_ 1028
        $source set burst_time_ 0
        $source set idle_time_  500ms
        $source set rate_       1Gb
        $source attach-agent $agent
        $sim at 0.0 "$source start"
        lappend sinks $sink
    }
}
proc finish {} {
    global sinks
    set sum 0
    foreach sink $sinks { incr sum [$sink set npkts_] }
    puts "delivered $sum"
    exit 0
}
$sim at $seconds finish
$sim run
