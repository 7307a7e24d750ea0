//! Numbers in structures: little-endian, at byte offsets that the specification names.

/// A byte; zero beyond the end.
pub fn u8_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// Two bytes; zero where they are not all there.
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    array(bytes, at).map_or(0, u16::from_le_bytes)
}

/// Four bytes; zero where they are not all there.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    array(bytes, at).map_or(0, u32::from_le_bytes)
}

/// Eight bytes; zero where they are not all there.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    array(bytes, at).map_or(0, u64::from_le_bytes)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// A text that ends at its first zero, or at its last byte.
pub fn text_at(bytes: &[u8], at: usize, length: usize) -> String {
    let field = bytes.get(at..(at + length).min(bytes.len())).unwrap_or_default();
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(field.get(..end).unwrap_or_default()).into_owned()
}

/// A structure that is filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page(Vec<u8>);

impl Page {
    /// So many zeroes.
    pub fn new(bytes: usize) -> Page {
        Page(vec![0; bytes])
    }

    /// Puts bytes at an offset; what would go beyond the end is left out.
    #[must_use]
    pub fn put(mut self, at: usize, value: &[u8]) -> Page {
        let room = self.0.get_mut(at..).unwrap_or_default();
        room.iter_mut().zip(value).for_each(|(byte, value)| *byte = *value);
        self
    }

    /// Puts a text, with `fill` behind it up to the length of its field.
    #[must_use]
    pub fn put_text(self, at: usize, length: usize, fill: u8, text: &str) -> Page {
        let mut field = vec![fill; length];
        field.iter_mut().zip(text.bytes()).for_each(|(byte, letter)| *byte = letter);
        self.put(at, &field)
    }

    /// A byte.
    #[must_use]
    pub fn put_u8(self, at: usize, value: u8) -> Page {
        self.put(at, &[value])
    }

    /// Two bytes.
    #[must_use]
    pub fn put_u16(self, at: usize, value: u16) -> Page {
        self.put(at, &value.to_le_bytes())
    }

    /// Four bytes.
    #[must_use]
    pub fn put_u32(self, at: usize, value: u32) -> Page {
        self.put(at, &value.to_le_bytes())
    }

    /// Eight bytes, of a field of eight or more.
    #[must_use]
    pub fn put_u64(self, at: usize, value: u64) -> Page {
        self.put(at, &value.to_le_bytes())
    }

    /// The structure.
    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// What is put comes back; nothing goes beyond the end.
    #[test]
    fn what_is_put_comes_back() {
        let page = Page::new(24).put_u8(0, 7).put_u16(1, 0x1234).put_u32(3, 0x0102_0304).put_u64(7, u64::MAX);
        let bytes = page.put_text(15, 6, b' ', "ab").put_u32(22, 0xAABB_CCDD).bytes();
        assert_eq!((u8_at(&bytes, 0), u16_at(&bytes, 1), u32_at(&bytes, 3)), (7, 0x1234, 0x0102_0304));
        assert_eq!((u64_at(&bytes, 7), text_at(&bytes, 15, 6)), (u64::MAX, "ab    ".to_string()));
        assert_eq!(bytes.get(22..), Some(&[0xDD, 0xCC][..]));
        assert_eq!((u32_at(&bytes, 22), u64_at(&bytes, usize::MAX), u8_at(&bytes, 24)), (0, 0, 0));
        assert_eq!(text_at(b"ab\0c", 0, 256), "ab");
    }
}
