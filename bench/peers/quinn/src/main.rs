//! One end of a bulk transfer by quinn, configured as `flows.NAME.quic` configures it by default.
//!
//!     quinn-peer server PORT WARMUP SECONDS
//!     quinn-peer client HOST:PORT SECONDS cubic|newreno
//!
//! The client sends one stream for SECONDS. The server prints the bits per second that it reads between WARMUP and SECONDS
//! after the handshake.

use std::env;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use quinn::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use rcgen::{CertifiedKey, KeyPair, PKCS_ED25519};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use tokio::time::{Instant, timeout_at};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["server", port, warmup, seconds] => serve(port.parse()?, span(warmup)?, span(seconds)?).await,
        ["client", server, seconds, law] => {
            let address = server.to_socket_addrs()?.next().ok_or("the server has no address")?;
            send(address, span(seconds)?, law).await
        }
        _ => Err("expected server PORT WARMUP SECONDS, or client HOST:PORT SECONDS LAW".into()),
    }
}

fn span(seconds: &str) -> Outcome<Duration> {
    Ok(Duration::from_secs_f64(seconds.parse()?))
}

fn transport(law: &str) -> Outcome<Arc<TransportConfig>> {
    let law: Arc<dyn ControllerFactory + Send + Sync> = match law {
        "cubic" => Arc::new(CubicConfig::default()),
        "newreno" => Arc::new(NewRenoConfig::default()),
        _ => return Err("unknown law; expected cubic or newreno".into()),
    };
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(law);
    Ok(Arc::new(transport))
}

async fn serve(port: u16, warmup: Duration, end: Duration) -> Outcome<()> {
    let signing_key = KeyPair::generate_for(&PKCS_ED25519)?;
    let cert = rcgen::CertificateParams::new(vec!["server".into()])?.self_signed(&signing_key)?;
    let CertifiedKey { cert, signing_key } = CertifiedKey { cert, signing_key };
    let key = PrivateKeyDer::try_from(signing_key.serialize_der())?;
    let mut config = ServerConfig::with_single_cert(vec![cert.der().clone()], key)?;
    config.transport_config(transport("cubic")?);
    let endpoint = Endpoint::server(config, SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))?;
    let connection = endpoint.accept().await.ok_or("the endpoint is closed")?.await?;
    let begin = Instant::now();
    let mut stream = connection.accept_uni().await?;
    let mut bytes = 0;
    for (until, counts) in [(begin + warmup, false), (begin + end, true)] {
        while let Ok(read) = timeout_at(until, stream.read_chunk(usize::MAX, true)).await {
            match read? {
                Some(chunk) if counts => bytes += chunk.bytes.len(),
                Some(_) => {}
                None => break,
            }
        }
    }
    println!("{:.0}", bytes as f64 * 8.0 / (end - warmup).as_secs_f64());
    connection.close(0_u32.into(), b"");
    endpoint.wait_idle().await;
    Ok(())
}

async fn send(server: SocketAddr, seconds: Duration, law: &str) -> Outcome<()> {
    let mut endpoint = Endpoint::client(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)))?;
    let tls = rustls::ClientConfig::builder()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone))
        .with_no_client_auth();
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport(law)?);
    endpoint.set_default_client_config(config);
    let connection = endpoint.connect(server, "server")?.await?;
    let until = Instant::now() + seconds;
    let mut stream = connection.open_uni().await?;
    let data = [0; 1 << 14];
    // The server closes the connection when it has measured.
    while let Ok(Ok(())) = timeout_at(until + Duration::from_secs(2), stream.write_all(&data)).await {}
    Ok(())
}

/// Accepts each certificate: the peer is in the same scenario.
#[derive(Debug)]
struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer,
        _: &[CertificateDer],
        _: &ServerName,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}
