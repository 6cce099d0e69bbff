import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { profile as requiredOptions } from '../../../../test/support/link-messages.ts'
import { Problem } from '../../../platform/runtime/problem.ts'
import { LinkProfile, readProfile } from './link-profile.ts'

interface Option {
  path: string
  description?: string
  hasDefault: boolean
  isRequired: boolean
}

interface Described extends Partial<Record<'required', string[]>> {
  description?: string
  default?: unknown
  properties?: Record<string, Described>
}

const listOptions = ({ properties = {}, required = [] }: Described, path = ''): Option[] =>
  Object.entries(properties).flatMap(([name, { description, default: standard, ...option }]) => {
    const at = path ? `${path}.${name}` : name
    if (option.properties) return listOptions(option, at)
    return [
      { path: at, ...(description && { description }), hasDefault: standard !== undefined, isRequired: required.includes(name) },
    ]
  })

const faultsOf = (options: unknown): string[] => {
  try {
    readProfile(options)
  } catch (error) {
    assert(error instanceof Problem)
    assert.equal(error.status, 400)
    return String(error.body.detail)
      .split('; ')
      .map((text) => text.split(': ')[0]!)
  }
  throw new Error('the profile has no fault')
}

describe('the profile of a link', () => {
  const options = listOptions(LinkProfile as Described)

  test('describes every option, and only what must not be guessed has no default', () => {
    assert(options.length > 100, `${options.length}`)
    assert.deepEqual(
      options.filter(({ description }) => !description?.endsWith('.')),
      [],
    )
    assert.deepEqual(
      options.filter(({ isRequired, hasDefault }) => isRequired && !hasDefault).map(({ path }) => path),
      ['text.decimal_mark', 'text.time_zone', 'results.reports'],
    )
  })

  test('has every group and the default of each option, and its defaults are valid', () => {
    const whole = readProfile(requiredOptions)
    assert.deepEqual(Object.keys(whole), Object.keys(LinkProfile.properties))
    assert.equal(whole.transport.client.answer_timeout_s, 30)
    assert.deepEqual(readProfile(whole), whole)
  })

  test('reports every fault with the path of its option', () => {
    assert.deepEqual(
      faultsOf({
        transport: { orders: 'fax', client: { port: 0, cable: 'long' }, listener: null, folder: 'in' },
        text: { time_zone: 'Moon/Base', delimiters: '|^~&&', length_limits: { 'PID-5.1': 0 } },
        order_number: { fields: ['ORC'], pattern: '*' },
        identity: { our_facility: 'line\rend' },
        colors: {},
      }),
      [
        'identity.our_facility',
        'transport.orders',
        'transport.client.port',
        'transport.client.cable',
        'transport.folder',
        'text.decimal_mark',
        'text.time_zone',
        'text.delimiters',
        'text.length_limits.PID-5.1',
        'order_number.fields.0',
        'order_number.pattern',
        'results.reports',
        'colors',
      ],
    )
    assert.deepEqual(faultsOf([]), ['profile'])
  })
})
