// The cases of bench/ that ns-3 can run: wired paths, and stations of 802.11, 802.11b and 802.11a.
// Usage: legacy SECONDS path LOSS | wifi | chain HOPS | access-point STATIONS | cells CELLS STATIONS
// Prints "delivered N", packets of 1000 bytes at the sinks; with FRAMES in the environment also "frames N".
//
// Rates, sizes, windows, queues and positions are those of the scripts of ns-2 beside this folder. ns-3 has no Tahoe:
// the hop with RTS has NewReno. On the wired path NewReno has SACK: without it, ns-3 stays at 1.4 Mbit/s of 5 where
// nothing is lost at random. Stations receive what they sense: there is one threshold, that of ns-2's carrier sense.

#include <cmath>
#include <cstdlib>
#include <iostream>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

using namespace ns3;

namespace
{

constexpr uint32_t PACKET = 1000;
constexpr uint16_t PORT = 5000;
uint64_t g_frames = 0;

void
Count(Ptr<const Packet>, double)
{
    ++g_frames;
}

// An acknowledgement for each segment, as with ns-2's plain agents.
void
Tcp(uint32_t window, double leastTimeout, bool sack)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpNewReno")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PACKET));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window * PACKET));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window * PACKET));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    if (!sack)
    {
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpClassicRecovery")));
    }
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(leastTimeout)));
}

void
Bulk(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, uint16_t port, ApplicationContainer& sinks)
{
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(address, port));
    bulk.SetAttribute("SendSize", UintegerValue(PACKET));
    bulk.Install(from).Start(Seconds(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sinks.Add(sink.Install(to));
}

void
Path(double loss, ApplicationContainer& sinks)
{
    Tcp(2000, 0.2, true);
    NodeContainer nodes(4);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper ipv4("10.0.0.0", "255.255.255.0");
    const std::vector<std::pair<std::string, std::string>> links = {{"100Mbps", "5ms"}, {"5Mbps", "40ms"}, {"10Mbps", "10us"}};
    Ipv4InterfaceContainer last;
    for (size_t i = 0; i < links.size(); ++i)
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(links[i].first));
        link.SetChannelAttribute("Delay", StringValue(links[i].second));
        link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("99p"));
        NetDeviceContainer devices = link.Install(nodes.Get(i), nodes.Get(i + 1));
        last = ipv4.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
        ipv4.NewNetwork();
        if (i == 2 && loss > 0)
        {
            auto errors = CreateObject<RateErrorModel>();
            errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            errors->SetRate(loss);
            devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Bulk(nodes.Get(0), nodes.Get(3), last.GetAddress(1), PORT, sinks);
}

struct Radio
{
    NodeContainer nodes;
    Ipv4InterfaceContainer addresses;
};

// Stations at these places with ns-2's radio and queues of 50 packets.
Radio
Stations(WifiStandard standard, const std::string& data, const std::string& control, bool rts, const std::vector<Vector>& places)
{
    Radio radio;
    radio.nodes.Create(places.size());
    WifiHelper wifi;
    wifi.SetStandard(standard);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(data), "ControlMode", StringValue(control),
                                 "RtsCtsThreshold", UintegerValue(rts ? 0 : 4692480));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("50p"));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel", "Frequency", DoubleValue(914e6), "HeightAboveZ", DoubleValue(1.5));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(24.5));
    phy.Set("TxPowerEnd", DoubleValue(24.5));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(-78.07));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    NetDeviceContainer devices = wifi.Install(phy, mac, radio.nodes);
    auto positions = CreateObject<ListPositionAllocator>();
    for (const Vector& place : places)
    {
        positions->Add(place);
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(radio.nodes);
    InternetStackHelper().Install(radio.nodes);
    radio.addresses = Ipv4AddressHelper("10.0.0.0", "255.255.0.0").Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    NeighborCacheHelper().PopulateNeighborCache();
    if (std::getenv("FRAMES"))
    {
        for (uint32_t i = 0; i < devices.GetN(); ++i)
        {
            DynamicCast<WifiNetDevice>(devices.Get(i))->GetPhy()->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Count));
        }
    }
    return radio;
}

Vector
OnCircle(double x, uint32_t place, uint32_t places)
{
    const double turn = 2 * M_PI * place / places;
    return Vector(x + 20 * std::cos(turn), 20 * std::sin(turn), 0);
}

