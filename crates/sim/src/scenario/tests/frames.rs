//! Packets that fit into the frames of an 802.11 link, and others.

use super::read;
use super::wifi::changed;
use super::wifi_errors::refused;

#[test]
fn packets_above_the_largest_msdu_are_refused_on_a_wifi_link() {
    let down = |tcp: &str| changed("to = \"one\"\n", &format!("to = \"one\"\ntcp = {{ {tcp} }}\n"));
    for (tcp, expected) in [
        (
            "packet = \"2245 B\"",
            "2245 B with 52 B of headers and 8 B of LLC give an MSDU of 2305 B on links.cell, above the 802.11 maximum of 2304 B; expected at most 2244 B",
        ),
        (
            "packet = \"2247 B\", profile = \"ns2-2004\", extra-header = \"20 B\"",
            "2247 B with 60 B of headers and 8 B of LLC give an MSDU of 2315 B on links.cell, above the 802.11 maximum of 2304 B; expected at most 2236 B",
        ),
    ] {
        refused(&down(tcp), tcp, &format!("flows.down.tcp.packet: {expected}"));
    }
    assert!(read(&down("packet = \"2244 B\"")).is_ok());
    // Data in both directions may carry 28 bytes of SACK blocks besides the timestamps.
    let both = changed(
        "to = \"one\"\n",
        "to = \"one\"\napp = { reverse = { kind = \"bulk\" } }\ntcp = { packet = \"2245 B\" }\n",
    );
    refused(
        &both,
        "packet = \"2245 B\"",
        "flows.down.tcp.packet: 2245 B with 80 B of headers and 8 B of LLC give an MSDU of 2333 B on links.cell, above the 802.11 maximum of 2304 B; expected at most 2216 B",
    );
    assert!(read(&both.replace("2245 B", "2216 B")).is_ok());
    let voice = |packet: &str| {
        changed("rate = \"64 kbit/s\"", &format!("rate = \"64 kbit/s\", packet = \"{packet}\""))
    };
    refused(
        &voice("2269 B"),
        "2269 B",
        "flows.voice.app.cbr.packet: 2269 B with 28 B of headers and 8 B of LLC give an MSDU of 2305 B on links.cell, above the 802.11 maximum of 2304 B; expected at most 2268 B",
    );
    assert!(read(&voice("2268 B")).is_ok());
    // ns-2's MAC has no LLC.
    let ns2 = voice("2276 B").replace("kind = \"wifi\"", "kind = \"wifi\"\nflavour = \"ns2\"");
    assert!(read(&ns2).is_ok());
    // A flow that stays on the wire may have longer packets.
    let wired = down("packet = \"9000 B\"").replace("to = \"one\"\ntcp", "to = \"ap\"\ntcp");
    assert!(read(&wired.replace("kind = \"lle-tcp\"", "kind = \"none\"")).is_ok());
}
