//! For hierarchical_hash_wheel_timer: delays around the turn of the whole wheel, of 2^32 ms.

use std::time::Duration;

use hierarchical_hash_wheel_timer::IdOnlyTimerEntry;
use hierarchical_hash_wheel_timer::wheels::cancellable::QuadWheelWithOverflow;

const TURN_MS: u64 = 1 << 32;

fn takes_a_delay_of(delay_ms: u64) {
    let mut wheel = QuadWheelWithOverflow::new();
    let entry = IdOnlyTimerEntry::new("task", Duration::from_millis(delay_ms));
    assert!(wheel.insert(entry).is_ok());
}

#[test]
fn takes_a_delay_of_a_turn_less_one() {
    takes_a_delay_of(TURN_MS - 1);
}

/// These two pass.
#[test]
fn takes_a_delay_of_a_turn_less_two() {
    takes_a_delay_of(TURN_MS - 2);
}

#[test]
fn takes_a_delay_of_a_turn() {
    takes_a_delay_of(TURN_MS);
}
