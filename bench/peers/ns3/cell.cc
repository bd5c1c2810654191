// One 802.11n, ac or ax cell in ns-3: stations around an access point, saturated UDP or TCP up or down.
// Usage: cell --standard=ax --width=80 --mcs=11 --gi=800 --mpdus=64 --stations=5 --transport=udp --direction=down ...
// Prints one JSON object: settings, seconds of CPU, goodput of each station in bit/s over the measured time.
//
// All stations are 0.5 m from the access point: up to 1 m the path loss is that of 1 m, so that every frame arrives with
// the same power and none survives a collision. All nodes hear each other and know each other's addresses; there are no
// beacons and no queue disciplines, so that nothing but the flows is on the air after the association. Data frames use
// one MCS, control frames 24 Mbit/s. An MPDU with a packet is in error at its receiver with a given probability, whatever
// else it meets.

#include <cmath>
#include <ctime>
#include <iomanip>
#include <iostream>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/spectrum-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

using namespace ns3;

namespace
{

// Loses MPDUs that carry an IP packet (LLC and SNAP begin with aa aa 03) and no other frame.
class DataErrors : public ErrorModel
{
  public:
    explicit DataErrors(double probability)
        : m_probability(probability),
          m_draw(CreateObject<UniformRandomVariable>())
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        uint8_t head[3] = {0, 0, 0};
        packet->CopyData(head, 3);
        const bool isData = head[0] == 0xaa && head[1] == 0xaa && head[2] == 3;
        return isData && m_draw->GetValue() < m_probability;
    }

    void DoReset() override
    {
    }

    double m_probability;
    Ptr<UniformRandomVariable> m_draw;
};

struct Settings
{
    std::string standard = "ax";
    uint32_t width = 20;
    uint32_t mcs = 7;
    uint32_t gi = 800;
    uint32_t streams = 1;
    uint32_t mpdus = 64;
    uint32_t stations = 1;
    std::string transport = "udp";
    std::string direction = "down";
    uint32_t payload = 1472;
    bool rts = false;
    bool bar = true;
    double errors = 0;
    uint32_t retries = 7;
    uint32_t queue = 500;
    double warmup = 1;
    double duration = 5;
    uint32_t seed = 1;
    // How the stations acknowledge PPDUs to several of them; none has no such PPDUs.
    std::string ofdma = "none";
    // How stations contend beside triggers of the access point; none has no triggers. Before each it asks for reports.
    std::string uplink = "none";
    bool reports = false;
    uint32_t txop = 0;
};

// The bytes of one subframe of an A-MPDU with a packet of this size: delimiter, header and check sequence, LLC, padding.
uint32_t
Subframe(uint32_t packet)
{
    return 4 + (packet + 8 + 26 + 4 + 3) / 4 * 4;
}

WifiMode
Mode(const Settings& s)
{
    const std::string family = s.standard == "n" ? "Ht" : s.standard == "ac" ? "Vht" : "He";
    const uint32_t index = s.standard == "n" ? s.mcs + 8 * (s.streams - 1) : s.mcs;
    return WifiMode(family + "Mcs" + std::to_string(index));
}

// Devices of one kind: each sends at most `mpdus` packets of this size in an A-MPDU.
NetDeviceContainer
Install(const Settings& s, WifiHelper& wifi, const WifiPhyHelper& phy, WifiMacHelper& mac, const NodeContainer& nodes, uint32_t packet)
{
    Config::SetDefault("ns3::WifiMac::BE_MaxAmpduSize", UintegerValue(s.mpdus > 1 ? s.mpdus * Subframe(packet) : 0));
    return wifi.Install(phy, mac, nodes);
}

// The physical layer: that of PPDUs to several stations is on a channel by frequency.
void
Prepare(const Settings& s, WifiPhyHelper& phy)
{
    phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(s.width) + ", BAND_5GHZ, 0}"));
    phy.Set("Antennas", UintegerValue(s.streams));
    phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(s.streams));
    phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(s.streams));
    // Strong enough for every MCS.
    phy.Set("TxPowerStart", DoubleValue(20));
    phy.Set("TxPowerEnd", DoubleValue(20));
}

