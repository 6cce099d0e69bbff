// When the loop of a queue begins a round.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueueLoop } from './queue-loop.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { HOUR_MS } from '../runtime/durations.ts'

const onError = (error: unknown) => assert.fail(String(error))

test('waking the loop starts a round, also when it is woken during the previous round', async () => {
  let rounds = 0
  const finish = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()]
  const loop = new QueueLoop({ round: () => finish[rounds++]!.promise, poll_ms: HOUR_MS, pace_ms: 1, onError })
  loop.start()
  loop.wake()
  finish[0]!.resolve(false)
  await eventually(() => rounds === 2)
  finish[1]!.resolve(false)
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(rounds, 2)
  loop.wake()
  await eventually(() => rounds === 3)
  finish[2]!.resolve(false)
  await loop.stop()
})

test('rounds follow while there is more to do, and after the interval without being woken', async () => {
  let rounds = 0
  const loop = new QueueLoop({ round: async () => ++rounds < 3, poll_ms: 5, pace_ms: 1, onError })
  loop.start()
  await eventually(() => rounds > 5)
  await loop.stop()
})

test('an urgent wake does not wait for the pause after a round that found nothing', async () => {
  let rounds = 0
  const loop = new QueueLoop({
    round: async () => ++rounds === 0,
    poll_ms: HOUR_MS,
    pace_ms: 1,
    idle_pace_ms: HOUR_MS,
    onError,
  })
  loop.start()
  await eventually(() => rounds === 1)
  loop.wake(true)
  await eventually(() => rounds === 2)
  await loop.stop()
})

test('a failed round is reported and followed by another; stopping does not wait for a pause', async () => {
  const errors: unknown[] = []
  let rounds = 0
  const loop = new QueueLoop({
    round: async () => {
      if (++rounds === 1) throw new Error('as planned')
      return false
    },
    poll_ms: HOUR_MS,
    pace_ms: 1,
    onError: (error) => errors.push(error),
  })
  loop.start()
  loop.wake()
  await eventually(() => errors.length === 1)
  loop.wake()
  await eventually(() => rounds === 2)
  await loop.stop()
  assert.equal(errors.length, 1)
})
