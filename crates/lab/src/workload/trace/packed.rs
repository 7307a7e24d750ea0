//! A stream that may be packed: gzip (RFC 1952) and Zstandard (RFC 8878), told by how it begins.
//!
//! Several members or frames after one another are one stream, as `cat a.gz b.gz` makes them. Left
//! out: archives of several files (tar, zip), and packers that hold more of a file than a window.

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, BufReader, Read};

const PIECE_BYTES: usize = 1 << 18;
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTANDARD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// Packed forms that are not read, by how they begin.
const OTHERS: [(&[u8], &str); 4] =
    [(b"\xfd7zXZ", "xz"), (b"BZh", "bzip2"), (b"PK\x03\x04", "zip"), (b"\x04\x22\x4d\x18", "lz4")];

/// The stream unpacked, and the name of its packer.
///
/// # Errors
/// It cannot be read, or is packed in another way.
pub(super) fn unpacked(file: Box<dyn Read + Send>) -> io::Result<(Box<dyn BufRead + Send>, Option<&'static str>)> {
    let mut file = BufReader::with_capacity(PIECE_BYTES, file);
    let beginning = file.fill_buf()?;
    if let Some((_, packer)) = OTHERS.iter().find(|(magic, _)| beginning.starts_with(magic)) {
        return Err(io::Error::other(format!(
            "packed with {packer}, which is not read: unpack it, or pack it with zstd"
        )));
    }
    Ok(if beginning.starts_with(GZIP) {
        (buffered(MultiGzDecoder::new(file)), Some("gzip"))
    } else if beginning.starts_with(ZSTANDARD) {
        (buffered(Frames { decoder: FrameDecoder::new(), source: file, is_open: false }), Some("zstd"))
    } else {
        (Box::new(file), None)
    })
}

fn buffered(packed: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(PIECE_BYTES, packed))
}

/// Zstandard's frames, one after another, each held against its checksum.
struct Frames<R: BufRead> {
    decoder: FrameDecoder,
    source: R,
    /// A frame has begun and is not read to its end.
    is_open: bool,
}

impl<R: BufRead> Frames<R> {
    /// Goes to the next frame; `false` at the end.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => {
                    self.is_open = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut (&mut self.source).take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(damaged(&error)),
            }
        }
        Ok(false)
    }

    fn end(&mut self) -> io::Result<()> {
        self.is_open = false;
        let promised = self.decoder.get_checksum_from_data();
        if promised.is_some() && promised != self.decoder.get_calculated_checksum() {
            return Err(io::Error::other("damaged: the checksum of a zstd frame differs"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_open && !self.begin()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, one).map_err(|error| damaged(&error))?;
            }
            let read = self.decoder.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            self.end()?;
        }
    }
}

fn damaged(error: &FrameDecoderError) -> io::Error {
    let text = error.to_string();
    let what = text.split([':', '(']).next().unwrap_or_default().trim();
    io::Error::other(format!("zstd data that are cut short or damaged ({what})"))
}

#[cfg(test)]
mod test {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::{Cursor, Write};

    fn read(bytes: Vec<u8>) -> io::Result<(String, Option<&'static str>)> {
        let (mut stream, packer) = unpacked(Box::new(Cursor::new(bytes)))?;
        let mut text = String::new();
        stream.read_to_string(&mut text).map(|_| (text, packer))
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap()
    }

    fn zstandard(text: &str) -> Vec<u8> {
        compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
    }

    /// What comes packed is what comes plain, in one part or two.
    #[test]
    fn packed_is_as_plain() {
        let text = "128166372003061629,hm,1,Read,383496192,32768,113736\n".repeat(9999);
        for (pack, packer) in [(gzip as fn(&str) -> Vec<u8>, "gzip"), (zstandard, "zstd")] {
            let (start, end) = text.split_at(text.len() / 3);
            assert_eq!(read(pack(&text)).unwrap(), (text.clone(), Some(packer)));
            assert_eq!(read([pack(start), pack(end)].concat()).unwrap(), (text.clone(), Some(packer)));
        }
        assert_eq!(read(text.clone().into()).unwrap(), (text, None));
        assert_eq!(read(Vec::new()).unwrap(), (String::new(), None));
    }

    /// A frame that holds no data is passed over.
    #[test]
    fn skippable_frames_are_passed_over() {
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let bytes = [zstandard("a").as_slice(), &skippable, &zstandard("b")].concat();
        assert_eq!(read(bytes).unwrap().0, "ab");
    }

    /// A cut or damaged file is an error, and so is one packed in another way.
    #[test]
    fn faults_are_errors() {
        let text = (0..5000).map(|number| format!("{}\n", number * number)).collect::<String>();
        for pack in [gzip as fn(&str) -> Vec<u8>, zstandard] {
            let whole = pack(&text);
            for cut in [5, whole.len() / 2, whole.len() - 1] {
                assert!(read(whole[..cut].to_vec()).is_err(), "{cut}");
            }
            let mut damaged = whole.clone();
            let middle = whole.len() / 2;
            damaged[middle] ^= 0x10;
            assert!(read(damaged).is_err());
        }
        let error = read(b"\xfd7zXZ\0...".to_vec()).unwrap_err().to_string();
        assert!(error.starts_with("packed with xz"), "{error}");
    }
}
