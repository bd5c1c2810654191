//! The keys of figures. What a figure needs depends on its kind.

use super::table::{LONGEST, TIME_S};
use super::words::{FIGURES, PANELS, names};
use super::{Key, Kind, Only};
use crate::traffic::sessions::Class;

const LINES: &[Only] = &[Only::Is("figure.kind", &["lines"])];
const LINES_OR_BARS: &[Only] = &[Only::Is("figure.kind", &["lines", "airtime"])];
const LINES_OR_CELLS: &[Only] = &[Only::Is("figure.kind", &["lines", "matrix"])];
const ALL_BUT_CELLS: &[Only] = &[Only::Is("figure.kind", &["lines", "airtime", "time", "cdf"])];
const CELLS: &[Only] = &[Only::Is("figure.kind", &["matrix"])];
const BARS: &[Only] = &[Only::Is("figure.kind", &["airtime"])];
const RESPONSES: &[Only] = &[Only::Is("figure.kind", &["cdf"])];
const OVER_TIME: &[Only] = &[Only::Is("figure.kind", &["time"])];

const SCALE: Kind = Kind::Word("scale", || vec!["linear", "log"]);

/// The keys under `[[figure]]`.
pub(super) const KEYS: &[Key] = &[
    Key::new("figure.id", Kind::Text, "name of the figure, of letters, digits, - and _"),
    Key::new(
        "figure.kind",
        Kind::Word("kind of figure", || names(FIGURES)),
        "what is drawn: a metric against a swept key or two, the airtime of a medium, or a flow over time",
    )
    .default("lines"),
    Key::new("figure.x", Kind::SweptKey, "swept key along the x axis").only(LINES_OR_BARS),
    Key::new("figure.y", Kind::Metric, "metric along the y axis, or in the cells").only(LINES_OR_CELLS),
    Key::new(
        "figure.rows",
        Kind::SweptKey,
        "swept key with one row for each value; what is swept together with it belongs to the row",
    )
    .only(CELLS),
    Key::new("figure.columns", Kind::SweptKey, "swept key with one column for each value").only(CELLS),
    Key::new("figure.among", Kind::Metric, "metric beside y: the cells hold the share of y in the two")
        .absent()
        .only(CELLS),
    Key::new(
        "figure.lines",
        Kind::SweptKey,
        "swept key with one line, or bar beside the others, for each value",
    )
    .absent()
    .only(ALL_BUT_CELLS),
    Key::new("figure.title", Kind::Text, "title of the figure").absent(),
    Key::new("figure.x-label", Kind::Text, "label of the x axis").absent().only(LINES_OR_BARS),
    Key::new("figure.y-label", Kind::Text, "label of the y axis").absent().only(LINES),
    Key::new("figure.x-scale", SCALE, "scale of the x axis")
        .absent()
        .only(&[Only::Is("figure.kind", &["lines", "cdf"])]),
    Key::new("figure.y-scale", SCALE, "scale of the y axis").absent().only(LINES),
    Key::new("figure.names", Kind::Names, "what legend and axis say in the place of swept values").absent(),
    Key::new("figure.where", Kind::Where, "values of the other swept keys").absent(),
    Key::new(
        "figure.gain-over",
        Kind::Where,
        "what y is drawn as a gain over: the values of swept keys that differ there",
    )
    .absent()
    .only(LINES),
    Key::new("figure.link", Kind::Text, "802.11 link whose airtime is drawn; the first without it")
        .absent()
        .only(BARS),
    Key::new(
        "figure.panels",
        Kind::Words("panel", || names(PANELS)),
        "what is drawn over time, one panel above the other",
    )
    .only(OVER_TIME),
    Key::new("figure.flow", Kind::Text, "flow that is drawn; all without it")
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
        "simulated time at which the time axis ends; that of the run without it",
    )
    .absent()
    .above("0 s")
    .at_most(LONGEST)
    .only(OVER_TIME),
];
