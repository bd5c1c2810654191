# The 5 Mbit/s path of EJTCP's Fig. 9 in ns-2: one NewReno flow, loss of data on the last hop.
# Usage: ns path.tcl SECONDS LOSS [SEED]; prints "delivered N", packets in order at the sink.

set seconds [lindex $argv 0]
set loss    [lindex $argv 1]
set seed    [expr {$argc > 2 ? [lindex $argv 2] : 1}]

ns-random $seed
set sim [new Simulator]
if {[info exists env(SCHEDULER)]} { $sim use-scheduler $env(SCHEDULER) }
foreach name {s r1 r2 d} { set $name [$sim node] }

# The default queue limit of 50 would be the bottleneck of the access link.
Queue set limit_ 100
$sim duplex-link $s  $r1 100Mb 5ms    DropTail
$sim duplex-link $r1 $r2 5Mb   40ms   DropTail
$sim duplex-link $r2 $d  10Mb  0.01ms DropTail

if {$loss > 0} {
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $loss
    $errors ranvar [new RandomVariable/Uniform]
    $errors drop-target [new Agent/Null]
    $sim lossmodel $errors $r2 $d
}

set sender [new Agent/TCP/Newreno]
$sender set packetSize_ 1000
$sender set window_ 2000
$sender set minrto_ 0.2
set sink [new Agent/TCPSink]
$sim attach-agent $s $sender
$sim attach-agent $d $sink
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