// The access point serves several stations at once, and lets several send at once.
void
Schedule(const Settings& s, WifiMacHelper& mac)
{
    if (s.ofdma == "none")
    {
        return;
    }
    const bool isUp = s.uplink != "none";
    const auto sequence = s.ofdma == "requests"  ? WifiAcknowledgment::DL_MU_BAR_BA_SEQUENCE
                          : s.ofdma == "trigger" ? WifiAcknowledgment::DL_MU_TF_MU_BAR
                                                 : WifiAcknowledgment::DL_MU_AGGREGATE_TF;
    mac.SetMultiUserScheduler("ns3::RrMultiUserScheduler",
                              "NStations", UintegerValue(74),
                              "EnableUlOfdma", BooleanValue(isUp),
                              "EnableBsrp", BooleanValue(isUp && s.reports),
                              "UlPsduSize", UintegerValue(s.payload + 28),
                              // Soon enough that the next backoff begins when the last exchange has ended.
                              "AccessReqInterval", TimeValue(MicroSeconds(isUp ? 20 : 0)));
    mac.SetAckManager("ns3::WifiDefaultAckManager", "DlMuAckSequenceType", EnumValue(sequence));
    // Data frames have the size of the queue, and data may follow reports in a TXOP.
    mac.SetFrameExchangeManager("SetQueueSize", BooleanValue(isUp), "ContinueTxopAfterBsrp", BooleanValue(isUp));
}

// What stations contend with once they were triggered.
void
Defer(const Settings& s, HeConfiguration& he)
{
    if (s.uplink == "none" || s.uplink == "contend")
    {
        return;
    }
    he.m_muBeAifsn = he.m_muBkAifsn = he.m_muViAifsn = he.m_muVoAifsn = s.uplink == "silent" ? 0 : 8;
    he.m_muBeCwMin = he.m_muBkCwMin = he.m_muViCwMin = he.m_muVoCwMin = 511;
    he.m_muBeCwMax = he.m_muBkCwMax = he.m_muViCwMax = he.m_muVoCwMax = 1023;
    he.m_beMuEdcaTimer = he.m_bkMuEdcaTimer = he.m_viMuEdcaTimer = he.m_voMuEdcaTimer = MicroSeconds(2088960);
}

NetDeviceContainer
Cell(const Settings& s, const NodeContainer& hub, const NodeContainer& stations)
{
    WifiHelper wifi;
    wifi.SetStandard(s.standard == "n" ? WIFI_STANDARD_80211n : s.standard == "ac" ? WIFI_STANDARD_80211ac : WIFI_STANDARD_80211ax);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(Mode(s).GetUniqueName()),
                                 "ControlMode", StringValue("OfdmRate24Mbps"),
                                 // That of triggers.
                                 "NonUnicastMode", StringValue("OfdmRate24Mbps"),
                                 "RtsCtsThreshold", UintegerValue(s.rts ? 0 : 4692480),
                                 "IncrementRetryCountUnderBa", BooleanValue(true));
    YansWifiPhyHelper yans;
    SpectrumWifiPhyHelper spectrum;
    if (s.ofdma == "none")
    {
        auto channel = YansWifiChannelHelper::Default();
        yans.SetChannel(channel.Create());
    }
    else
    {
        auto channel = CreateObject<MultiModelSpectrumChannel>();
        channel->AddPropagationLossModel(CreateObject<LogDistancePropagationLossModel>());
        channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
        spectrum.SetChannel(channel);
    }
    WifiPhyHelper& phy = s.ofdma == "none" ? static_cast<WifiPhyHelper&>(yans) : spectrum;
    Prepare(s, phy);

    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(s.retries));
    Config::SetDefault("ns3::WifiMac::MpduBufferSize", UintegerValue(s.standard == "ax" && s.mpdus > 64 ? 256 : 64));
    // What a node can receive follows from its largest limit.
    Config::SetDefault("ns3::WifiMac::VO_MaxAmpduSize", UintegerValue(6500631));
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(s.bar));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, s.queue)));

    const bool isTcp = s.transport != "udp";
    const uint32_t data = isTcp ? 1500 : s.payload + 28;
    const uint32_t back = isTcp ? 52 : s.payload + 28;
    const bool isDown = s.direction == "down";
    WifiMacHelper mac;
    // What a station has reported holds until it reports again.
    mac.SetType("ns3::ApWifiMac", "BeaconGeneration", BooleanValue(false), "BsrLifetime", TimeValue(Seconds(1000)));
    Schedule(s, mac);
    NetDeviceContainer devices = Install(s, wifi, phy, mac, hub, isDown ? data : back);
    mac.SetType("ns3::StaWifiMac", "ActiveProbing", BooleanValue(true), "MaxMissedBeacons", UintegerValue(1000000));
    devices.Add(Install(s, wifi, phy, mac, stations, isDown ? back : data));
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        if (s.standard == "ax")
        {
            device->GetHeConfiguration()->SetGuardInterval(NanoSeconds(s.gi));
            Defer(s, *device->GetHeConfiguration());
            device->GetMac()->GetQosTxop(AC_BE)->SetTxopLimit(MicroSeconds(s.txop));
        }
        device->GetHtConfiguration()->m_sgiSupported = s.gi == 400;
        if (s.errors > 0)
        {
            device->GetPhy()->SetPostReceptionErrorModel(CreateObject<DataErrors>(s.errors));
        }
    }
    return devices;
}

