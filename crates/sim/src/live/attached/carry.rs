//! Packets between the sockets of an interface and its agent, in real time.
//!
//! What the network layer sends comes from a TUN interface, and what the agent hands up goes there. The link is a raw socket that
//! is bound to the interface and asks for `SCM_WIFI_STATUS`; another one for what needs no report; and a packet socket that hears
//! what arrives. The latter and the TUN interface have a `virtio_net_hdr` before each packet: the kernel may have joined segments
//! that arrived, and left their checksums to be completed.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use lasthop_stack::units::{Span, Time};
use lasthop_stack::wire::checksum;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, pwritev, read, write, writev};
use rustix::net::{RecvAncillaryBuffer, RecvFlags, SendFlags, recvmsg, sendto};

use super::{Attached, Ends, Taken};

/// Bytes of `virtio_net_hdr`, and those behind it of the header of Ethernet.
const HEADER: usize = 10;
const LINK_HEADER: usize = super::LINK_HEADER;
/// The flag that the checksum is to be completed, and the fields behind it.
const NEEDS_CHECKSUM: u8 = 1;
const LONGEST: usize = 1 << 17;
/// Packets that are read at once before the other sockets are looked at.
const AT_ONCE: usize = 32;
/// The longest pause.
const PAUSE: Span = Span::from_secs(3600);
/// The beginning of a frame that a report has, and the control message with it.
const FRAME: usize = 128;
const CONTROL: usize = 256;
/// Bytes of a frame of ARP, the beginning of a request for an address of version 4 in one of Ethernet, and the kind of an answer.
const ARP: usize = 42;
const ARP_REQUEST: [u8; 8] = [0, 1, 8, 0, 6, 4, 0, 1];
const ARP_ANSWER: u8 = 2;
const SYN_OR_FIN: u8 = 0b11;
/// Bytes of the place of a segment that is kept, those of its number and length, and places.
const PLACE: usize = 2048;
const PLACE_HEAD: usize = 10;
const PLACES: u64 = 4096;
const SOL_SOCKET: u32 = 1;
const SCM_WIFI_STATUS: u32 = 41;

/// The sockets of an interface.
#[derive(Clone, Copy, Debug)]
pub struct Sockets<'a> {
    /// The TUN interface.
    pub network: BorrowedFd<'a>,
    /// The raw socket with reports.
    pub link: BorrowedFd<'a>,
    /// The one without.
    pub plain: BorrowedFd<'a>,
    /// The packet socket.
    pub heard: BorrowedFd<'a>,
    /// The packet socket for ARP: the kernel answers nobody from whom it accepts nothing at this interface.
    pub asked: BorrowedFd<'a>,
    /// The file for the segments that the link has delivered: in places of as many bytes, each with its number and
    /// its length before it.
    pub kept: Option<BorrowedFd<'a>>,
    /// It ends when this can be read.
    pub stop: BorrowedFd<'a>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// How long it took.
    pub length: Span,
    /// Whether the interface went down.
    pub is_down: bool,
}

/// The addresses of this machine: that of the interface in its network, and those of version 4.
#[derive(Clone, Debug)]
pub struct Own {
    /// That of the interface.
    pub link: [u8; 6],
    /// Those of the machine.
    pub network: Vec<[u8; 4]>,
}

/// Carries packets until `stop` can be read, or the interface goes down.
///
/// # Errors
/// A socket fails.
pub fn carry(attached: &mut Attached, sockets: Sockets<'_>, own: &Own) -> io::Result<Carried> {
    let clock = Clock::start();
    let mut live = Live { sockets, own, came: Vec::new(), kept: 0 };
    let mut spare = vec![0; LONGEST];
    let mut is_down = false;
    while !is_down {
        attached.wake(clock.now(), &mut live);
        let ready = live.wait(attached, clock.now())?;
        if ready.stop {
            break;
        }
        if ready.report {
            live.hear_reports(attached, &clock)?;
        }
        attached.resume(clock.now(), &mut live);
        if ready.asked {
            live.answer()?;
        }
        is_down = ready.heard && live.hear(attached, &mut spare, &clock)?;
        if ready.network {
            live.collect(attached, &mut spare, &clock)?;
        }
    }
    attached.finish(clock.now(), &mut live);
    Ok(Carried { length: Span(clock.now().0), is_down })
}

/// What can be read.
struct Ready {
    stop: bool,
    report: bool,
    heard: bool,
    asked: bool,
    network: bool,
}

/// The sockets, and the packet that arrived last as it came: its header and its bytes.
struct Live<'a> {
    sockets: Sockets<'a>,
    own: &'a Own,
    came: Vec<u8>,
    /// How many segments were kept.
    kept: u64,
}

