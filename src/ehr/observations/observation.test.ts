// Values, units and flags of Observations.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fhirServer } from '../../../test/support/fhir-server.ts'
import { atLab, deliver, report, unorderedResult } from '../../../test/support/reports.ts'
import type { ReportedResult } from '../../lab/links/diagnostic-report.ts'

/** What a FHIR server receives of results. */
async function receiveResults(results: Partial<ReportedResult>[]) {
  const server = await fhirServer()
  const { team, order } = await atLab()
  const authentication = { type: 'api_key', api_key: server.token }
  const body = { ehr_type: 'fhir', base_url: `${server.url}/fhir`, authentication }
  assert.equal((await team.manage.post('/team_ehr_pipelines/sandbox/us', body)).status, 200)
  await deliver(team, order.id, report(results.map((result, i) => unorderedResult(`result-${i}`, result))))
  await team.settle()
  return [...server.observations.values()].map(({ resource }) => resource)
}

const UCUM = 'http://unitsofmeasure.org'
const INTERPRETATIONS = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation'

test('a value is a quantity with its comparator, its unit as the laboratory has it and its code of UCUM', async () => {
  const values: [Partial<ReportedResult>, object][] = [
    [{ result: '5.4', unit: 'mmol/L' }, { valueQuantity: { value: 5.4, unit: 'mmol/L', system: UCUM, code: 'mmol/L' } }],
    [
      { type: 'range', result: '<0.2', unit: 'mg/L' },
      { valueQuantity: { value: 0.2, comparator: '<', unit: 'mg/L', system: UCUM, code: 'mg/L' } },
    ],
    [
      { type: 'comment', result: '<0.2 mg/L', unit: null },
      { valueQuantity: { value: 0.2, comparator: '<', unit: 'mg/L', system: UCUM, code: 'mg/L' } },
    ],
    [
      { type: 'range', result: '>= 90', unit: 'mL/min/1.73m2' },
      { valueQuantity: { value: 90, comparator: '>=', unit: 'mL/min/1.73m2', system: UCUM, code: 'mL/min/{1.73_m2}' } },
    ],
    [
      { type: 'range', result: 'less than 5', unit: 'mIU/mL' },
      { valueQuantity: { value: 5, comparator: '<', unit: 'mIU/mL', system: UCUM, code: 'm[IU]/mL' } },
    ],
    [{ result: '1,234', unit: 'K/uL' }, { valueQuantity: { value: 1234, unit: 'K/uL', system: UCUM, code: '10*3/uL' } }],
    [
      { type: 'range', result: '2-5', unit: '/HPF' },
      {
        valueRange: {
          low: { value: 2, unit: '/HPF', system: UCUM, code: '/[HPF]' },
          high: { value: 5, unit: '/HPF', system: UCUM, code: '/[HPF]' },
        },
      },
    ],
    [{ result: '7', unit: 'pieces of eight' }, { valueQuantity: { value: 7, unit: 'pieces of eight' } }],
    [{ result: '0.5', unit: 'AU/mL' }, { valueQuantity: { value: 0.5, unit: 'AU/mL', system: UCUM, code: "[arb'U]/mL" } }],
    [{ result: '5 mg/dL', unit: 'mmol/L' }, { valueString: '5 mg/dL' }],
    [{ type: 'comment', result: '1:80', unit: '{titer}' }, { valueString: '1:80' }],
    [{ type: 'comment', result: '5', unit: null }, { valueString: '5' }],
    [{ type: 'coded_value', result: 'NOT_DETECTED', unit: null }, { valueString: 'NOT_DETECTED' }],
  ]
  const found = await receiveResults(values.map(([result]) => result))
  for (const [i, [result, value]] of values.entries()) {
    const { valueQuantity, valueString, valueRange } = found[i]
    assert.deepEqual(JSON.parse(JSON.stringify({ valueQuantity, valueString, valueRange })), value, result.result)
  }
})

