//! The configuration of users.

use super::Part;
use crate::scenario::keys::words::WebModel;
use crate::traffic::{Files, PageModel, Pages, Shares, UserConfig};
use lasthop_stack::units::{Bytes, Span};

/// A user whose sessions are of each class by these shares. The keys of a class without a share have no values.
pub(super) fn user(app: &Part<'_>, shares: [f64; 3]) -> UserConfig {
    UserConfig {
        shares,
        by: app.given("mix.by", Part::choice).unwrap_or(Shares::Session),
        ftp: files(app, "ftp"),
        web: pages(app),
        mail: files(app, "mail"),
        pauses: app.choice("pauses"),
    }
}

fn size(app: &Part<'_>, key: &str) -> Bytes {
    app.given(key, Part::bytes).unwrap_or(Bytes(0))
}

fn span(app: &Part<'_>, key: &str) -> Span {
    app.given(key, Part::span).unwrap_or(Span::ZERO)
}

fn files(app: &Part<'_>, class: &str) -> Files {
    let key = |below: &str| format!("{class}.{below}");
    Files {
        size: size(app, &key("size")),
        request: size(app, &key("request")),
        pause: span(app, &key("pause")),
    }
}

fn pages(app: &Part<'_>) -> Pages {
    let model = match app.given("web.model", Part::choice).unwrap_or(WebModel::ThreeGpp2) {
        WebModel::ThreeGpp2 => PageModel::ThreeGpp2,
        WebModel::Fixed => PageModel::Fixed {
            main: app.bytes("web.fixed.main"),
            objects: app.small("web.fixed.objects"),
            object: app.bytes("web.fixed.object"),
        },
    };
    Pages {
        model,
        request: size(app, "web.request"),
        pages: app.given("web.pages", Part::small).unwrap_or(1),
        reading: span(app, "web.reading"),
        parsing: span(app, "web.parsing"),
    }
}
