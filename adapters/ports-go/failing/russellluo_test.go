// For RussellLuo/timingwheel: a wheel of one bucket. The stack that overflows ends the whole process.
package failing

import (
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/RussellLuo/timingwheel"
)

func runsAfterATick(t *testing.T, wheelSize int64) {
	debug.SetMaxStack(64 << 20) // The recursion has no end: find it before it takes a gigabyte.
	synctest.Test(t, func(t *testing.T) {
		wheel := timingwheel.NewTimingWheel(time.Millisecond, wheelSize)
		wheel.Start()
		defer wheel.Stop()
		ran := false
		wheel.AfterFunc(time.Millisecond, func() { ran = true })
		time.Sleep(3 * time.Millisecond)
		synctest.Wait()
		if !ran {
			t.Error("the task has not run")
		}
	})
}

func TestWheelOfOneBucketRunsATask(t *testing.T) { runsAfterATick(t, 1) }

// This one passes.
func TestWheelOfTwoBucketsRunsATask(t *testing.T) { runsAfterATick(t, 2) }
