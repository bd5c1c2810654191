# One bulk flow from a fixed host over 10 Mbit/s and 5 ms to a base station, and from there to a mobile over 2 Mbit/s,
# with random losses of data behind the base station, which runs Snoop or does not.
# Usage: ns snoop.tcl SECONDS AGENT LL LOSS WINDOW SEED [LIST...], as "ns snoop.tcl 200 Reno LLSnoop 0.01 32 1"; prints
# "delivered N", packets in order at the sink. LL is LLSnoop or none. With a LIST of numbers the packets with these
# numbers are lost on the last hop, each once, in the place of random ones; the SYN is 0.

foreach {seconds agent ll loss window seed} $argv break
set lost [lrange $argv 6 end]

ns-random $seed
set sim [new Simulator]
foreach name {host base radio mobile} { set $name [$sim node] }

Queue set limit_ 100
$sim duplex-link $host $base 10Mb 5ms DropTail
# A LAN has the station's link layer, which delays each packet before its queue and at the other end: 0.5 ms each. The
# losses are those of a fast link behind it, as an error model of a LAN would lose packets of both directions.
# A LAN's MAC adds a header of 64 bytes; at this rate a packet of 1040 bytes takes its time at 2 Mbit/s all the same.
set rate [expr {2e6 * 1104 / 1040}]
Mac set bandwidth_ $rate
set lan [$sim make-lan [list $radio] $rate 0.5ms LL Queue/DropTail Mac]
if {$ll eq "LLSnoop"} {
    $lan addNode [list $base] $rate 0.5ms LL/LLSnoop Queue/DropTail Mac
} else {
    $lan addNode [list $base] $rate 0.5ms LL Queue/DropTail Mac
}
# A LAN's MAC hands a packet over when its transmission begins: its time at 2 Mbit/s is a delay of the link behind it.
$sim simplex-link $radio $mobile 1000Mb 4.16ms DropTail
$sim simplex-link $mobile $radio 1000Mb 0.16ms DropTail

if {[llength $lost]} {
    set errors [new ErrorModel/List]
    $errors droplist $lost
} else {
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $loss
    $errors ranvar [new RandomVariable/Uniform]
}
$errors drop-target [new Agent/Null]
$sim lossmodel $errors $radio $mobile

set sender [expr {$agent eq "Tahoe" ? [new Agent/TCP] : [new Agent/TCP/$agent]}]
$sender set packetSize_ 1000
$sender set window_ $window
$sender set minrto_ 1
set sink [expr {$agent eq "Sack1" ? [new Agent/TCPSink/Sack1] : [new Agent/TCPSink]}]
$sim attach-agent $host $sender
$sim attach-agent $mobile $sink
$sim connect $sender $sink
[new Application/FTP] attach-agent $sender

$sim at 0.0 "$sender send -1"
# A SYN takes the last hop's time of a packet of 1040 bytes here, 4 ms more than its own: that much later it ends.
$sim at [expr {$seconds + 0.004}] finish
proc finish {} {
    global sink
    puts "delivered [expr {int(([$sink set bytes_] - 40) / 1040)}]"
    exit 0
}
$sim run
