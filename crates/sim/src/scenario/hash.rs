//! The hash that identifies stored results, equal on all machines and in all versions.

/// FNV-1a with 128 bits: stable over machines and versions.
#[derive(Debug)]
pub(super) struct Fnv(u128);

impl Fnv {
    /// The hash of nothing.
    pub(super) fn new() -> Fnv {
        Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds a text and a mark of its end.
    pub(super) fn add(&mut self, text: &str) {
        self.add_bytes(text.as_bytes());
        self.add_bytes(&[0xff]);
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }

    /// 32 hexadecimal digits.
    pub(super) fn digits(&self) -> String {
        format!("{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_published_value_for_one_byte() {
        let mut hash = Fnv::new();
        hash.add_bytes(b"a");
        assert_eq!(hash.digits(), "d228cb696f1a8caf78912b704e4a8964");
    }

    #[test]
    fn where_one_text_ends_and_the_next_starts_counts() {
        let of = |texts: &[&str]| {
            let mut hash = Fnv::new();
            for text in texts {
                hash.add(text);
            }
            hash.digits()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
    }
}
