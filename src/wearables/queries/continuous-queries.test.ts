import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { client, createTestTeam, type TestTeam } from '../../../test/support/server.ts'

const key = { group_key: '*' }
const query = {
  select: [key, { func: 'mean', arg: { value_macro: 'sleep_score' } }],
  group_by: [{ date_trunc: { unit: 'month' }, arg: { index: 'sleep' } }],
}
const monthly = { slug: 'monthly-sleep', title: 'Sleep month by month', query }

const queryPath = (org: TestTeam, rest = '', team = org.team): string => `/team/${team}/sandbox/continuous_query${rest}`
const create = async (org: TestTeam, body: object = {}, query = '') => {
  const reply = await org.manage.post(queryPath(org, query), { ...monthly, ...body })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body
}
const list = async (org: TestTeam, team = org.team) => (await org.manage.get(queryPath(org, '', team))).body.data
const createManagedTeam = async (org: TestTeam): Promise<string> =>
  (await org.manage.post('/team', { name: 'Made', region: 'us' })).body.id
const boundTo = async (org: TestTeam, team_id = org.team): Promise<TestTeam['manage']> => {
  const made = (await org.manage.post('/management_key', { label: 'bound', team_id })).body
  return client(made.key, 'x-management-key', `/v1/org/${org.org_id}`)
}

