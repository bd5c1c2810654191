//! Users who open a connection for each session: what a transfer takes, and what becomes of it.

use crate::common::{chain, metric, run_once, run_replication, source, wire};
use lasthop_sim::Outcome;
use lasthop_sim::medium::loss::LossConfig;
use lasthop_sim::model::{Config, TransportConfig};
use lasthop_sim::probe::transfers::Transfer;
use lasthop_sim::scenario::Scenario;
use lasthop_sim::traffic::sessions::Class;
use lasthop_sim::traffic::{AppConfig, AppKind, Files, PageModel, Pages, PauseLaw, Shares, UserConfig};
use lasthop_stack::registry::CongestionKind;
use lasthop_stack::registry::Parts;
use lasthop_stack::registry::tcp::{self, Profile};
use lasthop_stack::units::{Bytes, Span, Time};
use proptest::prelude::*;

/// A user whose pauses and pages are always the same: messages of 2 kB, files of 100 kB, pages of 5 kB and two objects
/// of 1 kB.
fn user(shares: [f64; 3]) -> UserConfig {
    let files = |size, pause| Files { size: Bytes(size), request: Bytes(64), pause };
    UserConfig {
        shares,
        by: Shares::Session,
        ftp: files(100_000, Span::from_secs(3)),
        web: Pages {
            model: PageModel::Fixed { main: Bytes(5000), objects: 2, object: Bytes(1000) },
            request: Bytes(350),
            pages: 1,
            reading: Span::from_secs(2),
            parsing: Span::from_millis(130),
        },
        mail: files(2000, Span::from_secs(1)),
        pauses: PauseLaw::Fixed,
    }
}

const MAIL: [f64; 3] = [0.0, 0.0, 1.0];
const WEB: [f64; 3] = [0.0, 1.0, 0.0];
const MIX: [f64; 3] = [0.4, 0.35, 0.25];

/// Segments of 1000 bytes without options but on SYNs, which have 8 bytes of them; every segment is acknowledged.
/// The same with a law that judges its losses.
fn judged_tcp() -> tcp::Config {
    let plain = plain_tcp();
    let judges = vec![CongestionKind::Veno.config()];
    tcp::Config { parts: Parts { judges, ..plain.parts }, ..plain }
}

fn plain_tcp() -> tcp::Config {
    tcp::Config { packet: 1000, initial_window: 10, nagle: false, ..Profile::Ns2Of2004.config() }
}

/// One user at the far end of a link of 1 Mbit/s and 10 ms.
fn cell(user: UserConfig, seconds: u64) -> Config {
    let link = (1_000_000, Span::from_millis(10));
    let mut config = chain(&[link], plain_tcp(), Span::from_secs(seconds));
    config.flows[0].app = source(AppKind::User(Box::new(user)));
    config
}

fn response_us(transfer: &Transfer) -> u64 {
    transfer.ended.expect("it was done").since(transfer.begun).0 / 1000
}

#[test]
fn a_message_takes_two_round_trips_and_its_time_on_the_wire() {
    let outcome = run_once(&cell(user(MAIL), 10));
    // SYN and SYN-ACK of 48 bytes, a request of 104 bytes, its acknowledgement of 40, which leaves before the answer,
    // and two segments of 1040 bytes. All at 8 us a byte, and four ways of 10 ms. The pause of a second begins with the
    // last byte.
    let response = 8 * (2 * 48 + 104 + 40 + 2 * 1040) + 40_000;
    assert_eq!(response, 58_560);
    assert_eq!(outcome.transfers.len(), 10);
    for (number, transfer) in (0..).zip(&outcome.transfers) {
        assert_eq!(transfer.begun, Time(number * (1_000_000 + response) * 1000));
        assert_eq!((transfer.class, transfer.bytes), (Class::Mail, 2000));
        if number < 9 {
            assert_eq!(response_us(transfer), response);
        }
    }
    assert_eq!(metric(&outcome, "flows.main.class.mail.bytes"), 20_000.0);
}

#[test]
fn a_user_who_does_not_pause_waits_until_the_connection_is_closed_at_both_ends() {
    let mut config = user(MAIL);
    config.mail.pause = Span::ZERO;
    let transfers = run_once(&cell(config, 5)).transfers;
    // The server's FIN follows the last byte. The client's follows its acknowledgement of that byte and acknowledges
    // the server's, and is acknowledged itself. This is three segments of 40 bytes, one after another, and two ways.
    let closing = 8 * 3 * 40 + 20_000;
    assert_eq!(transfers[1].begun, transfers[0].ended.expect("done").after(Span::from_micros(closing)));
    assert!(transfers.len() > 50);
}

