// Results that are sent to a FHIR server, as its protocol wants it, over lost answers and outages.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fhirServer, type FhirServer } from '../../../test/support/fhir-server.ts'
import { atLab, deliver, numeric, report, unorderedResult } from '../../../test/support/reports.ts'
import { advanceClock } from '../../../test/support/orders.ts'
import type { TestTeam } from '../../../test/support/server.ts'

const PATH = '/team_ehr_pipelines/sandbox/us'
const connect = async ({ manage }: TestTeam, server: FhirServer, overrides: object = {}) => {
  const authentication = { type: 'api_key', api_key: server.token }
  const body = { ehr_type: 'fhir', base_url: `${server.url}/fhir`, authentication, ...overrides }
  assert.equal((await manage.post(PATH, body)).status, 200)
}
const milligrams = { unit: 'mg/dL', system: 'http://unitsofmeasure.org', code: 'mg/dL' }
const resources = ({ observations }: FhirServer) => [...observations.values()].map(({ resource }) => resource)
const countWaiting = async (team: TestTeam) =>
  (
    await team.db.pool.query<{ attempts: number; last_error: string | null }>(
      `select attempts, last_error::text from job where team_id = $1 and name = 'ehr.send_observations'`,
      [team.team],
    )
  ).rows

describe('a result', () => {
  test('is sent as Observations with code, value, range, interpretation and subject', async () => {
    const server = await fhirServer()
    const { team, order, expected } = await atLab()
    await connect(team, server)
    const [first, ...rest] = expected
    const results = [
      numeric(first!, '50', { notes: 'Repeated and verified' }),
      ...rest.map((item) => numeric(item)),
      unorderedResult('below', { result: '<0.1' }),
      unorderedResult('critical', { result: '0.5', flag: 'LL' }),
      unorderedResult('words', { type: 'comment', result: 'Hemolyzed', unit: null, reference_range: null }),
    ]
    await deliver(team, order.id, report(results))
    await team.settle()
    assert.equal(server.observations.size, results.length)
    const found = resources(server)
    const { client_user_id } = (await team.api.get(`/v2/user/${order.user_id}`)).body
    assert.deepEqual(found[0], {
      resourceType: 'Observation',
      identifier: [{ system: 'urn:drawbridge:result', value: `${order.id}/${first!.slug}` }],
      basedOn: [{ type: 'ServiceRequest', identifier: { system: 'urn:drawbridge:order', value: order.id } }],
      status: 'final',
      category: found[0].category,
      code: { coding: [{ system: 'http://loinc.org', code: first!.loinc, display: first!.name }], text: first!.name },
      subject: { type: 'Patient', identifier: { system: 'urn:drawbridge:user', value: order.user_id }, display: client_user_id },
      effectiveDateTime: '2030-01-02T01:00:00-07:00',
      issued: '2030-01-04T08:00:00+00:00',
      performer: [
        {
          type: 'Organization',
          identifier: { system: 'urn:oid:2.16.840.1.113883.4.7', value: '00D0000003' },
          display: order.lab_test.lab!.name,
        },
      ],
      valueQuantity: { value: 50, ...milligrams },
      interpretation: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: 'H' }] }],
      referenceRange: [{ low: { value: 1, ...milligrams }, high: { value: 10, ...milligrams }, text: '1-10' }],
      note: [{ text: 'Repeated and verified' }],
    })
    const [below, critical, words] = found.slice(-3)
    assert.deepEqual(below.valueQuantity, { value: 0.1, comparator: '<', ...milligrams })
    assert.equal(below.code.coding, undefined)
    assert.equal(critical.interpretation[0].coding[0].code, 'LL')
    assert.deepEqual([words.valueString, words.valueQuantity, words.referenceRange], ['Hemolyzed', undefined, undefined])
    assert.deepEqual(await countWaiting(team), [])
  })

  test('that is partial is sent as preliminary, for a kit too, and the final one replaces it', async () => {
    const server = await fhirServer()
    const { team, order, expected } = await atLab()
    await connect(team, server)
    await deliver(team, order.id, report([numeric(expected[0]!)], { status: 'partial' }))
    await team.settle()
    assert.deepEqual(
      resources(server).map(({ status, valueQuantity }) => [status, valueQuantity.value]),
      [['preliminary', 5]],
    )
    await deliver(team, order.id, report(expected.map((item) => numeric(item, '6'))))
    await team.settle()
    assert.equal(server.observations.size, expected.length)
    for (const { status, valueQuantity } of resources(server)) assert.deepEqual([status, valueQuantity.value], ['final', 6])
  })

  test('that lacks a result of an earlier report withdraws it, until a report has it again', async () => {
    const server = await fhirServer()
    const { team, order, expected } = await atLab()
    await connect(team, server)
    const others = expected.slice(1).map((item) => numeric(item))
    const send = async (results: ReturnType<typeof numeric>[]) => {
      await deliver(team, order.id, report(results))
      await team.settle()
    }
    const withdrawn = () => resources(server).filter(({ status }) => status === 'entered-in-error')
    await send([numeric(expected[0]!), ...others, unorderedResult('by-mistake'), unorderedResult('by-mistake', { result: '6' })])
    assert.deepEqual(withdrawn(), [])
    await send([...others, unorderedResult('by-mistake')])
    assert.deepEqual(
      withdrawn().map(({ identifier }) => identifier[0].value),
      [`${order.id}/${expected[0]!.slug}`, `${order.id}/by-mistake/2`],
    )
    const [first] = withdrawn()
    assert.equal(first.code.coding[0].code, expected[0]!.loinc)
    for (const field of ['valueQuantity', 'valueString', 'interpretation', 'referenceRange', 'note', 'issued'])
      assert.equal(first[field], undefined, field)
    // The report before last had it.
    await send(others)
    assert.equal(withdrawn().length, 3)
    await send([numeric(expected[0]!, '7'), ...others])
    assert.deepEqual(
      withdrawn().map(({ code }) => code.text),
      ['by-mistake', 'by-mistake'],
    )
    assert.equal(server.observations.size, expected.length + 2)
  })

  test('that is corrected replaces the Observations, also after outages and lost answers', async () => {
    const server = await fhirServer()
    const { team, order, expected } = await atLab()
    await connect(team, server)
    server.failures.push('503', 'lost')
    await deliver(team, order.id, report(expected.map((item) => numeric(item))))
    await team.settle().catch(() => {})
    assert.deepEqual([server.observations.size, (await countWaiting(team)).length], [0, 1])
    for (let i = 0; i < 2; i++) await advanceClock(team, 3600)
    assert.deepEqual([server.observations.size, (await countWaiting(team)).length], [expected.length, 0])
    await deliver(team, order.id, report(expected.map((item) => numeric(item, '7'))))
    await team.settle()
    assert.equal(server.observations.size, expected.length, 'nothing is there twice')
    for (const { status, valueQuantity } of resources(server)) assert.deepEqual([status, valueQuantity.value], ['corrected', 7])
  })

  test('is sent with a token of client credentials', async () => {
    const server = await fhirServer()
    const { team, order, expected } = await atLab()
    const { client_id, client_secret, url } = server
    await connect(team, server, {
      authentication: { type: 'client_credentials', client_id, client_secret, token_url: `${url}/token` },
    })
    await deliver(team, order.id, report(expected.map((item) => numeric(item))))
    await team.settle()
    assert.deepEqual([server.tokens, server.observations.size], [1, expected.length])
  })

  test('with a wrong key waits for another attempt, and the error holds nothing of the answer', async () => {
    const server = await fhirServer()
    const { team, order, expected } = await atLab()
    await connect(team, server, { authentication: { type: 'api_key', api_key: 'a-wrong-key' } })
    await deliver(team, order.id, report(expected.map((item) => numeric(item))))
    await team.settle().catch(() => {})
    const [job] = await countWaiting(team)
    assert.match(job!.last_error!, /http_401/)
    assert.doesNotMatch(job!.last_error!, /OperationOutcome|wrong-key/)
    await connect(team, server)
    await advanceClock(team, 3600)
    assert.equal(server.observations.size, expected.length)
  })

  test('of many Observations is sent in several transactions', async () => {
    const server = await fhirServer()
    const { team, order } = await atLab()
    await connect(team, server)
    const results = Array.from({ length: 401 }, (_, i) => unorderedResult(i < 300 ? `result-${i}` : 'the-same'))
    await deliver(team, order.id, report(results))
    await team.settle()
    assert.deepEqual([server.transactions, server.observations.size], [3, 401])
  })

  test('is not sent without a pipeline that takes it, nor after its user was deleted', async () => {
    const server = await fhirServer()
    const send = async (overrides: object | undefined, prepare?: (team: TestTeam, user_id: string) => Promise<unknown>) => {
      const { team, order, expected } = await atLab()
      if (overrides) await connect(team, server, overrides)
      await deliver(team, order.id, report(expected.map((item) => numeric(item))))
      await prepare?.(team, order.user_id)
      await team.settle()
    }
    const google = {
      type: 'google_iam',
      service_account_email: 'ehr@clinic.example',
      audience: 'https://healthcare.googleapis.com/',
    }
    await send(undefined)
    await send({ allowed_mappers: ['heart_rate'] })
    await send({ ehr_type: 'hint_health' })
    await send({ authentication: google })
    await send({}, (team, user_id) => team.api.delete(`/v2/user/${user_id}`))
    assert.equal(server.transactions, 0)
    await send({ allowed_mappers: ['lab_results'] })
    assert.equal(server.transactions, 1)
  })
})
