//! Figures of airtime and over time: what they need, and the errors if it is missing.

use super::wifi::FIG05;
use super::{BASE, changed, line_of, read};

fn refused(text: &str, piece: &str, expected: &str) {
    let message = read(text).map_or_else(|error| error.to_string(), |_| "no error".to_string());
    assert_eq!(message, format!("x.toml:{}: {expected}", line_of(text, piece)));
}

/// A scenario with one more figure.
fn drawn(scenario: &str, figure: &str) -> String {
    format!("{scenario}\n[[figure]] # new\nid = \"new\"\n{figure}")
}

/// The scenario of one TCP flow over cables, with bins.
fn binned() -> String {
    changed("duration = \"10 s\"", "duration = \"10 s\"\nbin = \"500 ms\"")
}

const AIRTIME: &str = "kind = \"airtime\"\nx = \"agents.snoop.kind\"\n";

#[test]
fn airtime_is_drawn_of_an_802_11_link_only() {
    let whole = format!("{AIRTIME}where = {{ \"links.wlan.loss.rate\" = \"0 %\" }}\n");
    let figures = read(&drawn(FIG05, &whole)).unwrap().figures().to_vec();
    assert_eq!((&figures[0]["kind"], &figures[1]["kind"]), (&"lines".into(), &"airtime".into()));
    assert!(read(&drawn(FIG05, &format!("{whole}link = \"wlan\"\n"))).is_ok());
    refused(
        &drawn(FIG05, &format!("{whole}link = \"wlna\"\n")),
        "link = \"wlna\"",
        "figure.link: unknown wifi link \"wlna\"; did you mean \"wlan\"? (known: wlan)",
    );
    let swept = format!("{BASE}\n[sweep]\n\"flows.main.tcp.variant\" = [\"tahoe\", \"sack\"]\n");
    refused(
        &drawn(&swept, "kind = \"airtime\"\nx = \"flows.main.tcp.variant\"\n"),
        "kind = \"airtime\"",
        "figure.kind: \"airtime\" in a scenario without 802.11; expected a link of kind wifi",
    );
    refused(
        &drawn(FIG05, "kind = \"airtime\"\n"),
        "[[figure]] # new",
        "figure.x: missing; expected a swept key in quotes",
    );
}

#[test]
fn a_figure_has_the_keys_of_its_kind_alone() {
    refused(
        &drawn(FIG05, &format!("{AIRTIME}y = \"flows.ftp.goodput_bps\" # here\n")),
        "y = \"flows.ftp.goodput_bps\" # here",
        "figure.y: not a key of a figure of kind \"airtime\"; expected figure.kind = \"lines\" or \"bar\" or \"box\" or \"scatter\" or \"matrix\"",
    );
    refused(
        &drawn(FIG05, "x = \"agents.snoop.kind\"\ny = \"flows.ftp.goodput_bps\"\nflow = \"ftp\" # here\n"),
        "flow = \"ftp\" # here",
        "figure.flow: not a key of a figure of kind \"lines\"; expected figure.kind = \"time\" or \"cdf\"",
    );
    refused(
        &drawn(FIG05, "kind = \"tiem\"\nx = \"agents.snoop.kind\"\ny = \"flows.ftp.goodput_bps\"\n"),
        "kind = \"tiem\"",
        "figure.kind: unknown kind of figure \"tiem\"; did you mean \"time\"? (known: time, lines, bar, box, scatter, matrix, airtime, cdf)",
    );
}