impl Live<'_> {
    fn wait(&self, attached: &Attached, now: Time) -> io::Result<Ready> {
        let Sockets { network, link, heard, asked, stop, .. } = &self.sockets;
        let is_blocked = attached.is_blocked();
        let (to_link, from_network) = if is_blocked {
            (PollFlags::OUT, PollFlags::empty())
        } else {
            (PollFlags::empty(), PollFlags::IN)
        };
        let mut polled = [
            PollFd::new(stop, PollFlags::IN),
            PollFd::new(link, to_link),
            PollFd::new(heard, PollFlags::IN),
            PollFd::new(asked, PollFlags::IN),
            PollFd::new(network, from_network),
        ];
        let pause = Span(attached.timer().0.saturating_sub(now.0)).min(PAUSE);
        let timeout = Timespec::try_from(Duration::from_nanos(pause.0)).map_err(io::Error::other)?;
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [stop, link, heard, asked, network] = polled.map(|one| one.revents());
        Ok(Ready {
            stop: !stop.is_empty(),
            report: link.contains(PollFlags::ERR),
            heard: !heard.is_empty(),
            asked: asked.contains(PollFlags::IN),
            network: network.contains(PollFlags::IN),
        })
    }

    /// Reads what the link reports.
    fn hear_reports(&mut self, attached: &mut Attached, clock: &Clock) -> io::Result<()> {
        loop {
            let mut frame = [0; FRAME];
            let mut control = [MaybeUninit::new(0); CONTROL];
            let flags = RecvFlags::ERRQUEUE | RecvFlags::DONTWAIT;
            let mut buffer = RecvAncillaryBuffer::new(&mut control);
            let got = recvmsg(self.sockets.link, &mut [IoSliceMut::new(&mut frame)], &mut buffer, flags);
            drop(buffer);
            let length = match got {
                Ok(got) => got.bytes.min(FRAME),
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            #[expect(unsafe_code, reason = "the C form of a control message, which rustix does not know")]
            // SAFETY: all bytes were initialised with zeros, and the kernel has written some of them.
            let control = control.map(|byte| unsafe { byte.assume_init() });
            if let Some(is_acknowledged) = status(&control) {
                attached.reported(&frame[..length], is_acknowledged, clock.now(), self);
            }
        }
    }

    /// Reads packets that arrived; true if the interface went down.
    fn hear(&mut self, attached: &mut Attached, spare: &mut [u8], clock: &Clock) -> io::Result<bool> {
        for _ in 0..AT_ONCE {
            let length = match read(self.sockets.heard, &mut *spare) {
                Ok(length) => length,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(false),
                Err(Errno::NETDOWN | Errno::NXIO | Errno::NODEV) => return Ok(true),
                // Linux cannot describe how what it has joined is to be parted.
                Err(Errno::INVAL) => continue,
                Err(error) => return Err(error.into()),
            };
            if length <= HEADER + LINK_HEADER {
                continue;
            }
            self.came.clear();
            self.came.extend_from_slice(&without_link(&spare[..HEADER]));
            self.came.extend_from_slice(&spare[HEADER + LINK_HEADER..length]);
            let (header, bytes) = spare[..length].split_at_mut(HEADER);
            let bytes = &mut bytes[LINK_HEADER..];
            complete(header, bytes);
            let bytes = within(bytes);
            attached.from_link(bytes, clock.now(), self);
        }
        Ok(false)
    }

    /// Answers who asks for the address of this machine in the network of the interface.
    fn answer(&self) -> io::Result<()> {
        let mut frame = [0; FRAME];
        loop {
            match read(self.sockets.asked, &mut frame) {
                Ok(length) => {
                    if let Some(answer) = arp_answer(&frame[..length], self.own) {
                        // A request is repeated.
                        let _ = write(self.sockets.asked, &answer);
                    }
                }
                Err(Errno::AGAIN | Errno::INTR | Errno::NETDOWN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Reads packets of the network layer, as long as the link takes them.
    fn collect(&mut self, attached: &mut Attached, spare: &mut [u8], clock: &Clock) -> io::Result<()> {
        for _ in 0..AT_ONCE {
            if attached.is_blocked() {
                break;
            }
            match read(self.sockets.network, &mut *spare) {
                Ok(length) if length > HEADER && spare[HEADER] >> 4 == 4 => {
                    attached.from_network(&spare[HEADER..length], clock.now(), self);
                }
                Ok(_) => {}
                Err(Errno::AGAIN | Errno::INTR) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl Ends for Live<'_> {
    fn send(&mut self, bytes: &[u8], is_reported: bool) -> Taken {
        let socket = if is_reported { self.sockets.link } else { self.sockets.plain };
        let Some(to) = bytes.get(16..).and_then(<[u8]>::first_chunk::<4>) else { return Taken::No };
        let to = SocketAddrV4::new(Ipv4Addr::from(*to), 0);
        match sendto(socket, bytes, SendFlags::DONTWAIT, &to) {
            Ok(_) => Taken::Yes,
            Err(Errno::AGAIN | Errno::INTR) if is_reported => Taken::Full,
            Err(_) => Taken::No,
        }
    }

    fn pass(&mut self, bytes: &[u8], as_it_came: bool) {
        let plain = [0; HEADER];
        let parts = if as_it_came { self.came.split_at(HEADER) } else { (&plain[..], bytes) };
        // An interface that takes no packet loses it, as any link does.
        let _ = writev(self.sockets.network, &[IoSlice::new(parts.0), IoSlice::new(parts.1)]);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let Some(file) =
            self.sockets.kept.filter(|_| has_sequence(bytes) && bytes.len() <= PLACE - PLACE_HEAD)
        else {
            return;
        };
        let mut head = [0; PLACE_HEAD];
        head[..8].copy_from_slice(&self.kept.to_le_bytes());
        head[8..].copy_from_slice(&(bytes.len() as u16).to_le_bytes());
        // Without room there the agent is as one without the file.
        let place = self.kept % PLACES * PLACE as u64;
        let _ = pwritev(file, &[IoSlice::new(&head), IoSlice::new(bytes)], place);
        self.kept += 1;
    }
}

/// Whether a frame was acknowledged, by the control messages with its report.
fn status(mut control: &[u8]) -> Option<bool> {
    loop {
        let (length, rest) = control.split_first_chunk::<8>()?;
        let (level, rest) = rest.split_first_chunk::<4>()?;
        let (kind, value) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u64::from_ne_bytes(*length)).ok().filter(|length| *length >= 16)?;
        if (u32::from_ne_bytes(*level), u32::from_ne_bytes(*kind)) == (SOL_SOCKET, SCM_WIFI_STATUS) {
            return Some(u32::from_ne_bytes(*value.first_chunk()?) != 0);
        }
        control = control.get(length.next_multiple_of(8)..)?;
    }
}

fn field(header: &[u8], at: usize) -> usize {
    usize::from(u16::from_ne_bytes([header[at], header[at + 1]]))
}

/// The header of a packet whose link header is removed.
fn without_link(header: &[u8]) -> [u8; HEADER] {
    let mut own = [0; HEADER];
    own.copy_from_slice(header);
    for at in [2, 6] {
        let shorter = field(header, at).saturating_sub(LINK_HEADER) as u16;
        own[at..at + 2].copy_from_slice(&shorter.to_ne_bytes());
    }
    own
}

/// Completes the checksum of a packet, if the kernel has not. Its field has the sum of the pseudo header.
fn complete(header: &[u8], bytes: &mut [u8]) {
    if header[0] & NEEDS_CHECKSUM == 0 {
        return;
    }
    let start = field(header, 6).saturating_sub(LINK_HEADER);
    let at = start + field(header, 8);
    let Some(covered) = bytes.get(start..) else { return };
    let checksum = checksum(&[covered]);
    if let Some(place) = bytes.get_mut(at..at + 2) {
        place.copy_from_slice(&checksum.to_be_bytes());
    }
}

/// A packet without the padding of its frame.
fn within(bytes: &[u8]) -> &[u8] {
    let length = bytes.get(2..4).map_or(0, |field| usize::from(u16::from_be_bytes([field[0], field[1]])));
    bytes.get(..length).unwrap_or(bytes)
}

/// The answer to a request of ARP for an address of this machine (RFC 826), both as frames of Ethernet.
pub(super) fn arp_answer(frame: &[u8], own: &Own) -> Option<[u8; ARP]> {
    let request: &[u8; ARP] = frame.first_chunk()?;
    let from: [u8; 10] = *request[22..].first_chunk()?;
    let asked: [u8; 4] = *request[38..].first_chunk()?;
    // Who has no address yet asks whether another has it: that the kernel answers.
    if request[14..22] != ARP_REQUEST || from[6..] == [0; 4] || !own.network.contains(&asked) {
        return None;
    }
    let mut answer = *request;
    answer[..6].copy_from_slice(&from[..6]);
    answer[6..12].copy_from_slice(&own.link);
    answer[21] = ARP_ANSWER;
    answer[22..28].copy_from_slice(&own.link);
    answer[28..32].copy_from_slice(&asked);
    answer[32..].copy_from_slice(&from);
    Some(answer)
}

/// Whether a segment has a place in the sequence of its sender: SYN, FIN or data.
fn has_sequence(bytes: &[u8]) -> bool {
    let header = 4 * usize::from(bytes[0] & 0x0F);
    let Some(segment) = bytes.get(header..).filter(|segment| segment.len() >= 20) else { return false };
    segment[13] & SYN_OR_FIN != 0 || segment.len() > 4 * usize::from(segment[12] >> 4)
}

/// The time since it began.
struct Clock(Instant);

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "an agent at an interface runs in real time")]
    fn start() -> Clock {
        Clock(Instant::now())
    }

    fn now(&self) -> Time {
        Time(self.0.elapsed().as_nanos() as u64)
    }
}
