//! Queues without room for anything, and settings that make each other useless.

use super::{BASE, changed, extended, read};
use crate::probe::trace::{CHANNELS, missing};

#[test]
fn a_queue_without_room_for_a_packet_is_refused_and_one_without_room_for_a_full_one_remarked() {
    let queue =
        |bytes: &str| changed("delay = \"40 ms\"", &format!("delay = \"40 ms\"\nqueue = \"{bytes}\""));
    assert_eq!(
        read(&queue("1 B")).unwrap_err().to_string(),
        "x.toml:16: links.a-b.queue: 1 B cannot hold a packet of flows.main; expected at least 1040 B"
    );
    let remarked = read(&queue("500 B")).unwrap();
    assert_eq!(
        remarked.warnings(),
        [
            "x.toml:16: links.a-b.queue: 500 B cannot hold a full packet of flows.main, 1040 B: all full packets are dropped"
        ]
    );
    assert!(read(&queue("1040 B")).unwrap().warnings().is_empty());
    assert!(read(&queue("1 packet")).unwrap().warnings().is_empty());
}

#[test]
fn a_queue_for_acknowledgements_need_not_hold_data() {
    let reverse = |bytes: &str| {
        changed("delay = \"40 ms\"", &format!("delay = \"40 ms\"\nreverse = {{ queue = \"{bytes}\" }}"))
    };
    assert!(read(&reverse("40 B")).unwrap().warnings().is_empty());
    let message = read(&reverse("39 B")).unwrap_err().to_string();
    assert!(
        message.contains("links.a-b.reverse.queue: 39 B cannot hold a packet of flows.main"),
        "{message}"
    );
}

#[test]
fn a_queue_that_no_flow_meets_may_be_small() {
    let apart = "[nodes.d]\n[links.c-d]\nkind = \"wired\"\nnodes = [\"c\", \"d\"]\nrate = \"1 Mbit/s\"\nqueue = \"1 B\"\n";
    assert!(read(&extended(apart)).is_ok());
}

#[test]
fn one_key_for_both_axes_of_a_figure_is_refused() {
    let sweep = "[sweep]\n\"links.b-c.loss.rate\" = [\"1 %\", \"2 %\"]\n\n[[figure]]\nid = \"f\"\n";
    let key = "\"links.b-c.loss.rate\"";
    for (axes, said) in [
        (
            format!("kind = \"matrix\"\nrows = {key}\ncolumns = {key}"),
            "figure.columns: links.b-c.loss.rate is also figure.rows; expected another swept key",
        ),
        (
            format!("x = {key}\nlines = {key}"),
            "figure.lines: links.b-c.loss.rate is also figure.x; expected another swept key",
        ),
    ] {
        let text = extended(&format!("{sweep}{axes}\ny = \"flows.main.goodput_bps\"\n"));
        let message = read(&text).unwrap_err().to_string();
        assert!(message.ends_with(said), "{message}");
    }
}

#[test]
fn a_channel_that_nothing_can_fill_says_what_would() {
    let config = read(BASE).unwrap().config(0);
    let empty: Vec<&str> =
        CHANNELS.iter().map(|channel| channel.0).filter(|name| missing(name, &config).is_some()).collect();
    assert_eq!(empty, ["jitter", "slots", "arq"]);
    assert_eq!(missing("slots", &config), Some("a link of kind frn"));
    let judged = read(&changed("newreno", "jtcp")).unwrap().config(0);
    assert_eq!(missing("jitter", &judged), None);
}

#[test]
fn paper_mode_of_lle_tcp_with_sessions_is_remarked() {
    let text = |mode: &str, app: &str| {
        format!(
            "[run]\nduration = \"1 s\"\n[nodes]\na = {{}}\nb = {{}}\n[links.wlan]\nkind = \"wifi\"\n\
             nodes = [\"a\", \"b\"]\n[flows.main]\nfrom = \"a\"\nto = \"b\"\napp = {{ kind = \"{app}\" }}\n\
             [agents.snoop]\nkind = \"lle-tcp\"\nlle-tcp.mode = \"{mode}\"\n"
        )
    };
    let remarks = |mode: &str, app: &str| read(&text(mode, app)).unwrap().warnings().join("\n");
    let said = "agents.snoop.lle-tcp.mode: \"paper\" breaks connections with data in both directions";
    assert!(remarks("paper", "web").contains(said), "{}", remarks("paper", "web"));
    assert!(!remarks("safe", "web").contains(said));
    assert!(!remarks("paper", "bulk").contains(said));
}

