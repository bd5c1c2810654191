//! Users: the class of each session, its transfers, and the pauses.
//!
//! Each kind of draw has its own stream, named after the flow, and is drawn in the order of the sessions. The n-th
//! session of a user is the same whatever came before it on the network, under every scheme.

use lasthop_stack::units::Span;

use super::web;
use crate::engine::streams::Stream;
use crate::traffic::{Files, PauseLaw, Shares, UserConfig};

/// A class of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Files.
    Ftp,
    /// Web pages.
    Web,
    /// Messages.
    Mail,
}

impl Class {
    /// All of them, in the order of metrics.
    pub const ALL: [Class; 3] = [Class::Ftp, Class::Web, Class::Mail];

    /// Its name in scenarios and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Class::Ftp => "ftp",
            Class::Web => "web",
            Class::Mail => "mail",
        }
    }
}

/// A user's draws.
#[derive(Clone, Debug)]
pub struct User {
    config: UserConfig,
    classes: Stream,
    pages: Stream,
    pauses: Stream,
    /// The class of all sessions, where a user has one.
    only: Option<Class>,
    /// The probability of each class of a session.
    shares: [f64; 3],
}

impl User {
    /// A user whose streams are given by what they are for.
    #[must_use]
    pub fn new(config: UserConfig, stream: impl Fn(&str) -> Stream) -> User {
        let shares = probabilities(&config);
        let mut classes = stream("classes");
        let only = (config.by == Shares::Client).then(|| pick(&shares, &mut classes));
        User { config, classes, pages: stream("pages"), pauses: stream("pauses"), only, shares }
    }

    /// Room for the objects of any transfer.
    #[must_use]
    pub fn room(&self) -> Vec<u64> {
        Vec::with_capacity(web::most_objects(&self.config.web))
    }

    /// How long after the start of the flow its first session begins.
    pub fn draw_spread(&mut self, spread: Span) -> Span {
        Span::from_secs_f64(spread.as_secs() * self.pauses.uniform())
    }

    /// The class of the next session.
    pub fn draw_class(&mut self) -> Class {
        self.only.unwrap_or_else(|| pick(&self.shares, &mut self.classes))
    }

    /// Fills in the sizes of what the next transfer of this class consists of.
    pub fn draw_objects(&mut self, class: Class, sizes: &mut Vec<u64>) {
        match class {
            Class::Web => web::draw_page(&self.config.web, &mut self.pages, sizes),
            Class::Ftp | Class::Mail => {
                sizes.clear();
                sizes.push(self.files(class).size.0);
            }
        }
    }

    /// The transfers of a session.
    #[must_use]
    pub fn transfers(&self, class: Class) -> u32 {
        if class == Class::Web { self.config.web.pages } else { 1 }
    }

    /// The bytes of a request.
    #[must_use]
    pub fn request(&self, class: Class) -> u64 {
        if class == Class::Web { self.config.web.request.0 } else { self.files(class).request.0 }
    }

    /// How long the user pauses after a transfer of this class.
    pub fn draw_pause(&mut self, class: Class) -> Span {
        let mean = if class == Class::Web { self.config.web.reading } else { self.files(class).pause };
        self.draw(mean)
    }

    /// How long the client looks for what is embedded in a main object.
    pub fn draw_parsing(&mut self) -> Span {
        self.draw(self.config.web.parsing)
    }

    fn draw(&mut self, mean: Span) -> Span {
        match self.config.pauses {
            PauseLaw::Fixed => mean,
            PauseLaw::Exponential => Span::from_secs_f64(self.pauses.exponential(mean.as_secs())),
        }
    }

    fn files(&self, class: Class) -> &Files {
        if class == Class::Mail { &self.config.mail } else { &self.config.ftp }
    }
}

/// The probability of each class of a session.
#[must_use]
pub fn probabilities(config: &UserConfig) -> [f64; 3] {
    let mut weights = config.shares;
    if config.by == Shares::Bytes {
        for (weight, class) in weights.iter_mut().zip(Class::ALL) {
            *weight /= mean_session(config, class).bytes.max(1.0);
        }
    }
    let all: f64 = weights.iter().sum();
    weights.map(|weight| weight / all)
}

/// The average session.
#[derive(Clone, Copy, Debug)]
pub struct MeanSession {
    /// Files, pages or messages.
    pub transfers: u32,
    /// Objects requested, one request each.
    pub objects: f64,
    /// Bytes that the server sends.
    pub bytes: f64,
    /// A bound of their standard deviation.
    pub deviation: f64,
    /// Seconds for which its user pauses, and the client parses.
    pub pauses_s: f64,
}

