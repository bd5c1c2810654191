// One 802.11be access point and stations with one or several links in ns-3: saturated UDP down or up.
// Usage: links --links=2 --width=80 --mcs=13 --mpdus=256 --stations=1 --direction=down ...
// Prints one JSON object: settings, seconds of CPU, goodput of all stations in bit/s over the measured time.
//
// The first link is at 5 GHz, the others at 6 GHz. All links have the same width and MCS. Stations are 0.5 m from the access
// point, as in cell.cc. The default of ns-3 is simultaneous transmission and reception on all links; with --emlsr stations have
// one radio for all (AdvancedEmlsrManager), which changes links in no time; what listens on the other links hears them meanwhile.

#include <ctime>
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

int
main(int argc, char* argv[])
{
    uint32_t links = 1;
    uint32_t width = 80;
    uint32_t mcs = 13;
    uint32_t mpdus = 256;
    uint32_t stations = 1;
    std::string direction = "down";
    double warmup = 1;
    double duration = 1;
    uint32_t seed = 1;
    bool emlsr = false;
    uint32_t padding = 0;
    uint32_t transition = 0;
    CommandLine command(__FILE__);
    command.AddValue("links", "1 to 3", links);
    command.AddValue("width", "MHz", width);
    command.AddValue("mcs", "of all links", mcs);
    command.AddValue("mpdus", "most MPDUs in an A-MPDU", mpdus);
    command.AddValue("stations", "number of stations", stations);
    command.AddValue("direction", "down or up", direction);
    command.AddValue("warmup", "seconds before the measurement", warmup);
    command.AddValue("duration", "measured seconds", duration);
    command.AddValue("seed", "run number", seed);
    command.AddValue("emlsr", "whether stations have one radio for all links", emlsr);
    command.AddValue("padding", "of the MU-RTS, us", padding);
    command.AddValue("transition", "delay after an exchange, us", transition);
    command.Parse(argc, argv);
    RngSeedManager::SetRun(seed);
    const uint32_t payload = 1472;
    Config::SetDefault("ns3::WifiMac::MpduBufferSize", UintegerValue(1024));
    Config::SetDefault("ns3::WifiMac::FrameRetryLimit", UintegerValue(7));
    Config::SetDefault("ns3::WifiMac::VO_MaxAmpduSize", UintegerValue(6500631));
    Config::SetDefault("ns3::WifiMac::BE_MaxAmpduSize", UintegerValue(mpdus * 1544));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, 4000)));

    NodeContainer hub(1);
    NodeContainer others(stations);
    auto positions = CreateObject<ListPositionAllocator>();
    positions->Add(Vector(0, 0, 0));
    for (uint32_t i = 0; i < stations; ++i)
    {
        const double angle = 2 * M_PI * i / stations;
        positions->Add(Vector(0.5 * std::cos(angle), 0.5 * std::sin(angle), 0));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(hub);
    mobility.Install(others);

    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211be);
    SpectrumWifiPhyHelper phy(links);
    const char* bands[] = {"{0, %u, BAND_5GHZ, 0}", "{0, %u, BAND_6GHZ, 0}", "{0, %u, BAND_2_4GHZ, 0}"};
    const FrequencyRange ranges[] = {WIFI_SPECTRUM_5_GHZ, WIFI_SPECTRUM_6_GHZ, WIFI_SPECTRUM_2_4_GHZ};
    for (uint32_t link = 0; link < links; ++link)
    {
        char settings[64];
        std::snprintf(settings, sizeof settings, bands[link], link == 2 ? std::min(width, 40u) : width);
        auto channel = CreateObject<MultiModelSpectrumChannel>();
        channel->AddPropagationLossModel(CreateObject<LogDistancePropagationLossModel>());
        channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
        phy.AddChannel(channel, ranges[link]);
        phy.Set(link, "ChannelSettings", StringValue(settings));
        wifi.SetRemoteStationManager(link,
                                     "ns3::ConstantRateWifiManager",
                                     "DataMode", StringValue("EhtMcs" + std::to_string(mcs)),
                                     "ControlMode", StringValue("OfdmRate24Mbps"),
                                     "RtsCtsThreshold", UintegerValue(4692480));
    }
    phy.Set("TxPowerStart", DoubleValue(23));
    phy.Set("TxPowerEnd", DoubleValue(23));
    if (emlsr)
    {
        wifi.ConfigEhtOptions("EmlsrActivated", BooleanValue(true));
    }
    WifiMacHelper mac;
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(Ssid("links")));
    NetDeviceContainer devices = wifi.Install(phy, mac, hub);
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(Ssid("links")), "MaxMissedBeacons", UintegerValue(1000000));
    if (emlsr)
    {
        std::set<uint64_t> all;
        for (uint32_t link = 0; link < links; ++link)
        {
            all.insert(link);
            phy.Set(link, "ChannelSwitchDelay", TimeValue(NanoSeconds(1)));
        }
        mac.SetEmlsrManager("ns3::AdvancedEmlsrManager",
                            "EmlsrLinkSet", AttributeContainerValue<UintegerValue>(all),
                            "EmlsrPaddingDelay", TimeValue(MicroSeconds(padding)),
                            "EmlsrTransitionDelay", TimeValue(MicroSeconds(transition)),
                            "AuxPhyChannelWidth", UintegerValue(width),
                            "AuxPhyMaxModClass", EnumValue(WIFI_MOD_CLASS_EHT),
                            "AuxPhyTxCapable", BooleanValue(true));
    }
    devices.Add(wifi.Install(phy, mac, others));
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        DynamicCast<WifiNetDevice>(devices.Get(i))->GetHeConfiguration()->SetGuardInterval(NanoSeconds(800));
    }
    InternetStackHelper internet;
    internet.Install(hub);
    internet.Install(others);
    Ipv4AddressHelper ipv4("10.0.0.0", "255.255.0.0");
    Ipv4InterfaceContainer addresses = ipv4.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    NeighborCacheHelper().PopulateNeighborCache();

    const double offered = 1.2 * links * 7.2e6 * width * 1.25;
    ApplicationContainer sinks;
    for (uint32_t i = 0; i < stations; ++i)
    {
        const bool isDown = direction == "down";
        PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000 + i));
        sinks.Add(sink.Install(isDown ? others.Get(i) : hub.Get(0)));
        UdpClientHelper udp(addresses.GetAddress(isDown ? i + 1 : 0), 5000 + i);
        udp.SetAttribute("PacketSize", UintegerValue(payload));
        udp.SetAttribute("MaxPackets", UintegerValue(0));
        const double share = stations == 1 ? 1 : 2.0 / stations;
        udp.SetAttribute("Interval", TimeValue(Seconds(payload * 8 / (offered * share))));
        udp.Install(isDown ? hub.Get(0) : others.Get(i)).Start(Seconds(0.7) + MicroSeconds(137 * i));
    }
    uint64_t before = 0;
    const auto received = [&] {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < stations; ++i)
        {
            sum += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
        }
        return sum;
    };
    Simulator::Schedule(Seconds(warmup), [&] { before = received(); });
    Simulator::Stop(Seconds(warmup + duration));
    const clock_t began = clock();
    Simulator::Run();
    const double cpu = double(clock() - began) / CLOCKS_PER_SEC;
    std::cout << "{\"links\": " << links << ", \"width\": " << width << ", \"mcs\": " << mcs << ", \"mpdus\": " << mpdus
              << ", \"stations\": " << stations << ", \"direction\": \"" << direction << "\", \"duration\": " << duration
              << ", \"seed\": " << seed << ", \"cpu_s\": " << cpu
              << ", \"goodput_mbps\": " << (received() - before) * 8 / duration / 1e6 << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
