//! Users in scenarios.

use super::groups::WIRED;
use super::{BASE, extended, line_of, read, resolved, with};
use crate::model::TransportConfig;
use crate::traffic::{AppKind, Files, PageModel, PauseLaw, Shares, UserConfig};
use lasthop_stack::units::{Bytes, Span};

/// [`BASE`] with an application of its flow.
fn app(keys: &str) -> String {
    extended(&format!("\n[flows.main.app]\n{keys}"))
}

fn user(text: &str) -> UserConfig {
    let config = read(text).unwrap().config(0);
    assert!(matches!(config.flows[0].transport, TransportConfig::Tcp(_)));
    match &config.flows[0].app.kind {
        AppKind::User(user) => (**user).clone(),
        other => panic!("{other:?} is no user"),
    }
}

#[test]
fn a_mix_has_the_defaults_of_all_its_classes() {
    let text = app("kind = \"mix\"\n");
    let (user, spread) = (user(&text), read(&text).unwrap().config(0).flows[0].app.spread);
    assert_eq!((user.shares, user.by), ([0.4, 0.35, 0.25], Shares::Session));
    assert_eq!((user.pauses, spread), (PauseLaw::Exponential, Span::ZERO));
    let (small, pause) = (Bytes(64), Span::from_secs(180));
    assert_eq!(user.ftp, Files { size: Bytes(16_000_000), request: small, pause });
    assert_eq!(user.mail, Files { size: Bytes(2000), request: small, pause: Span::from_secs(30) });
    assert_eq!((user.web.model, user.web.pages), (PageModel::ThreeGpp2, 1));
    assert_eq!((user.web.request, user.web.reading), (Bytes(350), Span::from_secs(30)));
    assert_eq!(user.web.parsing, Span::from_millis(130));
}

#[test]
fn each_key_reaches_the_user() {
    let text = app(
        "kind = \"mix\"\npauses = \"fixed\"\nspread = \"9 s\"\nmix = { by = \"bytes\", ftp = \"10 %\", web = \"20 %\", mail = \"70 %\" }\n\
         ftp = { size = \"1 MB\", request = \"1 B\", pause = \"2 s\" }\nmail = { size = \"3 kB\", request = \"4 B\", pause = \"5 s\" }\n\
         web = { model = \"fixed\", request = \"6 B\", pages = 7, reading = \"8 s\", parsing = \"9 ms\", fixed = { main = \"10 B\", objects = 11, object = \"12 B\" } }\n",
    );
    let (user, spread) = (user(&text), read(&text).unwrap().config(0).flows[0].app.spread);
    assert_eq!((user.shares, user.by), ([0.1, 0.2, 0.7], Shares::Bytes));
    assert_eq!((user.pauses, spread), (PauseLaw::Fixed, Span::from_secs(9)));
    let files = |size, request, pause| Files {
        size: Bytes(size),
        request: Bytes(request),
        pause: Span::from_secs(pause),
    };
    assert_eq!((user.ftp, user.mail), (files(1_000_000, 1, 2), files(3000, 4, 5)));
    let model = PageModel::Fixed { main: Bytes(10), objects: 11, object: Bytes(12) };
    assert_eq!((user.web.model, user.web.request, user.web.pages), (model, Bytes(6), 7));
    assert_eq!((user.web.reading, user.web.parsing), (Span::from_secs(8), Span::from_millis(9)));
}

#[test]
fn a_user_of_one_class_has_the_keys_of_that_class_alone() {
    let text = app("kind = \"mail\"\n");
    assert_eq!(user(&text).shares, [0.0, 0.0, 1.0]);
    let scenario = read(&text).unwrap();
    assert!(resolved(&scenario, 0, "flows.main.app.mail.size").is_some());
    assert_eq!(resolved(&scenario, 0, "flows.main.app.ftp.size"), None);
    let classes: Vec<_> = scenario.metrics().iter().filter(|name| name.contains(".class.")).collect();
    assert_eq!(classes.len(), 5);
    assert!(classes.iter().all(|name| name.starts_with("flows.main.class.mail.")), "{classes:?}");
    // What is swept may be of any class.
    let swept = extended(
        "\n[flows.main.app.ftp]\nsize = \"1 MB\"\n[sweep]\n\"flows.main.app.kind\" = [\"ftp\", \"web\"]\n",
    );
    assert_eq!(read(&swept).unwrap().points(), 2);
}

#[test]
fn a_group_of_users_is_measured_by_class_one_by_one_and_together() {
    let text = WIRED.replace("count = 40", "count = 3\napp = { kind = \"web\" }");
    let scenario = read(&text).unwrap();
    let goodputs: Vec<&str> =
        scenario.metrics().iter().filter_map(|name| name.strip_suffix(".class.web.goodput_bps")).collect();
    assert_eq!(goodputs, ["flows.load1", "flows.load2", "flows.load3", "flows.load"]);
}

#[test]
fn what_does_not_go_with_a_user_is_told() {
    let refused = |text: &str, piece: &str, expected: &str| {
        let told = read(text).map_or_else(|error| error.to_string(), |_| "no error".to_string());
        assert_eq!(told, format!("x.toml:{}: flows.main.{expected}", line_of(text, piece)));
    };
    let text = app("kind = \"mix\"\nmix = { ftp = \"50 %\" }\n");
    refused(&text, "ftp = \"50 %\"", "app.mix: the shares add up to 110.000000 %; expected 100 %");
    let text = extended("app = { kind = \"ftp\" }\nsink = { read-rate = \"1 Mbit/s\" }\n")
        .replace("[flows.main.tcp]\nprofile = \"ns2-2004\"\nvariant = \"newreno\"\n", "");
    refused(&text, "sink = ", "sink.read-rate: a user reads without delay; expected a flow without this key");
    let text = app("kind = \"web\"\nreverse = { kind = \"bulk\" }\n");
    assert!(read(&text).unwrap_err().to_string().contains("flows.main.app.reverse.kind"));
    let text = BASE.replace(
        "[flows.main.tcp]\nprofile = \"ns2-2004\"\nvariant = \"newreno\"\n",
        "app = { kind = \"web\" }\nudp = {}\n",
    );
    refused(
        &text,
        "udp = ",
        "udp: sessions over udp; expected tcp, or a source of kind file, cbr, poisson, on-off or ping",
    );
    let told = with(&app("kind = \"web\"\n"), &[("flows.main.app.web.pages", "0")]).unwrap_err().to_string();
    assert!(told.contains("web.pages=0: 0 is too small; expected at least 1"), "{told}");
}