void
Place(const NodeContainer& hub, const NodeContainer& stations)
{
    auto positions = CreateObject<ListPositionAllocator>();
    positions->Add(Vector(0, 0, 0));
    for (uint32_t i = 0; i < stations.GetN(); ++i)
    {
        const double angle = 2 * M_PI * i / stations.GetN();
        positions->Add(Vector(0.5 * std::cos(angle), 0.5 * std::sin(angle), 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(hub);
    mobility.Install(stations);
}

void
Tcp(const Settings& s)
{
    const std::string name = s.transport == "newreno" ? "NewReno" : s.transport == "cubic" ? "Cubic" : "Bbr";
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::Tcp" + name)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4194304));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4194304));
}

// A flow to or from each station, and the sinks.
ApplicationContainer
Flows(const Settings& s, Ptr<Node> hub, const NodeContainer& stations, const Ipv4InterfaceContainer& addresses)
{
    const bool isTcp = s.transport != "udp";
    const std::string factory = isTcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    const auto phyRate = Mode(s).GetDataRate(MHz_u(s.width), NanoSeconds(s.gi), s.streams);
    // Each station's share and more, so that queues are never empty.
    const bool isShared = s.direction == "down" || s.uplink != "none";
    const double share = s.stations == 1 ? 1.2 : (isShared ? 1.3 : 2.5) / s.stations;
    ApplicationContainer sinks;
    for (uint32_t i = 0; i < stations.GetN(); ++i)
    {
        const bool isDown = s.direction == "down";
        const auto to = isDown ? stations.Get(i) : hub;
        const auto from = isDown ? hub : stations.Get(i);
        const InetSocketAddress there(addresses.GetAddress(isDown ? i + 1 : 0), 5000 + i);
        PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), 5000 + i));
        sinks.Add(sink.Install(to));
        ApplicationContainer source;
        if (isTcp)
        {
            BulkSendHelper bulk(factory, there);
            bulk.SetAttribute("SendSize", UintegerValue(1448 * 10));
            source = bulk.Install(from);
        }
        else
        {
            UdpClientHelper udp(there.GetIpv4(), there.GetPort());
            udp.SetAttribute("PacketSize", UintegerValue(s.payload));
            udp.SetAttribute("MaxPackets", UintegerValue(0));
            udp.SetAttribute("Interval", TimeValue(Seconds(s.payload * 8 / (phyRate * share))));
            source = udp.Install(from);
        }
        // Stations that send to an access point that triggers them set up block acknowledgement one after the other, and
        // the association of many takes a while. Those that receive begin together: the scheduler sends nothing to one
        // without an agreement while it has packets for others.
        const auto apart = MicroSeconds(s.uplink == "none" || isDown ? 137 : 20000);
        source.Start(Seconds(s.stations > 20 ? 1.5 : 0.5) + apart * i);
    }
    return sinks;
}

