// The sample of every type of event has the shape of the event it stands for: that of the reference, and our own where we have one.
// test/contract/reference-events.json is made from the reference's own description: REFERENCE=<that file> UPDATE=1.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { Errors } from 'typebox/value'
import { Appointment } from '../../src/visits/appointments/schema.ts'
import { Order } from '../../src/lab/orders/schema.ts'
import { Fields, type TSchema } from '../../src/platform/schema/schema.ts'
import { assertMatchesSchema } from '../../src/platform/schema/shape-check.ts'
import { contents } from '../../src/app/contents.ts'
import { EventCatalog } from '../../src/events/catalog/event-catalog.ts'
import { bodyShape, eventShapesOf, printEventShapes, type EventShapes, type Shape } from './operations/event-shapes.ts'

const FILE = new URL('reference-events.json', import.meta.url)
const { REFERENCE, UPDATE } = process.env
if (REFERENCE && UPDATE)
  writeFileSync(FILE, printEventShapes(eventShapesOf(JSON.parse(readFileSync(REFERENCE, 'utf8')) as never)))
const reference = JSON.parse(readFileSync(FILE, 'utf8')) as EventShapes

const operationalTypes = contents.eventTypes.filter(({ family }) => family === 'operational')
const eventTypes = contents.eventTypes.filter(({ family }) => family !== 'operational')
const catalog = new EventCatalog(() => contents.eventTypes)
const scene = { team_id: '00000000-0000-4000-8000-0000000000aa', at_text: '2030-01-31T08:00:00+00:00' }
const sample = (name: string) => catalog.exampleBody(name, scene)

/** Fields that differ between the reference and our API, with the reason. */
const otherwise: { field: string; is: Shape; why: string }[] = [
  { field: 'client_user_id', is: { type: 'string' }, why: "it is the caller's own reference, any text" },
  { field: 'dob', is: { type: 'string', format: 'date' }, why: 'a day of birth has no time of day' },
  { field: 'event_type', is: { type: 'string' }, why: 'one shape is for a type that is created and updated' },
]

/** Fields that the reference does not declare, by the types of events that have them. */
const ours: [RegExp, string, string][] = [
  [/^lab_report\./, '/data/job_id', 'the pages about events have it'],
  [/^daily\.data\./, '/data/source_id', 'the OpenAPI document has it'],
  [/^daily\.data\./, '/data/user_id', 'the OpenAPI document has it'],
  [/^labtest\.order\./, '/data/health_insurace_id', 'the OpenAPI document spells it so'],
  [/^labtest\.order\./, '/data/lab_account_id', 'the OpenAPI document has it'],
  [/^labtest\.order\./, '/data/lab_test/description', 'the OpenAPI document has it'],
]

/** A shape with what the reference says otherwise put right. */
function correctShape(shape: unknown): unknown {
  if (Array.isArray(shape)) return shape.map(correctShape)
  if (shape === null || typeof shape !== 'object') return shape
  return Object.fromEntries(
    Object.entries(shape).map(([name, part]) => {
      if (name !== 'properties') return [name, correctShape(part)]
      const fields = Object.entries(part as Record<string, unknown>)
      return [
        name,
        Object.fromEntries(
          fields.map(([field, one]) => [field, otherwise.find((o) => o.field === field)?.is ?? correctShape(one)]),
        ),
      ]
    }),
  )
}

/** Which fields of a shape a value lacks, and which it has beside them. */
function differences(shape: Shape, value: unknown, path = ''): string[] {
  const { anyOf, properties, additionalProperties, items } = shape as Record<string, never>
  if (anyOf) {
    const found = (anyOf as Shape[])
      .filter((branch) => [...Errors(branch as unknown as TSchema, value)].length === 0)
      .map((branch) => differences(branch, value, path))
    return found.toSorted((a, b) => a.length - b.length)[0] ?? []
  }
  if (Array.isArray(value)) return items ? value.flatMap((item, i) => differences(items, item, `${path}/${i}`)) : []
  if (value === null || typeof value !== 'object') return []
  const declared: Record<string, Shape> = properties ?? {}
  if (!properties && !additionalProperties) return []
  return [
    ...Object.keys(declared)
      .filter((name) => !(name in value))
      .map((name) => `-${path}/${name}`),
    ...Object.entries(value).flatMap(([name, part]) => {
      const inside = declared[name] ?? additionalProperties
      return inside ? differences(inside, part, `${path}/${name}`) : [`+${path}/${name}`]
    }),
  ]
}

