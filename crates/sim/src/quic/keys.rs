//! The connection IDs and keys of an endpoint, from a random stream of the run.

use std::time::Duration;

use quinn_proto::crypto::{AeadKey, CryptoError, HandshakeTokenKey, HmacKey};
use quinn_proto::{ConnectionId, ConnectionIdGenerator};

use crate::engine::streams::Stream;

/// Bytes of a connection ID.
pub(super) const ID: usize = 8;
/// Bytes of a signature, of which a reset token is the first half.
const SIGNATURE: usize = 32;

/// The next bytes of a stream.
pub(super) fn draw<const BYTES: usize>(stream: &mut Stream) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for part in bytes.chunks_mut(8) {
        part.copy_from_slice(&stream.next_u64().to_be_bytes()[..part.len()]);
    }
    bytes
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

/// The key of reset tokens and address tokens, which nobody forges in a simulation.
pub(super) struct Key(pub(super) u64);

impl HmacKey for Key {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        let mix = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let mut state = data.iter().fold(self.0, |state, byte| mix(state, *byte));
        for byte in signature {
            state = mix(state, 0xff);
            *byte = (state >> 56) as u8;
        }
    }

    fn signature_len(&self) -> usize {
        SIGNATURE
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = [0; SIGNATURE];
        self.sign(data, &mut expected);
        if signature == expected { Ok(()) } else { Err(CryptoError) }
    }
}

impl HandshakeTokenKey for Key {
    fn aead_from_hkdf(&self, _random: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Key(self.0))
    }
}

impl AeadKey for Key {
    fn seal(&self, _data: &mut Vec<u8>, _additional: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _additional: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}