void
Print(const Settings& s, double cpu, const std::vector<double>& goodputs)
{
    double sum = 0;
    for (double goodput : goodputs)
    {
        sum += goodput;
    }
    std::cout << "{\"ns3\": \"3.44\", \"standard\": \"" << s.standard << "\", \"width\": " << s.width << ", \"mcs\": " << s.mcs
              << ", \"gi\": " << s.gi << ", \"streams\": " << s.streams << ", \"mpdus\": " << s.mpdus << ", \"stations\": " << s.stations
              << ", \"transport\": \"" << s.transport << "\", \"direction\": \"" << s.direction << "\", \"payload\": "
              << (s.transport == "udp" ? s.payload : 1448) << ", \"rts\": " << (s.rts ? "true" : "false") << ", \"bar\": "
              << (s.bar ? "true" : "false") << ", \"errors\": " << s.errors << ", \"retries\": " << s.retries << ", \"queue\": "
              << s.queue << ", \"ofdma\": \"" << s.ofdma << "\", \"uplink\": \"" << s.uplink << "\", \"reports\": "
              << (s.reports ? "true" : "false") << ", \"txop\": " << s.txop << ", \"warmup\": " << s.warmup << ", \"duration\": " << s.duration << ", \"seed\": " << s.seed
              << ", \"cpu_s\": " << cpu << ", \"goodput_bps\": " << std::fixed << std::setprecision(0) << sum << ", \"stations_bps\": [";
    for (size_t i = 0; i < goodputs.size(); ++i)
    {
        std::cout << (i ? ", " : "") << goodputs[i];
    }
    std::cout << "]}" << std::endl;
}

} // namespace

int
main(int argc, char* argv[])
{
    Settings s;
    CommandLine command(__FILE__);
    command.AddValue("standard", "n, ac or ax", s.standard);
    command.AddValue("width", "MHz", s.width);
    command.AddValue("mcs", "index for one stream", s.mcs);
    command.AddValue("gi", "guard interval in ns", s.gi);
    command.AddValue("streams", "spatial streams", s.streams);
    command.AddValue("mpdus", "most MPDUs in an A-MPDU; 1 sends single frames", s.mpdus);
    command.AddValue("stations", "number of stations", s.stations);
    command.AddValue("transport", "udp, newreno, cubic or bbr", s.transport);
    command.AddValue("direction", "down or up", s.direction);
    command.AddValue("payload", "bytes of UDP payload; TCP has 1448", s.payload);
    command.AddValue("rts", "whether data follows RTS and CTS", s.rts);
    command.AddValue("bar", "whether a BlockAckReq follows a lost BlockAck", s.bar);
    command.AddValue("errors", "probability that an MPDU with a packet is in error", s.errors);
    command.AddValue("retries", "most attempts of an MPDU", s.retries);
    command.AddValue("queue", "packets in each MAC queue", s.queue);
    command.AddValue("warmup", "seconds before the measurement", s.warmup);
    command.AddValue("duration", "measured seconds", s.duration);
    command.AddValue("seed", "run number", s.seed);
    command.AddValue("ofdma", "acknowledgement of PPDUs to several stations: none, requests, trigger or aggregated-trigger", s.ofdma);
    command.AddValue("uplink", "how stations contend beside triggers: contend, mu or silent; none has no triggers", s.uplink);
    command.AddValue("reports", "whether each trigger for data follows one for reports", s.reports);
    command.AddValue("txop", "limit of a TXOP in us; 0 is one exchange", s.txop);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(s.seed);
    if (s.transport != "udp")
    {
        Tcp(s);
    }

    NodeContainer hub(1);
    NodeContainer stations(s.stations);
    Place(hub, stations);
    NetDeviceContainer devices = Cell(s, hub, stations);
    InternetStackHelper internet;
    internet.Install(hub);
    internet.Install(stations);
    Ipv4AddressHelper ipv4("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer addresses = ipv4.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    NeighborCacheHelper().PopulateNeighborCache();
    ApplicationContainer sinks = Flows(s, hub.Get(0), stations, addresses);

    std::vector<uint64_t> before(s.stations);
    Simulator::Schedule(Seconds(s.warmup), [&] {
        for (uint32_t i = 0; i < s.stations; ++i)
        {
            before[i] = DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
        }
    });
    Simulator::Stop(Seconds(s.warmup + s.duration));
    const clock_t began = clock();
    Simulator::Run();
    const double cpu = double(clock() - began) / CLOCKS_PER_SEC;
    std::vector<double> goodputs;
    for (uint32_t i = 0; i < s.stations; ++i)
    {
        goodputs.push_back((DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx() - before[i]) * 8 / s.duration);
    }
    Print(s, cpu, goodputs);
    Simulator::Destroy();
    return 0;
}