describe('the sample of an event', () => {
  test('has every field of the event in the reference, each of its kind, and no other', () => {
    const faults: string[] = []
    for (const { name } of eventTypes) {
      assert.ok(reference.events[name], `${name} is not in test/contract/reference-events.json`)
      const shape = correctShape(bodyShape(reference, name)) as Shape
      const body = sample(name)
      const errors = [...Errors(shape as unknown as TSchema, body)]
      faults.push(...errors.map(({ instancePath, message }) => `${name}: ${instancePath} ${message}`))
      const isOurs = (path: string) => ours.some(([types, field]) => types.test(name) && `+${field}` === path)
      faults.push(
        ...differences(shape, body)
          .filter((path) => !isOurs(path))
          .map((path) => `${name}: ${path}`),
      )
    }
    assert.deepEqual(faults, [])
  })

  test('of a timeseries has the unit of its resource', () => {
    const units: Record<string, string[]> = {
      count: [
        'steps',
        'floors_climbed',
        'fall',
        'wheelchair_push',
        'stand_hour',
        'heart_rate_alert',
        'heart_rate_recovery_one_minute',
        'inhaler_usage',
        'sleep_apnea_alert',
        'sleep_breathing_disturbance',
        'handwashing',
        'workout_swimming_stroke',
      ],
      kcal: ['calories_active', 'calories_basal'],
      m: ['distance', 'workout_distance'],
      min: ['workout_duration', 'stand_duration', 'mindfulness_minutes', 'daylight_exposure'],
      bpm: ['heartrate', 'respiratory_rate'],
      rmssd: ['hrv'],
      '%': ['blood_oxygen', 'afib_burden', 'fat', 'stress_level'],
      mmHg: ['blood_pressure'],
      'mmol/L': ['glucose', 'cholesterol'],
      FSU: ['ige', 'igg'],
      'mL/kg/min': ['vo2_max'],
      mV: ['electrocardiogram_voltage'],
      L: ['forced_expiratory_volume_1', 'forced_vital_capacity'],
      'L/min': ['peak_expiratory_flow_rate'],
      kg: ['weight', 'lean_body_mass'],
      '°C': ['body_temperature', 'body_temperature_delta', 'basal_body_temperature'],
      index: ['body_mass_index', 'uv_exposure'],
      cm: ['waist_circumference'],
      ml: ['water'],
      g: ['caffeine', 'carbohydrates'],
      unit: ['insulin_injection'],
      text: ['note'],
    }
    const unitOf = new Map(Object.entries(units).flatMap(([unit, names]) => names.map((name) => [name, unit])))
    for (const { name, family, resource } of eventTypes) {
      if (family !== 'timeseries') continue
      const { data } = sample(name) as { data: { data: { unit: string }[] } }
      assert.deepEqual([resource, data.data.map(({ unit }) => unit)], [resource, [unitOf.get(resource!)]])
    }
  })

  test('of an order or an appointment is one that this server could answer with', () => {
    for (const [names, schema] of [
      [['labtest.order.created', 'labtest.order.updated'], Order],
      [['labtest.appointment.created', 'labtest.appointment.updated'], Appointment],
    ] as [string[], TSchema][])
      for (const name of names) assertMatchesSchema(Fields({ data: schema }), { data: sample(name).data }, name)
  })

  test('of an order has events that end in its last one, and its status', () => {
    for (const name of ['labtest.order.created', 'labtest.order.updated']) {
      const { data } = sample(name) as { data: { events: { id: number; status: string }[]; last_event: unknown; status: string } }
      assert.deepEqual(data.last_event, data.events.at(-1))
      assert.equal(data.status, data.events.at(-1)!.status.split('.')[0])
      assert.deepEqual(
        data.events.map(({ id }) => id),
        data.events.map((_, i) => i + 1),
      )
    }
  })

  test('names the team and, but for reviews, the user as every event does', () => {
    for (const { name } of eventTypes) {
      const user = name.startsWith('labtest.match_review.') ? [] : ['user_id', 'client_user_id']
      assert.deepEqual(Object.keys(sample(name)).toSorted(), ['event_type', 'data', 'team_id', ...user].toSorted(), name)
      assert.deepEqual([sample(name).event_type, sample(name).team_id], [name, scene.team_id])
    }
    for (const { name } of operationalTypes) assert.deepEqual(Object.keys(sample(name)), ['type', 'data'])
  })
})