#[test]
fn the_objects_of_a_page_come_one_after_another_and_are_asked_for_after_its_main_one_is_parsed() {
    let outcome = run_once(&cell(user(WEB), 3));
    let set_up = 8 * 2 * 48 + 20_000;
    // A request, its acknowledgement, and the object.
    let object = |segments: u64| 8 * (390 + 40 + segments * 1040) + 20_000;
    // The last request waits for the acknowledgement of the object before it, which has just left.
    let page = set_up + object(5) + 130_000 + 2 * object(1) + 8 * 40;
    assert_eq!(response_us(&outcome.transfers[0]), page);
    assert_eq!(outcome.transfers[1].begun, Time((page + 2_000_000) * 1000));
    assert_eq!(outcome.transfers[0].bytes, 7000);
}

#[test]
fn a_second_page_comes_over_the_same_connection_and_costs_no_set_up() {
    let mut config = user(WEB);
    config.web.pages = 2;
    let outcome = run_once(&cell(config, 20));
    let pages: Vec<u64> = outcome.transfers.iter().take(4).map(response_us).collect();
    let set_up = 8 * 2 * 48 + 20_000;
    assert_eq!((pages[0], pages[1]), (pages[2], pages[3]));
    assert_eq!(pages[0] - pages[1], set_up);
}

#[test]
fn what_is_under_way_at_the_end_is_told_apart_and_what_began_in_the_warm_up_does_not_count() {
    let mut config = cell(user(MAIL), 10);
    // The third message begins at 2.117 s, the last at 9.527 s: it has 8 ms.
    config.run.warmup = Span::from_secs(2);
    config.run.duration = Span::from_millis(9535);
    let outcome = run_once(&config);
    let of = |name: &str| metric(&outcome, &format!("flows.main.class.mail.transfers_{name}"));
    assert_eq!((of("begun"), of("done"), of("unfinished")), (8.0, 7.0, 1.0));
    assert_eq!(outcome.transfers.len(), 10);
    assert_eq!(outcome.transfers[9].ended, None);
    assert_eq!(metric(&outcome, "flows.main.goodput_bps"), 7.0 * 16_000.0 / 7.535);
}

#[test]
fn no_session_begins_after_the_stop_and_one_under_way_goes_on() {
    let mut config = cell(user(MAIL), 10);
    config.flows[0].app.stop = Some(Time(2_130_000_000));
    let outcome = run_once(&config);
    assert_eq!(outcome.transfers.len(), 3);
    assert!(outcome.transfers[2].ended.is_some_and(|end| end > Time(2_130_000_000)), "{outcome:?}");
}

/// A user behind a lossy link whose retransmission timer often fires too early.
fn hasty(loss: f64, seconds: u64) -> Config {
    let mut user = user(MIX);
    (user.ftp.pause, user.web.reading, user.mail.pause) = (Span::ZERO, Span::ZERO, Span::from_millis(5));
    let mut config = cell(user, seconds);
    for direction in [0, 1] {
        wire(&mut config, 0, direction).loss = LossConfig::Packet { rate: loss };
    }
    config.flows[0].transport =
        TransportConfig::Tcp(tcp::Config { min_rto: Span::from_millis(21), tick: Span::ZERO, ..plain_tcp() });
    config
}

#[test]
fn losses_are_judged_by_the_connection_they_belong_to() {
    let mut config = cell(UserConfig { ftp: user(MIX).ftp, ..user([1.0, 0.0, 0.0]) }, 200);
    wire(&mut config, 0, 0).loss = LossConfig::Packet { rate: 0.03 };
    config.flows[0].transport = TransportConfig::Tcp(judged_tcp());
    let outcome = run_once(&config);
    let of = |name: &str| metric(&outcome, &format!("flows.main.judges.veno.fast.{name}"));
    assert!(outcome.transfers.len() > 20);
    assert!(of("random_as_random") + of("random_as_congestion") > 40.0, "{outcome:?}");
    assert_eq!(of("spurious") + of("congestion_as_random") + of("congestion_as_congestion"), 0.0);
}

fn asked_and_done(outcome: &Outcome) -> (u64, u64) {
    let bytes = |done: bool| {
        outcome.transfers.iter().filter(|transfer| !done || transfer.ended.is_some()).map(|it| it.bytes).sum()
    };
    (bytes(false), bytes(true))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// All bytes of each transfer that was done have arrived, and none beyond the request: nothing of one connection
    /// gets into another, and none hangs.
    #[test]
    fn what_was_done_came_whole(loss in 0.0..0.2f64, replication in 0u64..1000, judged: bool) {
        let mut config = hasty(loss, 120);
        if let (TransportConfig::Tcp(tcp), true) =
            (&mut config.flows[0].transport, judged)
        {
            *tcp = judged_tcp();
        }
        let outcome = run_replication(&config, replication);
        let (asked, done) = asked_and_done(&outcome);
        let came = outcome.metrics.iter().filter(|(name, _)| name.split('.').next_back() == Some("bytes"));
        let came: f64 = came.filter_map(|(_, value)| *value).sum();
        prop_assert!(done as f64 <= came && came <= asked as f64, "{done} {came} {asked}");
        let unfinished = outcome.transfers.iter().filter(|transfer| transfer.ended.is_none()).count();
        prop_assert!(unfinished <= 1, "one at a time");
        prop_assert!(outcome.transfers.iter().all(|transfer| transfer.begun <= transfer.ended.unwrap_or(Time::NEVER)));
        // With more loss, the timeouts of a few files fill the two minutes.
        prop_assert!(loss > 0.05 || outcome.transfers.len() > 30, "{}", outcome.transfers.len());
    }
}