void
Chain(uint32_t hops, double step, ApplicationContainer& sinks)
{
    Tcp(20, 1, false);
    std::vector<Vector> places;
    for (uint32_t i = 0; i <= hops; ++i)
    {
        places.emplace_back(step * i, 0, 0);
    }
    Radio radio = Stations(WIFI_STANDARD_80211b, "DsssRate1Mbps", "DsssRate1Mbps", true, places);
    Ipv4StaticRoutingHelper routing;
    for (uint32_t i = 0; i <= hops; ++i)
    {
        auto routes = routing.GetStaticRouting(radio.nodes.Get(i)->GetObject<Ipv4>());
        for (uint32_t end : {0U, hops})
        {
            if (end != i && end + 1 != i && end != i + 1)
            {
                routes->AddHostRouteTo(radio.addresses.GetAddress(end), radio.addresses.GetAddress(end < i ? i - 1 : i + 1), 1);
            }
        }
    }
    Bulk(radio.nodes.Get(0), radio.nodes.Get(hops), radio.addresses.GetAddress(hops), PORT, sinks);
}

void
AccessPoint(uint32_t stations, ApplicationContainer& sinks)
{
    Tcp(20, 1, false);
    std::vector<Vector> places = {Vector(0, 0, 0)};
    for (uint32_t i = 0; i < stations; ++i)
    {
        places.push_back(OnCircle(0, i, stations));
    }
    Radio radio = Stations(WIFI_STANDARD_80211a, "OfdmRate6Mbps", "OfdmRate6Mbps", false, places);
    for (uint32_t i = 1; i <= stations; ++i)
    {
        Bulk(radio.nodes.Get(0), radio.nodes.Get(i), radio.addresses.GetAddress(i), PORT + i, sinks);
    }
}

// Sends datagrams as a Poisson process.
void
Send(Ptr<Socket> socket, Ptr<ExponentialRandomVariable> pause)
{
    socket->Send(Create<Packet>(PACKET));
    Simulator::Schedule(Seconds(pause->GetValue()), &Send, socket, pause);
}

void
Cells(uint32_t cells, uint32_t stations, ApplicationContainer& sinks)
{
    std::vector<Vector> places;
    for (uint32_t cell = 0; cell < cells; ++cell)
    {
        places.emplace_back(20000.0 * cell, 0, 0);
        for (uint32_t i = 0; i < stations; ++i)
        {
            places.push_back(OnCircle(20000.0 * cell, i, stations));
        }
    }
    Radio radio = Stations(WIFI_STANDARD_80211b, "DsssRate11Mbps", "DsssRate1Mbps", false, places);
    auto pause = CreateObject<ExponentialRandomVariable>();
    pause->SetAttribute("Mean", DoubleValue(0.5));
    for (uint32_t cell = 0; cell < cells; ++cell)
    {
        const uint32_t hub = cell * (stations + 1);
        PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
        sinks.Add(sink.Install(radio.nodes.Get(hub)));
        for (uint32_t i = 1; i <= stations; ++i)
        {
            auto socket = Socket::CreateSocket(radio.nodes.Get(hub + i), UdpSocketFactory::GetTypeId());
            socket->Connect(InetSocketAddress(radio.addresses.GetAddress(hub), PORT));
            Simulator::Schedule(Seconds(pause->GetValue()), &Send, socket, pause);
        }
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    if (argc < 3)
    {
        std::cerr << "expected SECONDS and a case" << std::endl;
        return 2;
    }
    const std::string name = argv[2];
    const auto number = [&](int place) { return argc > place ? std::atof(argv[place]) : 0.0; };
    ApplicationContainer sinks;
    if (name == "path")
    {
        Path(number(3), sinks);
    }
    else if (name == "wifi")
    {
        Chain(1, 100, sinks);
    }
    else if (name == "chain")
    {
        Chain(number(3), 200, sinks);
    }
    else if (name == "access-point")
    {
        AccessPoint(number(3), sinks);
    }
    else if (name == "cells")
    {
        Cells(number(3), number(4), sinks);
    }
    else
    {
        std::cerr << name << ": unknown case" << std::endl;
        return 2;
    }
    Simulator::Stop(Seconds(number(1)));
    Simulator::Run();
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < sinks.GetN(); ++i)
    {
        bytes += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
    }
    std::cout << "delivered " << bytes / PACKET << std::endl;
    if (std::getenv("FRAMES"))
    {
        std::cout << "frames " << g_frames << std::endl;
    }
    Simulator::Destroy();
    return 0;
}
