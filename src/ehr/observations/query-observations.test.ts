// Results of continuous queries that are sent to a FHIR server as vital signs.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { add, beats, byDay, create, daily, key, MINUTE_S, queryPath } from '../../../test/support/continuous-queries.ts'
import { fhirServer, type FhirServer } from '../../../test/support/fhir-server.ts'
import { advanceClock } from '../../../test/support/orders.ts'
import type { TestTeam } from '../../../test/support/server.ts'
import { sampleAt, storeSamples, storeSummaries } from '../../../test/support/wearable-data.ts'
import { createTeamWithUser } from '../../../test/support/teams.ts'

const HEART_RATE = 'vital-signs#8867-4#junction-heart-rate-1'
const exported = { export_preferences: { fhir_observations: true } }
const connect = async ({ manage }: TestTeam, server: FhirServer, overrides: object = {}) => {
  const authentication = { type: 'api_key', api_key: server.token }
  const body = { ehr_type: 'fhir', base_url: `${server.url}/fhir`, authentication, ...overrides }
  assert.equal((await manage.post('/team_ehr_pipelines/sandbox/us', body)).status, 200)
}
const resources = ({ observations }: FhirServer) => [...observations.values()].map(({ resource }) => resource)
const values = (server: FhirServer) =>
  resources(server)
    .map(({ effectiveDateTime, effectivePeriod, valueQuantity: { value } }) => [
      effectiveDateTime ?? `${effectivePeriod.start}/${effectivePeriod.end}`,
      value,
    ])
    .toSorted()
const listObservations = async ({ manage, ...team }: TestTeam, id: string) =>
  (await manage.get(queryPath({ manage, ...team } as TestTeam))).body.data.find((query: { id: string }) => query.id === id)

