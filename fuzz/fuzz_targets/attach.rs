//! Attaching to a region that a stranger wrote: an error or a region that holds together, never a crash.
//!
//! The input is a list of changes to a good region: an offset of two bytes and a byte to put there. If their number is odd,
//! the checksum is made to fit afterwards, so that what lies behind it is reached.

#![no_main]

use std::fs::File;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::sync::OnceLock;

use corecast_base::region::{Liveness, RegionPlan, SharedRegion};
use libfuzzer_sys::fuzz_target;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

/// Where the checksum is, and where the directory: behind the records and seats of three participants.
const CHECKSUM_AT: usize = 0x70;
const DIRECTORY_AT: usize = 0x1000 + 3 * (256 + 128);
const CHANNELS: usize = 2;

fuzz_target!(|changes: &[u8]| {
    let mut image = good_image().clone();
    for change in changes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % image.len();
        image[at] = change[2];
    }
    if changes.len() / 3 % 2 == 1 {
        let sum = crc32c(&[&image[..CHECKSUM_AT], &image[DIRECTORY_AT..DIRECTORY_AT + CHANNELS * 128]].concat());
        image[CHECKSUM_AT..CHECKSUM_AT + 4].copy_from_slice(&sum.to_le_bytes());
    }
    let file = memfd(&image);
    if let Ok(region) = SharedRegion::from_fd(file.into()) {
        for entry in region.entries() {
            let words = region.section(entry).words(0, entry.bytes as usize / 8).expect("sections are inside");
            assert_eq!(words.len() as u64 * 8, entry.bytes);
        }
        assert_eq!(region.liveness(region.me()), Liveness::Alive);
        for who in region.participants().expect("not forked") {
            assert_eq!(who.liveness == Liveness::Alive, region.liveness(who.id) == Liveness::Alive);
        }
        assert!(region.reap(|dead| assert_ne!(dead, region.me())).expect("not forked"));
    }
});

fn good_image() -> &'static Vec<u8> {
    static IMAGE: OnceLock<Vec<u8>> = OnceLock::new();
    IMAGE.get_or_init(|| {
        let plan = RegionPlan::new().participants(3).expect("a few");
        let plan = plan.add("orders", 1, [64, 0, 0, 0, 0, 0], 512).expect("a good name");
        let plan = plan.add("replies", 2, [0; 6], 256).expect("a good name");
        let region = SharedRegion::memfd(&plan).expect("memory");
        let file = File::from(region.share().expect("/proc is there"));
        let mut image = vec![0; file.metadata().expect("a file").len() as usize];
        file.read_exact_at(&mut image, 0).expect("as long as it says");
        image
    })
}

fn memfd(image: &[u8]) -> File {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(memfd_create(c"corecast-fuzz", flags).expect("a descriptor"));
    file.set_permissions(PermissionsExt::from_mode(0o600)).expect("our file");
    file.write_all_at(image, 0).expect("memory");
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW).expect("sealing is allowed");
    file
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    })
}
