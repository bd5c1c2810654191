//! The number of bytes that a scheme holds, for the metric `agents.NAME.state_max` and for hand-offs.
//!
//! Each value counts with a fixed width, whatever the processor and the compiler make of it: pointers, padding and the
//! order of fields do not count.
//!
//! | value | bytes |
//! | --- | --- |
//! | number | its width; 8 for a count (`usize`) |
//! | `bool` | 1 |
//! | `Time`, `Span` | 8 |
//! | sequence number, address | 4 |
//! | packet | its IP and TCP headers without options |
//! | `Option`, enum | 1, and its largest variant |
//! | struct, tuple, array | the sum of its parts |
//! | list, table, box | 0: what is in it counts where it is held, by its number of entries ([`of_all`]) |
//!
//! [`state_bytes!`](state_bytes) defines a type and adds up its parts, so a new field counts as soon as it is there.

use std::collections::VecDeque;

use crate::packet::{FlowKey, IP_HEADER, NodeId, Packet, Segment, TCP_HEADER, Timestamps};
use crate::units::{SeqNo, Span, Time};

/// A type of which a scheme holds values.
pub(crate) trait StateBytes {
    /// Bytes of one value, without the entries of its lists.
    const BYTES: u64;
}

/// The bytes of all entries of a list.
pub(crate) fn of_all<'a, T: StateBytes + 'a>(entries: &impl ExactSizeIterator<Item = &'a T>) -> u64 {
    entries.len() as u64 * T::BYTES
}

/// The greatest of these numbers; 0 if there are none.
pub(crate) const fn greatest(numbers: &[u64]) -> u64 {
    match numbers {
        [] => 0,
        [first, rest @ ..] => {
            let other = greatest(rest);
            if *first > other { *first } else { other }
        }
    }
}

/// Defines a struct with named fields or an enum, and its [`StateBytes`]. A parameter of a type has exactly one bound.
macro_rules! state_bytes {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$of:ident: $bound:ident>)? {
            $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        $vis struct $name $(<$of: $bound>)? {
            $($(#[$field_meta])* $field_vis $field: $type,)*
        }

        impl $(<$of: $bound>)? $crate::state_bytes::StateBytes for $name $(<$of>)? {
            const BYTES: u64 = 0 $(+ <$type as $crate::state_bytes::StateBytes>::BYTES)*;
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident $(($($type:ty),+))?,)*
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$variant_meta])* $variant $(($($type),+))?,)*
        }

        impl $crate::state_bytes::StateBytes for $name {
            const BYTES: u64 = 1 + $crate::state_bytes::greatest(
                &[$(0 $($(+ <$type as $crate::state_bytes::StateBytes>::BYTES)+)?),*]
            );
        }
    };
}
pub(crate) use state_bytes;

/// The width of each of these types.
macro_rules! widths {
    ($($type:ty: $bytes:expr),* $(,)?) => { $(impl StateBytes for $type { const BYTES: u64 = $bytes; })* };
}

widths! {
    bool: 1,
    u8: 1,
    u16: 2,
    u32: 4,
    u64: 8,
    usize: 8,
    f64: 8,
    Time: 8,
    Span: 8,
    SeqNo: 4,
    NodeId: 4,
    // Two addresses, each with a port.
    FlowKey: 2 * <(NodeId, u16)>::BYTES,
    // TSval and TSecr (RFC 7323, 3.2).
    Timestamps: 8,
    Segment: TCP_HEADER as u64,
    Packet: IP_HEADER as u64 + Segment::BYTES,
}

impl<T: StateBytes> StateBytes for Option<T> {
    const BYTES: u64 = 1 + T::BYTES;
}

impl<T: StateBytes, const N: usize> StateBytes for [T; N] {
    const BYTES: u64 = N as u64 * T::BYTES;
}

impl<A: StateBytes, B: StateBytes> StateBytes for (A, B) {
    const BYTES: u64 = A::BYTES + B::BYTES;
}

impl<A: StateBytes, B: StateBytes, C: StateBytes> StateBytes for (A, B, C) {
    const BYTES: u64 = A::BYTES + B::BYTES + C::BYTES;
}

impl<T> StateBytes for Vec<T> {
    const BYTES: u64 = 0;
}

impl<T> StateBytes for VecDeque<T> {
    const BYTES: u64 = 0;
}

impl<T> StateBytes for Box<T> {
    const BYTES: u64 = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    state_bytes! {
        #[expect(dead_code, reason = "only its size matters")]
        struct Mixed {
            flag: bool,
            at: Option<Time>,
            list: Vec<u64>,
            count: usize,
            kind: Kind,
        }
    }

    state_bytes! {
        #[expect(dead_code, reason = "only its size matters")]
        enum Kind {
            None,
            Small(u8),
            Large(Box<u64>, [u32; 3]),
        }
    }

    #[test]
    fn a_type_counts_as_the_sum_of_its_parts_without_padding_pointers_and_niches() {
        assert_eq!(Kind::BYTES, 1 + 12);
        assert_eq!(Mixed::BYTES, 1 + (1 + 8) + 8 + Kind::BYTES);
        assert_eq!(<Option<Box<u64>>>::BYTES, 1);
        assert_eq!(<[(u16, SeqNo, Option<Packet>); 2]>::BYTES, 2 * (2 + 4 + 1 + 40));
        assert_eq!([FlowKey::BYTES, Timestamps::BYTES], [2 * (4 + 2), 2 * 4]);
        assert_eq!(of_all(&[(1_u64, 2_u32); 3].iter()), 36);
    }
}
