// The made-up person: the same from the same seed, lifelike, and with late and corrected data that settles.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { timeseriesNames, type TimeseriesName } from '../../wearables/resources/timeseries.ts'
import { planNight } from './night.ts'
import { planMeals, planSteps, planWorkouts } from './day-plan.ts'
import { localDay, localInstant, createPerson, type Person } from './person.ts'
import { sampleFault } from '../../wearables/ingestion/plausible.ts'
import { demoProviders, devices, type DemoProvider } from './demo-devices.ts'
import { OPEN_DAYS } from './known.ts'
import { createStages, createSummaries } from './daily-summaries.ts'
import { createSamples } from './demo-samples.ts'
import { glucoseLevels, heartRates } from './vitals.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../platform/runtime/durations.ts'

const ZONE = 'America/New_York'
const FIRST = Date.parse('2026-03-02') / DAY_MS
const days = Array.from({ length: 28 }, (_, i) => FIRST + i)
const people = ['fictional-1', 'fictional-2', 'fictional-3', 'fictional-4'].map((seed) => createPerson(seed, ZONE))

/** Everything of a day that is known at an instant. */
const listKnown = (person: Person, provider: DemoProvider, day: number, known_ms: number) => [
  ...createSummaries(person, provider, day, known_ms),
  createStages(person, provider, day, known_ms),
  ...createSamples(person, provider, day, known_ms),
]
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

test('the same seed, zone and instant give the same data, in any order of requests', () => {
  for (const provider of demoProviders)
    for (const day of [FIRST + 3, FIRST, FIRST + 9]) {
      const [one, other, another] = ['a', 'a', 'b'].map((seed) =>
        listKnown(createPerson(seed, ZONE), provider, day, (day + 2) * DAY_MS),
      )
      assert.deepEqual(one, other)
      assert.notDeepEqual(one, another)
    }
  assert.notDeepEqual(
    listKnown(createPerson('a', ZONE), 'fitbit', FIRST, (FIRST + 2) * DAY_MS),
    listKnown(createPerson('a', 'Asia/Tokyo'), 'fitbit', FIRST, (FIRST + 2) * DAY_MS),
  )
})

