# Files over the path of EJTCP's Fig. 9 with a timeout above its floor. Each agent's clock begins a tick with the flow, as
# clocks do here: ns-2 draws the phase of a clock.
# Usage: ns timers.tcl < LINES, a line being AGENT RATE PACKETS WINDOW MINRTO QUEUE [DROP ...], as "Newreno 5 400 1000 0.2 50";
# QUEUE is the bottleneck's limit, DROP as in transfers.tcl. Prints for each line when the last acknowledgement came, or
# "none", and how often the timer had fired.

set sim [new Simulator]
set tick 0.01
set runs 0

proc transfer {line} {
    global sim runs finished senders defaultRNG tick begun
    foreach {agent rate packets window minrto queue} $line break
    foreach name {s r1 r2 d} { set $name [$sim node] }
    Queue set limit_ 100000
    $sim duplex-link $s  $r1 100Mb 5ms    DropTail
    $sim duplex-link $r2 $d  10Mb  0.01ms DropTail
    Queue set limit_ $queue
    $sim duplex-link $r1 $r2 ${rate}Mb  40ms   DropTail
    set drops [lrange $line 6 end]
    if {[llength $drops]} {
        set losses [new ErrorModel/List]
        $losses drop-target [new Agent/Null]
        $losses droplist $drops
        $sim lossmodel $losses $r2 $d
    }

    set name [expr {$agent eq "Tahoe" ? "Agent/TCP" : "Agent/TCP/$agent"}]
    set sender [new $name]
    $sender set packetSize_ 1000
    $sender set window_ $window
    $sender set minrto_ $minrto
    $sender set tcpTick_ $tick
    set sink [expr {$agent eq "Sack1" ? [new Agent/TCPSink/Sack1] : [new Agent/TCPSink]}]
    $sim attach-agent $s $sender
    $sim attach-agent $d $sink
    $sim connect $sender $sink
    set finished($runs) none
    # Its clock gets the phase of a known draw when it is reset.
    $defaultRNG seed [expr {$runs + 1}]
    set phase [$defaultRNG uniform 0 $tick]
    # SYN and answer have 8 bytes less here: data begins at the same time behind the begin of a tick. A millionth of one more,
    # so that no rounding puts it before.
    set begun($runs) [expr {$tick * 1.000001 - $phase}]
    set later [expr {2 * 64e-6 * (1 / 100.0 + 1.0 / $rate + 1 / 10.0)}]
    $sim at 0.0 "$defaultRNG seed [expr {$runs + 1}]; $sender reset"
    $sender proc done {} "global sim finished begun; if {\$finished($runs) eq {none}} { set finished($runs) \[expr {\[\$sim now\] - \$begun($runs)}\] }"
    $sim at [expr {$begun($runs) + $later}] "$sender send [expr {$packets * 1000}]"
    lappend senders $sender
    incr runs
}

while {[gets stdin line] >= 0} { transfer $line }
$sim at 600.0 finish
proc finish {} {
    global runs finished senders
    for {set run 0} {$run < $runs} {incr run} {
        puts "$finished($run) [[lindex $senders $run] set nrexmit_]"
    }
    exit 0
}
$sim run
