//! The session without cipher, the keys and the connection IDs as `noq-proto` takes them.

use std::any::Any;
use std::time::{Duration, SystemTime};

use bytes::BytesMut;
use noq_proto::crypto::{
    self, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair, Keys,
    PacketKey, UnsupportedVersion,
};
use noq_proto::transport_parameters::TransportParameters;
use noq_proto::{
    ConnectError, ConnectionId, ConnectionIdGenerator, PathId, Side, TimeSource, TransportError,
};

use super::super::NoTime;
use super::super::keys::{ID, Key, draw};
use super::super::record::Shared;
use super::super::session::{Handshake, LIMITS, Plain, SAMPLE, TAG};
use crate::engine::streams::Stream;

/// One end of a handshake.
struct Session {
    side: Side,
    messages: Handshake,
}

/// What makes the sessions of an endpoint.
pub(super) struct Maker {
    pub(super) record: Shared,
}

impl Maker {
    fn session(&self, side: Side, parameters: &TransportParameters) -> Box<dyn crypto::Session> {
        let mut own = Vec::new();
        parameters.write(&mut own);
        Box::new(Session { side, messages: Handshake::new(side == Side::Client, own, &self.record) })
    }
}

impl crypto::ClientConfig for Maker {
    fn start_session(
        &self,
        _version: u32,
        _server_name: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        Ok(self.session(Side::Client, parameters))
    }
}

impl crypto::ServerConfig for Maker {
    fn initial_keys(&self, _version: u32, _id: ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys(&self.record))
    }

    fn retry_tag(&self, _version: u32, _id: ConnectionId, _packet: &[u8]) -> [u8; TAG] {
        [0; TAG]
    }

    fn start_session(&self, _version: u32, parameters: &TransportParameters) -> Box<dyn crypto::Session> {
        self.session(Side::Server, parameters)
    }
}

impl crypto::Session for Session {
    fn initial_keys(&self, _id: ConnectionId, _side: Side) -> Keys {
        keys(&self.messages.record)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
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
        self.messages.write(into).then(|| keys(&self.messages.record))
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys(&self.messages.record).packet)
    }

    fn is_valid_retry(&self, _id: ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
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

fn keys(record: &Shared) -> Keys {
    let (sent, received) = Plain::pair(record);
    Keys {
        header: KeyPair { local: Box::new(Plain::Unseen), remote: Box::new(Plain::Unseen) },
        packet: KeyPair { local: Box::new(sent), remote: Box::new(received) },
    }
}

impl PacketKey for Plain {
    fn encrypt(&self, _path: PathId, number: u64, packet: &mut [u8], header: usize) {
        self.seal(number, packet, header);
    }

    fn decrypt(
        &self,
        _path: PathId,
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

impl HmacKey for Key {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        quinn_proto::crypto::HmacKey::sign(self, data, signature);
    }

    fn signature_len(&self) -> usize {
        quinn_proto::crypto::HmacKey::signature_len(self)
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        quinn_proto::crypto::HmacKey::verify(self, data, signature).map_err(|_| CryptoError)
    }
}

/// Nobody asks for tokens.
impl HandshakeTokenKey for Key {
    fn seal(&self, _nonce: u128, _data: &mut Vec<u8>) -> Result<(), CryptoError> {
        Ok(())
    }

    fn open<'a>(&self, _nonce: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        Ok(data)
    }
}

/// The next connection ID of a stream.
pub(super) fn draw_id(stream: &mut Stream) -> ConnectionId {
    ConnectionId::new(&draw::<ID>(stream))
}

/// Draws connection IDs.
pub(super) struct Ids(pub(super) Stream);

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        draw_id(&mut self.0)
    }

    fn cid_len(&self) -> usize {
        ID
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

impl TimeSource for NoTime {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}