describe('the data is lifelike:', () => {
  test('nights are of 5 to 10 hours, with all stages one after the other, most deep sleep first and most REM sleep last', () => {
    for (const person of people) {
      let [deepFirst, remFirst, deepLast, remLast] = [0, 0, 0, 0]
      for (const day of days) {
        const { start_ms, stop_ms, stages } = planNight(person, day)
        assert.equal(localDay(ZONE, stop_ms), day)
        const hours = (stop_ms - start_ms) / HOUR_MS
        assert(hours >= 5 && hours <= 10, String(hours))
        assert.equal(stages[0]!.from_s, 0)
        assert.equal(stages.at(-1)!.to_s, (stop_ms - start_ms) / 1000)
        for (const [i, stage] of stages.slice(1).entries()) assert.equal(stage.from_s, stages[i]!.to_s)
        const middle = (stop_ms - start_ms) / 2000
        for (const { type, from_s, to_s } of stages) {
          const length_s = to_s - from_s
          if (type === 1 && from_s < middle) deepFirst += length_s
          else if (type === 1) deepLast += length_s
          else if (type === 3 && from_s < middle) remFirst += length_s
          else if (type === 3) remLast += length_s
        }
      }
      assert(deepFirst > deepLast && remLast > remFirst)
    }
  })

  test('heart rates are lowest asleep, higher in the afternoon, and highest in workouts', () => {
    for (const person of people) {
      const [asleep, afternoon, working]: [number[], number[], number[]] = [[], [], []]
      for (const day of days) {
        const [night, workouts] = [planNight(person, day), planWorkouts(person, day)]
        for (const { at_ms, value } of heartRates(person, day)) {
          assert(Number.isInteger(value) && value >= 38 && value <= person.max_bpm)
          const hour = (at_ms - night.stop_ms) / HOUR_MS
          if (workouts.some(({ start_ms, stop_ms }) => at_ms > start_ms + 10 * MINUTE_MS && at_ms < stop_ms)) working.push(value)
          else if (at_ms >= night.start_ms && at_ms < night.stop_ms) asleep.push(value)
          else if (hour > 7 && hour < 10) afternoon.push(value)
        }
      }
      assert(mean(asleep) + 8 < mean(afternoon) && mean(afternoon) + 10 < mean(working))
    }
  })

  test('steps are of waking hours, and workouts are in them', () => {
    for (const person of people)
      for (const day of days) {
        const [hours, night] = [planSteps(person, day), planNight(person, day)]
        const total = hours.reduce((sum, { steps }) => sum + steps, 0)
        assert(total > 800 && total < 45_000, String(total))
        for (const { at_ms, steps } of hours)
          if (at_ms >= night.start_ms && at_ms + HOUR_MS <= night.stop_ms) assert.equal(steps, 0)
      }
  })

  test('glucose rises after meals and comes back', () => {
    for (const person of people) {
      const [before, peak]: [number[], number[]] = [[], []]
      for (const day of days) {
        const levels = glucoseLevels(person, day)
        const at = (ms: number) => levels.find(({ at_ms }) => Math.abs(at_ms - ms) < 8 * MINUTE_MS)?.value
        const lunch = planMeals(person, day)[1]!
        const [first, second] = [at(lunch.at_ms - 10 * MINUTE_MS), at(lunch.at_ms + 45 * MINUTE_MS)]
        if (first !== undefined && second !== undefined) {
          before.push(first)
          peak.push(second)
        }
        assert(levels.every(({ value }) => value >= 3.2 && value <= 16))
      }
      assert(mean(peak) > mean(before) + 1 && mean(before) < 7)
    }
  })

  test('the energies of the hours and of the workouts add up to the energy of the day, also while it grows', () => {
    let [workouts, growing] = [0, 0]
    for (const person of people)
      for (const day of days)
        for (const known_ms of [(day + 2) * DAY_MS, localInstant(ZONE, day, 1115)]) {
          const of = (name: TimeseriesName) =>
            createSamples(person, 'apple_health_kit', day, known_ms)
              .get(name)!
              .reduce((sum, { value }) => sum + value, 0)
          const summaries = createSummaries(person, 'apple_health_kit', day, known_ms)
          const [activity] = summaries.get('activity')!
          const { calories_active, calories_total, steps, distance } = activity!.document as Record<string, number>
          const isNear = (a: number, b: number) => assert(Math.abs(a - b) < 0.2, `${a} and ${b}`)
          isNear(of('calories_active'), calories_active!)
          assert.deepEqual([of('steps'), of('distance')], [steps, distance])
          if (known_ms >= (day + 2) * DAY_MS) isNear(of('calories_active') + of('calories_basal'), calories_total!)
          else growing++
          const trained = summaries
            .get('workouts')!
            .reduce((sum, { document }) => sum + (document as { calories: number }).calories, 0)
          if (trained) workouts++
          assert(trained <= calories_active! + 0.1, `${trained} of ${calories_active}`)
        }
    assert(workouts > 20 && growing > 50)
  })

  test('every timeseries has a source, and only possible values', () => {
    const found = new Set<TimeseriesName>()
    for (const person of people)
      for (const provider of demoProviders)
        for (const day of days) {
          const now_ms = (day + 2) * DAY_MS
          for (const [name, samples] of createSamples(person, provider, day, now_ms, 'a fictional workout'))
            for (const sample of samples) {
              found.add(name)
              assert.equal(sampleFault(name, sample, now_ms), undefined, `${name} ${sample.value}`)
              assert(sample.value !== 0 || name === 'note' || name !== 'steps', name)
            }
        }
    // Stages of sleep are made of those of nights.
    const missing = timeseriesNames.filter((name) => !found.has(name) && name !== 'hypnogram')
    assert.deepEqual(missing, [])
    assert.equal(timeseriesNames.length, 51)
    assert(devices.apple_health_kit.summaries.includes('sleep_cycle'))
  })

  test('glucose of a sensor has its type', () => {
    const samples = createSamples(people[0]!, 'freestyle_libre', FIRST, (FIRST + 2) * DAY_MS).get('glucose')!
    assert.deepEqual(new Set(samples.map(({ type }) => type)), new Set(['automatic']))
  })

  test('of women there are menstrual cycles of about four weeks', () => {
    const person = people.find(({ sex }) => sex === 'female')!
    const starts = new Set<string>()
    for (let day = FIRST; day < FIRST + 120; day++)
      for (const { key } of createSummaries(person, 'apple_health_kit', day, (day + 2) * DAY_MS).get('menstrual_cycle')!)
        starts.add(key)
    assert(starts.size >= 4 && starts.size <= 6, String(starts.size))
    const man = people.find(({ sex }) => sex === 'male')!
    assert.deepEqual(createSummaries(man, 'apple_health_kit', FIRST, (FIRST + 2) * DAY_MS).get('menstrual_cycle'), [])
  })
})

