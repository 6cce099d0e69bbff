// Listing orders: filters, sorting, pages. Source: lab-testing.md 6.4.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { teamNow } from '../../platform/db/database.ts'
import { sql, type Sql } from '../../platform/db/sql.ts'
import { SECONDS_PER_DAY, kit, patient, createOrder, registration, shipping } from '../../../test/support/orders.ts'
import { createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import type { Order } from './schema.ts'

type Filters = Record<string, string | number | boolean | string[]>

function queryOf(filters: Filters): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filters)) for (const item of [value].flat()) query.append(name, String(item))
  return query.toString()
}

/** Sets columns of an order that otherwise change with time only. */
const set = ({ db, team }: TestTeam, id: string, assignments: Sql) =>
  db.queries.run(sql`update lab_order set ${assignments} where id = ${id} and team_id = ${team}`)

/** Orders with one-letter names; a list is compared by these names. */
class Named {
  readonly team: TestTeam
  readonly ids: Record<string, string> = {}
  constructor(team: TestTeam) {
    this.team = team
  }
  async list(filters: Filters, path = '/v3/orders'): Promise<string> {
    const { status, body } = await this.team.api.get(`${path}?${queryOf(filters)}`)
    assert.equal(status, 200, JSON.stringify(body))
    if (!('page' in filters) && !('size' in filters)) assert.equal(body.total, body.orders.length)
    const names = Object.keys(this.ids)
    return body.orders.map((order: Order) => names.find((name) => this.ids[name] === order.id) ?? '?').join('')
  }
}

