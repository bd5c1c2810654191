// CUBIC beside BBR through one queue with FQ-CoDel: the path of scenarios/validation/linux-shared.toml in ns-3.
//
//     python bench/peers/ns3/build.py shared FOLDER
//     FOLDER/shared LIMIT RUN
//
// prints the goodput in Mbit/s of CUBIC and of BBR from 5 to 20 s. Each sends from a host of its own, whose wire to the
// router costs next to nothing, and BBR begins 10 ms later; RUN shifts both.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace ns3;

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: shared LIMIT RUN\n");
    return 2;
  }
  const std::string limit = std::string(argv[1]) + "p";
  const int run = std::atoi(argv[2]);
  const double warmup = 5.0, end = 20.0;
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));

  NodeContainer hosts, router, sink;
  hosts.Create(2);
  router.Create(1);
  sink.Create(1);
  InternetStackHelper().Install(NodeContainer(hosts, router, sink));
  PointToPointHelper near, far;
  near.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
  near.SetChannelAttribute("Delay", StringValue("0ms"));
  far.SetDeviceAttribute("DataRate", StringValue("20Mbps"));
  far.SetChannelAttribute("Delay", StringValue("10ms"));
  far.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));

  Ipv4AddressHelper addresses;
  for (int i = 0; i < 2; ++i) {
    addresses.SetBase(("10.0." + std::to_string(i) + ".0").c_str(), "255.255.255.0");
    addresses.Assign(near.Install(hosts.Get(i), router.Get(0)));
  }
  NetDeviceContainer path = far.Install(router.Get(0), sink.Get(0));
  TrafficControlHelper queue;
  queue.SetRootQueueDisc("ns3::FqCoDelQueueDisc", "MaxSize", StringValue(limit), "Target", StringValue("20ms"));
  queue.Install(path.Get(0));
  addresses.SetBase("10.0.2.0", "255.255.255.0");
  const Ipv4Address to = addresses.Assign(path).GetAddress(1);
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();

  const char *laws[] = {"ns3::TcpCubic", "ns3::TcpBbr"};
  std::vector<Ptr<PacketSink>> sinks;
  for (int i = 0; i < 2; ++i) {
    hosts.Get(i)->GetObject<TcpL4Protocol>()->SetAttribute("SocketType", TypeIdValue(TypeId::LookupByName(laws[i])));
    const Address address = InetSocketAddress(to, 5000 + i);
    sinks.push_back(PacketSinkHelper("ns3::TcpSocketFactory", address).Install(sink).Get(0)->GetObject<PacketSink>());
    ApplicationContainer bulk = BulkSendHelper("ns3::TcpSocketFactory", address).Install(hosts.Get(i));
    bulk.Start(Seconds(0.01 * (1 + 0.37 * run + i)));
  }
  std::vector<double> before;
  Simulator::Stop(Seconds(warmup));
  Simulator::Run();
  for (const auto &one : sinks) before.push_back(double(one->GetTotalRx()));
  Simulator::Stop(Seconds(end - warmup));
  Simulator::Run();
  for (int i = 0; i < 2; ++i)
    std::printf("%.3f%c", 8e-6 * (double(sinks[i]->GetTotalRx()) - before[i]) / (end - warmup), i ? '\n' : ' ');
  Simulator::Destroy();
  return 0;
}
