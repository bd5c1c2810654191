# Two 802.11 stations at 1 Mbit/s with RTS in ns-2: one Tahoe flow of 1000-byte packets.
# Usage: ns wifi.tcl SECONDS [SEED]; prints "delivered N", packets in order at the sink.

set seconds [lindex $argv 0]
set seed    [expr {$argc > 1 ? [lindex $argv 1] : 1}]

ns-random $seed
Mac/802_11 set dataRate_     1Mb
Mac/802_11 set basicRate_    1Mb
Mac/802_11 set RTSThreshold_ 0

set sim [new Simulator]
# ns-2 insists on a trace file; nothing is written to it.
$sim trace-all [open /dev/null w]
set ground [new Topography]
$ground load_flatgrid 500 500
create-god 2
$sim node-config -adhocRouting DumbAgent -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue \
    -ifqLen 50 -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $ground \
    -agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF
foreach {name x} {a 100 b 200} {
    set $name [$sim node]
    [set $name] random-motion 0
    [set $name] set X_ $x
    [set $name] set Y_ 100
    [set $name] set Z_ 0
}

set sender [new Agent/TCP]
$sender set packetSize_ 1000
set sink [new Agent/TCPSink]
$sim attach-agent $a $sender
$sim attach-agent $b $sink
$sim connect $sender $sink
[new Application/FTP] attach-agent $sender

$sim at 0.0 "$sender send -1"
$sim at $seconds finish
proc finish {} {
    global sender
    puts "delivered [expr {int([$sender set ack_]) + 1}]"
    exit 0
}
$sim run
