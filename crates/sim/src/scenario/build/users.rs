//! The configuration of users.

use super::Part;
use crate::traffic::{Files, PageModel, Pages, PauseLaw, Shares, UserConfig};
use lasthop_stack::units::{Bytes, Span};

/// A user whose sessions are of each class by these shares. The keys of a class without a share have no values.
pub(super) fn user(app: &Part<'_>, shares: [f64; 3]) -> UserConfig {
    let by = app.known("mix.by");
    UserConfig {
        shares,
        by: match by {
            Some(by) if by.is("client") => Shares::Client,
            Some(by) if by.is("bytes") => Shares::Bytes,
            _ => Shares::Session,
        },
        ftp: files(app, "ftp"),
        web: pages(app),
        mail: files(app, "mail"),
        pauses: if app.word("pauses") == "fixed" { PauseLaw::Fixed } else { PauseLaw::Exponential },
    }
}

fn size(app: &Part<'_>, key: &str) -> Bytes {
    app.known(key).map_or(Bytes(0), |_| app.bytes(key))
}

fn span(app: &Part<'_>, key: &str) -> Span {
    app.known(key).map_or(Span::ZERO, |_| app.span(key))
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
    let is_fixed = app.known("web.model").is_some_and(|model| model.is("fixed"));
    let model = if is_fixed {
        PageModel::Fixed {
            main: app.bytes("web.fixed.main"),
            objects: app.small("web.fixed.objects"),
            object: app.bytes("web.fixed.object"),
        }
    } else {
        PageModel::ThreeGpp2
    };
    Pages {
        model,
        request: size(app, "web.request"),
        pages: app.known("web.pages").map_or(1, |_| app.small("web.pages")),
        reading: span(app, "web.reading"),
        parsing: span(app, "web.parsing"),
    }
}
