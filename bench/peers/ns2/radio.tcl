# What the 802.11 scripts share: a simulator whose nodes are stations of one channel. With FRAMES in the environment
# every frame sent is a line of the output that begins with "s" and names the MAC, for counting.

proc radio {nodes x y routing} {
    set sim [new Simulator]
    if {[info exists ::env(SCHEDULER)]} { $sim use-scheduler $::env(SCHEDULER) }
    set counting [info exists ::env(FRAMES)]
    # ns-2 insists on a trace file; unless frames are counted nothing is written to it.
    $sim trace-all [expr {$counting ? "stdout" : [open /dev/null w]}]
    set ground [new Topography]
    $ground load_flatgrid $x $y
    create-god $nodes
    $sim node-config -adhocRouting $routing -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue \
        -ifqLen 50 -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
        -channel [new Channel/WirelessChannel] -topoInstance $ground \
        -agentTrace OFF -routerTrace OFF -macTrace [expr {$counting ? "ON" : "OFF"}] -movementTrace OFF
    return $sim
}

# A node that stays where it is; ns-2 wants it at coordinates above 0.
proc station {sim x y} {
    set node [$sim node]
    $node random-motion 0
    $node set X_ $x
    $node set Y_ $y
    $node set Z_ 0
    return $node
}

# A bulk flow of a kind of TCP from one node to another from some time on; returns its sender.
proc bulk {sim tcp from to start} {
    set sender [new $tcp]
    $sender set packetSize_ 1000
    $sender set minrto_ 1
    set sink [new Agent/TCPSink]
    $sim attach-agent $from $sender
    $sim attach-agent $to $sink
    $sim connect $sender $sink
    [new Application/FTP] attach-agent $sender
    $sim at $start "$sender send -1"
    return $sender
}

# Packets in order at the sinks.
proc delivered {senders} {
    set sum 0
    foreach sender $senders { incr sum [expr {int([$sender set ack_]) + 1}] }
    puts "delivered $sum"
    exit 0
}