describe('the filters of the list of orders', () => {
  let orders: Named
  let team: TestTeam
  let today: string
  let other: TestTeam
  /** Replaces placeholders in a filter by the values of created orders. */
  const known = (value: string): string =>
    value.replace(/(order|user|transaction):(\w)/, (_, table: string, name: string) => facts[`${table}:${name}`]!)
  const facts: Record<string, string> = {}

  before(async () => {
    ;[team, other] = [await createTestTeam(), await createTestTeam()]
    orders = new Named(team)
    await createOrder(other)
    today = teamNow(team.tenant).toISOString().slice(0, 10)
    const tomorrow = new Date(Date.parse(today) + SECONDS_PER_DAY * 1000).toISOString().slice(0, 10)
    const made: Record<string, Order> = {
      a: await createOrder(team, { patient_address: { ...shipping, receiver_name: 'Box 100%_full' } }),
      b: await createOrder(team, {
        patient_details: { ...patient, first_name: 'Berta', last_name: "O'Sample", dob: '1980-02-29' },
      }),
      c: await kit(team, { shipping_details: { ...shipping, receiver_name: 'Carla Parcel' } }),
      d: await createOrder(team, { activate_by: today }),
      e: await createOrder(team, { activate_by: tomorrow }),
    }
    const registered = await kit(team, { shipping_details: { ...shipping, receiver_name: 'Dora Parcel' } })
    await team.api.post(
      '/v3/order/testkit/register',
      registration(registered.sample_id, { patient_details: { ...patient, first_name: 'Emil' } }),
    )
    made.f = registered
    for (const [name, order] of Object.entries(made)) {
      orders.ids[name] = order.id
      facts[`order:${name}`] = order.id
      facts[`user:${name}`] = order.user_id
      facts[`transaction:${name}`] = order.order_transaction.id
    }
    await team.api.post(`/v3/order/${made.d!.id}/cancel`)
    await set(team, made.a!.id, sql`interpretation = 'critical'`)
    await set(team, made.b!.id, sql`interpretation = 'normal'`)
    await set(team, made.c!.id, sql`interpretation = 'abnormal'`)
  })

  const cases: [string, Filters, string][] = [
    ['nothing', {}, 'fedcba'],
    ['one low-level status', { status: 'ordered' }, 'eba'],
    ['several low-level statuses', { status: ['cancelled', 'awaiting_registration'] }, 'dc'],
    ['several statuses behind one another', { status: 'cancelled,awaiting_registration' }, 'dc'],
    ['statuses in brackets', { 'status[]': ['cancelled', 'ordered'] }, 'edba'],
    ['statuses in numbered brackets', { 'status[0]': 'cancelled', 'status[1]': 'registered' }, 'fd'],
    ['a status in any case', { status: 'Cancelled' }, 'd'],
    ['the registered status', { status: 'registered' }, 'f'],
    ['the registered status as events show it', { status: 'TESTKIT_registered' }, 'f'],
    ['a status that no order has', { status: 'completed' }, ''],
    ['the collection method', { order_type: 'testkit' }, 'fedcba'],
    ['another collection method', { order_type: ['walk_in_test', 'at_home_phlebotomy'] }, ''],
    ['critical results', { is_critical: true }, 'a'],
    ['no critical results, with none at all among them', { is_critical: false }, 'fedcb'],
    ['normal results', { interpretation: 'normal' }, 'b'],
    ['abnormal results', { interpretation: 'ABNORMAL' }, 'c'],
    ['critical results by their name', { interpretation: 'critical' }, 'a'],
    ['scheduled orders', { order_activation_types: 'scheduled' }, 'e'],
    ['current orders, those of today among them', { order_activation_types: 'current' }, 'fdcba'],
    ['orders of both kinds', { order_activation_types: ['current', 'scheduled'] }, 'fedcba'],
    ['the user', { user_id: 'user:b' }, 'b'],
    ['a part of the name of the patient, in any case', { patient_name: "O'SAM" }, 'b'],
    ['first and last name of the patient', { patient_name: 'emil fict' }, 'f'],
    ['a name that is a pattern', { patient_name: '%' }, ''],
    ['the recipient of a kit', { shipping_recipient_name: 'parcel' }, 'fc'],
    ['the recipient at the address of the patient', { shipping_recipient_name: '100%_f' }, 'a'],
    ['one order', { order_ids: 'order:c' }, 'c'],
    ['several orders', { order_ids: ['order:c', 'order:a', randomUUID()] }, 'ca'],
    ['the transaction', { order_transaction_id: 'transaction:e' }, 'e'],
    ['the id of an order that is searched for', { search_input: 'order:d' }, 'd'],
    ['the id of a user that is searched for', { search_input: 'user:f' }, 'f'],
    ['an id of nothing that is searched for', { search_input: randomUUID() }, ''],
    ['a date of birth that is searched for', { search_input: '1980-02-29' }, 'b'],
    ['a name that is searched for', { search_input: 'berta o' }, 'b'],
    ['a recipient that is searched for', { search_input: 'CARLA' }, 'c'],
    ['an underscore that is searched for', { search_input: '%_' }, 'a'],
    ['a day that never was, which is but text', { search_input: '1980-02-30' }, ''],
    ['an empty search', { search_input: '', patient_name: '', shipping_recipient_name: '', start_date: '' }, 'fedcba'],
    [
      'all at once',
      { status: ['ordered', 'cancelled'], is_critical: false, order_activation_types: 'current', order_type: 'testkit' },
      'db',
    ],
    ['all at once, of which one is not so', { status: 'ordered', patient_name: 'Berta', interpretation: 'critical' }, ''],
  ]
  for (const [what, filters, names] of cases)
    test(`the list of orders filters by ${what}`, async () => {
      const filled = Object.fromEntries(
        Object.entries(filters).map(([name, value]) => [
          name,
          typeof value === 'string' ? known(value) : Array.isArray(value) ? value.map(known) : value,
        ]),
      )
      assert.equal(await orders.list(filled), names)
      assert.equal(await orders.list(filled, '/orders'), names, 'on the short path')
    })

  test('filters never return orders of another team', async () => {
    const theirs = (await other.api.get('/v3/orders')).body.orders[0] as Order
    for (const filters of [
      { order_ids: theirs.id },
      { user_id: theirs.user_id },
      { order_transaction_id: theirs.order_transaction.id },
      { search_input: theirs.id },
    ])
      assert.equal(await orders.list(filters), '')
  })

  const refused: [string, string, string][] = [
    ['status=done', 'query.status.0', 'enum'],
    ['status=ordered&status=done', 'query.status.1', 'enum'],
    ['order_type=post', 'query.order_type.0', 'enum'],
    ['order_activation_types=later', 'query.order_activation_types.0', 'enum'],
    ['interpretation=bad', 'query.interpretation', 'enum'],
    ['is_critical=perhaps', 'query.is_critical', 'bool_parsing'],
    ['user_id=x', 'query.user_id', 'uuid_parsing'],
    ['order_ids=x', 'query.order_ids.0', 'uuid_parsing'],
    ['order_transaction_id=x', 'query.order_transaction_id', 'uuid_parsing'],
    ['order_key=price', 'query.order_key', 'enum'],
    ['order_direction=up', 'query.order_direction', 'enum'],
    ['page=0', 'query.page', 'greater_than_equal'],
    ['page=x', 'query.page', 'int_parsing'],
    ['size=0', 'query.size', 'greater_than_equal'],
    ['size=101', 'query.size', 'less_than_equal'],
    ['start_date=2024-02-30', 'query.start_date', 'datetime_parsing'],
    ['end_date=tomorrow', 'query.end_date', 'datetime_parsing'],
    ['updated_start_date=1', 'query.updated_start_date', 'datetime_parsing'],
    ['updated_end_date=2024-13-01', 'query.updated_end_date', 'datetime_parsing'],
    ['patient_name=' + 'a'.repeat(201), 'query.patient_name', 'string_too_long'],
  ]
  for (const [query, place, type] of refused)
    test(`rejects an invalid filter: ${query.slice(0, 40)}`, async () => {
      const { status, body } = await team.api.get(`/v3/orders?${query}`)
      assert.deepEqual(
        [status, body.detail.map((fault: { loc: string[]; type: string }) => [fault.loc.join('.'), fault.type])],
        [422, [[place, type]]],
      )
    })
})

