// For go-zero, core/collection: a timer that is set again runs when the last call says. The clock of
// the bubble moves only while all goroutines wait, so these tests depend on no machine.
package failing

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeromicro/go-zero/core/collection"
)

// ranAfter sets a task twice at the same moment, and returns how long after the second call it ran.
func ranAfter(t *testing.T, moment, first, second time.Duration) time.Duration {
	t.Helper()
	var set time.Time
	ran := time.Duration(-1)
	wheel, err := collection.NewTimingWheel(time.Millisecond, 100, func(_, _ any) {
		ran = time.Since(set)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer wheel.Stop()
	time.Sleep(moment)
	synctest.Wait()
	set = time.Now()
	for _, delay := range []time.Duration{first, second} {
		if err := wheel.SetTimer("task", "value", delay); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(time.Second)
	synctest.Wait()
	return ran
}

func TestTimerThatIsSetToRunSoonerIsNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if ran := ranAfter(t, 50*time.Millisecond, 60*time.Millisecond, 30*time.Millisecond); ran != 30*time.Millisecond {
			t.Errorf("set to run after 30ms, the task ran after %v", ran)
		}
	})
}

func TestTimerThatIsSetToRunLaterIsNotEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if ran := ranAfter(t, 91*time.Millisecond, 5*time.Millisecond, 120*time.Millisecond); ran != 120*time.Millisecond {
			t.Errorf("set to run after 120ms, the task ran after %v", ran)
		}
	})
}

// This one passes: the slots have the order in which the ticks come.
func TestTimerThatIsSetOnceIsOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if ran := ranAfter(t, 50*time.Millisecond, 30*time.Millisecond, 30*time.Millisecond); ran != 30*time.Millisecond {
			t.Errorf("set to run after 30ms, the task ran after %v", ran)
		}
	})
}
