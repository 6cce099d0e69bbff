// FIT files as devices write them: developer fields, times since power-on, parts that are missing, several sessions, stored heart rates.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  developerFields,
  fileId,
  fitBytes,
  withChecksum,
  type FitField,
  type FitMessage,
} from '../../../../test/support/fit-files.ts'
import {
  activity,
  list,
  METERS,
  MINUTES,
  read,
  record,
  RUN,
  session,
  START,
  T,
  times,
  whole,
  withoutFields,
} from '../../../../test/support/fit-runs.ts'
import { reading, values } from '../../../../test/support/file-imports.ts'

describe('a FIT file with developer fields', () => {
  const described = developerFields([
    [0, 'float32', 'heart_rate', 'bpm', 3],
    [1, 'float32', 'distance', 'km', 5],
    [2, 'uint32', 'timestamp'],
    [3, 'string', 'sport'],
    [4, 'float64', 'start_time'],
  ])
  const developer: FitField[] = [
    [0, 'float32', 249],
    [1, 'float32', 0.2],
    [2, 'uint32', 5],
    [3, 'string', 'yoga'],
    [4, 'float64', 1],
  ]

  test('has the values of its native fields, whatever names the others have', async () => {
    const records = MINUTES.map((minute) => ({ ...record(minute), developer }))
    for (const isBigEndian of [false, true]) {
      const messages = [fileId(), ...described, ...records, { ...session(whole), developer }]
      const { workouts, shown, rates } = await read(messages, { isBigEndian })
      assert.deepEqual(times(shown), RUN)
      assert.equal((shown[0]!.sport as { name: string }).name, 'Running')
      assert.deepEqual(
        list(workouts[0], 'heartrate'),
        MINUTES.map(() => 120),
      )
      assert.deepEqual(list(workouts[0], 'distance'), METERS)
      assert.deepEqual(
        values(rates),
        MINUTES.map(() => 120),
      )
    }
  })

  const bare = (developer: FitField[]) => MINUTES.map((minute) => ({ kind: 20, fields: [record(minute).fields[0]!], developer }))

  test('has no heart rates if only a developer field is called so, or says so in a unit that is not one of heart rates', async () => {
    for (const described of [
      developerFields([[0, 'float32', 'heart_rate', 'bpm']]),
      developerFields([[0, 'float32', 'heart_rate', '%', 3]]),
      [],
    ]) {
      const { rates, workouts } = await read([fileId(), ...described, ...bare([[0, 'float32', 120]]), session(whole)])
      assert.deepEqual([rates, workouts[0]!.stream], [[], undefined])
    }
  })

  test('has the values of developer fields that name a native field which its records lack, in the unit of that field', async () => {
    const described = developerFields([
      [0, 'float32', 'Strap', 'bpm', 3],
      [1, 'uint16', 'Power', 'Watts', 7],
      [2, 'float64', 'Speed', 'km/h', 73],
      [3, 'float32', 'Height', 'm', 2],
      [4, 'float32', 'Way', 'km', 5],
    ])
    const values_: FitField[] = [
      [0, 'float32', 131],
      [1, 'uint16', 212],
      [2, 'float64', 36],
      [3, 'float32', 87],
      [4, 'float32', 0.5],
    ]
    const { rates, workouts } = await read([fileId(), ...described, ...bare(values_), session(whole)])
    const all = (value: number) => MINUTES.map(() => value)
    assert.deepEqual(values(rates), all(131))
    for (const [name, value] of [
      ['heartrate', 131],
      ['power', 212],
      ['velocity_smooth', 10],
      ['altitude', 87],
    ] as const)
      assert.deepEqual(list(workouts[0], name), all(value), name)
    const native: FitField[] = [
      [3, 'uint8', 118],
      [73, 'uint32', 3000],
    ]
    const both = MINUTES.map((minute) => ({ kind: 20, fields: [record(minute).fields[0]!, ...native], developer: values_ }))
    const { workouts: own } = await read([fileId(), ...described, ...both, session(whole)])
    assert.deepEqual([list(own[0], 'heartrate'), list(own[0], 'velocity_smooth')], [all(118), all(3)])
  })
})