describe('date filters of the list of orders', () => {
  let orders: Named
  before(async () => {
    const team = await createTestTeam()
    orders = new Named(team)
    for (const [name, at] of Object.entries({
      a: '2024-05-05T23:59:59Z',
      b: '2024-05-06T00:00:00Z',
      c: '2024-05-06T12:00:00Z',
      d: '2024-05-06T23:59:59Z',
      e: '2024-05-07T00:00:00Z',
    })) {
      const { id } = await createOrder(team)
      orders.ids[name] = id
      await set(team, id, sql`created_at = ${at}, updated_at = ${at}`)
    }
  })

  const cases: [Filters, string][] = [
    [{ start_date: '2024-05-06' }, 'edcb'],
    [{ start_date: '2024/05/06' }, 'edcb'],
    [{ start_date: '2024-05-06T00:00:00' }, 'edcb'],
    [{ start_date: '2024-05-06T12:00:00Z' }, 'edc'],
    [{ start_date: '2024-05-06T12:00:00.001Z' }, 'ed'],
    [{ start_date: '2024-05-06T14:00:00+02:00' }, 'edc'],
    [{ end_date: '2024-05-05' }, 'a'],
    [{ end_date: '2024-05-06' }, 'dcba'],
    [{ end_date: '2024/05/06' }, 'dcba'],
    [{ end_date: '2024-05-06T00:00:00Z' }, 'ba'],
    [{ end_date: '2024-05-06 12:00:00' }, 'cba'],
    [{ end_date: '2024-05-06T11:59:59.999Z' }, 'ba'],
    [{ start_date: '2024-05-06', end_date: '2024-05-06' }, 'dcb'],
    [{ start_date: '2024-05-07', end_date: '2024-05-06' }, ''],
    [{ updated_start_date: '2024-05-06' }, 'edcb'],
    [{ updated_start_date: '2024-05-06T12:00:00Z' }, 'edc'],
    // Unlike `end_date`, this filter ends at the start of the day.
    [{ updated_end_date: '2024-05-06' }, 'ba'],
    [{ updated_end_date: '2024-05-07' }, 'edcba'],
    [{ updated_end_date: '2024-05-06T23:59:59Z' }, 'dcba'],
    [{ updated_start_date: '2024-05-06', updated_end_date: '2024-05-06' }, 'b'],
    [{ start_date: '2024-05-06', updated_end_date: '2024-05-06T12:00:00Z', end_date: '2024-05-07' }, 'cb'],
    [{ start_date: '0001-01-01', end_date: '9999-12-31' }, 'edcba'],
  ]
  for (const [filters, names] of cases)
    test(`date filters include their bounds: ${queryOf(filters)}`, async () => assert.equal(await orders.list(filters), names))
})

