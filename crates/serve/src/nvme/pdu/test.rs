use super::*;
use proptest::prelude::*;

const WITH_DIGESTS: Agreed = Agreed { header_digest: true, data_digest: true, alignment: 0 };

fn layout(kind: u8, hlen: u8, pdo: u8, plen: u32, agreed: Agreed) -> Result<Layout, Fatal> {
    Head { kind, hlen, pdo, plen }.layout(agreed)
}

/// By hand: a command alone, one with data behind it, and both with digests.
#[test]
fn layouts_by_hand() {
    let plain = Agreed::default();
    let bare = Layout { header: 64, header_digest: false, padding: 0, data: 0, data_digest: false };
    assert_eq!(layout(CAPSULE_COMMAND, 72, 0, 72, plain), Ok(bare));
    assert_eq!(layout(CAPSULE_COMMAND, 72, 72, 72 + 4096, plain), Ok(Layout { data: 4096, ..bare }));
    assert_eq!(layout(CAPSULE_COMMAND, 72, 76, 76 + 4096, plain), Ok(Layout { data: 4096, padding: 4, ..bare }));
    let digests = Layout { header_digest: true, data_digest: true, ..bare };
    assert_eq!(layout(CAPSULE_COMMAND, 72, 76, 76 + 512 + 4, WITH_DIGESTS), Ok(Layout { data: 512, ..digests }));
    assert_eq!(layout(CAPSULE_COMMAND, 72, 0, 76, WITH_DIGESTS), Ok(Layout { data_digest: false, ..digests }));
    assert_eq!(layout(IC_REQUEST, 128, 0, 128, WITH_DIGESTS).map(|layout| layout.header_digest), Ok(false));
}

/// What cannot be right is refused before room is made for it.
#[test]
fn wrong_heads_are_refused() {
    let plain = Agreed::default();
    for (kind, hlen, pdo, plen, fatal) in [
        (CAPSULE_RESPONSE, 24, 0, 24, Fatal::InvalidHeader),
        (CAPSULE_COMMAND, 64, 0, 72, Fatal::InvalidHeader),
        (CAPSULE_COMMAND, 72, 0, 71, Fatal::InvalidHeader),
        (CAPSULE_COMMAND, 72, 71, 4096, Fatal::InvalidHeader),
        (CAPSULE_COMMAND, 72, 200, 100, Fatal::InvalidHeader),
        (CAPSULE_COMMAND, 72, 72, 72 + MOST_IN_CAPSULE + 1, Fatal::Limit),
        (HOST_DATA, 24, 24, u32::MAX, Fatal::Limit),
        (IC_REQUEST, 128, 128, 129, Fatal::Limit),
    ] {
        assert_eq!(layout(kind, hlen, pdo, plen, plain), Err(fatal), "{kind} {hlen} {pdo} {plen}");
    }
}

/// The known value of CRC32C, and the bytes of a completion with it.
#[test]
fn digests_by_hand() {
    assert_eq!(digest(b"123456789"), 0xE306_9283_u32.to_le_bytes());
    let mut out = Vec::new();
    capsule_response(&mut out, WITH_DIGESTS, &[7; 16]);
    assert_eq!((out.len(), u32_at(&out, 4), u8_at(&out, 1)), (28, 28, 1));
    assert_eq!(out.get(24..), Some(&digest(out.get(..24).unwrap_or_default())[..]));
}

/// Data begin where the host wants them aligned, and the length says where they end.
#[test]
fn data_are_aligned() {
    let agreed = Agreed { header_digest: true, data_digest: true, alignment: 15 };
    let mut out = Vec::new();
    data_head(&mut out, agreed, 3, 512);
    assert_eq!((out.len(), u8_at(&out, 3), u32_at(&out, 4)), (64, 64, 64 + 512 + 4));
    data_tail(&mut out, agreed, &[0; 512]);
    assert_eq!(out.len(), 68);
}

proptest! {
    /// Whatever a head says, no more than the limit is asked for, and its parts add up to its length.
    #[test]
    fn heads_are_bounded(bytes in any::<[u8; 8]>(), header_digest: bool, data_digest: bool) {
        let head = Head::read(&bytes);
        let agreed = Agreed { header_digest, data_digest, alignment: 0 };
        if let Ok(found) = head.layout(agreed) {
            prop_assert!(found.data <= MOST_DATA && found.padding < 256);
            let digests = usize::from(found.header_digest) + usize::from(found.data_digest);
            let all = Head::BYTES + found.header + found.padding + found.data as usize + DIGEST_BYTES * digests;
            prop_assert_eq!(all, head.plen as usize);
        }
    }
}
