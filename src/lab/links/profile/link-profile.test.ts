import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { profile as requiredOptions } from '../../../../test/support/link-messages.ts'
import { Problem } from '../../../platform/runtime/problem.ts'
import { statementOfCode } from '../../../lab-values/interpret.ts'
import { LinkProfile, type ProfileOptions } from './link-profile.ts'
import { ProfileProblem, profileDifferences, readProfileFile, toProfileFile, wholeProfile } from './read-profile.ts'
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

describe('a map of a profile', () => {
  const refused: [path: string, map: Record<string, unknown>, allowed: RegExp][] = [
    ['order_content.priority_values', { urgent: 'S' }, /must be one of priority, routine/],
    ['order_content.fasting_values', { true: 'Y' }, /must be one of yes, no/],
    ['order_content.abn_values', { missing: '1' }, /must be one of signed, not_needed/],
    ['order_content.billing_values', { insurance: 'T' }, /must be one of client_bill, commercial_insurance, .*patient_bill$/],
    ['order_content.specimen_codes', { 'Whole Blood': 'BLD' }, /such as serum, whole_blood, .*dried_blood_spot/],
    ['order_content.constants', { ZOR1: 'WEB' }, /must name a field of an order, such as PID-3 or PID-5.1/],
    ['order_content.constants', { 'MSH-9.1': 'ORM' }, /MSH-9.1 cannot have a constant/],
    ['patient.sex_codes', { women: 'F' }, /must be one of female, male, other, unknown/],
    ['patient.race_codes', { white: '1' }, /must be one of .*asian.*white_caucasian/],
    ['patient.ethnicity_codes', { latino: 'H' }, /must be one of hispanic, non_hispanic, ashkenazi_jewish, other/],
    ['text.length_limits', { 'PID5.1': 30 }, /must name a field of an order, such as PID-3 or PID-5.1/],
    ['text.length_limits', { 'PDI-5.1': 30 }, /MSH, .*PID, .*or one that begins with Z/],
    ['results.flags', { '+': 'above' }, /Input should be .*'H', 'L', 'A'/],
    ['results.flags', { '': 'N' }, /must have a name that is not empty/],
    ['codes.tests', { '': '100' }, /must have a name that is not empty/],
    ['codes.units', { '': 'mg' }, /must have a name that is not empty/],
  ]
  for (const [path, map, allowed] of refused)
    test(`${path} refuses ${JSON.stringify(map)} and says what is allowed`, () => {
      const [group, name] = path.split('.') as [keyof ProfileOptions, string]
      const options = { ...requiredOptions, [group]: { ...(requiredOptions as ProfileOptions)[group], [name]: map } }
      assert.throws(
        () => readProfileFile(options),
        (error: unknown) => {
          assert(error instanceof ProfileProblem)
          assert.deepEqual(
            error.faults.map(({ loc }) => loc.join('.')),
            [`${path}.${Object.keys(map)[0]}`],
          )
          assert.match(error.faults[0]!.msg, allowed)
          return true
        },
      )
    })

  test('reports all of its faults at once, with those of other options', () => {
    assert.deepEqual(
      faultsOf({
        ...requiredOptions,
        patient: { sex_codes: { women: 'F', men: 'M', other: 'O' } },
        order_content: { priority_values: { urgent: 'S' }, message: 'FAX' },
      }),
      ['patient.sex_codes.women', 'patient.sex_codes.men', 'order_content.message', 'order_content.priority_values.urgent'],
    )
  })

  test('accepts what has a meaning, and a specimen that an imported catalog may have', () => {
    const options = {
      ...requiredOptions,
      text: { ...requiredOptions.text, length_limits: { 'PID-5.1': 25, 'ZOR-1': 3 } },
      patient: { sex_codes: { female: 'W' }, race_codes: { asian: 'A' }, ethnicity_codes: { other: 'X' } },
      order_content: {
        specimen_codes: { nasal_swab: 'NOS', dried_blood_spot: 'BLDC' },
        constants: { 'ZOR-1': 'WEB', 'PV1-2': 'O', 'MSH-8': 'S' },
        billing_values: { patient_bill_passthrough: 'C' },
        fasting_values: { yes: 'Y' },
      },
    }
    const { order_content, patient, text } = wholeProfile(readProfileFile(options))
    assert.deepEqual(text.length_limits, options.text.length_limits)
    assert.deepEqual(patient.race_codes, options.patient.race_codes)
    for (const name of ['specimen_codes', 'constants', 'billing_values', 'fasting_values'] as const)
      assert.deepEqual(order_content[name], options.order_content[name])
  })

  test('of flags has meanings that results understand', () => {
    const { flags } = LinkProfile.properties.results.properties
    const values = (Object.values(flags.patternProperties)[0] as unknown as { enum: string[] }).enum
    assert(values.length > 5)
    for (const value of values) if (value !== 'IND') assert.notEqual(statementOfCode(value), 'not understood', value)
  })
})
