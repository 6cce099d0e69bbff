// Analysis of queries without a database: names and types of columns, dependencies, and errors.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { validate } from '../../platform/schema/request-validation.ts'
import type { Fault } from '../../platform/schema/fault.ts'
import { analyzeQuery } from './interpret.ts'
import { Query } from './query-language.ts'

const byWeek = (index: string) => ({ date_trunc: { unit: 'week' }, arg: { index } })
const bySleep = { group_by: [byWeek('sleep')] }
const key = { group_key: '*' }
const mean = (arg: object) => ({ func: 'mean', arg })

/** Parses and analyzes a query as a request contains it. */
function meaning(query: object) {
  const faults: Fault[] = []
  const value = validate(Query, query, ['query'], faults, 'json')
  assert.deepEqual(faults, [], 'the query is not well-formed')
  return analyzeQuery(value as Query)
}
const schemaOf = (query: object) => {
  const { result_table_schema, faults } = meaning(query)
  assert.deepEqual(faults, [])
  return result_table_schema
}
const faultsOf = (query: object): string[] => meaning(query).faults

describe('columns of a result', () => {
  test('are named by function and column, and group keys by their number', () => {
    const select = [key, mean({ sleep: 'efficiency' }), { func: 'min', arg: { value_macro: 'sleep_score' } }]
    const query = { select: [...select, { func: 'newest', arg: { value_macro: 'chronotype' } }], ...bySleep }
    const found = schemaOf(query)
    assert.deepEqual(found, {
      'group_key.0': 'string',
      'mean.efficiency': 'double',
      'min.sleep_score': 'int64',
      'newest.chronotype': 'string',
    })
    assert.deepEqual(Object.keys(found), ['group_key.0', 'mean.efficiency', 'min.sleep_score', 'newest.chronotype'])
  })

  const types: [func: string, column: string, type: string][] = [
    ['mean', 'duration_second', 'double'],
    ['median', 'duration_second', 'double'],
    ['stddev', 'duration_second', 'double'],
    ['sum', 'duration_second', 'int64'],
    ['sum', 'efficiency', 'double'],
    ['min', 'duration_second', 'int64'],
    ['max', 'hrv_mean_rmssd', 'double'],
    ['min', 'session_start', 'string'],
    ['max', 'state', 'string'],
    ['count', 'state', 'int64'],
    ['oldest', 'state', 'string'],
    ['newest', 'latency_second', 'int64'],
  ]
  for (const [func, column, type] of types)
    test(`${func} of ${column} has type ${type}`, () => {
      const select = [key, { func, arg: { sleep: column } }]
      assert.deepEqual(schemaOf({ select, ...bySleep }), { 'group_key.0': 'string', [`${func}.${column}`]: type })
    })

  test('group keys have the type of their expression, in the order of selection', () => {
    const group_by = [
      { activity: 'wheelchair_use' },
      byWeek('activity'),
      { date_part: 'weekday', arg: { index: 'activity' } },
      { source: 'source_provider' },
    ]
    const select = [{ func: 'sum', arg: { activity: 'steps' } }, ...[1, 0, 3, 2].map((group_key) => ({ group_key }))]
    const found = schemaOf({ select, group_by })
    assert.deepEqual(Object.entries(found), [
      ['sum.steps', 'int64'],
      ['group_key.1', 'string'],
      ['group_key.0', 'bool'],
      ['group_key.3', 'string'],
      ['group_key.2', 'int64'],
    ])
  })

  test('samples are named by their field, and their index by its time', () => {
    const group_by = [byWeek('timeseries'), { timeseries: 'stand_hour', field: 'type' }]
    const select = [key, { func: 'sum', arg: { timeseries: 'stand_hour', field: 'value' } }]
    const found = schemaOf({ select: [...select, { func: 'newest', arg: { index: 'timeseries' } }], group_by })
    assert.deepEqual(found, {
      'group_key.0': 'string',
      'group_key.1': 'string',
      'sum.value': 'double',
      'newest.timestamp': 'string',
    })
  })

  test('list aggregates are named by both functions, the list and the field', () => {
    const of = (list: string, arg: object | null, func = 'count') => ({
      func: 'max',
      arg: { select: { func, arg }, from: { unnest: { menstrual_cycle: list } } },
    })
    const temperature = { basal_body_temperature: 'value' }
    const select = [key, of('menstrual_flow', null), of('basal_body_temperature', temperature, 'mean')]
    assert.deepEqual(schemaOf({ select, group_by: [byWeek('menstrual_cycle')] }), {
      'group_key.0': 'string',
      'max.count.menstrual_flow': 'int64',
      'max.mean.basal_body_temperature.value': 'double',
    })
    const tags = { select: { func: 'count', arg: { element: true } }, from: { unnest: { timeseries: 'note', field: 'tags' } } }
    assert.deepEqual(schemaOf({ select: [key, { func: 'sum', arg: tags }], group_by: [byWeek('timeseries')] }), {
      'group_key.0': 'string',
      'sum.count.tags.element': 'int64',
    })
  })
})

