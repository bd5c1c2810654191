//! A TLS session with the lengths of a real one and without cipher.
//!
//! **How.** The messages of a full handshake of TLS 1.3 (RFC 8446, 2) have the lengths that they have with X25519, Ed25519,
//! one certificate and `TLS_AES_128_GCM_SHA256`. Only the transport parameters in them are real. A packet has a tag of 16
//! bytes, each the number of key updates before it, so that a key of another phase does not open it. Neither its payload nor its
//! header is encrypted: nothing in a simulated network reads or changes them.
//! Random numbers and keys of a real session would differ in each run, and with them the bytes of captures.
//!
//! A session that resumes another one (2.2) has its ticket instead of certificate and signature, and data goes with the
//! first message. The server issues two tickets and accepts them, as rustls does by default.

use bytes::BytesMut;

use super::qlog::Shown;
use super::record::Shared;

/// Bytes of an AEAD's tag (RFC 9001, 5.3).
const TAG: usize = 16;
/// Bytes that the protection of a header samples (RFC 9001, 5.4.2).
const SAMPLE: usize = 16;
/// Packets under one key of AES-GCM that may be sent, and that may fail (RFC 9001, 6.6).
const LIMITS: (u64, u64) = (1 << 23, 1 << 52);
/// Bytes of the type and length of a message (RFC 8446, 4).
const HEAD: usize = 4;

// Bytes of each message without its head and the transport parameters.
/// With a server name, three cipher suites and one key share.
const CLIENT_HELLO: usize = 196;
/// With a key share.
const SERVER_HELLO: usize = 86;
const ENCRYPTED_EXTENSIONS: usize = 6;
/// With a self-signed certificate of 290 bytes.
const CERTIFICATE: usize = 299;
const CERTIFICATE_VERIFY: usize = 68;
const FINISHED: usize = 32;
/// With an identifier of 32 bytes and a nonce as long.
const TICKET: usize = 85;
/// What a ticket and early data add to the first three messages.
const RESUMING: [usize; 3] = [83, 6, 4];

/// The messages that each end sends, in order.
const OF_CLIENT: [usize; 2] = [CLIENT_HELLO, FINISHED];
const OF_SERVER: [usize; 5] = [SERVER_HELLO, ENCRYPTED_EXTENSIONS, CERTIFICATE, CERTIFICATE_VERIFY, FINISHED];
/// Those of a session that resumes another one.
const AGAIN_OF_CLIENT: [usize; 2] = [CLIENT_HELLO + RESUMING[0], FINISHED];
const AGAIN_OF_SERVER: [usize; 3] =
    [SERVER_HELLO + RESUMING[1], ENCRYPTED_EXTENSIONS + RESUMING[2], FINISHED];

/// What an end does next.
struct Flight {
    /// The messages that it must have read.
    after: usize,
    /// What it sends.
    sends: &'static [usize],
    /// Whether the first of these has the transport parameters.
    has_parameters: bool,
    /// Whether it has new keys then.
    changes_keys: bool,
}

const fn flights_of_client(own: &'static [usize], of_server: usize) -> [Flight; 3] {
    [
        Flight { after: 0, sends: own.split_at(1).0, has_parameters: true, changes_keys: false },
        Flight { after: 1, sends: &[], has_parameters: false, changes_keys: true },
        Flight { after: of_server, sends: own.split_at(1).1, has_parameters: false, changes_keys: true },
    ]
}

/// With tickets after the handshake; a server that issues none ends before them.
const fn flights_of_server(own: &'static [usize]) -> [Flight; 3] {
    [
        Flight { after: 1, sends: own.split_at(1).0, has_parameters: false, changes_keys: true },
        Flight { after: 1, sends: own.split_at(1).1, has_parameters: true, changes_keys: true },
        Flight { after: 2, sends: &[TICKET; 2], has_parameters: false, changes_keys: false },
    ]
}

static FLIGHTS_OF_CLIENT: [Flight; 3] = flights_of_client(&OF_CLIENT, OF_SERVER.len());
static FLIGHTS_OF_SERVER: [Flight; 3] = flights_of_server(&OF_SERVER);
static AGAIN_FLIGHTS_OF_CLIENT: [Flight; 3] = flights_of_client(&AGAIN_OF_CLIENT, AGAIN_OF_SERVER.len());
static AGAIN_FLIGHTS_OF_SERVER: [Flight; 3] = flights_of_server(&AGAIN_OF_SERVER);

/// The messages of one end of a handshake.
struct Handshake {
    own: Vec<u8>,
    /// The transport parameters of the other end.
    peer: Option<Vec<u8>>,
    /// Bytes of a message that is not whole yet.
    partial: Vec<u8>,
    /// Messages read.
    read: usize,
    flights: &'static [Flight],
    /// The messages that come from the other end.
    to_come: &'static [usize],
    resumes: bool,
    record: Shared,
}

