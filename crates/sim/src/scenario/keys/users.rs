//! The keys of users: flows that open a connection for each session, by class of traffic.

use super::shared::{LONGEST, SHARE, SIZE, TIME_MS, TIME_S};
use super::words::WebModel;
use super::{Key, Kind, Only};
use crate::traffic::{PauseLaw, Shares};
use lasthop_stack::hooks::parameter::words;

const IF_USER: &[Only] = &[Only::Is("flows.*.app.kind", &["ftp", "web", "mail", "mix"])];
const IF_FTP: &[Only] = &[Only::Is("flows.*.app.kind", &["ftp", "mix"])];
const IF_WEB: &[Only] = &[Only::Is("flows.*.app.kind", &["web", "mix"])];
const IF_MAIL: &[Only] = &[Only::Is("flows.*.app.kind", &["mail", "mix"])];
const IF_MIX: &[Only] = &[Only::Is("flows.*.app.kind", &["mix"])];
const IF_FIXED: &[Only] = &[Only::Is("flows.*.app.web.model", &["fixed"])];

const LARGEST: &str = "1000 GB";
const EVALUATION: &str = "3GPP2 C.R1002-0, Evaluation Methodology";

/// The keys below `[flows.NAME.app]` that only users have.
pub(super) const KEYS: &[Key] = &[
    Key::new(
        "flows.*.app.pauses",
        Kind::Word("law", words::<PauseLaw>),
        "distribution of pauses between transfers and of the time to parse a page",
    )
    .default("exponential")
    .source(EVALUATION)
    .only(IF_USER),
    Key::new(
        "flows.*.app.mix.by",
        Kind::Word("choice", words::<Shares>),
        "meaning of the shares: of sessions, each of which draws its class; of clients, which keep their class; or of requested bytes, in the mean",
    )
    .default("session")
    .only(IF_MIX),
    share("flows.*.app.mix.ftp", "share of files", "40 %"),
    share("flows.*.app.mix.web", "share of web pages", "35 %"),
    share("flows.*.app.mix.mail", "share of messages", "25 %"),
    size("flows.*.app.ftp.size", "size of a file", "16 MB", IF_FTP).source("dynamic-arq"),
    size("flows.*.app.ftp.request", "size of a request for a file", "64 B", IF_FTP),
    pause("flows.*.app.ftp.pause", "mean pause between files", "180 s", IF_FTP).source(EVALUATION),
    Key::new(
        "flows.*.app.web.model",
        Kind::Word("model", words::<WebModel>),
        "model of a page: random or constant sizes and numbers of objects",
    )
    .default("3gpp2")
    .source(EVALUATION)
    .only(IF_WEB),
    size("flows.*.app.web.fixed.main", "size of the main object", "10 kB", IF_FIXED),
    Key::new("flows.*.app.web.fixed.objects", Kind::Integer, "number of embedded objects of a page")
        .default("6")
        .at_least("0")
        .at_most("10000")
        .only(IF_FIXED),
    size("flows.*.app.web.fixed.object", "size of an embedded object", "8 kB", IF_FIXED),
    size("flows.*.app.web.request", "size of a request for an object of a page", "350 B", IF_WEB)
        .source("ns-3: ThreeGppHttpVariables"),
    Key::new("flows.*.app.web.pages", Kind::Integer, "number of pages per connection")
        .default("1")
        .at_least("1")
        .at_most("1000000")
        .only(IF_WEB),
    pause("flows.*.app.web.reading", "mean reading time of a page", "30 s", IF_WEB).source(EVALUATION),
    Key::new(
        "flows.*.app.web.parsing",
        TIME_MS,
        "mean parsing time: from the main object to the request for the first embedded object",
    )
    .default("130 ms")
    .source(EVALUATION)
    .at_most(LONGEST)
    .only(IF_WEB),
    size("flows.*.app.mail.size", "size of a message", "2 kB", IF_MAIL).source("dynamic-arq"),
    size("flows.*.app.mail.request", "size of a request for a message", "64 B", IF_MAIL),
    pause("flows.*.app.mail.pause", "mean pause between messages", "30 s", IF_MAIL),
];

const fn share(path: &'static str, meaning: &'static str, default: &'static str) -> Key {
    Key::new(path, SHARE, meaning).default(default).source("dynamic-arq").at_most("100 %").only(IF_MIX)
}

const fn size(
    path: &'static str,
    meaning: &'static str,
    default: &'static str,
    only: &'static [Only],
) -> Key {
    Key::new(path, SIZE, meaning).default(default).at_least("1 B").at_most(LARGEST).only(only)
}

const fn pause(
    path: &'static str,
    meaning: &'static str,
    default: &'static str,
    only: &'static [Only],
) -> Key {
    Key::new(path, TIME_S, meaning).default(default).at_most(LONGEST).only(only)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::keys::words::users;

    #[test]
    fn the_keys_are_those_of_all_kinds_of_users() {
        let [Only::Is(_, kinds)] = IF_USER else { panic!("one condition") };
        assert_eq!(*kinds, users());
    }
}
