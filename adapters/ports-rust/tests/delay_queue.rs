//! For tokio-util: a DelayQueue that was polled, and had no item for a long time. Its clock is paused.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio_util::time::DelayQueue;

/// The longest delay of a queue: 2^36 - 1 ms, which is 2.2 years.
const LONGEST_MS: u64 = (1 << 36) - 1;

fn takes_an_item_after(idle_ms: u64) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(polled_and_idle(Duration::from_millis(idle_ms)));
}

async fn polled_and_idle(time: Duration) {
    let mut queue = DelayQueue::new();
    poll_fn(|context| {
        assert!(matches!(queue.poll_expired(context), Poll::Ready(None)));
        Poll::Ready(())
    })
    .await;
    tokio::time::advance(time).await;
    queue.insert("item", Duration::from_millis(1));
    assert_eq!(queue.len(), 1);
}

#[test]
fn takes_an_item_after_two_years_without_one() {
    takes_an_item_after(LONGEST_MS);
}

/// This one passes.
#[test]
fn takes_an_item_after_a_year_without_one() {
    takes_an_item_after(LONGEST_MS / 2);
}
