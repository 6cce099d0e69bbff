// One sport has one slug, whatever its source calls it.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { slugOf, sportOf } from './sports.ts'
import { sportNames } from './sport-names.ts'

const lines = sportNames
  .trim()
  .split('\n')
  .map((line) => line.split(':') as [string, string])

describe('a sport', () => {
  test('has one slug in all sources', () => {
    // Apple Health, Health Connect, Samsung Health, Strava, WHOOP, Google Health, Withings, files.
    const words: Record<string, string[]> = {
      cycling: ['Cycling', 'biking', 'cycling', 'Ride', 'BIKING', 'Biking', 'Road Cycling'],
      swimming: ['Swimming', 'swimming_pool', 'swimming', 'Swim', 'Lap Swimming'],
      strength_training: [
        'Traditional Strength Training',
        'Functional Strength Training',
        'strength_training',
        'weightlifting',
        'Weight Training',
        'Strength Training',
        'WEIGHTS',
      ],
      running: ['Running', 'running', 'Run', 'Street Running'],
      walking: ['Walking', 'walking', 'Walk'],
      hiit: ['High Intensity Interval Training', 'high_intensity_interval_training', 'HIIT'],
      indoor_cycling: ['biking_stationary', 'Virtual Ride', 'exercise_bike', 'Indoor Cycling', 'spin'],
      wheelchair_pushing: ['wheelchair', 'Wheelchair', 'Wheelchair Run Pace', 'wheelchair_pushing'],
      dancing: ['Dance', 'dancing'],
      soccer: ['soccer', 'Soccer'],
      other: ['Other', 'workout', '', '!'],
    }
    for (const [slug, names] of Object.entries(words))
      assert.deepEqual(
        names.map((name) => sportOf(name).slug),
        names.map(() => slug),
      )
    assert.deepEqual(sportOf('biking'), sportOf('Ride'))
  })

  test('that is not in the list has the name of its source, and its slug', () => {
    assert.deepEqual([sportOf('Gaelic Football').name, sportOf('Gaelic Football').slug], ['Gaelic Football', 'gaelic_football'])
    assert.equal(sportOf('football').slug, 'football')
    assert.equal(sportOf('__proto__').slug, 'proto')
  })

  test('has no word in common with another, and each word is a slug', () => {
    const all = lines.flatMap(([name, others]) => [slugOf(name), ...(others.match(/\S+/g) ?? [])])
    assert.deepEqual(
      all.filter((slug, i) => all.indexOf(slug) !== i),
      [],
    )
    for (const slug of all) assert.equal(slugOf(slug), slug)
  })
})
