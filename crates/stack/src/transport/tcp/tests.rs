//! Two connections over a wire that the test holds in its hands.