test('a query depends on the resources that it reads, and on the resources of its derived values', () => {
  const of = (arg: object, index: string) => meaning({ select: [key, { func: 'count', arg }], group_by: [byWeek(index)] })
  const expected: [arg: object, index: string, resources: string[]][] = [
    [{ value_macro: 'sleep_score' }, 'sleep', ['sleep']],
    [{ value_macro: 'awakenings' }, 'sleep', ['sleep', 'sleep_cycle']],
    [{ derived_readiness: 'recovery_score' }, 'derived_readiness', ['sleep']],
    [{ workout: 'calories' }, 'workout', ['workouts']],
    [{ timeseries: 'heartrate', field: 'value' }, 'timeseries', ['heartrate']],
    [{ index: 'profile' }, 'profile', ['profile']],
  ]
  for (const [arg, index, resources] of expected) assert.deepEqual(of(arg, index).resource_dependencies, resources)
})

describe('rejected queries', () => {
  const selected = mean({ sleep: 'efficiency' })
  const select = [key, selected]
  const cases: [what: string, query: object, expected: RegExp][] = [
    ['without group_by', { select: [selected] }, /exactly one truncated datetime/],
    ['grouped by a plain column', { select, group_by: [{ sleep: 'type' }] }, /exactly one truncated datetime/],
    [
      'grouped by two truncated datetimes',
      { select, group_by: [byWeek('sleep'), byWeek('sleep')] },
      /exactly one truncated datetime/,
    ],
    ['without its group keys', { select: [selected], ...bySleep }, /must select all of its group keys/],
    [
      'without one of its group keys',
      { select: [{ group_key: 0 }, selected], group_by: [byWeek('sleep'), { sleep: 'type' }] },
      /must select all of its group keys/,
    ],
    ['with an unknown group key', { select: [key, { group_key: 1 }], ...bySleep }, /no key 1/],
    ['with a plain column', { select: [key, { sleep: 'efficiency' }], ...bySleep }, /neither a group key nor an aggregate/],
    ['with a plain source', { select: [key, { source: 'source_type' }], ...bySleep }, /source_type is neither/],
    ['with one column twice', { select: [key, selected, selected], ...bySleep }, /duplicate result column mean\.efficiency/],
    ['with a key twice', { select: [key, { group_key: 0 }], ...bySleep }, /duplicate result column group_key\.0/],
    [
      'over two tables',
      { select: [key, mean({ activity: 'steps' })], ...bySleep },
      /one table, .* sleep, activity|activity, sleep/,
    ],
    [
      'over two timeseries',
      {
        select: [key, ...['steps', 'distance'].map((timeseries) => mean({ timeseries, field: 'value' }))],
        group_by: [byWeek('timeseries')],
      },
      /one table/,
    ],
    ['over an unnamed timeseries', { select: [key], group_by: [byWeek('timeseries')] }, /does not specify a timeseries/],
    ['with the mean of text', { select: [key, mean({ sleep: 'state' })], ...bySleep }, /mean cannot be applied to state/],
    [
      'with the sum of instants',
      { select: [key, { func: 'sum', arg: { sleep: 'session_end' } }], ...bySleep },
      /sum cannot be applied to/,
    ],
    [
      'with the minimum of booleans',
      { select: [key, { func: 'min', arg: { activity: 'wheelchair_use' } }], group_by: [byWeek('activity')] },
      /min cannot be applied to/,
    ],
    [
      'with the sport of a sleep session',
      { select, group_by: [byWeek('sleep'), { source: 'source_sport' }] },
      /source_sport is only available for timeseries/,
    ],
    [
      'grouped by a list',
      { select: [key], group_by: [byWeek('menstrual_cycle'), { menstrual_cycle: 'contraceptive' }] },
      /cannot group by contraceptive/,
    ],
    [
      'with a list that is not unnested',
      { select: [key, { func: 'count', arg: { menstrual_cycle: 'contraceptive' } }], group_by: [byWeek('menstrual_cycle')] },
      /contraceptive is a list: use unnest/,
    ],
  ]
  for (const [what, query, expected] of cases)
    test(`rejects a query ${what}`, () => {
      const faults = faultsOf(query)
      assert(
        faults.some((fault) => expected.test(fault)),
        faults.join('; '),
      )
    })

  test('reports every error once', () => {
    assert.deepEqual(faultsOf({ select: [mean({ sleep: 'state' }), mean({ sleep: 'state' }), { sleep: 'type' }], ...bySleep }), [
      'mean cannot be applied to state: it is not a number',
      'type is neither a group key nor an aggregate',
      'a continuous query must select all of its group keys',
      'duplicate result column mean.state',
    ])
  })

  describe('of a list', () => {
    const of = (select: object, unnest: object, where?: string) =>
      faultsOf({
        select: [key, { func: 'sum', arg: { select, from: { unnest }, ...(where && { where }) } }],
        group_by: [byWeek('menstrual_cycle')],
      })
    const flow = { menstrual_cycle: 'menstrual_flow' }
    const refused: [what: string, faults: string[], expected: RegExp][] = [
      [
        'of a column that is not a list',
        of({ func: 'count' }, { menstrual_cycle: 'period_start' }),
        /cannot unnest period_start: it is not a list/,
      ],
      ['without its field', of({ func: 'mean' }, flow), /mean of menstrual_flow requires a field/],
      [
        'of a field of another list',
        of({ func: 'count', arg: { contraceptive: 'type' } }, flow),
        /contraceptive\.type is not a field/,
      ],
      [
        'of elements that have fields',
        of({ func: 'count', arg: { element: true } }, flow),
        /element is not a field of menstrual_flow/,
      ],
      [
        'newest of list elements',
        of({ func: 'newest', arg: { menstrual_flow: 'date' } }, flow),
        /newest cannot be applied to list elements/,
      ],
      [
        'mean of text',
        of({ func: 'mean', arg: { menstrual_flow: 'flow' } }, flow),
        /mean cannot be applied to menstrual_flow\.flow/,
      ],
      ['with an unknown field in where', of({ func: 'count' }, flow, 'quality = 1'), /unknown column quality/],
    ]
    for (const [what, faults, expected] of refused)
      test(`rejects an aggregate ${what}`, () =>
        assert(
          faults.some((fault) => expected.test(fault)),
          faults.join('; '),
        ))

    test('accepts the same expressions for elements of a list', () => {
      assert.deepEqual(of({ func: 'count' }, flow, "flow = 'heavy' and date > '2030-01-01'"), [])
    })
  })
})

