//! The endpoint of a stack with its connection, as a peer drives it.

use std::time::Instant;

use lasthop_stack::packet::{Ecn, NodeId};
use lasthop_stack::units::Span;

use super::task::Carrier;

/// The endpoint of a stack, and its connection if there is one.
pub(super) trait Endpoint: Send {
    type Connection: Carrier;

    /// Opens the connection.
    fn connect(&mut self, now: Instant);

    /// A datagram has arrived from one node at another. It calls `begins` if the datagram opens the connection, and returns what
    /// it answers by itself.
    fn receive(
        &mut self,
        datagram: &[u8],
        ecn: Ecn,
        way: [NodeId; 2],
        now: Instant,
        begins: impl FnOnce(),
    ) -> Option<Vec<u8>>;

    fn on_timer(&mut self, now: Instant);

    /// Writes the next datagram.
    fn send(&mut self, now: Instant, into: &mut Vec<u8>) -> Option<Ecn>;

    fn deadline(&mut self) -> Option<Instant>;

    fn connection(&mut self) -> Option<&mut Self::Connection>;

    fn close(&mut self, now: Instant);

    /// When it has to be called next apart from its connection's deadline.
    fn wakes(&self) -> Option<Instant> {
        None
    }

    /// The nodes between which the last datagram goes, and its path.
    fn way(&self) -> Option<([NodeId; 2], usize)> {
        None
    }

    /// The smoothed round trip, with the bytes lost and the window.
    fn measured(&self) -> Option<(Span, (u64, u64))> {
        None
    }

    /// The packets lost, if its controller does not hear of each.
    fn lost(&self) -> Option<u64> {
        None
    }
}