describe('a FIT file whose times count from power-on', () => {
  const relative = (created_s: number, messages: FitMessage[] = [], index = 2) => [
    fileId({ created_s }),
    ...MINUTES.map((minute) => record(minute, [], index)),
    session([[2, 'uint32', index], ...withoutFields(2)], index + 600),
    ...messages,
  ]

  test('has the instants that the time of its creation and the local time at its end say', async () => {
    // The clock of the watch shows seven hours less; the file was created three seconds before the first message.
    const { shown, rates } = await read(relative(T - 3, [activity(602, T + 600 - 7 * 3600)]))
    assert.deepEqual([...times(shown), shown[0]!.timezone_offset], [...RUN, -7 * 3600])
    assert.equal(new Date(rates[0]!.at_ms).toISOString(), '2026-02-01T06:00:00.000Z')
    assert.deepEqual(times((await read(relative(T))).shown), RUN)
  })

  test('prefers the times of a correlation of the two clocks', async () => {
    const correlation: FitMessage = {
      kind: 162,
      fields: [
        [253, 'uint32', T + 1],
        [1, 'uint32', 3],
      ],
    }
    assert.deepEqual(times((await read(relative(T + 9000, [correlation]))).shown), RUN)
  })

  test('is counted if nothing says when the device was switched on', async () => {
    for (const messages of [relative(0xffff_ffff), relative(7), relative(0xffff_ffff, [activity(602, T + 600)])]) {
      const { shown, rates, skipped } = await read(messages)
      assert.deepEqual([shown, rates, skipped], [[], [], { invalid_time: { workouts: 1, heartrate: 11 } }])
    }
  })
})

describe('a FIT file that lacks a part', () => {
  const records = MINUTES.map((minute) => record(minute))

  test('has the start and the end of its records', async () => {
    for (const lacking of [2, 7])
      assert.deepEqual(times((await read([fileId(), ...records, session(withoutFields(lacking))])).shown), RUN)
    assert.deepEqual(times((await read([fileId(), ...records, session(withoutFields(2, 7, 8, 9))])).shown), [
      ...RUN.slice(0, 2),
      null,
      2000,
    ])
    // A device that went out writes zeros.
    assert.deepEqual(times((await read([fileId(), ...records, session([...withoutFields(7), [7, 'uint32', 0]])])).shown), RUN)
  })

  test('and has no records has the time at which its session was written', async () => {
    assert.deepEqual(times((await read([fileId(), session(withoutFields(2))])).shown), RUN)
    const { shown, skipped } = await read([fileId(), session(withoutFields(2, 7, 8), 0xffff_ffff)])
    assert.deepEqual([shown, skipped], [[], { invalid_time: { workouts: 1 } }])
  })

  test('and has no session is one workout, with the values of its laps and its timer', async () => {
    const lap = (start: number, end: number): FitMessage => ({
      kind: 19,
      fields: [
        [253, 'uint32', T + end],
        [2, 'uint32', T + start],
        [7, 'uint32', (end - start) * 1000],
        [8, 'uint32', (end - start) * 1000 - 5000],
        [9, 'uint32', 100_000],
        [11, 'uint16', 70],
        [25, 'enum', 2],
      ],
    })
    const { shown } = await read([fileId(), ...records, lap(0, 300), lap(300, 600)])
    assert.deepEqual([...times(shown), shown[0]!.calories], [...RUN, 140])
    assert.equal((shown[0]!.sport as { name: string }).name, 'Cycling')
    const timer = (second: number, type: number): FitMessage => ({
      kind: 21,
      fields: [
        [253, 'uint32', T + second],
        [0, 'enum', 0],
        [1, 'enum', type],
      ],
    })
    const events = [timer(0, 0), timer(240, 4), timer(300, 0)]
    assert.deepEqual(times((await read([fileId(), ...records, ...events])).shown), [...RUN.slice(0, 2), 540, 2000])
  })

  test('is not imported as a workout if it is a course', async () => {
    const { shown, skipped } = await read([fileId({ type: 6 }), ...records])
    assert.deepEqual([shown, skipped], [[], { unsupported: { fit_course: 1 } }])
  })

  test('of a swim has the lengths of the pool, without lengths in which the swimmer rested', async () => {
    const lengths = Array.from({ length: 9 }, (_, i): FitMessage => ({
      kind: 101,
      fields: [
        [253, 'uint32', T + (i + 1) * 30],
        [2, 'uint32', T + i * 30],
        [3, 'uint32', 30_000],
        [12, 'enum', i === 4 ? 0 : 1],
      ],
    }))
    const pool: FitField[] = [...withoutFields(7, 9), [44, 'uint16', 2500]]
    const swum = await read([fileId(), ...lengths, session(pool)])
    assert.deepEqual(times(swum.shown), ['2026-02-01T06:00:00+00:00', '2026-02-01T06:04:30+00:00', 590, 200])
    assert.equal((await read([fileId(), session([...pool, [47, 'uint16', 6]])])).shown[0]!.distance, 150)
  })
})

