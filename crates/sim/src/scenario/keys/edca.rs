//! The keys of an 802.11n, ac, ax or be link: those of EDCA, and what joins several links.

use super::shared::before;
use super::{Key, Kind, Only, described};

/// What makes a link one of several of multi-link devices.
const MULTI_LINK: Key = Key::new(
    "links.*.multi-link",
    Kind::Link,
    "another link, whose stations send on this one too as multi-link devices: from the queues of that link, which routes lead over; each link contends for itself",
)
.or(&["none"])
.default("none")
.source("IEEE 802.11be-2024 (35.3): simultaneous transmission and reception")
.only(&[Only::Is("links.*.standard", &["802.11be"])]);

/// The keys: first the form of frames, last what each access category has.
pub(super) fn keys() -> Vec<Key> {
    let mut keys = described::edca();
    before("links.*.aggregate.count", MULTI_LINK, &mut keys);
    keys.extend(described::categories());
    keys
}