#[test]
fn names_stand_for_swept_values() {
    let names =
        |lines: &str| format!("{AIRTIME}where = {{ \"links.wlan.loss.rate\" = \"0 %\" }}\nnames = {lines}\n");
    let scenario = read(&drawn(FIG05, &names("{ none = \"standard TCP\", \"2 %\" = \"some\" }"))).unwrap();
    assert_eq!(scenario.figures()[1]["names"], serde_json::json!({ "none": "standard TCP", "2 %": "some" }));
    refused(
        &drawn(FIG05, &names("{ lle-tpc = \"LLE-TCP\" }")),
        "names",
        "figure.names.lle-tpc: unknown swept value \"lle-tpc\"; did you mean \"lle-tcp\"? (known: lle-tcp, none, 0 %, 2 %, 4 %, 6 %, 8 %, 10 %, … (13 in total))",
    );
    let together = read(&drawn(FIG05, &names("{ \"none, 2 %\" = \"both\" }"))).unwrap();
    assert_eq!(together.figures()[1]["names"], serde_json::json!({ "none, 2 %": "both" }));
    refused(
        &drawn(FIG05, &names("{ \"none, 3 %\" = \"both\" }")),
        "names",
        "figure.names.none, 3 %: unknown swept value \"none, 3 %\"; did you mean \"none\"? (known: none, lle-tcp, 0 %, 2 %, 4 %, 6 %, 8 %, 10 %, … (13 in total))",
    );
    refused(&drawn(FIG05, &names("{ none = 1 }")), "names", "figure.names.none: 1; expected text");
}

#[test]
fn a_figure_over_time_shows_what_is_measured_of_its_flow() {
    let time = |lines: &str| format!("kind = \"time\"\n{lines}");
    let panels = "panels = [\"rtt\", \"goodput\"]\n";
    let scenario = read(&drawn(&binned(), &time(&format!("{panels}flow = \"main\"\nuntil = \"5 s\"\n"))));
    let figures = scenario.unwrap().figures().to_vec();
    assert_eq!(figures[0]["panels"], serde_json::json!(["rtt", "goodput"]));
    refused(
        &drawn(BASE, &time(panels)),
        "panels",
        "figure.panels: \"goodput\" without bins; expected run.bin to be set, such as \"500 ms\"",
    );
    refused(
        &drawn(BASE, &time("panels = [\"rtt\"]\nflow = \"mian\"\n")),
        "flow = \"mian\"",
        "figure.flow: unknown flow \"mian\"; did you mean \"main\"? (known: main)",
    );
    refused(
        &drawn(BASE, &time("panels = [\"rtt\", \"rtt\"]\n")),
        "panels",
        "figure.panels: \"rtt\" twice; expected different words",
    );
    refused(
        &drawn(BASE, &time("panels = [\"rto\", \"cwdn\"]\n")),
        "panels",
        "figure.panels: unknown panel \"cwdn\"; did you mean \"cwnd\"? (known: cwnd, rtt, srtt, rto, ssthresh, sequence, released, jitter, … (10 in total))",
    );
    refused(
        &drawn(BASE, &time("")),
        "[[figure]] # new",
        "figure.panels: missing; expected a list of panels (rtt, srtt, rto, cwnd, ssthresh, sequence, released, jitter, … (10 in total)) such as [\"rtt\"]",
    );
    let since =
        |begin: &str| time(&format!("panels = [\"sequence\"]\nsince = \"{begin}\"\nuntil = \"2 s\"\n"));
    assert!(read(&drawn(BASE, &since("1999 ms"))).is_ok());
    refused(
        &drawn(BASE, &since("2000 ms")),
        "since",
        "figure.since: 2 s is not before figure.until, 2 s; expected an earlier time",
    );
    refused(
        &drawn(BASE, &time("panels = [\"jitter\"]\n")),
        "panels",
        "figure.panels: \"jitter\" without a law that uses it; expected jtcp or ejtcp as tcp.variant or in tcp.judges",
    );
    let judged = BASE.replace("variant = \"newreno\"", "variant = \"newreno\"\njudges = [\"jtcp\"]");
    assert!(read(&drawn(&judged, &time("panels = [\"jitter\"]\n"))).is_ok());
    let udp = binned().replace(
        "[flows.main.tcp]\nprofile = \"ns2-2004\"\nvariant = \"newreno\"\n",
        "app = { kind = \"cbr\", cbr = { rate = \"1 Mbit/s\" } }\n",
    );
    assert!(read(&drawn(&udp, &time("panels = [\"received\"]\n"))).is_ok());
    refused(
        &drawn(&udp, &time("panels = [\"received\", \"rtt\"]\n")),
        "panels",
        "figure.panels: \"rtt\" of a UDP flow; expected goodput, received, or a flow over TCP",
    );
}