describe('sorting the list of orders', () => {
  let orders: Named
  before(async () => {
    const team = await createTestTeam()
    orders = new Named(team)
    const named = (first_name: string) => createOrder(team, { patient_details: { ...patient, first_name, last_name: 'F' } })
    const made = {
      a: await named('Cora'),
      b: await named('anna'),
      c: await kit(team),
      d: await named('Berta'),
      e: await named('ANNA'),
    }
    for (const [name, { id }] of Object.entries(made)) orders.ids[name] = id
    await team.api.post(`/v3/order/${made.a.id}/cancel`)
    await set(team, made.d.id, sql`created_at = created_at - interval '1 day'`)
  })

  for (const [filters, names] of [
    [{}, 'ecbad'],
    [{ order_key: 'created_at' }, 'ecbad'],
    [{ order_key: 'created_at', order_direction: 'desc' }, 'ecbad'],
    [{ order_direction: 'asc' }, 'dabce'],
    [{ order_direction: 'ASC', order_key: 'CREATED_AT' }, 'dabce'],
    [{ order_key: 'patient_name', order_direction: 'asc' }, 'bedac'],
    [{ order_key: 'patient_name', order_direction: 'desc' }, 'adebc'],
    [{ order_key: 'last_status', order_direction: 'asc' }, 'cadbe'],
    [{ order_key: 'last_status', order_direction: 'desc' }, 'ebdac'],
    [{ order_key: 'created_at', order_direction: 'asc', status: 'ordered' }, 'dbe'],
    [{ order_key: 'created_at', order_direction: 'desc', status: 'ordered' }, 'ebd'],
  ] as [Filters, string][])
    test(`the list is sorted as requested and then by age: ${queryOf(filters)}`, async () =>
      assert.equal(await orders.list(filters), names))
})

describe('pages of the list of orders', () => {
  let orders: Named
  const names = 'abcdefg'
  before(async () => {
    const team = await createTestTeam()
    orders = new Named(team)
    for (const name of names) orders.ids[name] = (await createOrder(team)).id
  })

  for (const filters of [
    {},
    { order_direction: 'asc' },
    { status: 'ordered' },
    { status: 'ordered', order_direction: 'asc' },
    { order_key: 'last_status' },
  ] as Filters[])
    for (const size of [1, 2, 3, 6, 7, 8, 100])
      test(`pages of ${size} contain every order once and are then empty: ${queryOf(filters)}`, async () => {
        const whole = filters.order_direction === 'asc' ? names : [...names].reverse().join('')
        let seen = ''
        for (let page = 1; page <= Math.ceil(7 / size); page++) seen += await orders.list({ ...filters, page, size })
        assert.equal(seen, whole)
        assert.equal(await orders.list({ ...filters, page: Math.ceil(7 / size) + 1, size }), '')
        assert.equal(await orders.list({ ...filters, page: 10_000_000, size }), '')
      })

  test('a page has the total number of orders and its page number', async () => {
    const { api } = orders.team
    for (const [query, page, size, count, total] of [
      ['', 1, 50, 7, 7],
      ['?size=2', 1, 2, 2, 7],
      ['?size=2&page=4', 4, 2, 1, 7],
      ['?size=2&page=5', 5, 2, 0, 7],
      ['?size=2&page=2&status=ordered', 2, 2, 2, 7],
      ['?size=2&status=completed', 1, 2, 0, 0],
    ] as const)
      for (const path of ['/v3/orders', '/orders', '/v3/orders/']) {
        const { body } = await api.get(`${path}${query}`)
        assert.deepEqual(Object.keys(body), ['orders', 'total', 'page', 'size'])
        assert.deepEqual([body.page, body.size, body.orders.length, body.total], [page, size, count, total])
      }
  })

  test('a page shows orders in the same form as reading them', async () => {
    const { api } = orders.team
    const { body } = await api.get('/v3/orders?size=1')
    assert.deepEqual(body.orders[0], (await api.get(`/v3/order/${body.orders[0].id}`)).body)
  })

  test('a team without orders gets empty pages', async () => {
    const { api } = await createTestTeam()
    assert.deepEqual((await api.get('/v3/orders')).body, { orders: [], total: 0, page: 1, size: 50 })
  })
})
