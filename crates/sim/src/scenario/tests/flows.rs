//! The traffic of flows and the losses of wires: the results of legal settings.

use super::{changed, read};
use crate::medium::loss::{LossConfig, PacketClass};
use crate::model::{LinkKind, TransportConfig};
use crate::traffic::AppKind;
use lasthop_stack::units::{Bytes, Rate};

#[test]
fn a_drop_list_may_be_empty() {
    let text = changed(r#"{ rate = "1 %" }"#, r#"{ model = "list", list = { drop = [] } }"#);
    let config = read(&text).unwrap().config(0);
    let LinkKind::PointToPoint(ends) = &config.links[1].kind else { panic!("a wire") };
    let none = LossConfig::List { drop: Vec::new(), of: PacketClass::Data };
    assert_eq!(ends.directions[0].loss, none);
}

#[test]
fn an_extra_header_has_any_number_of_bytes() {
    let tcp = "[flows.main.tcp]\nprofile = \"ns2-2004\"\nvariant = \"newreno\"\n";
    let udp = "[flows.main.app]\nkind = \"file\"\nfile = { size = \"3 packets\", packet = \"500 B\" }\n[flows.main.udp]\n";
    for (table, bytes) in [(tcp, 7), (udp, 1), (udp, 40)] {
        let config =
            read(&changed(tcp, &format!("{table}extra-header = \"{bytes} B\"\n"))).unwrap().config(0);
        let found = match &config.flows[0].transport {
            TransportConfig::Tcp(tcp) => tcp.extra_header,
            TransportConfig::Udp { extra_header } => *extra_header,
            TransportConfig::Quic(_) => 0,
        };
        assert_eq!(found, bytes);
    }
}

#[test]
fn a_file_over_udp_is_datagrams_and_its_packets_are_those() {
    let tcp = "[flows.main.tcp]\nprofile = \"ns2-2004\"\nvariant = \"newreno\"\n";
    let kind = |file: &str| {
        let text =
            changed(tcp, &format!("udp = {{}}\n[flows.main.app]\nkind = \"file\"\nfile = {{ {file} }}\n"));
        read(&text).unwrap().config(0).flows[0].app.kind.clone()
    };
    let expected = |size, packet, rate| AppKind::Datagrams { size: Bytes(size), packet, rate };
    assert_eq!(kind("size = \"1 MB\""), expected(1_000_000, 1000, None));
    let paced = "size = \"3 packets\", packet = \"500 B\", rate = \"2 Mbit/s\"";
    assert_eq!(kind(paced), expected(1500, 500, Some(Rate(2_000_000))));
}