impl Handshake {
    /// The end of a client or of a server, with its transport parameters.
    fn new(is_client: bool, own: Vec<u8>, record: &Shared) -> Handshake {
        let record = record.clone();
        let (remembered, issues_tickets) = {
            let record = record.lock();
            (record.remembered.clone(), record.issues_tickets)
        };
        let resumes = remembered.is_some();
        let (flights, to_come): (&[Flight], &[usize]) = match (is_client, resumes) {
            (true, false) => (&FLIGHTS_OF_CLIENT, &OF_SERVER),
            (true, true) => (&AGAIN_FLIGHTS_OF_CLIENT, &AGAIN_OF_SERVER),
            (false, false) => (&FLIGHTS_OF_SERVER, &OF_CLIENT),
            (false, true) => (&AGAIN_FLIGHTS_OF_SERVER, &AGAIN_OF_CLIENT),
        };
        let unused = usize::from(!is_client && !issues_tickets);
        let flights = &flights[..flights.len() - unused];
        let peer = remembered.filter(|_| is_client);
        Handshake { own, peer, partial: Vec::new(), read: 0, flights, to_come, resumes, record }
    }

    /// Whether messages are still to come.
    fn is_handshaking(&self) -> bool {
        self.read < self.to_come.len()
    }

    /// Reads what the other end has sent.
    fn read(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
        while let Some(head) = self.partial.first_chunk::<HEAD>() {
            let length = u32::from_be_bytes(*head) as usize;
            let Some(message) = self.partial.get(HEAD..HEAD + length) else { break };
            // Tickets, which follow the handshake, have none.
            let without = self.to_come.get(self.read).copied().unwrap_or(length);
            if let parameters @ 1.. = length - without {
                let parameters = message[..parameters].to_vec();
                self.record.lock().parameters = Some(parameters.clone());
                self.peer = Some(parameters);
            }
            self.partial.drain(..HEAD + length);
            self.read += 1;
        }
    }

    /// Writes the messages that are due. Returns whether new keys follow.
    fn write(&mut self, into: &mut Vec<u8>) -> bool {
        let Some((flight, rest)) = self.flights.split_first().filter(|(next, _)| self.read >= next.after)
        else {
            return false;
        };
        self.flights = rest;
        for (place, length) in flight.sends.iter().enumerate() {
            let parameters: &[u8] = if flight.has_parameters && place == 0 { &self.own } else { &[] };
            into.extend_from_slice(&((parameters.len() + length) as u32).to_be_bytes());
            into.extend_from_slice(parameters);
            into.resize(into.len() + length, 0);
        }
        flight.changes_keys
    }
}

/// A key that does not encrypt. The record of an end gets the packets that it sends and, if it is logged, those that it receives.
struct Plain {
    record: Option<Shared>,
    /// Key updates before it.
    phase: u8,
}

impl Plain {
    /// The keys of what an end sends, and of what it receives.
    fn pair(record: &Shared, phase: u8) -> (Plain, Plain) {
        let is_logged = record.lock().log.is_some();
        let sent = Plain { record: Some(record.clone()), phase };
        (sent, Plain { record: is_logged.then(|| record.clone()), phase })
    }

    /// One for headers.
    fn unseen() -> Plain {
        Plain { record: None, phase: 0 }
    }

    fn seal(&self, number: u64, packet: &mut [u8], header: usize) {
        let (length, end) = (packet.len(), packet.len() - TAG);
        if let Some(record) = &self.record {
            let (header, frames) = packet[..end].split_at(header);
            record.lock().on_packet(&Shown { number, header, frames, length });
        }
        packet[end..].fill(self.phase);
    }

    /// Whether it has a tag, of this phase.
    fn open(&self, number: u64, header: &[u8], payload: &mut BytesMut) -> bool {
        let Some(end) = payload.len().checked_sub(TAG).filter(|end| payload[*end] == self.phase) else {
            return false;
        };
        payload.truncate(end);
        if let Some(record) = &self.record {
            let length = header.len() + end + TAG;
            record.lock().on_received(&Shown { number, header, frames: payload, length });
        }
        true
    }
}

