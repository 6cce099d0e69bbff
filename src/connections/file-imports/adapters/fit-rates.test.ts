// Heart rates that a strap stored and handed over at the end.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileId, type FitMessage } from '../../../../test/support/fit-files.ts'
import { list, MINUTES, read, record, session, START, T, whole } from '../../../../test/support/fit-runs.ts'
import { values } from '../../../../test/support/file-imports.ts'

describe('heart rates that a strap has stored', () => {
  const records = MINUTES.map((minute): FitMessage => ({
    kind: 20,
    fields: [
      [253, 'uint32', T + minute * 60],
      [5, 'uint32', minute * 5000],
    ],
  }))
  const rest = [...records, session(whole)]
  const anchor = (count: number): FitMessage => ({
    kind: 132,
    fields: [
      [253, 'uint32', T],
      [0, 'uint16', 16_384],
      [6, 'uint8', 100],
      [9, 'uint32', count],
    ],
  })
  /** Twelve bits of each count, two in three bytes. */
  const packed = (counts: number[]): Buffer =>
    Buffer.from(
      Array.from({ length: counts.length / 2 }, (_, i) => {
        const [a, b] = [counts[2 * i]! & 0xfff, counts[2 * i + 1]! & 0xfff]
        return [a & 0xff, (a >> 8) | ((b & 0xf) << 4), b >> 4]
      }).flat(),
    )

  test('are samples and part of the stream, by the counts of the strap, which begin again', async () => {
    // Half a second after the start, 3.5 s before the counter of 32 bits begins again; then every three quarters of a second.
    const from = 2 ** 32 - 3584
    const counts = Array.from({ length: 8 }, (_, i) => from + (i + 1) * 768)
    const stored: FitMessage = {
      kind: 132,
      fields: [
        [6, 'uint8', [101, 102, 103, 104, 105, 106, 107, 255]],
        [10, 'byte', packed(counts)],
      ],
    }
    const { rates, workouts } = await read([fileId(), ...rest, anchor(from), stored])
    const seconds = [0, 1, 2, 2, 3, 4, 5, 5]
    assert.deepEqual(
      rates.map(({ at_ms, value }) => [at_ms / 1000 - Date.parse(START) / 1000, value]),
      seconds.map((second, i) => [second, 100 + i]),
    )
    assert.deepEqual(list(workouts[0], 'heartrate')!.slice(0, 6), [100, 101, 103, 104, 105, 107])
    const whole_counts: FitMessage = {
      kind: 132,
      fields: [
        [6, 'uint8', [110, 120]],
        [9, 'uint32', [512, 512 + 61_440]],
      ],
    }
    const again = await read([fileId(), ...rest, anchor(from), whole_counts])
    assert.deepEqual(
      again.rates.map(({ at_ms, value }) => [at_ms / 1000 - Date.parse(START) / 1000, value]),
      [
        [0, 100],
        [4, 110],
        [64, 120],
      ],
    )
  })

  test('count where no record has one, and not without the time of the strap', async () => {
    const stored: FitMessage = {
      kind: 132,
      fields: [
        [6, 'uint8', [90, 91]],
        [9, 'uint32', [61_440, 92_160]],
      ],
    }
    const both = [...MINUTES.map((minute) => record(minute)), session(whole)]
    const { rates } = await read([fileId(), ...both, anchor(0), stored])
    assert.deepEqual(
      values(rates).toSorted((a, b) => a - b),
      [91, ...MINUTES.map(() => 120)],
    )
    assert.deepEqual((await read([fileId(), ...rest, stored])).rates, [])
  })
})
