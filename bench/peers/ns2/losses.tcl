# One bulk flow over the path of EJTCP's Fig. 9 with random losses of data on the last hop: what the values of
# papers/baselines.claims.toml were measured with.
# Usage: ns losses.tcl AGENT RATE SECONDS LOSS SEED, as "ns losses.tcl Newreno 5 250 0.01 1"; prints "delivered N",
# packets in order at the sink. "Tahoe" is ns-2's plain agent and "Linux/veno" the Linux agent with that module; RATE is
# the bottleneck's in Mbit/s.

foreach {agent rate seconds loss seed} $argv break

ns-random $seed
set sim [new Simulator]
if {[info exists env(SCHEDULER)]} { $sim use-scheduler $env(SCHEDULER) }
foreach name {s r1 r2 d} { set $name [$sim node] }

# The default queue limit of 50 would be the bottleneck of the access link.
Queue set limit_ 100
$sim duplex-link $s  $r1 100Mb      5ms    DropTail
$sim duplex-link $r1 $r2 ${rate}Mb  40ms   DropTail
$sim duplex-link $r2 $d  10Mb       0.01ms DropTail

if {$loss > 0} {
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $loss
    $errors ranvar [new RandomVariable/Uniform]
    $errors drop-target [new Agent/Null]
    $sim lossmodel $errors $r2 $d
}

foreach {kind module} [split $agent /] break
set sender [expr {$kind eq "Tahoe" ? [new Agent/TCP] : [new Agent/TCP/$kind]}]
# Vegas charges no headers.
$sender set packetSize_ [expr {$kind eq "Vegas" ? 1040 : 1000}]
$sender set window_ 2000
$sender set minrto_ 0.2
set sink [expr {$kind in {Fack Sack1 Linux} ? [new Agent/TCPSink/Sack1] : [new Agent/TCPSink]}]
if {$kind eq "Linux"} {
    $sender set timestamps_ true
    $sink set ts_echo_rfc1323_ true
    $sim at 0.0 "$sender select_ca $module"
}
$sim attach-agent $s $sender
$sim attach-agent $d $sink
$sim connect $sender $sink

$sim at 0.0 "$sender send -1"
$sim at $seconds finish
proc finish {} {
    global sender
    # The SYN, or the packet that Vegas sends in its place, has the number 0.
    puts "delivered [expr {int([$sender set ack_])}]"
    exit 0
}
$sim run