#[test]
fn the_sessions_of_a_user_are_the_same_under_every_scheme() {
    let of = |loss: f64, congestion: CongestionKind| {
        let mut config = hasty(loss, 200);
        config.flows[0].transport = TransportConfig::Tcp(tcp::Config {
            parts: Parts { law: congestion.config(), ..plain_tcp().parts },
            ..plain_tcp()
        });
        if let AppKind::User(user) = &mut config.flows[0].app.kind {
            user.web.model = PageModel::ThreeGpp2;
            user.pauses = PauseLaw::Exponential;
        }
        let transfers = run_once(&config).transfers;
        transfers.into_iter().map(|transfer| (transfer.class, transfer.bytes)).take(20).collect::<Vec<_>>()
    };
    let plain = of(0.0, CongestionKind::Reno);
    assert_eq!(plain.len(), 20);
    assert!(Class::ALL.iter().all(|class| plain.iter().any(|(other, _)| other == class)), "{plain:?}");
    assert_eq!(plain, of(0.05, CongestionKind::Vegas));
}

#[test]
fn a_spread_begins_the_first_session_of_each_flow_at_a_moment_of_its_own() {
    let mut config = cell(user(MAIL), 6);
    let AppConfig { start, spread, .. } = &mut config.flows[0].app;
    (*start, *spread) = (Time(1_000_000_000), Span::from_secs(5));
    let mut flow = config.flows[0].clone();
    flow.name = "other".into();
    config.flows.push(flow);
    let transfers = run_once(&config).transfers;
    let first = |flow| transfers.iter().find(|transfer| transfer.flow == flow).expect("one began").begun;
    let (one, other) = (first(0), first(1));
    assert!(
        one != other && [one, other].iter().all(|at| (1.0..6.0).contains(&at.as_secs())),
        "{one:?} {other:?}"
    );
}

/// A cell with an access point that requests the timers of senders, and two users behind it.
fn behind_an_access_point(arq: &str) -> Config {
    let text = format!(
        "[run]\nduration = \"120 s\"\n[nodes]\nserver = {{ count = 2 }}\nap = {{ position = [\"0 m\", \"0 m\"] }}\n\
         phone = {{ count = 2, place = {{ kind = \"circle\", circle = {{ radius = \"10 m\" }} }} }}\n\
         [links.path]\nkind = \"wired\"\nnodes = [\"server\", \"ap\"]\nrate = \"100 Mbit/s\"\n\
         rtt = {{ law = \"uniform\", uniform = {{ min = \"5 ms\", max = \"100 ms\" }} }}\n\
         [links.air]\nkind = \"wifi\"\nstandard = \"802.11a\"\nrate = \"6 Mbit/s\"\nnodes = [\"ap\", \"phone\"]\n\
         access-point = \"ap\"\nfragment-threshold = \"320 B\"\nloss = {{ model = \"packet\", rate = \"10 %\" }}\n\
         arq = {{ {arq} }}\n[flows.down]\nfrom = \"server\"\nto = \"phone\"\n[flows.down.app]\nkind = \"mix\"\n\
         ftp = {{ size = \"200 kB\", pause = \"500 ms\" }}\nweb = {{ reading = \"500 ms\" }}\nmail = {{ pause = \"500 ms\" }}\n"
    );
    Scenario::from_text(&text, "cell.toml", &[]).expect("a valid scenario").config(0)
}

#[test]
fn an_access_point_knows_the_flow_of_every_connection() {
    for arq in [
        "kind = \"dynamic\"",
        "kind = \"dynamic\", restart = false",
        "kind = \"dynamic\", timing = \"estimate\"",
    ] {
        let outcome = run_once(&behind_an_access_point(arq));
        let sessions = |flow| outcome.transfers.iter().filter(|transfer| transfer.flow == flow).count();
        assert!(sessions(0) > 20 && sessions(1) > 20, "{arq}: {outcome:?}");
        let unfinished = metric(&outcome, "flows.down.class.mail.transfers_unfinished")
            + metric(&outcome, "flows.down.class.web.transfers_unfinished")
            + metric(&outcome, "flows.down.class.ftp.transfers_unfinished");
        assert!(unfinished <= 2.0, "{arq}: {unfinished}");
    }
}