#[test]
fn constant_flows_that_overload_a_queue_at_the_same_times_are_remarked() {
    let remarks = |queue: &str, app: &str| {
        let text = format!(
            "[run]\nduration = \"1 s\"\n[nodes]\na = {{}}\nb = {{}}\n[links.ab]\nkind = \"wired\"\nnodes = [\"a\", \"b\"]\n\
             rate = \"10 Mbit/s\"\n{queue}\n[flows.f]\nfrom = \"a\"\nto = \"b\"\ncount = 4\nudp = {{}}\n\
             app = {{ kind = \"{}\", {app} }}\n",
            app.split_once('.').unwrap().0
        );
        read(&text).unwrap().warnings().to_vec()
    };
    let found = remarks("", "cbr.rate = \"3 Mbit/s\"");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("flows.f.app.spread: 0 s, and 4 constant flows of one start"), "{found:?}");
    let found = remarks("", "cbr.rate = \"3 Mbit/s\", spread = \"1 us\"");
    assert!(found.len() == 1 && found[0].contains("spread: too short, and 4"), "{found:?}");
    assert!(remarks("", "cbr.rate = \"2 Mbit/s\"").is_empty(), "no queue is full");
    assert!(remarks("", "cbr.rate = \"3 Mbit/s\", spread = \"10 ms\"").is_empty());
    assert!(remarks("queue = \"unlimited\"", "cbr.rate = \"3 Mbit/s\"").is_empty());
    assert!(remarks("aqm = { law = \"codel\" }", "cbr.rate = \"3 Mbit/s\"").is_empty());
    assert_eq!(remarks("", "file.rate = \"3 Mbit/s\", file.size = \"1 MB\"").len(), 1);
    assert_eq!(remarks("", "on-off.rate = \"3 Mbit/s\", on-off.law = \"fixed\"").len(), 1);
    assert!(remarks("", "on-off.rate = \"3 Mbit/s\"").is_empty());
}

#[test]
fn constant_flows_down_an_access_point_are_remarked() {
    let text = "[run]\nduration = \"1 s\"\n[nodes]\nap = {}\nsta = { count = 4 }\n[links.w]\nkind = \"wifi\"\n\
                nodes = [\"ap\", \"sta\"]\naccess-point = \"ap\"\n[flows.f]\nfrom = \"ap\"\nto = \"sta\"\nudp = {}\n\
                app = { kind = \"cbr\", cbr.rate = \"3 Mbit/s\" }\n";
    let found = read(text).unwrap().warnings().to_vec();
    assert!(found.iter().any(|it| it.contains("drop-tail queue of links.w")), "{found:?}");
}

#[test]
fn a_queue_far_shorter_than_the_path_of_a_flow_is_remarked() {
    let remarks = |delay: &str, more: &str| {
        let text = format!(
            "[run]\nduration = \"1 s\"\n[nodes]\ns = {{}}\nap = {{}}\nm = {{}}\n[links.wire]\nkind = \"wired\"\n\
             nodes = [\"s\", \"ap\"]\nrate = \"1 Gbit/s\"\ndelay = \"{delay}\"\n[links.air]\nkind = \"wifi\"\n\
             standard = \"802.11ax\"\nstreams = 2\nwidth = \"80 MHz\"\nnodes = [\"ap\", \"m\"]\n[flows.f]\nfrom = \"s\"\nto = \"m\"\ntcp = {{ {more} }}\n"
        );
        read(&text).unwrap().warnings().to_vec()
    };
    let found = remarks("10 ms", "profile = \"modern\", variant = \"cubic\"");
    assert_eq!(found.len(), 1, "{found:?}");
    let said = "links.wire.queue: room for 100 packets, where the path of flows.f holds 1667";
    assert!(found[0].contains(said), "{found:?}");
    assert!(remarks("1 ms", "profile = \"modern\", variant = \"cubic\"").is_empty());
    assert!(
        remarks("10 ms\"\nqueue = \"50 packets", "profile = \"modern\", variant = \"cubic\"").is_empty(),
        "it is meant"
    );
    assert!(remarks("10 ms", "profile = \"modern\", variant = \"bbr\"").is_empty(), "it leaves no queue");
    assert!(
        remarks("10 ms", "profile = \"modern\", variant = \"cubic\", window = \"50 segments\"").is_empty()
    );
}
