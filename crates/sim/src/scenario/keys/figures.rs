//! The keys of figures. What a figure needs depends on its kind.

use super::shared::{LONGEST, TIME_S};
use super::words::{Figure, Panel};
use super::{Key, Kind, Only};
use crate::traffic::sessions::Class;
use lasthop_stack::hooks::parameter::words;

const LEVELS: &[Only] = &[Only::Is("figure.kind", &["lines", "bar", "matrix"])];
const SERIES_OR_AIRTIME: &[Only] = &[Only::Is("figure.kind", &["lines", "bar", "box", "airtime"])];
const SERIES_OR_SCATTER: &[Only] = &[Only::Is("figure.kind", &["lines", "bar", "box", "scatter"])];
const METRIC: &[Only] = &[Only::Is("figure.kind", &["lines", "bar", "box", "scatter", "matrix"])];
const X_LABEL: &[Only] = &[Only::Is("figure.kind", &["lines", "bar", "box", "scatter", "airtime"])];
const ALL_BUT_CELLS: &[Only] =
    &[Only::Is("figure.kind", &["lines", "bar", "box", "scatter", "airtime", "time", "cdf"])];
const SCATTER: &[Only] = &[Only::Is("figure.kind", &["scatter"])];
const CELLS: &[Only] = &[Only::Is("figure.kind", &["matrix"])];
const BARS: &[Only] = &[Only::Is("figure.kind", &["airtime"])];
const RESPONSES: &[Only] = &[Only::Is("figure.kind", &["cdf"])];
const OVER_TIME: &[Only] = &[Only::Is("figure.kind", &["time"])];

const SCALE: Kind = Kind::Word("scale", || vec!["linear", "log"]);

/// The keys under `[[figure]]`.
pub(super) const KEYS: &[Key] = &[
    Key::new("figure.id", Kind::Text, "name of the figure: letters, digits, - and _"),
    Key::new(
        "figure.kind",
        Kind::Word("kind of figure", words::<Figure>),
        "kind of figure: a metric against one or two swept keys or another metric, the airtime of a medium, or a flow over time",
    )
    .default("lines"),
    Key::new("figure.x", Kind::SweptKey, "swept key of the x axis").only(SERIES_OR_AIRTIME),
    Key::new(
        "figure.y",
        Kind::Metrics,
        "metric of the y axis or of the cells; a list draws one panel per metric, or per list of metrics of one unit, which share an axis",
    )
    .only(METRIC),
    Key::new("figure.against", Kind::Metric, "metric of the x axis").only(SCATTER),
    Key::new(
        "figure.rows",
        Kind::SweptKey,
        "swept key with one row per value; keys swept together with it are part of the row",
    )
    .only(CELLS),
    Key::new("figure.columns", Kind::SweptKey, "swept key with one column per value").only(CELLS),
    Key::new("figure.among", Kind::Metric, "metric to compare with y: the cells hold the share of y in the sum of both")
        .absent()
        .only(CELLS),
    Key::new(
        "figure.lines",
        Kind::SweptKey,
        "swept key with one line, bar, box or colour per value",
    )
    .absent()
    .only(ALL_BUT_CELLS),
    Key::new("figure.title", Kind::Text, "title of the figure").absent(),
    Key::new("figure.x-label", Kind::Text, "label of the x axis").absent().only(X_LABEL),
    Key::new("figure.y-label", Kind::Text, "label of the y axis").absent().only(SERIES_OR_SCATTER),
    Key::new("figure.x-scale", SCALE, "scale of the x axis")
        .absent()
        .only(&[Only::Is("figure.kind", &["lines", "scatter", "cdf"])]),
    Key::new("figure.y-scale", SCALE, "scale of the y axis").absent().only(SERIES_OR_SCATTER),
    Key::new("figure.names", Kind::Names, "labels for swept values and for metrics of y in legend and axis").absent(),
    Key::new("figure.where", Kind::Where, "values of the other swept keys").absent(),
    Key::new(
        "figure.gain-over",
        Kind::Where,
        "baseline of the gain: the swept keys that differ there, with their values",
    )
    .absent()
    .only(LEVELS),
    Key::new("figure.link", Kind::Text, "802.11 link whose airtime is drawn; default: the first")
        .absent()
        .only(BARS),
    Key::new(
        "figure.panels",
        Kind::Words("panel", words::<Panel>),
        "quantities drawn over time, one panel each",
    )
    .only(OVER_TIME),
    Key::new("figure.flow", Kind::Text, "flow that is drawn; default: all")
        .absent()
        .only(&[Only::Is("figure.kind", &["time", "cdf"])]),
    Key::new(
        "figure.class",
        Kind::Word("class", || Class::ALL.map(Class::name).to_vec()),
        "class of transfers whose response times are drawn",
    )
    .only(RESPONSES),
    Key::new("figure.since", TIME_S, "simulated time at which the time axis begins")
        .default("0 s")
        .at_most(LONGEST)
        .only(OVER_TIME),
    Key::new(
        "figure.until",
        TIME_S,
        "simulated time at which the time axis ends; default: the end of the run",
    )
    .absent()
    .above("0 s")
    .at_most(LONGEST)
    .only(OVER_TIME),
];
