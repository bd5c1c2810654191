# Two 802.11 stations at 1 Mbit/s with RTS in ns-2: one Tahoe flow of 1000-byte packets, each frame of either station
# in error at the other with some probability, RTS, CTS and ACK included.
# Usage: ns errors.tcl SECONDS PROBABILITY [SEED]; prints "delivered N", packets in order at the sink.

source [file join [file dirname [info script]] radio.tcl]
set seconds     [lindex $argv 0]
set probability [lindex $argv 1]
ns-random [expr {$argc > 2 ? [lindex $argv 2] : 1}]

Mac/802_11 set dataRate_     1Mb
Mac/802_11 set basicRate_    1Mb
Mac/802_11 set RTSThreshold_ 0

# A frame in error stays on the air: the model has no drop target, so that the MAC gets it, marked.
proc in-error {} {
    global probability
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $probability
    $errors ranvar [new RandomVariable/Uniform]
    return $errors
}

set sim [radio 2 500 500 DumbAgent]
$sim node-config -IncomingErrProc in-error
set a [station $sim 100 100]
set b [station $sim 200 100]
lappend senders [bulk $sim Agent/TCP $a $b 0.0]
$sim at $seconds {delivered $senders}
$sim run
