//! Bad input, one test each: the whole message is the expectation.

mod files;
mod keys;
mod names;
mod values;

use super::{changed, extended, line_of, read};

/// The message for a text.
fn message(text: &str) -> String {
    match read(text) {
        Ok(_) => "no error".to_string(),
        Err(error) => error.to_string(),
    }
}

/// Checks that a text is refused with this message on the line of `piece`.
fn refused(text: &str, piece: &str, expected: &str) {
    assert_eq!(message(text), format!("x.toml:{}: {expected}", line_of(text, piece)));
}

/// Checks the message for [`BASE`](super::BASE) with `from` replaced by `to`, on the line of `to`.
fn refused_change(from: &str, to: &str, expected: &str) {
    refused(&changed(from, to), to, expected);
}

#[test]
fn all_faults_are_told_at_once_in_the_order_of_the_file() {
    let text = changed("5 Mbit/s", "5").replace("40 ms", "40").replace("1 %", "1");
    assert_eq!(
        message(&text),
        "x.toml:14: links.a-b.rate: \"5\" has no unit; expected a rate such as \"5 Mbit/s\"\n\
         x.toml:15: links.a-b.delay: \"40\" has no unit; expected a time such as \"40 ms\"\n\
         x.toml:21: links.b-c.loss.rate: \"1\" has no unit; expected a percentage such as \"1 %\""
    );
}

#[test]
fn at_most_ten_faults_are_listed() {
    let wrong: Vec<String> = (0..25).map(|index| format!("[links.a-b.wrong{index}]")).collect();
    let message = message(&extended(&wrong.join("\n")));
    assert_eq!(message.lines().count(), 11);
    assert!(message.ends_with("x.toml: 15 more errors like these"), "{message}");
}