describe('gap filling', () => {
  const of = (carry: object, group_by: object[] = [byWeek('sleep')]) =>
    faultsOf({ select: [key, mean({ sleep: 'efficiency' })], group_by, align: { carry } })

  test('accepts no bound, and a bound of at least one bucket', () => {
    for (const carry of [
      { mode: 'carry_forward' },
      { mode: 'carry_backward', max_age: { value: 7, unit: 'day' } },
      { mode: 'carry_nearest', span: { unit: 'month' } },
    ])
      assert.deepEqual(of(carry), [])
  })

  test('rejects a bound shorter than a bucket, and a group key that is a part of a date', () => {
    assert.match(of({ mode: 'carry_forward', max_age: { value: 6, unit: 'day' } }).join(), /must cover at least one bucket/)
    assert.match(of({ mode: 'carry_nearest', span: { unit: 'hour' } }).join(), /must cover at least one bucket/)
    const part = { date_part: 'weekday', arg: { index: 'sleep' } }
    assert.match(of({ mode: 'carry_forward' }, [byWeek('sleep'), part]).join(), /align cannot be combined with date_part/)
  })
})

describe('columns in where', () => {
  const of = (where: string, arg: object = { sleep: 'efficiency' }, index = 'sleep') =>
    faultsOf({ select: [key, mean(arg)], group_by: [byWeek(index)], where })

  test('accepts columns of the table and of its source', () => {
    assert.deepEqual(of("type = 'long_sleep' and source_provider != 'oura'"), [])
    assert.deepEqual(
      of("value > 100 and source_sport = 'running'", { timeseries: 'heartrate', field: 'value' }, 'timeseries'),
      [],
    )
  })

  test('rejects other columns', () => {
    assert.match(of('steps > 1').join(), /unknown column steps/)
    assert.match(of("source_sport = 'running'").join(), /unknown column source_sport/)
    assert.match(of('constructor = 1').join(), /unknown column constructor/)
    assert.match(of('value >').join(), /needs a column or a value at character 8/)
  })
})