#[test]
fn an_axis_that_a_figure_over_time_leaves_open_is_remarked() {
    let open =
        read(&drawn(FIG05, "kind = \"time\"\npanels = [\"rtt\"]\nlines = \"agents.snoop.kind\"\n")).unwrap();
    let line = line_of(open.text(), "[[figure]] # new");
    let expected =
        format!("x.toml:{line}: figure: does not fix links.wlan.loss.rate; expected it in lines or where");
    assert_eq!(open.warnings(), [expected]);
}

#[test]
fn bins_without_number_are_refused() {
    let bins =
        |width: &str| changed("duration = \"10 s\"", &format!("duration = \"10 s\"\nbin = \"{width}\""));
    assert!(read(&bins("100 us")).is_ok());
    refused(&bins("99 us"), "bin", "run.bin: 0.000099 s gives 101011 bins; expected at most 100000");
    refused(&bins("0 s"), "bin", "run.bin: \"0 s\" is too small; expected more than 0");
}

#[test]
fn several_metrics_make_panels_and_a_scatter_plot_has_two() {
    let goodput = "flows.main.goodput_bps";
    let swept = format!("{BASE}\n[sweep]\n\"flows.main.tcp.variant\" = [\"reno\", \"newreno\"]\n");
    let of = |figure: &str| drawn(&swept, figure);
    let panels = |kind: &str, metrics: &str| {
        of(&format!("kind = \"{kind}\"\nx = \"flows.main.tcp.variant\"\ny = {metrics}\n"))
    };
    for kind in ["lines", "bar", "box"] {
        let both = format!("[\"{goodput}\", \"flows.main.timeouts\"]");
        assert_eq!(read(&panels(kind, &both)).unwrap().figures()[0]["y"].as_array().map(Vec::len), Some(2));
    }
    refused(
        &panels("bar", &format!("[\"{goodput}\", \"{goodput}\"]")),
        "y = [",
        "figure.y: flows.main.goodput_bps twice; expected different metrics",
    );
    refused(
        &panels("bar", "[]"),
        "y = []",
        "figure.y: an empty list; expected a metric in quotes or a list of metrics",
    );
    let scatter = |against: &str, y: &str| {
        of(&format!(
            "kind = \"scatter\"\nagainst = \"{against}\"\ny = {y}\nlines = \"flows.main.tcp.variant\"\n"
        ))
    };
    assert!(read(&scatter("flows.main.rtt_mean_s", &format!("\"{goodput}\""))).is_ok());
    refused(
        &scatter(goodput, &format!("\"{goodput}\"")),
        "y = \"flows.main.g",
        "figure.y: flows.main.goodput_bps is also figure.against; expected another metric",
    );
    refused(
        &scatter("flows.main.rtt_mean_s", &format!("[\"{goodput}\", \"flows.main.timeouts\"]")),
        "y = [",
        "figure.y: 2 metrics; expected one",
    );
}

#[test]
fn a_matrix_has_rows_and_columns_and_two_metrics() {
    let swept = format!(
        "{BASE}\n[sweep]\n\"flows.main.tcp.variant\" = [\"tahoe\", \"sack\"]\n\"flows.main.tcp.packet\" = [\"500 B\", \"1000 B\"]\n"
    );
    let cells = "kind = \"matrix\"\ny = \"flows.main.goodput_bps\"\nrows = \"flows.main.tcp.variant\"\n";
    let whole = format!("{cells}columns = \"flows.main.tcp.packet\"\namong = \"goodput_bps\"\n");
    let scenario = read(&drawn(&swept, &whole)).unwrap();
    assert_eq!(scenario.figures()[0]["columns"], "flows.main.tcp.packet");
    assert!(scenario.warnings().is_empty(), "{:?}", scenario.warnings());
    refused(
        &drawn(&swept, cells),
        "[[figure]] # new",
        "figure.columns: missing; expected a swept key in quotes",
    );
    refused(
        &drawn(&swept, &format!("{whole}lines = \"flows.main.tcp.variant\" # here\n")),
        "lines = \"flows.main.tcp.variant\" # here",
        "figure.lines: not a key of a figure of kind \"matrix\"; expected figure.kind = \"lines\" or \"bar\" or \"box\" or \"scatter\" or \"airtime\" or \"time\" or \"cdf\"",
    );
}