/// The session as a stack takes it: how it shares what makes sessions, passes connection IDs, and names the path of a packet.
macro_rules! session {
    ($proto:ident, $shared:ty, $id:ty $(, $path:ty)?) => {
        use std::any::Any;

        use $proto::crypto::{
            self, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, UnsupportedVersion,
        };
        use $proto::transport_parameters::TransportParameters;
        use $proto::{ConnectError, ConnectionId, Side, TransportError};

        /// One end of a handshake.
        struct Session {
            side: Side,
            messages: Handshake,
            /// Key updates prepared.
            phase: u8,
        }

        /// What makes the sessions of an endpoint.
        pub(in crate::quic) struct Maker {
            pub(in crate::quic) record: Shared,
        }

        impl Maker {
            fn session(&self, side: Side, parameters: &TransportParameters) -> Box<dyn crypto::Session> {
                let mut own = Vec::new();
                parameters.write(&mut own);
                let messages = Handshake::new(side == Side::Client, own, &self.record);
                Box::new(Session { side, messages, phase: 0 })
            }
        }

        impl crypto::ClientConfig for Maker {
            fn start_session(
                self: $shared,
                _version: u32,
                _server_name: &str,
                parameters: &TransportParameters,
            ) -> Result<Box<dyn crypto::Session>, ConnectError> {
                Ok(self.session(Side::Client, parameters))
            }
        }

        impl crypto::ServerConfig for Maker {
            fn initial_keys(&self, _version: u32, _id: $id) -> Result<Keys, UnsupportedVersion> {
                Ok(keys(&self.record, 0))
            }

            fn retry_tag(&self, _version: u32, _id: $id, _packet: &[u8]) -> [u8; TAG] {
                [0; TAG]
            }

            fn start_session(
                self: $shared,
                _version: u32,
                parameters: &TransportParameters,
            ) -> Box<dyn crypto::Session> {
                self.session(Side::Server, parameters)
            }
        }

        impl crypto::Session for Session {
            fn initial_keys(&self, _id: $id, _side: Side) -> Keys {
                keys(&self.messages.record, 0)
            }

            fn handshake_data(&self) -> Option<Box<dyn Any>> {
                None
            }

            fn peer_identity(&self) -> Option<Box<dyn Any>> {
                None
            }

            fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
                self.messages.resumes.then(|| {
                    let Keys { header, packet } = keys(&self.messages.record, 0);
                    (header.local, if self.side == Side::Client { packet.local } else { packet.remote })
                })
            }

            fn early_data_accepted(&self) -> Option<bool> {
                self.messages.resumes.then_some(true)
            }

            fn is_handshaking(&self) -> bool {
                self.messages.is_handshaking()
            }

            fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
                self.messages.read(bytes);
                Ok(false)
            }

            fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
                let Some(peer) = &self.messages.peer else { return Ok(None) };
                Ok(Some(TransportParameters::read(self.side, &mut peer.as_slice())?))
            }

            fn write_handshake(&mut self, into: &mut Vec<u8>) -> Option<Keys> {
                self.messages.write(into).then(|| keys(&self.messages.record, 0))
            }

            fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
                self.phase = self.phase.wrapping_add(1);
                Some(keys(&self.messages.record, self.phase).packet)
            }

            fn is_valid_retry(&self, _id: $id, _header: &[u8], _payload: &[u8]) -> bool {
                true
            }

            fn export_keying_material(
                &self,
                output: &mut [u8],
                _label: &[u8],
                _context: &[u8],
            ) -> Result<(), ExportKeyingMaterialError> {
                output.fill(0);
                Ok(())
            }
        }

        fn keys(record: &Shared, phase: u8) -> Keys {
            let (sent, received) = Plain::pair(record, phase);
            Keys {
                header: KeyPair { local: Box::new(Plain::unseen()), remote: Box::new(Plain::unseen()) },
                packet: KeyPair { local: Box::new(sent), remote: Box::new(received) },
            }
        }

        impl PacketKey for Plain {
            fn encrypt(&self, $(_path: $path,)? number: u64, packet: &mut [u8], header: usize) {
                self.seal(number, packet, header);
            }

            fn decrypt(
                &self,
                $(_path: $path,)?
                number: u64,
                header: &[u8],
                payload: &mut BytesMut,
            ) -> Result<(), CryptoError> {
                if self.open(number, header, payload) { Ok(()) } else { Err(CryptoError) }
            }

            fn tag_len(&self) -> usize {
                TAG
            }

            fn confidentiality_limit(&self) -> u64 {
                LIMITS.0
            }

            fn integrity_limit(&self) -> u64 {
                LIMITS.1
            }
        }

        impl HeaderKey for Plain {
            fn decrypt(&self, _number_at: usize, _packet: &mut [u8]) {}

            fn encrypt(&self, _number_at: usize, _packet: &mut [u8]) {}

            fn sample_size(&self) -> usize {
                SAMPLE
            }
        }
    };
}

pub(super) mod of_quinn {
    use super::{BytesMut, Handshake, LIMITS, Plain, SAMPLE, Shared, TAG};

    session!(quinn_proto, std::sync::Arc<Self>, &ConnectionId);
}

#[cfg(feature = "noq")]
pub(super) mod of_noq {
    use super::{BytesMut, Handshake, LIMITS, Plain, SAMPLE, Shared, TAG};

    session!(noq_proto, &Self, ConnectionId, noq_proto::PathId);
}