test("the interpretation is the laboratory's flag, or without a flag the comparison with the range", async () => {
  const coded = (code: string, text?: string) => [{ coding: [{ system: INTERPRETATIONS, code }], ...(text && { text }) }]
  const flags: [Partial<ReportedResult>, object | undefined][] = [
    [{ flag: 'H', reference_range: '4.0 to 5.6', result: '9.1' }, coded('H')],
    [{ flag: 'LL', reference_range: 'more than 40', result: '20' }, coded('LL')],
    [{ flag: 'HH', reference_range: null }, coded('HH')],
    [{ flag: 'A' }, coded('A')],
    [{ flag: 'N', reference_range: null }, coded('N')],
    [{ flag: 'POS', type: 'comment', result: 'Positive' }, coded('POS')],
    [{ flag: 'IND' }, coded('IND')],
    [{ flag: 'h' }, coded('H', 'h')],
    [{ flag: 'High' }, coded('H', 'High')],
    [{ flag: 'Critical Low' }, coded('LL', 'Critical Low')],
    [{ flag: 'PANIC' }, coded('AA', 'PANIC')],
    [{ flag: '*', result: '2.0', reference_range: '0.4-4.5' }, [{ text: '*' }]],
    [{ flag: '*', result: '20', reference_range: '0.4-4.5' }, coded('H', '*')],
    [{ flag: 'Q7', reference_range: null }, [{ text: 'Q7' }]],
    [{ flag: '', result: '5' }, coded('N')],
    [{ flag: '', result: '50' }, coded('H')],
    [{ flag: '', result: '0.5' }, coded('L')],
    [{ flag: '', type: 'comment', result: 'Reactive', reference_range: 'Non-Reactive' }, coded('A')],
    [{ flag: '', result: '5', reference_range: null }, undefined],
    [{ flag: '', type: 'comment', result: 'See note', reference_range: null }, undefined],
  ]
  const found = await receiveResults(flags.map(([result]) => result))
  for (const [i, [result, interpretation]] of flags.entries())
    assert.deepEqual(found[i].interpretation, interpretation, `${result.flag} ${result.result} ${result.reference_range}`)
})

test('a result has its own status and laboratory, and an organism has its susceptibilities as members', async () => {
  const site = (id: string, clia: string | null) => ({
    id,
    name: `Fictional ${id}`,
    clia,
    phone_number: null,
    medical_director: null,
    address: null,
  })
  const organism = (sub_id: string): Partial<ReportedResult> => ({
    type: 'comment',
    result: `Fictional species ${sub_id}`,
    provider_id: 'ORG',
    sub_id,
    state: 'preliminary',
  })
  const susceptibility = (organism_id: string): Partial<ReportedResult> => ({
    slug: 'fictional-cillin',
    provider_id: 'CILLIN',
    parent: { code: 'ORG', sub_id: organism_id },
    state: 'corrected',
    performing_laboratory: site('North', '99D0000002'),
  })
  const found = await receiveResults([
    { slug: 'organism', ...organism('1') },
    { slug: 'organism', ...organism('2') },
    susceptibility('1'),
    susceptibility('2'),
    { state: 'final', performing_laboratory: site('South', null) },
  ])
  const key = ({ identifier }: { identifier: { value: string }[] }) => identifier[0]!.value.split('/')[1]
  assert.deepEqual(
    found.map((resource) => [key(resource), resource.status]),
    [
      ['organism:1', 'preliminary'],
      ['organism:2', 'preliminary'],
      ['ORG:1:fictional-cillin', 'corrected'],
      ['ORG:2:fictional-cillin', 'corrected'],
      ['result-4', 'final'],
    ],
  )
  assert.deepEqual(
    found.map(({ hasMember }) =>
      hasMember?.map((member: { identifier: { value: string } }) => key({ identifier: [member.identifier] })),
    ),
    [['ORG:1:fictional-cillin'], ['ORG:2:fictional-cillin'], undefined, undefined, undefined],
  )
  const performers = found.map(({ performer }) => [performer[0].display, performer[0].identifier?.value])
  assert.deepEqual(performers.slice(2), [
    ['Fictional North', '99D0000002'],
    ['Fictional North', '99D0000002'],
    ['Fictional South', undefined],
  ])
})