describe('a continuous query', () => {
  test('is stored with the columns of its result and its dependencies', async () => {
    const org = await createTestTeam()
    const body = await create(org)
    assert.deepEqual(body, {
      id: body.id,
      status: 'active',
      slug: 'monthly-sleep',
      title: 'Sleep month by month',
      team_id: org.team,
      query: {
        select: [key, { func: 'mean', arg: { value_macro: 'sleep_score', version: 'automatic' } }],
        group_by: [{ date_trunc: { value: 1, unit: 'month' }, arg: { index: 'sleep' } }],
      },
      query_config: { provider_priority_overrides: null },
      scheduling_preferences: { minimum_gap_duration_second: null },
      result_table_schema: { 'group_key.0': 'string', 'mean.sleep_score': 'double' },
      resource_dependencies: ['sleep'],
      export_preferences: { data_events: { enabled: true }, fhir_observations: false },
      fhir_observation_mappers: [],
    })
    assert.deepEqual((await org.manage.get(queryPath(org))).body, { data: [body], next_cursor: null })
    assert.deepEqual((await org.manage.get(`/team/${await createManagedTeam(org)}/production/continuous_query`)).body.data, [])
  })

  test('stores its other fields, and the order of its columns', async () => {
    const org = await createTestTeam()
    const select = ['stage_rem_second', 'efficiency', 'duration_second'].map((sleep) => ({ func: 'mean', arg: { sleep } }))
    const wanted = {
      query: {
        select: [...select, { group_key: 0 }],
        group_by: query.group_by,
        where: "type = 'long_sleep'",
        align: { carry: { mode: 'carry_forward', max_age: { value: 2, unit: 'month' } } },
      },
      query_config: { provider_priority_overrides: ['oura', 'quest'] },
      scheduling_preferences: { minimum_gap_duration_second: 1800 },
      export_preferences: { data_events: { enabled: false }, fhir_observations: true },
    }
    await create(org, wanted)
    const [kept] = await list(org)
    for (const name of ['query_config', 'scheduling_preferences', 'export_preferences'] as const)
      assert.deepEqual(kept[name], wanted[name])
    assert.deepEqual([kept.query.where, kept.query.align], [wanted.query.where, wanted.query.align])
    assert.deepEqual(Object.keys(kept.result_table_schema), [
      'mean.stage_rem_second',
      'mean.efficiency',
      'mean.duration_second',
      'group_key.0',
    ])
  })

  test('that cannot be used returns 400 with the reasons, and is not stored', async () => {
    const org = await createTestTeam()
    const { status, body } = await org.manage.post(queryPath(org), {
      ...monthly,
      query: { select: [{ sleep: 'state' }], where: 'steps > 1' },
    })
    assert.equal(status, 400)
    assert.match(body.detail, /unknown column steps.*exactly one truncated datetime/)
    assert.deepEqual(await list(org), [])
  })

  test('that is malformed returns 422 with every error and its location', async () => {
    const org = await createTestTeam()
    const { status, body } = await org.manage.post(queryPath(org), {
      slug: 'monthly_sleep',
      title: 'Sleep!',
      query: {
        select: [{ sleep: 'nonsense' }, { func: 'average', arg: { sleep: 'score' } }, { placeholder: true }, 7],
        group_by: [{ date_trunc: { value: 0, unit: 'month' }, arg: { index: 'night' } }],
        align: { carry: { mode: 'carry_forward', span: { unit: 'day' } } },
      },
      query_config: { provider_priority_overrides: ['nobody'] },
      scheduling_preferences: { minimum_gap_duration_second: 1799 },
    })
    assert.equal(status, 422)
    assert.deepEqual(
      body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.slice(1).join('.')} ${type}`),
      [
        'slug string_pattern_mismatch',
        'title string_pattern_mismatch',
        'query.select.0.sleep enum',
        'query.select.1.func enum',
        'query.select.2.func missing',
        'query.select.2.arg missing',
        'query.select.3 model_attributes_type',
        'query.group_by.0.date_trunc.value greater_than_equal',
        'query.group_by.0.arg.index enum',
        'query.align.carry.mode enum',
        'query_config.provider_priority_overrides.0 enum',
        'scheduling_preferences.minimum_gap_duration_second greater_than_equal',
      ],
    )
  })

  const slugs = {
    good: ['a', '0', 'a-b', 'x'.repeat(128)],
    bad: ['', 'A', 'a_b', '-a', 'a-', 'a--b', 'a b', 'é', 'x'.repeat(129)],
  }
  test('has a slug of lower-case letters, digits and single hyphens', async () => {
    const org = await createTestTeam()
    for (const slug of slugs.good) await create(org, { slug })
    for (const slug of slugs.bad) {
      const { status, body } = await org.manage.post(queryPath(org), { ...monthly, slug })
      assert.deepEqual([status, body.detail[0].loc], [422, ['body', 'slug']], slug)
    }
  })

  test('has a unique slug within its team and environment, including archived queries', async () => {
    const org = await createTestTeam()
    const { id } = await create(org)
    const again = async (path = queryPath(org)) => (await org.manage.post(path, monthly)).status
    assert.equal(await again(), 409)
    assert.equal((await org.manage.delete(queryPath(org, `/${id}`))).status, 200)
    assert.equal(await again(), 409)
    assert.equal((await list(org)).length, 1)
    const apart = await createManagedTeam(org)
    assert.equal(await again(queryPath(org, '', apart)), 200)
    assert.equal(await again(`/team/${apart}/production/continuous_query`), 200)
    const both = await Promise.all([0, 1].map(() => org.manage.post(queryPath(org), { ...monthly, slug: 'raced' })))
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
  })

  test('is created once under a repeated idempotency key', async () => {
    const org = await createTestTeam()
    const ask = () => org.manage.post(queryPath(org), monthly, { 'x-idempotency-key': 'the-same' })
    const [first, second] = [await ask(), await ask()]
    assert.deepEqual([first.status, second.status, second.body], [200, 200, first.body])
  })

  test('can change its title and schedule, and nothing else', async () => {
    const org = await createTestTeam()
    const before = await create(org, { scheduling_preferences: { minimum_gap_duration_second: 3600 } })
    const patch = async (body: object) => (await org.manage.patch(queryPath(org, `/${before.id}`), body)).body
    assert.deepEqual(await patch({ slug: 'other', status: 'archived', query: {} }), before)
    assert.deepEqual(await patch({ title: null, scheduling_preferences: null }), before)
    assert.deepEqual(await patch({ title: 'Other' }), { ...before, title: 'Other' })
    const gap = (n: number | null) => ({ scheduling_preferences: { minimum_gap_duration_second: n } })
    assert.deepEqual(await patch(gap(7200)), { ...before, title: 'Other', ...gap(7200) })
    assert.deepEqual(await patch({ scheduling_preferences: {} }), { ...before, title: 'Other', ...gap(7200) })
    assert.deepEqual(await patch(gap(null)), { ...before, title: 'Other', ...gap(null) })
    assert.equal((await org.manage.patch(queryPath(org, `/${before.id}`), gap(60))).status, 422)
  })

  test('that is archived stays in the list, cannot be changed, and stays archived', async () => {
    const org = await createTestTeam()
    const before = await create(org)
    const path = queryPath(org, `/${before.id}`)
    const { status, body } = await org.manage.delete(path)
    assert.deepEqual([status, body], [200, {}])
    assert.deepEqual(await list(org), [{ ...before, status: 'archived' }])
    assert.equal((await org.manage.patch(path, { title: 'Other' })).status, 400)
    assert.equal((await org.manage.delete(path)).status, 200)
  })

  test('of another team or environment returns 404', async () => {
    const org = await createTestTeam()
    const apart = await createManagedTeam(org)
    const { id } = await create(org)
    for (const path of [
      queryPath(org, `/${id}`, apart),
      `/team/${apart}/production/continuous_query/${id}`,
      queryPath(org, `/${randomUUID()}`),
    ]) {
      assert.equal((await org.manage.patch(path, { title: 'Other' })).status, 404)
      assert.equal((await org.manage.delete(path)).status, 404)
    }
    const other = await createTestTeam()
    assert.equal((await other.manage.delete(queryPath(other, `/${id}`))).status, 404)
    assert.equal((await list(org))[0].status, 'active')
  })

  test('at most a hundred can be active; the list is newest first, a hundred a page', async () => {
    const org = await createTestTeam()
    for (let i = 0; i < 100; i++) await create(org, { slug: `query-${i}` })
    const refused = await org.manage.post(queryPath(org), monthly)
    assert.deepEqual([refused.status, typeof refused.body.detail], [400, 'string'])
    const [newest] = await list(org)
    assert.equal(newest.slug, 'query-99')
    await org.manage.delete(queryPath(org, `/${newest.id}`))
    await create(org)
    const first = (await org.manage.get(queryPath(org))).body
    const second = (await org.manage.get(queryPath(org, `?next_cursor=${first.next_cursor}`))).body
    assert.deepEqual([first.data.length, first.data[0].slug], [100, 'monthly-sleep'])
    assert.deepEqual([second.data.map(({ slug }: { slug: string }) => slug), second.next_cursor], [['query-0'], null])
    assert.equal((await org.manage.get(queryPath(org, '?next_cursor=nonsense'))).status, 400)
  })
})

describe('validating a query', () => {
  test('returns the columns and the dependencies, and stores nothing', async () => {
    const org = await createTestTeam()
    await create(org)
    const { status, body } = await org.manage.post(`/team/${org.team}/sandbox/validate_continuous_query`, monthly)
    assert.equal(status, 200)
    assert.deepEqual(body, {
      result_table_schema: { 'group_key.0': 'string', 'mean.sleep_score': 'double' },
      resource_dependencies: ['sleep'],
      fhir_observation_previews: null,
    })
    assert.equal((await list(org)).length, 1)
  })

  test('rejects the same queries as creating', async () => {
    const org = await createTestTeam()
    const ask = async (body: object) =>
      (await org.manage.post(`/team/${org.team}/sandbox/validate_continuous_query`, { ...monthly, ...body })).status
    assert.equal(await ask({ query: { ...query, where: 'steps > 1' } }), 400)
    assert.equal(await ask({ slug: 'a_b' }), 422)
    assert.equal(await ask({ query: { select: [] } }), 422)
  })
})

describe('a query for the whole organization', () => {
  test('applies to every team in its environment, and does not belong to a team', async () => {
    const org = await createTestTeam()
    const apart = await createManagedTeam(org)
    const body = await create(org, {}, '?query_type=platform')
    assert.equal(body.team_id, null)
    assert.deepEqual([await list(org), await list(org, apart)], [[body], [body]])
    assert.deepEqual((await org.manage.get(`/team/${apart}/production/continuous_query`)).body.data, [])
    const other = await createTestTeam()
    assert.deepEqual(await list(other), [])
    assert.equal((await other.manage.delete(queryPath(other, `/${body.id}`))).status, 404)
    assert.equal((await org.manage.post(queryPath(org, '?query_type=platform', apart), monthly)).status, 409)
    assert.equal((await org.manage.post(queryPath(org), monthly)).status, 200)
    assert.equal((await org.manage.patch(queryPath(org, `/${body.id}`, apart), { title: 'Other' })).body.title, 'Other')
    assert.equal((await org.manage.delete(queryPath(org, `/${body.id}`))).status, 200)
  })

  test('can be read by a key that is bound to teams, but not created, validated, changed or archived', async () => {
    const org = await createTestTeam()
    const bound = await boundTo(org)
    const body = await create(org, {}, '?query_type=platform')
    assert.deepEqual((await bound.get(queryPath(org))).body.data, [body])
    const refused = [
      await bound.post(queryPath(org, '?query_type=platform'), { ...monthly, slug: 'other' }),
      await bound.post(`/team/${org.team}/sandbox/validate_continuous_query?query_type=platform`, monthly),
      await bound.patch(queryPath(org, `/${body.id}`), { title: 'Other' }),
      await bound.delete(queryPath(org, `/${body.id}`)),
    ]
    assert.deepEqual(
      refused.map(({ status }) => status),
      [403, 403, 403, 403],
    )
    assert.deepEqual(await list(org), [body])
    assert.equal((await bound.post(queryPath(org), monthly)).status, 200)
    assert.equal((await org.manage.post(queryPath(org, '?query_type=world'), monthly)).status, 422)
  })
})
