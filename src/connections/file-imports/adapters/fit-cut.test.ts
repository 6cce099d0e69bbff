// FIT files that end too early, and records in the time of no session.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileId, fitBytes } from '../../../../test/support/fit-files.ts'
import { MINUTES, read, record, RUN, session, times, whole } from '../../../../test/support/fit-runs.ts'
import { documents, reading, values } from '../../../../test/support/file-imports.ts'

describe('a FIT file that ends too early', () => {
  const messages = [fileId(), ...MINUTES.map((minute) => record(minute)), session(whole)]
  const file = fitBytes(messages)

  test('is imported as far as its messages are whole, and has an error', async () => {
    // Without the session, and with half of the last record.
    const size = fitBytes(messages.slice(0, 11)).length - 2
    for (const cut of [file.subarray(0, size), file.subarray(0, size + 4)]) {
      const { summaries, samples, error } = await reading(cut)
      const [workout] = documents(summaries.workouts ?? [])
      assert.equal(error, 'truncated')
      assert.deepEqual([workout!.time_start, workout!.time_end], [RUN[0], '2026-02-01T06:09:00+00:00'])
      assert.equal(samples.heartrate!.length, 10)
    }
  })

  test('may have a size of 0, as a device leaves it that has stopped', async () => {
    const stopped = Buffer.from(file.subarray(0, -2))
    stopped.writeUInt32LE(0, 4)
    const { summaries, error } = await reading(stopped)
    assert.deepEqual([times(documents(summaries.workouts ?? [])), error], [RUN, 'truncated'])
  })

  test('has an error wherever it is cut, and never a value that the whole file does not have', async () => {
    for (let size = 1; size < file.length; size += 3) {
      const { samples, summaries, error } = await reading(file.subarray(0, size))
      assert(error !== null, String(size))
      assert(values(samples.heartrate).every((bpm) => bpm === 120))
      assert((summaries.workouts ?? []).length <= 1)
    }
  })

  test('after whole ones leaves these as they are', async () => {
    const { summaries, error } = await reading(Buffer.concat([file, file.subarray(0, 40)]))
    assert.deepEqual([times(documents(summaries.workouts ?? [])), error], [RUN, 'truncated'])
  })
})

describe('records of a FIT file', () => {
  test('that lie in no session are counted', async () => {
    const later = Array.from({ length: 5 }, (_, i) => record(30 + i))
    const { shown, rates, skipped } = await read([fileId(), ...MINUTES.map((minute) => record(minute)), ...later, session(whole)])
    assert.deepEqual([times(shown), rates.length], [RUN, 11])
    assert.deepEqual(skipped, { no_session: { record: 5 } })
  })
})
