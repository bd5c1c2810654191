//! The network of a scenario between interfaces, which Python opens.

use std::collections::BTreeMap;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::Arc;

use lasthop_sim::live::{Calls, Clock, Counted, Needed, Network, NotLive, Recorded, Watch, Write, relay};
use lasthop_sim::scenario::Config;
use lasthop_stack::units::{Span, Time};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::RunError;
use crate::run::Run;

/// The network of a scenario in a replication, with some of its nodes bound to interfaces.
#[pyclass(module = "lasthop._core")]
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) config: Arc<Config>,
    pub(crate) nodes: Vec<String>,
    pub(crate) first_port: Option<u16>,
    /// The place among the nodes of that at which packets to addresses of no node leave.
    pub(crate) outlet: Option<usize>,
    /// The number of the protocol of radios in the kernel, where the nodes have radios.
    pub(crate) radios: Option<u16>,
    pub(crate) seeds: (u64, u64),
    pub(crate) recorded: Recorded,
}

impl Live {
    /// The network at its start, if it can run live.
    pub(crate) fn check(&self) -> PyResult<Network> {
        self.network(Time(1), Recorded::default())
    }

    /// The network at its start. Only the thread that makes it may use it.
    fn network(&self, until: Time, recorded: Recorded) -> PyResult<Network> {
        let nodes: Vec<&str> = self.nodes.iter().map(String::as_str).collect();
        let network = Network::new(&self.config, &nodes, until, self.first_port, self.seeds, recorded);
        let mut network = network.map_err(|error| match error {
            NotLive::Run(error) => RunError::new_err(error.to_string()),
            error => PyValueError::new_err(error.to_string()),
        })?;
        if let Some(outlet) = self.outlet {
            network.join(outlet);
        }
        if let Some(family) = self.radios {
            network.join_radios(family);
        }
        Ok(network)
    }
}

/// The writes of an application with their times.
#[pyclass(module = "lasthop._core")]
#[derive(Debug)]
pub(crate) struct Writes(pub(crate) lasthop_sim::live::Writes);

#[pymethods]
impl Writes {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// The next write: when, in nanoseconds; how many bytes, or `None` without end; and whether the application closes then.
    fn __next__(&mut self) -> Option<(u64, Option<u64>, bool)> {
        let (at, write) = self.0.next()?;
        Some(match write {
            Write::ForEver => (at.0, None, false),
            Write::AndClose(bytes) => (at.0, Some(bytes), true),
            Write::Packet(bytes) => (at.0, Some(bytes.into()), false),
        })
    }
}

type Radios = (u32, Vec<u32>, Vec<Vec<u32>>, Vec<usize>, bool, Vec<Vec<u32>>);

#[pymethods]
impl Live {
    /// The addresses of the bound nodes, in their order.
    fn addresses(&self) -> PyResult<Vec<String>> {
        let addresses = self.check()?.addresses();
        Ok(addresses.into_iter().map(|address| std::net::Ipv4Addr::from(address).to_string()).collect())
    }

    /// Joins the Internet to a bound node: packets to addresses of no node leave the network there. Its address is the first
    /// that no node has.
    fn join(&mut self, outlet: &str) -> PyResult<String> {
        let place = self.nodes.iter().position(|node| node == outlet);
        let place = place.ok_or_else(|| PyValueError::new_err(format!("{outlet}; expected a bound node")))?;
        self.outlet = Some(place);
        let node = lasthop_stack::packet::NodeId(self.config.nodes.len() as u32);
        Ok(std::net::Ipv4Addr::from(lasthop_stack::wire::address(node)).to_string())
    }

    /// The radios that the nodes have instead of interfaces, if their MAC layer is that of a kernel: the frequency of the channel
    /// in MHz, the basic rates, the rates of each node, in 500 kbit/s, the places of the access points among them, whether they
    /// encrypt what they send, and the indices of the MCS of each node in networks of 802.11n.
    fn radios(&self) -> PyResult<Option<Radios>> {
        let wide = |rates: Vec<u8>| rates.into_iter().map(u32::from).collect();
        let of_each = |each: Vec<Vec<u8>>| each.into_iter().map(wide).collect();
        Ok(self.check()?.radios_needed().map(|needed| {
            let Needed { frequency, basic, rates, access_points, is_secret, mcs } = needed;
            (frequency, wide(basic), of_each(rates), access_points, is_secret, of_each(mcs))
        }))
    }

    /// Joins the radios of the nodes, whose protocol has this number in the kernel. The socket to them is then the only interface.
    fn join_radios(&mut self, family: u16) {
        self.radios = Some(family);
    }