describe('a FIT file of several sessions', () => {
  const second = T + 660
  const legs = (total: FitField[] = [[9, 'uint32', 180_000]], start: FitField[] = [[2, 'uint32', second]]) => [
    fileId(),
    ...MINUTES.map((minute) => record(minute)),
    session(whole),
    ...MINUTES.map((minute): FitMessage => ({
      kind: 20,
      fields: [
        [253, 'uint32', second + minute * 60],
        [5, 'uint32', 200_000 + minute * 18_000],
      ],
    })),
    session([...start, [5, 'enum', 2], [7, 'uint32', 600_000], ...total], second + 600),
  ]

  test('has distances that begin at 0 in each', async () => {
    const meters = MINUTES.map((minute) => minute * 180)
    for (const messages of [legs(), legs([]), legs([], [])]) {
      const { workouts, shown } = await read(messages)
      assert.deepEqual(list(workouts[0], 'distance'), METERS)
      assert.deepEqual(list(workouts[1], 'distance'), meters)
      assert.deepEqual([shown[1]!.time_start, shown[1]!.distance], ['2026-02-01T06:11:00+00:00', 1800])
    }
  })

  test('keeps the distance before the first value, which does not belong to another workout', async () => {
    const late = MINUTES.slice(1).map((minute) => record(minute))
    assert.deepEqual(list((await read([fileId(), ...late, session(whole)])).workouts[0], 'distance'), METERS.slice(1))
    assert.deepEqual(list((await read([fileId(), ...late, session(withoutFields(9))])).workouts[0], 'distance'), METERS.slice(1))
  })
})

test('a FIT file with times in its headers, and a field of another size than its type, is read', async () => {
  const records = [0, 10, 20, 31, 40].map((second): FitMessage => ({
    kind: 20,
    fields: [
      [253, 'uint32', T + second],
      [3, 'uint8', 100 + second],
      [7, 'uint16', [1, 2]],
    ],
    ...(second && { offset: (T + second) & 0x1f }),
  }))
  const { rates, workouts, error } = await read([fileId(), ...records, session(whole)])
  assert.equal(error, null)
  assert.deepEqual(
    rates.map(({ at_ms, value }) => [at_ms / 1000 - Date.parse(START) / 1000, value]),
    [0, 10, 20, 31, 40].map((second) => [second, 100 + second]),
  )
  assert.equal(list(workouts[0], 'power'), undefined)
})

test('a FIT file has no place at 0° north and 0° east, at a pole, or with half a place', async () => {
  const half = 2 ** 31 / 180
  const places: [lat: number, lng: number][] = [
    [0, 0],
    [45, 7],
    [90, 7],
    [45.001, 7],
    [-90, -80],
    [45.002, 7],
    [45.002, 0x7fff_ffff / half],
  ]
  const records = places.map(([lat, lng], i): FitMessage => ({
    kind: 20,
    fields: [
      [253, 'uint32', T + i * 60],
      [0, 'sint32', Math.round(lat * half) - (lat === 90 ? 1 : 0)],
      [1, 'sint32', Math.round(lng * half)],
    ],
  }))
  const { workouts, shown } = await read([fileId(), ...records, session(withoutFields(9))])
  assert.deepEqual(
    list(workouts[0], 'lat')!.map((lat) => lat && Math.round(lat * 1000) / 1000),
    [null, 45, null, 45.001, null, 45.002, null],
  )
  assert.deepEqual(
    list(workouts[0], 'lng')!.map((lng) => lng && Math.round(lng)),
    [null, 7, null, 7, null, 7, null],
  )
  assert.equal(shown[0]!.distance, 222.4)
})

test('a FIT file does not measure a way across a pause', async () => {
  const half = 2 ** 31 / 180
  const at = (second: number, lat: number): FitMessage => ({
    kind: 20,
    fields: [
      [253, 'uint32', T + second],
      [0, 'sint32', Math.round(lat * half)],
      [1, 'sint32', Math.round(7 * half)],
    ],
  })
  const timer = (second: number, type: number): FitMessage => ({
    kind: 21,
    fields: [
      [253, 'uint32', T + second],
      [0, 'enum', 0],
      [1, 'enum', type],
    ],
  })
  const messages = [
    timer(0, 0),
    at(0, 45),
    at(60, 45.001),
    timer(60, 4),
    timer(300, 0),
    at(300, 45.1),
    at(360, 45.101),
    timer(360, 4),
  ]
  const { shown } = await read([fileId(), ...messages])
  assert.deepEqual(times(shown), ['2026-02-01T06:00:00+00:00', '2026-02-01T06:06:00+00:00', 120, 222.4])
})

test('a FIT file that does not match its checksum is damaged', async () => {
  assert.equal((await read([fileId(), session(whole)], { checksum_error: 1 })).error, 'damaged')
})

test('any change of a FIT file, with a checksum that matches, leads to a workout or a documented error', async () => {
  const file = fitBytes([fileId(), ...MINUTES.map((minute) => record(minute)), session(whole)])
  const outcomes = new Set<string | null>()
  for (let at = 14; at < file.length - 2; at++)
    for (const value of [0x00, 0xff, file[at]! ^ 0x40]) {
      const changed = Buffer.from(file)
      changed[at] = value
      outcomes.add((await reading(withChecksum(changed))).error)
    }
  assert.deepEqual([...outcomes].toSorted(), ['damaged', null])
})
