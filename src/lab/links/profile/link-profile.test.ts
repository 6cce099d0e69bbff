import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { profile as requiredOptions } from '../../../../test/support/link-messages.ts'
import { Problem } from '../../../platform/runtime/problem.ts'
import { LinkProfile } from './link-profile.ts'
import { profileDifferences, readProfileFile, toProfileFile, wholeProfile } from './read-profile.ts'
import { presetNames, presets } from './presets.ts'

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
    readProfileFile(options)
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
    const whole = wholeProfile(readProfileFile(requiredOptions))
    assert.deepEqual(Object.keys(whole), Object.keys(LinkProfile.properties))
    assert.equal(whole.transport.client.answer_timeout_s, 30)
    assert.deepEqual(wholeProfile(readProfileFile(whole)), whole)
  })

  test('reports every fault with the path of its option', () => {
    assert.deepEqual(
      faultsOf({
        transport: { orders: 'fax', client: { port: 0, cable: 'long' }, listener: null, folder: 'in' },
        text: { time_zone: 'Moon/Base', delimiters: '|^~&&', length_limits: { 'PID-5.1': 0 } },
        order_number: { fields: ['ORC'], pattern: '*' },
        identity: { our_facility: 'line\rend' },
        colors: {},
        preset: 'us-99',
      }),
      [
        'preset',
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

describe('a profile with a preset', () => {
  const file = {
    preset: 'de-25',
    text: { time_zone: 'Europe/Vienna', decimal_mark: ',' },
    results: { reports: 'cumulative' },
    patient: { sex_codes: { female: 'F' } },
  }

  test('is stored as the differences from its preset, down to single options', () => {
    const { preset, options } = readProfileFile(file)
    assert.deepEqual(
      [preset, options],
      [
        'de-25',
        {
          text: { time_zone: 'Europe/Vienna' },
          results: { reports: 'cumulative' },
          patient: { sex_codes: { female: 'F' } },
        },
      ],
    )
    const whole = wholeProfile({ preset, options })
    assert.deepEqual([whole.text.decimal_mark, whole.text.charset, whole.identity.version], [',', '8859/1', '2.5'])
    assert.deepEqual(whole.patient.sex_codes, { female: 'F' })
  })

  test('is shown as a difference from its preset, and as a file that gives the same profile', () => {
    const profile = readProfileFile(file)
    assert.deepEqual(
      profileDifferences(profile).map(({ option, standard }) => [option, standard]),
      [
        ['text.time_zone', 'Europe/Berlin'],
        ['patient.sex_codes', { female: 'F', male: 'M', other: 'O', unknown: 'U' }],
        ['results.reports', undefined],
      ],
    )
    assert.deepEqual(readProfileFile(toProfileFile(profile, [])), profile)
  })

  for (const preset of presetNames)
    test(`of ${preset} is complete with zone, decimal mark and kind of reports`, () => {
      const profile = readProfileFile({ ...requiredOptions, preset, text: { time_zone: 'UTC', decimal_mark: '.' } })
      assert.equal(wholeProfile(profile).text.time_zone, 'UTC')
      assert(presets[preset].title.length > 10)
    })
})

describe('a secret of a profile', () => {
  const sftp = { host: 'sftp.lab.example', user: 'clinic', host_key: 'SHA256:fictional', results: '/out' }
  const withPassword = (password?: string) => ({
    ...requiredOptions,
    transport: { results: 'sftp', sftp: { ...sftp, ...(password !== undefined && { password }) } },
  })

  test('is apart from the options, and a mask stands for it', () => {
    const read = readProfileFile(withPassword('fictional-password'))
    assert.deepEqual(read.secrets, { 'transport.sftp.password': 'fictional-password' })
    assert(!JSON.stringify(read.options).includes('password'))
    const written = toProfileFile(read, Object.keys(read.secrets))
    assert.equal(written.transport!.sftp!.password, '********')
    assert.deepEqual(readProfileFile(written, read.secrets), read)
  })

  test('that a mask stands for must be stored, and one that is needed must be present', () => {
    assert.deepEqual(faultsOf(withPassword('********')), ['transport.sftp.password'])
    assert.deepEqual(faultsOf(withPassword()), ['transport.sftp.password'])
  })
})

test('options of transports that need each other are checked together', () => {
  const transport = { orders: 'sftp', results: 'same_connection', client: { certificate: 'PEM' } }
  assert.deepEqual(faultsOf({ ...requiredOptions, transport }), [
    'transport.client.host',
    'transport.client.key',
    'transport.sftp.host',
    'transport.sftp.user',
    'transport.sftp.password',
    'transport.sftp.host_key',
    'transport.sftp.orders',
    'transport.results',
  ])
})