describe('known data', () => {
  const values = (person: Person, provider: DemoProvider, name: TimeseriesName, day: number, known_ms: number) =>
    new Map(
      createSamples(person, provider, day, known_ms)
        .get(name)!
        .map(({ at_ms, value }) => [at_ms, value]),
    )

  test('is nothing of the future, and everything in the end; some of it comes late and some is corrected', () => {
    let [late, corrected, refined] = [0, 0, 0]
    for (const person of people.slice(0, 2))
      for (const day of days.slice(0, 16)) {
        const settled_ms = localInstant(ZONE, day + OPEN_DAYS + 1, 0) - 3 * HOUR_MS
        for (const [provider, name] of [
          ['oura', 'heartrate'],
          ['freestyle_libre', 'glucose'],
          ['fitbit', 'steps'],
        ] as const) {
          const final = values(person, provider, name, day, settled_ms)
          assert.deepEqual(final, values(person, provider, name, day, settled_ms + 100 * DAY_MS))
          for (let now_ms = day * DAY_MS; now_ms < settled_ms; now_ms += 7 * HOUR_MS) {
            const seen = values(person, provider, name, day, now_ms)
            for (const [at_ms, value] of seen) {
              assert(at_ms <= now_ms && final.has(at_ms))
              if (name === 'glucose' && final.get(at_ms) !== value) corrected++
              if (name === 'steps') assert(final.get(at_ms)! >= value)
            }
            for (const at_ms of final.keys()) if (name === 'heartrate' && at_ms < now_ms - HOUR_MS && !seen.has(at_ms)) late++
          }
        }
        const { stop_ms, first_stop_ms } = planNight(person, day)
        const sleep = (at_ms: number) =>
          createSummaries(person, 'oura', day, at_ms).get('sleep')![0]?.document as Record<string, unknown>
        assert.equal(sleep(first_stop_ms), undefined)
        const [first, last] = [sleep(first_stop_ms + HOUR_MS), sleep(stop_ms + 7 * HOUR_MS)]
        assert.deepEqual([first.state, last.state], ['tentative', 'confirmed'])
        if (first.duration !== last.duration) refined++
      }
    assert(late > 20 && corrected > 10 && refined > 4, `${late} ${corrected} ${refined}`)
  })

  test('of a day on which clocks change is in order and not twice', () => {
    for (const date of ['2026-03-08', '2026-11-01'])
      for (const provider of demoProviders)
        for (const [name, samples] of createSamples(people[0]!, provider, Date.parse(date) / DAY_MS, Infinity)) {
          const instants = samples.map(({ at_ms }) => at_ms)
          assert.equal(new Set(instants).size, instants.length, name)
          assert.deepEqual(
            instants,
            instants.toSorted((a, b) => a - b),
          )
        }
  })
})
