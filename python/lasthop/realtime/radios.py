"""The radios of nodes whose MAC layer is mac80211 of the kernel, and the socket on which their frames pass.

They are those of mac80211_hwsim, whose medium this process is. The numbers are those of <linux/nl80211.h> and
`drivers/net/wireless/virtual/mac80211_hwsim.h` of Linux 6.12.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import struct
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lasthop.realtime import system
from lasthop.realtime.netlink import Generic
from lasthop.realtime.programs import Command, Node

if TYPE_CHECKING:
    from collections.abc import Sequence

# Of mac80211_hwsim.
_REGISTER, _NEW_RADIO = 1, 4
_CHANNELS, _CUSTOM_REGULATION, _DESTROY_ON_CLOSE, _RADIO_NAME, _PERMANENT_ADDRESS = 9, 12, 16, 17, 22
# Of nl80211.
_GET_INTERFACE, _SET_INTERFACE, _JOIN_IBSS, _SET_NAMESPACE, _SET_RATES = 5, 6, 43, 49, 57
_WIPHY, _IFINDEX, _IFNAME, _IFTYPE, _MAC, _BEACON_INTERVAL = 1, 3, 4, 5, 6, 12
_BASIC_RATES, _FREQUENCY, _SSID, _FREQUENCY_FIXED, _TX_RATES, _NAMESPACE = 36, 38, 52, 60, 90, 219
_HT_CAPABILITY, _HT_CAPABILITY_MASK, _CHANNEL_WIDTH = 31, 148, 159
_LEGACY_RATES, _MCS = 1, 2
# The width of a channel of 802.11n, and the capabilities that stations are not to use: short guard intervals.
_20_MHZ, _SHORT_GUARDS = 1, struct.pack("<H24x", 1 << 5 | 1 << 6)
_AD_HOC, _STATION, _ACCESS_POINT = 1, 2, 3
# The one of the driver's regulations in which a radio may begin to send in both bands.
_REGULATION = 0
_BEACONS, _CHANNEL_1, _5_GHZ = 100, 2412, 5000
# In the unit of hostapd, 100 kbit/s, a rate that is given in 500 kbit/s.
_HOSTAPD_UNIT = 5
# The rates of DSSS and CCK.
_DSSS = (2, 4, 11, 22)
_NETWORK, _CELL = "lasthop", b"\2\0\xff\xff\xff\xff"
# The key itself: to make it from a password takes as long as 4096 looks at the clock.
_SECRET = "6c617374686f70" * 4 + "6c617374"
_INTERFACE = "wlan0"
# Where there are several access points a station looks for a better one: each second below -60 dBm, otherwise
# each minute.
_BACKGROUND = "simple:1:-60:60"
# Programs see the interfaces of their node, and start when it is in its network. In one without an access
# point a station knows the others when it has heard their beacons; what comes before is lost.
_START = (
    "mount -t sysfs sysfs /sys && "
    f'until read -r state < /sys/class/net/{_INTERFACE}/operstate && [ "$state" = up ]; do sleep 0.05; done; '
    'sleep "$0"; exec "$@"'
)
_ACQUAINTED_S = 0.3
# The end of the release of the kernel that has the patch.
_PATCHED = "-lasthop"
# Where daemons are that no ordinary user has on the path.
_DAEMONS = "/usr/local/sbin:/usr/sbin:/sbin"


class Setting(NamedTuple):
    """What a link asks of its radios."""

    #: The frequency of its channel in MHz.
    frequency: int
    #: The rates that all must have, in 500 kbit/s.
    basic: Sequence[int]
    #: The rates that each node may use, in 500 kbit/s.
    rates: Sequence[Sequence[int]]
    #: The places of the access points among the nodes.
    access_points: Sequence[int]
    #: Whether they encrypt what they send.
    is_secret: bool
    #: The indices of the MCS that each node may use, if their standard is 802.11n.
    mcs: Sequence[Sequence[int]] = ()

    def kind(self, place: int) -> int:
        """The kind of the interface of a node."""
        if not self.access_points:
            return _AD_HOC
        return _ACCESS_POINT if place in self.access_points else _STATION


class Radios:
    """The radios of nodes. They end with the sockets of this process."""

    def __init__(self, setting: Setting) -> None:
        """Become the medium of all radios that are made in the calling thread's network namespace.

        Raises:
            Refused: The kernel has no simulated radios, or a program is missing.
        """
        if any(len(indices) > 1 for indices in setting.mcs) and not _counts_aggregates():
            found = f"Linux {os.uname().release}, whose radios do not count aggregates"
            other = 'rate-control.kind = "constant"'
            raise system.Refused(f"radios: {found}; expected the kernel of lasthop virtual, or {other}")
        self._setting = setting
        self._files = tempfile.TemporaryDirectory(prefix="lasthop-")
        needed = ("hostapd", "wpa_supplicant") if setting.access_points else ()
        self._daemons = [_found(name) for name in needed]
        try:
            self._maker, self._medium = Generic(), Generic()
            #: The number of the protocol of radios in this kernel.
            self.family = self._maker.family("MAC80211_HWSIM")
            self._nl80211 = self._maker.family("nl80211")
            self._medium.ask(self.family, _REGISTER, {})
        except OSError as error:
            expected = "a kernel with mac80211_hwsim, such as that of lasthop virtual"
            raise system.Refused(f"radios: {error.strerror}; expected {expected}") from error
        self._medium.socket.setblocking(False)

    def close(self) -> None:
        """End the radios."""
        for one in (self._maker, self._medium):
            one.socket.close()
        self._files.cleanup()

    def fileno(self) -> int:
        """The socket on which frames pass."""
        return self._medium.socket.fileno()

    def nodes(self, names: Sequence[str], addresses: Sequence[str]) -> list[Node]:
        """Give each node a namespace with its radio.

        Raises:
            Refused: The system does not allow it.
        """
        made = [self._make(address) for address in addresses]
        each = zip(names, addresses, made, strict=True)
        return [Node(name, at, *self._give(radio, place, at)) for place, (name, at, radio) in enumerate(each)]

    def _make(self, address: str) -> tuple[bytes, str]:
        """Make the radio of a node; returns its number and the name of its interface."""
        own = b"\2\0\0" + socket.inet_aton(address)[1:]
        asked = {
            _CHANNELS: struct.pack("=I", 1),
            _CUSTOM_REGULATION: struct.pack("=I", _REGULATION),
            _DESTROY_ON_CLOSE: b"",
            _RADIO_NAME: f"lasthop-{own[2:].hex()}".encode(),
            _PERMANENT_ADDRESS: own,
        }
        try:
            self._maker.ask(self.family, _NEW_RADIO, asked)
            interfaces = self._maker.ask(self._nl80211, _GET_INTERFACE, {}, dumps=True)
        except OSError as error:
            raise system.Refused(f"radio {own.hex(':')}: {error.strerror}; expected a new one") from error
        found = next(one for one in interfaces if one[_MAC] == own)
        return found[_WIPHY], found[_IFNAME].rstrip(b"\0").decode()

    def _give(self, radio: tuple[bytes, str], place: int, address: str) -> tuple[int, int]:
        """Move the calling thread to a new network namespace with a radio of this address.

        Returns the namespace, and a socket that configures the radio.
        """
        wiphy, name = radio
        system.own_network()
        namespace = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        own = Generic()
        try:
            moved = {_WIPHY: wiphy, _NAMESPACE: struct.pack("=I", namespace)}
            self._maker.ask(self._nl80211, _SET_NAMESPACE, moved)
            self._set(own, name, place, address)
        except OSError as error:
            raise system.Refused(f"radio {name}: {error.strerror}; expected to be set") from error
        return namespace, own.socket.detach()

    def _set(self, own: Generic, name: str, place: int, address: str) -> None:
        """Set the interface of a node, which joins the others if there is no access point."""
        setting = self._setting
        interface = {_IFINDEX: struct.pack("=I", socket.if_nametoindex(name))}
        kind, band = setting.kind(place), int(setting.frequency > _5_GHZ)
        allowed = {_LEGACY_RATES: bytes(setting.rates[place])}
        if setting.mcs:
            allowed[_MCS] = bytes(setting.mcs[place])
        rates = {_TX_RATES: {band: allowed}}
        own.ask(self._nl80211, _SET_INTERFACE, {**interface, _IFTYPE: struct.pack("=I", kind)})
        system.address(name, _INTERFACE, address)
        own.ask(self._nl80211, _SET_RATES, {**interface, **rates})
        if kind != _AD_HOC:
            return
        network = {
            _SSID: _NETWORK.encode(),
            _MAC: _CELL,
            _FREQUENCY: struct.pack("=I", setting.frequency),
            _FREQUENCY_FIXED: b"",
            _BASIC_RATES: bytes(setting.basic),
            _BEACON_INTERVAL: struct.pack("=I", _BEACONS),
        }
        if setting.mcs:
            network[_CHANNEL_WIDTH] = struct.pack("=I", _20_MHZ)
            network |= {_HT_CAPABILITY: bytes(26), _HT_CAPABILITY_MASK: _SHORT_GUARDS}
        own.ask(self._nl80211, _JOIN_IBSS, {**interface, **network})

    def commands(self, names: Sequence[str], commands: Sequence[Command]) -> list[Command]:
        """The programs of a run, after those that join the radios to their network.

        Raises:
            FileNotFoundError: There is no such program.
        """
        for command in commands:
            if shutil.which(command.words[0]) is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command.words[0])
        pause = "0" if self._daemons else str(_ACQUAINTED_S)
        started = [Command(one.node, ("/bin/sh", "-c", _START, pause, *one.words)) for one in commands]
        return [*(self._daemon(place, name) for place, name in enumerate(names) if self._daemons), *started]

    def _daemon(self, place: int, name: str) -> Command:
        """What has a node be the access point, or join it."""
        serves = self._setting.kind(place) == _ACCESS_POINT
        text = _access_point(self._setting, place) if serves else _station(self._setting)
        file = Path(self._files.name) / str(place)
        file.write_text(text, encoding="ascii")
        hostapd, supplicant = self._daemons
        words = (hostapd, str(file)) if serves else (supplicant, "-Dnl80211", f"-i{_INTERFACE}", f"-c{file}")
        return Command(name, ("/bin/sh", "-c", 'exec "$@" > /dev/null', "sh", *words))


def _access_point(setting: Setting, place: int) -> str:
    """The configuration of hostapd."""
    rates = setting.rates[place]
    has_ofdm = not {*rates} <= {*_DSSS}
    is_5_ghz = setting.frequency > _5_GHZ
    of_basic = sorted({*setting.basic})
    lines = {
        "interface": _INTERFACE,
        "driver": "nl80211",
        "ssid": _NETWORK,
        "hw_mode": "a" if is_5_ghz else "g" if has_ofdm else "b",
        "channel": (setting.frequency - _5_GHZ) // 5
        if is_5_ghz
        else 1 + (setting.frequency - _CHANNEL_1) // 5,
        "beacon_int": _BEACONS,
        "supported_rates": " ".join(str(_HOSTAPD_UNIT * rate) for rate in sorted({*rates, *of_basic})),
        "basic_rates": " ".join(str(_HOSTAPD_UNIT * rate) for rate in of_basic),
        "wmm_enabled": int(bool(setting.mcs)),
        "ieee80211n": int(bool(setting.mcs)),
    }
    if setting.is_secret:
        lines |= {"wpa": 2, "wpa_key_mgmt": "WPA-PSK", "rsn_pairwise": "CCMP", "wpa_psk": _SECRET}
    return "".join(f"{key}={value}\n" for key, value in lines.items())


def _station(setting: Setting) -> str:
    """The configuration of wpa_supplicant."""
    secret = f"psk={_SECRET}" if setting.is_secret else "key_mgmt=NONE"
    further = "disable_sgi=1\ndisable_ht40=1\n" if setting.mcs else ""
    if len(setting.access_points) > 1:
        further += f'bgscan="{_BACKGROUND}"\n'
    return f'network={{\nssid="{_NETWORK}"\n{secret}\nscan_freq={setting.frequency}\n{further}}}\n'


def _counts_aggregates() -> bool:
    """Whether this kernel is that of a guest, with its patch."""
    return os.uname().release.endswith(_PATCHED)


def _found(program: str) -> str:
    """Where a program of the system is.

    Raises:
        Refused: Nowhere.
    """
    found = shutil.which(program) or shutil.which(program, path=_DAEMONS)
    if found is None:
        raise system.Refused(f"{program}: no such program; expected the packages hostapd and wpasupplicant")
    return found
