//! The connection IDs and keys of an endpoint, from a random stream of the run.

use std::time::{Duration, SystemTime};

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

/// The key of reset tokens and address tokens, which nobody forges in a simulation.
pub(super) struct Key(pub(super) u64);

impl Key {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        let mix = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let mut state = data.iter().fold(self.0, |state, byte| mix(state, *byte));
        for byte in signature {
            state = mix(state, 0xff);
            *byte = (state >> 56) as u8;
        }
    }

    fn is_of(&self, data: &[u8], signature: &[u8]) -> bool {
        let mut expected = [0; SIGNATURE];
        self.sign(data, &mut expected);
        signature == expected
    }
}

/// Connection IDs, the key and the date as a stack takes them.
macro_rules! keys {
    ($proto:ident) => {
        /// The next connection ID of a stream.
        pub(in crate::quic) fn draw_id(stream: &mut Stream) -> $proto::ConnectionId {
            $proto::ConnectionId::new(&draw::<ID>(stream))
        }

        /// Draws connection IDs.
        pub(in crate::quic) struct Ids(pub(in crate::quic) Stream);

        impl $proto::ConnectionIdGenerator for Ids {
            fn generate_cid(&mut self) -> $proto::ConnectionId {
                draw_id(&mut self.0)
            }

            fn cid_len(&self) -> usize {
                ID
            }

            fn cid_lifetime(&self) -> Option<Duration> {
                None
            }
        }

        impl $proto::crypto::HmacKey for Key {
            fn sign(&self, data: &[u8], signature: &mut [u8]) {
                Key::sign(self, data, signature);
            }

            fn signature_len(&self) -> usize {
                SIGNATURE
            }

            fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), $proto::crypto::CryptoError> {
                if self.is_of(data, signature) { Ok(()) } else { Err($proto::crypto::CryptoError) }
            }
        }

        /// Validation of addresses by tokens, which nobody sends here, needs the date.
        pub(in crate::quic) struct NoTime;

        impl $proto::TimeSource for NoTime {
            fn now(&self) -> SystemTime {
                SystemTime::UNIX_EPOCH
            }
        }
    };
}

pub(super) mod of_quinn {
    use super::{Duration, ID, Key, SIGNATURE, Stream, SystemTime, draw};
    use quinn_proto::crypto::{AeadKey, CryptoError, HandshakeTokenKey};

    keys!(quinn_proto);

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
}

#[cfg(feature = "noq")]
pub(super) mod of_noq {
    use super::{Duration, ID, Key, SIGNATURE, Stream, SystemTime, draw};
    use noq_proto::crypto::{CryptoError, HandshakeTokenKey};

    keys!(noq_proto);

    impl HandshakeTokenKey for Key {
        fn seal(&self, _nonce: u128, _data: &mut Vec<u8>) -> Result<(), CryptoError> {
            Ok(())
        }

        fn open<'a>(&self, _nonce: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
            Ok(data)
        }
    }
}