describe('the result of a continuous query with fhir_observations', () => {
  test('is sent as Observations of vital signs, and changes replace the sent Observations', async () => {
    const server = await fhirServer()
    const { team, user_id } = await createTeamWithUser()
    await connect(team, server)
    const { id } = await create(team, daily, exported)
    assert.deepEqual((await listObservations(team, id)).fhir_observation_mappers, [HEART_RATE])
    await add(team, user_id, ['2026-01-30T09:00:00', 50], ['2026-01-31T09:00:00', 60])
    await advanceClock(team, MINUTE_S)
    const { client_user_id } = (await team.api.get(`/v2/user/${user_id}`)).body
    assert.deepEqual(values(server), [
      ['2026-01-30', 50],
      ['2026-01-31', 60],
    ])
    assert.deepEqual(
      resources(server).find(({ effectiveDateTime }) => effectiveDateTime === '2026-01-31'),
      {
        resourceType: 'Observation',
        identifier: [{ system: 'urn:drawbridge:query-result', value: `${id}/${user_id}/mean.value/2026-01-31` }],
        status: 'final',
        category: [
          {
            coding: [
              {
                system: 'http://terminology.hl7.org/CodeSystem/observation-category',
                code: 'vital-signs',
                display: 'Vital Signs',
              },
            ],
          },
        ],
        code: { coding: [{ system: 'http://loinc.org', code: '8867-4', display: 'Heart rate' }], text: 'Heart rate' },
        subject: {
          type: 'Patient',
          identifier: { system: 'urn:drawbridge:user', value: user_id },
          display: client_user_id,
        },
        effectiveDateTime: '2026-01-31',
        valueQuantity: { value: 60, unit: 'beats/minute', system: 'http://unitsofmeasure.org', code: '/min' },
        method: {
          coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-statistics', code: 'average' }],
          text: 'mean',
        },
      },
    )
    await add(team, user_id, ['2026-01-31T10:00:00', 80])
    server.failures.push('503', 'lost')
    // Two attempts fail, the third succeeds.
    for (let i = 0; i < 3; i++) await advanceClock(team, 3600)
    assert.equal(server.failures.length, 0)
    assert.deepEqual(values(server), [
      ['2026-01-30', 50],
      ['2026-01-31', 70],
    ])
    const versions = [...server.observations.values()].map(({ versionId }) => versionId).toSorted()
    assert.equal(versions[0], 1, 'an unchanged row is not sent again')
  })

  test('has a period for longer groups, a device for groups by source, and no Observation of a filled gap', async () => {
    const server = await fhirServer()
    const { team, user_id } = await createTeamWithUser()
    await connect(team, server)
    const weights = { func: 'newest', arg: { body: 'weight_kilogram' } }
    await create(
      team,
      {
        select: [key, weights, { func: 'count', arg: { body: 'weight_kilogram' } }],
        group_by: [byDay('body', 'month'), { source: 'source_provider' }],
        align: { carry: { mode: 'carry_forward' } },
      },
      exported,
    )
    await storeSummaries(team, user_id, 'body', [
      { key: 'a', calendar_date: '2025-10-05', document: { measured_at: '2025-10-05T08:00:00+00:00', weight: 70 } },
      { key: 'b', calendar_date: '2025-12-05', document: { measured_at: '2025-12-05T08:00:00+00:00', weight: 68 } },
    ])
    await advanceClock(team, MINUTE_S)
    assert.deepEqual(values(server), [
      ['2025-10-01/2025-10-31', 70],
      ['2025-12-01/2025-12-31', 68],
    ])
    const [first] = resources(server)
    assert.deepEqual([first.device, first.method], [{ type: 'Device', display: 'oura' }, { text: 'newest' }])
    assert.deepEqual(first.valueQuantity.code, 'kg')
    assert.match(first.identifier[0].value, /\/newest\.weight_kilogram\/20\d\d-1\d-01\/[0-9a-f]{16}$/)
  })

  test('of many rows is sent in several transactions, and by several jobs', async () => {
    const server = await fhirServer()
    const { team, user_id } = await createTeamWithUser()
    await connect(team, server)
    const functions = ['mean', 'min', 'max', 'median', 'oldest', 'newest']
    await create(team, { ...daily, select: [key, ...functions.map((func) => ({ func, arg: beats }))] }, exported)
    const from = Date.parse('2024-06-01T12:00:00Z')
    const samples = Array.from({ length: 400 }, (_, i) =>
      sampleAt(new Date(from + i * 86_400_000).toISOString().slice(0, 19), 60 + (i % 30)),
    )
    await storeSamples(team, user_id, 'heartrate', samples)
    await advanceClock(team, MINUTE_S)
    assert.equal(server.observations.size, 2400)
    assert.equal(server.transactions, 13, 'ten of a full job, and three of the next')
  })

  test('is not sent without the preference, for a mapping that the pipeline does not take, or after the user was deleted', async () => {
    const server = await fhirServer()
    const evaluated = async (preferences: object, pipeline: object, prepare?: (team: TestTeam, user_id: string) => unknown) => {
      const { team, user_id } = await createTeamWithUser()
      await connect(team, server, pipeline)
      await create(team, daily, preferences)
      await add(team, user_id, ['2026-01-31T09:00:00', 60])
      await prepare?.(team, user_id)
      await advanceClock(team, MINUTE_S)
    }
    await evaluated({}, {})
    await evaluated(exported, { allowed_mappers: ['lab_results'] })
    await evaluated(exported, {}, (team, user_id) => team.api.delete(`/v2/user/${user_id}`))
    assert.equal(server.transactions, 0)
    await evaluated(exported, { allowed_mappers: [HEART_RATE] })
    assert.equal(server.transactions, 1)
  })
})

describe('the mappings of a continuous query', () => {
  test('are shown by a validation with the preference, with an Observation each', async () => {
    const { team } = await createTeamWithUser()
    const validate = async (query: object, preferences: object) => {
      const body = { slug: 'a-fictional-query', title: 'A fictional query', query, ...preferences }
      return (await team.manage.post(`/team/${team.team}/sandbox/validate_continuous_query`, body)).body.fhir_observation_previews
    }
    const previews = await validate(daily, exported)
    assert.deepEqual(Object.keys(previews), [HEART_RATE])
    assert.equal(previews[HEART_RATE].code.coding[0].code, '8867-4')
    assert.equal(await validate(daily, {}), null)
    const hourly = { ...daily, group_by: [byDay('timeseries', 'hour')] }
    assert.equal(await validate(hourly, exported), null)
    const sums = { ...daily, select: [key, { func: 'count', arg: beats }] }
    assert.equal(await validate(sums, exported), null)
    const byHour = { ...daily, group_by: [byDay('timeseries'), { date_part: 'hour', arg: { index: 'timeseries' } }] }
    assert.equal(await validate(byHour, exported), null)
  })
})