/// The endpoint of a stack: what turns a function into one that makes generators of connection IDs, what comes last when an
/// endpoint is made, how it passes on a datagram, and how it sends one. `Paths` is what it knows of the paths of its connection.
macro_rules! endpoint {
    (
        $proto:ident, $shared:path, [$($last:expr)?],
        |$open:ident, $now:ident, $way:ident, $ecn:ident, $bytes:ident, $answer:ident| $handle:expr,
        |$connection:ident, $at:ident, $into:ident, $paths:ident| $transmit:expr
        $(, { $($more:tt)* })?
    ) => {
        use $proto::{
            ClientConfig, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, EndpointConfig, ServerConfig,
            TransportConfig, VarInt,
        };

        /// The endpoint with its connection.
        pub(in crate::quic) struct Open {
            endpoint: $proto::Endpoint,
            connection: Option<(ConnectionHandle, Connection)>,
            client: ClientConfig,
            remote: SocketAddr,
            paths: Paths,
        }

        impl Open {
            /// One that takes packets of up to this length.
            pub(in crate::quic) fn new(
                packet: u16,
                role: Role,
                remote: SocketAddr,
                paths: Paths,
                mut stream: Stream,
                record: &Shared,
                transport: impl FnOnce(u32) -> TransportConfig,
            ) -> Open {
                let maker = Arc::new(Maker { record: record.clone() });
                let key = Arc::new(Key(stream.next_u64()));
                let mut endpoint = EndpointConfig::new(key.clone());
                endpoint.rng_seed(Some(draw(&mut stream)));
                endpoint.max_udp_payload_size(packet).expect("it is at least 1200 B");
                let first = draw_id(&mut stream);
                let transport = Arc::new(transport(stream.clone().next_u64() as u32));
                endpoint.cid_generator($shared(move || {
                    Box::new(Ids(stream.clone())) as Box<dyn $proto::ConnectionIdGenerator>
                }));
                let mut client = ClientConfig::new(maker.clone());
                client.transport_config(transport.clone()).initial_dst_cid_provider(Arc::new(move || first));
                let server = (role == Role::Server).then(|| {
                    let mut server = ServerConfig::new(maker, key);
                    server.transport_config(transport).time_source(Arc::new(NoTime));
                    Arc::new(server)
                });
                let endpoint = $proto::Endpoint::new(Arc::new(endpoint), server, true $(, $last)?);
                Open { endpoint, connection: None, client, remote, paths }
            }

            /// Passes events between endpoint and connection.
            fn settle(&mut self) {
                let Some((handle, connection)) = &mut self.connection else { return };
                while let Some(event) = connection.poll_endpoint_events() {
                    if let Some(event) = self.endpoint.handle_event(*handle, event) {
                        connection.handle_event(event);
                    }
                }
            }
        }

        impl Endpoint for Open {
            type Connection = Connection;

            fn connect(&mut self, now: Instant) {
                let opened = self.endpoint.connect(now, self.client.clone(), self.remote, "server");
                self.connection = Some(opened.expect("the address and the version are valid"));
            }

            fn receive(
                &mut self,
                datagram: &[u8],
                ecn: Ecn,
                $way: [NodeId; 2],
                $now: Instant,
                begins: impl FnOnce(),
            ) -> Option<Vec<u8>> {
                let ($ecn, $bytes) = (EcnCodepoint::from_bits(ecn as u8), BytesMut::from(datagram));
                let (mut answer, mut answers) = (Vec::new(), false);
                let event = {
                    let ($open, $answer) = (&mut *self, &mut answer);
                    $handle
                };
                match (event, &mut self.connection) {
                    (Some(DatagramEvent::ConnectionEvent(_, event)), Some((_, connection))) => {
                        connection.handle_event(event);
                    }
                    (Some(DatagramEvent::NewConnection(incoming)), None) => {
                        begins();
                        self.connection = self.endpoint.accept(incoming, $now, &mut answer, None).ok();
                    }
                    (Some(DatagramEvent::NewConnection(incoming)), Some(_)) => self.endpoint.ignore(incoming),
                    (Some(DatagramEvent::Response(_)), _) => answers = true,
                    _ => {}
                }
                self.settle();
                answers.then_some(answer)
            }

            fn on_timer(&mut self, now: Instant) {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_timeout(now);
                }
                self.settle();
            }

            fn send(&mut self, $at: Instant, $into: &mut Vec<u8>) -> Option<Ecn> {
                let (_, $connection) = self.connection.as_mut()?;
                let $paths = &mut self.paths;
                let sent = $transmit;
                self.settle();
                Some(sent.ecn.map_or(Ecn::NotEct, |ecn| Ecn::of_bits(ecn as u8)))
            }

            fn deadline(&mut self) -> Option<Instant> {
                let timeout = self.connection.as_mut()?.1.poll_timeout();
                timeout.into_iter().chain(self.wakes()).min()
            }

            fn connection(&mut self) -> Option<&mut Connection> {
                self.connection.as_mut().map(|(_, connection)| connection)
            }

            fn close(&mut self, now: Instant) {
                if let Some((_, connection)) = &mut self.connection {
                    connection.close(now, VarInt::from_u32(0), Bytes::new());
                }
            }

            $($($more)*)?
        }
    };
}

/// A transport of a stack with these keys and this controller.
macro_rules! configured {
    ($proto:ident, $config:expr, $law:expr) => {{
        let config: &QuicConfig = $config;
        let duration = |span: lasthop_stack::units::Span| Duration::from_nanos(span.0);
        let idle =
            |span| $proto::IdleTimeout::try_from(duration(span)).expect("the check bounds the timeout");
        let discovery = config.mtu_discovery.then(|| {
            let mut discovery = $proto::MtuDiscoveryConfig::default();
            discovery.upper_bound(config.packet);
            discovery
        });
        let acks = config.acks.map(|acks| {
            let mut asked = $proto::AckFrequencyConfig::default();
            // The packets that may come without an acknowledgement.
            asked.ack_eliciting_threshold(VarInt::from_u32(acks.tolerance - 1));
            asked
                .max_ack_delay(acks.max_delay.map(duration))
                .reordering_threshold(VarInt::from_u32(acks.reordering));
            asked
        });
        let mut transport = TransportConfig::default();
        transport
            .congestion_controller_factory($law)
            .initial_mtu(if config.mtu_discovery { LEAST_PACKET } else { config.packet })
            .mtu_discovery_config(discovery)
            .stream_receive_window(VarInt::from_u32(config.window))
            .send_window(u64::from(config.window).max(LEAST_SEND_WINDOW))
            .ack_frequency_config(acks)
            .max_idle_timeout(config.idle_timeout.map(idle))
            .max_concurrent_uni_streams(VarInt::from_u32(config.streams));
        transport
    }};
}