/// The average session of this class.
#[must_use]
pub fn mean_session(config: &UserConfig, class: Class) -> MeanSession {
    let single = |files: &Files| MeanSession {
        transfers: 1,
        objects: 1.0,
        bytes: files.size.0 as f64,
        deviation: 0.0,
        pauses_s: files.pause.as_secs(),
    };
    match class {
        Class::Ftp => single(&config.ftp),
        Class::Mail => single(&config.mail),
        Class::Web => {
            let (web, pages) = (&config.web, f64::from(config.web.pages));
            MeanSession {
                transfers: web.pages,
                objects: pages * web::mean_objects(web),
                bytes: pages * web::mean_page(web),
                deviation: libm::sqrt(pages) * web::page_deviation(web),
                pauses_s: pages * (web.reading + web.parsing).as_secs(),
            }
        }
    }
}

/// A class by its probability. It takes one draw whatever the shares.
fn pick(shares: &[f64; 3], stream: &mut Stream) -> Class {
    let mut place = stream.uniform();
    for (share, class) in shares.iter().zip(Class::ALL) {
        if place < *share {
            return class;
        }
        place -= share;
    }
    // Rounding leaves the last class that can be drawn.
    let last = shares.iter().rposition(|share| *share > 0.0).unwrap_or(0);
    Class::ALL[last]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{PageModel, Pages};
    use lasthop_stack::units::Bytes;

    fn config(by: Shares) -> UserConfig {
        let files = |size| Files { size: Bytes(size), request: Bytes(64), pause: Span::from_secs(10) };
        let model = PageModel::Fixed { main: Bytes(10_000), objects: 2, object: Bytes(5000) };
        let web = Pages {
            model,
            request: Bytes(350),
            pages: 1,
            reading: Span::from_secs(30),
            parsing: Span::from_millis(130),
        };
        UserConfig {
            shares: [0.4, 0.35, 0.25],
            by,
            ftp: files(100_000),
            web,
            mail: files(2000),
            pauses: PauseLaw::Exponential,
        }
    }

    fn user(config: UserConfig, flow: &str) -> User {
        User::new(config, |what| Stream::named(1, 0, &format!("flows.{flow}.{what}")))
    }

    fn counts(user: &mut User, sessions: u32) -> [f64; 3] {
        let mut counts = [0.0; 3];
        for _ in 0..sessions {
            counts[user.draw_class() as usize] += 1.0 / f64::from(sessions);
        }
        counts
    }

    fn close(found: [f64; 3], expected: [f64; 3], tolerance: f64) {
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < tolerance, "{found}, not {expected}");
        }
    }

    #[test]
    fn sessions_are_of_each_class_by_its_share() {
        close(counts(&mut user(config(Shares::Session), "a"), 100_000), [0.4, 0.35, 0.25], 0.006);
    }

    #[test]
    fn a_client_keeps_its_class_and_clients_are_of_each_class_by_its_share() {
        let mut clients = [0.0; 3];
        for number in 0..4000 {
            let of_one = counts(&mut user(config(Shares::Client), &format!("f{number}")), 20);
            let class = of_one.iter().position(|share| (share - 1.0).abs() < 1e-9).expect("one class");
            clients[class] += 1.0 / 4000.0;
        }
        close(clients, [0.4, 0.35, 0.25], 0.03);
    }

    #[test]
    fn shares_by_bytes_are_those_of_the_bytes_asked_for() {
        let mut user = user(config(Shares::Bytes), "a");
        let (mut sizes, mut bytes) = (Vec::new(), [0.0; 3]);
        for _ in 0..400_000 {
            let class = user.draw_class();
            user.draw_objects(class, &mut sizes);
            bytes[class as usize] += sizes.iter().sum::<u64>() as f64;
        }
        let all: f64 = bytes.iter().sum();
        close(bytes.map(|bytes| bytes / all), [0.4, 0.35, 0.25], 0.01);
    }

    #[test]
    fn a_share_of_zero_is_never_drawn() {
        let config = UserConfig { shares: [1.0, 0.0, 0.0], ..config(Shares::Session) };
        close(counts(&mut user(config, "a"), 10_000), [1.0, 0.0, 0.0], 1e-9);
    }

    #[test]
    fn pauses_have_the_mean_of_their_class_and_a_web_user_parses_for_less() {
        let mut user = user(config(Shares::Session), "a");
        let mut mean = |draw: fn(&mut User) -> Span| {
            (0..100_000).map(|_| draw(&mut user).as_secs()).sum::<f64>() / 100_000.0
        };
        assert!((mean(|user| user.draw_pause(Class::Mail)) - 10.0).abs() < 0.15);
        assert!((mean(|user| user.draw_pause(Class::Web)) - 30.0).abs() < 0.4);
        assert!((mean(User::draw_parsing) - 0.13).abs() < 0.002);
        assert!((mean(|user| user.draw_spread(Span::from_secs(10))) - 5.0).abs() < 0.05);
        let fixed = UserConfig { pauses: PauseLaw::Fixed, ..config(Shares::Session) };
        assert_eq!(super::tests::user(fixed, "a").draw_pause(Class::Web), Span::from_secs(30));
    }
}
