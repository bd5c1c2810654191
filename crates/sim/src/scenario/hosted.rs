//! Congestion laws and agents of the host: names of scenarios that a program registers before it reads one.
//!
//! A hosted agent is an `agents.NAME.kind` like any other, without parameters; a hosted law is a `tcp.congestion` and a `tcp.variant` like any other, without parameters and counters. The list
//! belongs to the process. A law that is registered again replaces the earlier one of its name. Scenarios that were
//! read before have the new law in their next run, and another key for their stored results.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use super::nearest::unknown;
use super::value::Value;
use lasthop_stack::registry::{AgentKind, CongestionKind, Custom, CustomAgentConfig, RecoveryKind, variant};

/// A law of the host.
#[derive(Clone, Debug)]
pub struct HostedLaw {
    /// What scenarios call it.
    pub name: String,
    /// The recovery of the variant of its name.
    pub recovery: RecoveryKind,
    /// An identity that distinguishes it from other laws of its name, such as a hash of its source.
    pub identity: String,
    /// How a connection makes it.
    pub law: Custom,
}

/// An agent of the host.
#[derive(Clone, Debug)]
pub struct HostedAgent {
    /// What scenarios call it: `agents.NAME.kind`.
    pub name: String,
    /// An identity that distinguishes it from other agents of its name.
    pub identity: String,
    /// How it is made for an interface, and what it needs there.
    pub agent: CustomAgentConfig,
}

#[derive(Debug)]
struct Entry {
    law: HostedLaw,
    name: &'static str,
    congestion: &'static Value,
    recovery: &'static Value,
}

static LAWS: RwLock<BTreeMap<String, Entry>> = RwLock::new(BTreeMap::new());
static AGENTS: RwLock<BTreeMap<&'static str, HostedAgent>> = RwLock::new(BTreeMap::new());
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Registers a law under its name.
///
/// # Errors
/// The name is not one, or a law of lasthop has it.
pub fn register(law: HostedLaw) -> Result<(), String> {
    let name = law.name.as_str();
    expect_name(name, "my-law")?;
    if CongestionKind::named(name).is_some() || variant(name).is_some() {
        return Err(format!("\"{name}\" is a law or variant of lasthop; expected another name"));
    }
    let mut laws = LAWS.write().unwrap_or_else(PoisonError::into_inner);
    let known = laws.get(name).filter(|entry| entry.law.recovery == law.recovery);
    let (name, congestion, recovery) = match known {
        Some(entry) => (entry.name, entry.congestion, entry.recovery),
        // Names of the table of keys are static: those of hosted laws stay in memory, once each.
        None => (&*law.name.clone().leak(), leaked(name), leaked(law.recovery.entry().name)),
    };
    laws.insert(name.to_string(), Entry { law, name, congestion, recovery });
    GENERATION.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Registers an agent under its name, in place of an earlier one that has it.
///
/// # Errors
/// The name is not one, or an agent of lasthop has it.
pub fn register_agent(agent: HostedAgent) -> Result<(), String> {
    let name = agent.name.as_str();
    expect_name(name, "my-agent")?;
    if AgentKind::named(name).is_some() {
        return Err(format!("\"{name}\" is an agent of lasthop; expected another name"));
    }
    let mut agents = AGENTS.write().unwrap_or_else(PoisonError::into_inner);
    let known = agents.get_key_value(name).map(|(known, _)| *known);
    agents.insert(known.unwrap_or_else(|| agent.name.clone().leak()), agent);
    GENERATION.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// The agent of this name.
#[must_use]
pub fn hosted_agent(name: &str) -> Option<HostedAgent> {
    AGENTS.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
}

/// The names of all agents, in the order of the alphabet.
#[must_use]
pub fn agent_names() -> Vec<&'static str> {
    AGENTS.read().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
}

fn expect_name(name: &str, example: &str) -> Result<(), String> {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.bytes().all(legal) && name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return Ok(());
    }
    Err(format!("\"{name}\"; expected a name of lower-case letters, digits and hyphens such as {example}"))
}

/// Forgets the law of this name; false where there is none. A scenario that names it cannot be read any more.
pub fn forget(name: &str) -> bool {
    let mut laws = LAWS.write().unwrap_or_else(PoisonError::into_inner);
    GENERATION.fetch_add(1, Ordering::Relaxed);
    laws.remove(name).is_some()
}

fn leaked(word: &str) -> &'static Value {
    Box::leak(Box::new(Value::Text(word.to_string())))
}

/// Counts the registrations: what was built before another one may have an earlier law.
#[must_use]
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// The law of this name.
///
/// # Errors
/// No law of the host has it.
pub fn hosted(name: &str) -> Result<HostedLaw, String> {
    with(name, |entry| entry.law.clone()).ok_or_else(|| unknown("law of the host", name, &names()))
}

/// All names, in the order of the alphabet.
#[must_use]
pub fn names() -> Vec<&'static str> {
    LAWS.read().unwrap_or_else(PoisonError::into_inner).values().map(|entry| entry.name).collect()
}

/// The recovery and the law of the variant that has the name of a hosted law.
pub(super) fn of_variant(name: &str) -> Option<(&'static Value, &'static Value)> {
    with(name, |entry| (entry.recovery, entry.congestion))
}

fn with<T>(name: &str, of: impl FnOnce(&Entry) -> T) -> Option<T> {
    LAWS.read().unwrap_or_else(PoisonError::into_inner).get(name).map(of)
}