    /// What a trace channel records and the network lacks; `None` if there is something to record.
    fn missing(&self, channel: &str) -> PyResult<Option<&'static str>> {
        Ok(self.check()?.missing(channel))
    }

    /// Relays packets between interfaces that do not block, one for each bound node, until this time of the network, or until
    /// `stop` can be read. The network is at its time zero for `ahead` seconds. Pauses end `early` seconds before something is due.
    ///
    /// `watch` has an interval in seconds and a function, which is called once in each with the time and the metrics since the last
    /// call. `opens` is called with each port of TCP in the Internet before the first packet leaves that opens a connection to
    /// it; the interface of the Internet is then the last one. The result has the run of the network, the time of its end, how late packets were delivered, and what the bound nodes did.
    #[pyo3(signature = (ends, stop, times, watch = None, opens = None))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        ends: Vec<RawFd>,
        stop: RawFd,
        times: (f64, f64, f64),
        watch: Option<(f64, Py<PyAny>)>,
        opens: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (every, watch) = watch.unzip();
        let times = [times.0, times.1, times.2, every.unwrap_or(1.0)];
        let interfaces = self.radios.map_or(self.nodes.len(), |_| 1);
        let count = interfaces + usize::from(self.outlet.is_some());
        let are_open = ends.iter().chain([&stop]).all(|end| *end >= 0) && ends.len() == count;
        if !are_open || times.iter().any(|time| !time.is_finite() || *time < 0.0) {
            let text = format!(
                "{ends:?}, {stop}, {times:?}; expected {count} open descriptors, another one, and three times in seconds"
            );
            return Err(PyValueError::new_err(text));
        }
        let [ahead, until, early, every] = times.map(Span::from_secs_f64);
        let (clock, until) = (Clock::start(ahead), Time(until.0));
        let (ended, counted, outcome) = py.detach(|| {
            let mut network = self.network(until, self.recorded.clone())?;
            #[expect(unsafe_code, reason = "Python owns the descriptors, and hands over only their numbers")]
            // SAFETY: the caller keeps the descriptors open until this returns.
            let borrow = |end: RawFd| unsafe { BorrowedFd::borrow_raw(end) };
            let ends: Vec<BorrowedFd<'_>> = ends.into_iter().map(borrow).collect();
            let mut take = |at: Time, metrics: Vec<(String, Option<f64>)>| {
                let Some(watch) = &watch else { return };
                Python::attach(|py| {
                    let called = watch.call1(py, (at.as_secs(), BTreeMap::from_iter(metrics)));
                    called.map_or_else(|error| error.write_unraisable(py, None), drop);
                });
            };
            let watch = watch.is_some().then_some(Watch { every, take: &mut take });
            let mut call = move |port: u16| {
                let Some(opens) = &opens else { return };
                Python::attach(|py| {
                    opens.call1(py, (port,)).map_or_else(|error| error.write_unraisable(py, None), drop);
                });
            };
            let calls = Calls { watch, opens: Some(&mut call) };
            let ended = relay(&mut network, &ends, borrow(stop), clock, until, early, calls);
            let ended = ended.map_err(|error| match error.raw_os_error() {
                Some(number) => PyOSError::new_err((number, error.to_string())),
                None => PyOSError::new_err(error.to_string()),
            })?;
            let counted = network.counted().to_vec();
            let outcome = network.finish().map_err(|error| PyValueError::new_err(error.to_string()))?;
            Ok::<_, PyErr>((ended, counted, outcome))
        })?;
        let late = |share| ended.lateness.quantile(share).map(Span::as_secs);
        let found = PyDict::new(py);
        found.set_item("length_s", ended.at.as_secs())?;
        found.set_item("delivered", ended.lateness.count())?;
        found.set_item("refused", ended.refused)?;
        found.set_item("late_p50_s", late(0.5))?;
        found.set_item("late_p99_s", late(0.99))?;
        found.set_item("late_p999_s", late(0.999))?;
        found.set_item("late_max_s", ended.lateness.most().as_secs())?;
        found.set_item("ends", counted.into_iter().map(named).collect::<Vec<_>>())?;
        found.set_item("run", Run::new(outcome, Vec::new(), 0.0))?;
        Ok(found)
    }
}

/// What a bound node sent and received, by name.
fn named(counted: Counted) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([
        ("packets", counted.packets),
        ("data", counted.data),
        ("opaque", counted.opaque),
        ("ignored", counted.ignored),
        ("arrived", counted.arrived),
        ("rewritten", counted.rewritten),
        ("without_content", counted.without_content),
    ])
}
