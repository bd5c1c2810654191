# Files over the path of EJTCP's Fig. 9 with listed losses, each on a path of its own.
# Usage: ns transfers.tcl < LINES, a line being AGENT RATE PACKETS WINDOW [DROP ...], as "Newreno 5 400 60 100 101".
# "Tahoe" is ns-2's plain agent, RATE the bottleneck's in Mbit/s. DROP counts the data packets of the last hop from 1,
# retransmissions included; 0 is the SYN. Prints for each line when the last acknowledgement came, or "none".

set sim [new Simulator]
Queue set limit_ 100
set runs 0

proc transfer {line} {
    global sim runs finished
    foreach {agent rate packets window} [lrange $line 0 3] break
    foreach name {s r1 r2 d} { set $name [$sim node] }
    $sim duplex-link $s  $r1 100Mb 5ms    DropTail
    $sim duplex-link $r1 $r2 ${rate}Mb  40ms   DropTail
    $sim duplex-link $r2 $d  10Mb  0.01ms DropTail

    set losses [new ErrorModel/List]
    $losses drop-target [new Agent/Null]
    $losses droplist [lrange $line 4 end]
    if {[llength $line] > 4} { $sim lossmodel $losses $r2 $d }

    set sender [expr {$agent eq "Tahoe" ? [new Agent/TCP] : [new Agent/TCP/$agent]}]
    # Vegas charges no headers and sends no SYN: a packet more stands for it.
    set vegas [expr {$agent eq "Vegas"}]
    $sender set packetSize_ [expr {$vegas ? 1040 : 1000}]
    $sender set window_ $window
    # That of the profile; a floor keeps the random phase of ns-2's clock from mattering.
    $sender set minrto_ 1
    set sink [expr {$agent in {Fack Sack1} ? [new Agent/TCPSink/Sack1] : [new Agent/TCPSink]}]
    $sim attach-agent $s $sender
    $sim attach-agent $d $sink
    $sim connect $sender $sink
    set finished($runs) none
    $sender proc done {} "global sim finished; if {\$finished($runs) eq {none}} { set finished($runs) \[\$sim now\] }"
    $sim at 0.0 "$sender send [expr {$vegas ? ($packets + 1) * 1040 : $packets * 1000}]"
    incr runs
    return $sender
}

while {[gets stdin line] >= 0} { lappend senders [transfer $line] }
$sim at 600.0 finish
proc finish {} {
    global runs finished
    for {set run 0} {$run < $runs} {incr run} { puts $finished($run) }
    exit 0
}
$sim run