#[test]
fn response_times_are_drawn_of_a_class_that_a_flow_has() {
    let users = BASE.replace("[flows.main]\n", "[flows.main]\napp = { kind = \"web\" }\n");
    let of = |figure: &str| drawn(&users, &format!("kind = \"cdf\"\n{figure}"));
    assert!(read(&of("class = \"web\"\nflow = \"main\"\nx-scale = \"log\"\n")).is_ok());
    refused(
        &of("class = \"mail\"\n"),
        "class = ",
        "figure.class: \"mail\" is not a class of this scenario; expected a class of one of its flows",
    );
    refused(
        &of("class = \"web\"\nflow = \"mian\"\n"),
        "flow = \"mian\"",
        "figure.flow: unknown flow \"mian\"; did you mean \"main\"? (known: main)",
    );
    refused(
        &of("flow = \"main\"\n"),
        "[[figure]] # new",
        "figure.class: missing; expected a class (ftp, web, mail)",
    );
}

#[test]
fn what_only_a_later_point_measures_may_be_drawn() {
    for (first, then) in [("bulk", "mail"), ("mail", "bulk")] {
        let swept = format!("{BASE}\n[sweep]\n\"flows.main.app.kind\" = [\"{first}\", \"{then}\"]\n");
        let figure = "x = \"flows.main.app.kind\"\ny = \"flows.main.class.mail.goodput_bps\"\n";
        let read = read(&drawn(&swept, figure));
        assert!(read.is_ok(), "{first} before {then}: {}", read.unwrap_err());
    }
}

#[test]
fn a_list_within_a_list_has_metrics_of_one_unit() {
    let swept = format!("{BASE}\n[sweep]\n\"flows.main.tcp.variant\" = [\"tahoe\", \"sack\"]\n");
    let figure = |more: &str| drawn(&swept, &format!("x = \"flows.main.tcp.variant\"\n{more}\n"));
    let y = "y = [[\"flows.main.rtt_p50_s\", \"flows.main.rtt_p95_s\"], \"flows.main.goodput_bps\"]";
    let named = format!("{y}\nnames = {{ \"flows.main.rtt_p50_s\" = \"median\", sack = \"SACK\" }}");
    let read = read(&figure(&named)).unwrap().figures().to_vec();
    assert_eq!(read[0]["y"][0][1], "flows.main.rtt_p95_s");
    assert_eq!(read[0]["names"]["flows.main.rtt_p50_s"], "median");
    let mixed = "y = [[\"flows.main.rtt_p50_s\", \"flows.main.goodput_bps\"]]";
    refused(
        &figure(mixed),
        mixed,
        "figure.y: flows.main.goodput_bps with the unit \"bit/s\" beside flows.main.rtt_p50_s with \"s\"; expected metrics of one unit in a panel",
    );
    let twice = "y = [[\"flows.main.rtt_p50_s\"], \"flows.main.rtt_p50_s\"]";
    refused(&figure(twice), twice, "figure.y: flows.main.rtt_p50_s twice; expected different metrics");
    let unknown = "y = [[\"flows.main.rtt_p50\"]]";
    let error = crate::scenario::tests::read(&figure(unknown)).unwrap_err().to_string();
    assert!(error.contains("figure.y: unknown metric \"flows.main.rtt_p50\"; did you mean"), "{error}");
    let name = "y = \"flows.main.goodput_bps\"\nnames = { \"flows.main.rtt_p50_s\" = \"median\" }";
    let error = crate::scenario::tests::read(&figure(name)).unwrap_err().to_string();
    assert!(error.contains("unknown swept value \"flows.main.rtt_p50_s\""), "{error}");
}
