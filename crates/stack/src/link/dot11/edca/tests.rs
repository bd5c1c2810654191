//! Tests of EDCA.
