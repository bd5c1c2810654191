//! An agent at an interface, whose sockets Python opens.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::os::fd::{BorrowedFd, RawFd};

use lasthop_sim::live::{Attached, Carried, Own, Passed, Route, Sockets, carry};
use lasthop_stack::hooks::{Agent, Criterion};
use lasthop_stack::registry::{AgentConfig, AgentMachine};
use lasthop_stack::wire;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An address, as a number.
type Address = u32;

/// An agent at an interface: its routes, what is one hop away, and its addresses there.
#[pyclass(module = "lasthop._core")]
#[derive(Debug)]
pub(crate) struct Hop {
    scheme: AgentConfig,
    criterion: Criterion,
    routes: Vec<Route>,
    own: Vec<Address>,
    most_kept: usize,
}

impl Hop {
    /// A hop with these `own` addresses. The ranges of addresses `ahead`, each from a first to a last one, are one hop away,
    /// except for its own.
    pub(crate) fn new(
        scheme: AgentConfig,
        routes: Vec<Route>,
        ahead: Vec<(Address, Address)>,
        own: Vec<Address>,
        most_kept: usize,
    ) -> Hop {
        let node = |address: Address| wire::node(Ipv4Addr::from(address).octets());
        let behind = Criterion::between([], own.iter().copied().map(node));
        let criterion = ahead
            .into_iter()
            .fold(behind, |criterion, (first, last)| criterion.and_from_to(node(first), node(last)));
        Hop { scheme, criterion, routes, own, most_kept }
    }
}

#[pymethods]
impl Hop {
    /// Carries packets between a TUN interface, raw sockets with and without reports, and packet sockets for IP and ARP, until `stop`
    /// can be read or the interface, whose address in its network is `link`, goes down. What the link has delivered goes into the file
    /// `kept`. The result has how long it took, whether that was so, and what passed and was done.
    #[pyo3(signature = (ends, stop, link, kept = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        ends: [RawFd; 5],
        stop: RawFd,
        link: [u8; 6],
        kept: Option<RawFd>,
    ) -> PyResult<Bound<'py, PyDict>> {
        if ends.iter().chain([&stop]).any(|end| *end < 0) {
            return Err(PyValueError::new_err(format!("{ends:?}, {stop}; expected open descriptors")));
        }
        let mut attached =
            Attached::new(self.scheme.build(&self.criterion), self.routes.clone(), self.most_kept);
        let network = self.own.iter().map(|address| Ipv4Addr::from(*address).octets()).collect();
        let own = Own { link, network };
        let ended = py.detach(|| {
            #[expect(unsafe_code, reason = "Python owns the descriptors, and hands over only their numbers")]
            // SAFETY: the caller keeps the descriptors open until this returns.
            let borrow = |end: RawFd| unsafe { BorrowedFd::borrow_raw(end) };
            let [network, link, plain, heard, asked] = ends.map(borrow);
            let kept = kept.map(borrow);
            let sockets = Sockets { network, link, plain, heard, asked, kept, stop: borrow(stop) };
            carry(&mut attached, sockets, &own)
        });
        let Carried { length, is_down } = ended.map_err(|error| match error.raw_os_error() {
            Some(number) => PyOSError::new_err((number, error.to_string())),
            None => PyOSError::new_err(error.to_string()),
        })?;
        let found = PyDict::new(py);
        found.set_item("length_s", length.as_secs())?;
        found.set_item("is_down", is_down)?;
        found.set_item("packets", passed(attached.passed()))?;
        found.set_item("done", done(attached.agent()))?;
        Ok(found)
    }
}

fn passed(passed: Passed) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([
        ("from_network", passed.from_network),
        ("from_link", passed.from_link),
        ("untouched", passed.untouched),
        ("without_room", passed.without_room),
        ("sent", passed.sent),
        ("refused", passed.refused),
        ("acknowledged", passed.acknowledged),
        ("not_acknowledged", passed.not_acknowledged),
    ])
}

/// What an agent did, by the names of its metrics.
fn done(agent: &AgentMachine) -> BTreeMap<&'static str, u64> {
    let activity = agent.activity();
    let common = [
        ("generated", Some(activity.generated)),
        ("suppressed", Some(activity.suppressed)),
        ("passed", Some(activity.passed)),
        ("repaired", Some(activity.repaired)),
        ("false_negatives", Some(activity.false_negatives)),
        ("unconfirmed", activity.unconfirmed),
        ("state_bytes_max", Some(activity.state_bytes_max)),
    ];
    let own = agent.counts().into_iter().map(|count| (count.name, count.value));
    common.into_iter().filter_map(|(name, value)| Some((name, value?))).chain(own).collect()
}
