// Order messages by the profile of a link, read back by python-hl7 and compared with the order field by field.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readAllByPython, readByPython, skipWithoutPythonHl7, textAt } from '../../../test/lab-peers/python-peers.ts'
import { fullContent, withText } from '../../../test/support/requisition-contents.ts'
import type { RequisitionContent } from '../documents/requisition-content.ts'
import type { LinkProfile, ProfileOptions } from '../links/profile/link-profile.ts'
import { presetNames } from '../links/profile/presets.ts'
import { readProfileFile, wholeProfile } from '../links/profile/read-profile.ts'
import { writeOrder, type OrderMessageRequest } from './order-message.ts'
import { Unsendable } from './unsendable.ts'

const TIMES = { decimal_mark: '.', time_zone: 'America/Phoenix' } as const

type Options = ProfileOptions & { preset?: string }

function profileWith({ text, ...options }: Options = {}): LinkProfile {
  return wholeProfile(
    readProfileFile({ ...options, text: { ...TIMES, ...text }, results: { reports: 'incremental', ...options.results } }),
  )
}

function write(options: Options = {}, content: RequisitionContent = fullContent, changes: Partial<OrderMessageRequest> = {}) {
  let count = 0
  return writeOrder({
    action: 'new',
    content,
    profile: profileWith(options),
    client_user_id: 'CLIENT-1',
    filler_number: null,
    processing_id: 'P',
    now: new Date('2030-01-02T12:00:00Z'),
    newControlId: () => `CTRL-${++count}`,
    ...changes,
  })
}

type Written = Awaited<ReturnType<typeof readByPython>>['segments']

async function writeAndRead(options: ProfileOptions = {}, content?: RequisitionContent, changes?: Partial<OrderMessageRequest>) {
  const { segments } = await readByPython(write(options, content, changes)[0]!.bytes)
  return {
    segments,
    names: segments.map(({ name }) => name).join(' '),
    at: (place: string) => textAt(segments, place) || undefined,
  }
}

/** Each place with the text that it must have; undefined: it must be empty. */
function assertTexts(segments: Written, expected: Record<string, string | undefined>) {
  const actual = Object.fromEntries(Object.keys(expected).map((place) => [place, textAt(segments, place) || undefined]))
  assert.deepEqual(actual, expected)
}

describe('an order message', { skip: skipWithoutPythonHl7 }, () => {
  test('OML^O21 in version 2.5.1 has every fact of the order', async () => {
    const { segments, names } = await writeAndRead({
      identity: {
        our_application: 'DRAWBRIDGE',
        our_facility: 'CLINIC^1.2.3^ISO',
        laboratory_application: 'LIS',
        laboratory_facility: 'LAB',
        profile_ids: ['LOI_Common_Component^^2.16.840.1.113883.9.66^ISO'],
      },
      acknowledgment: { accept_condition: 'AL', application_condition: 'NE' },
      patient: { race_codes: { asian: '2028-9' }, id_authority: 'DB' },
      order_content: {
        abn_values: { signed: '2' },
        fasting_values: { yes: 'FASTING', no: 'NOT FASTING' },
        copies: 'OBR-28',
        copy_recipients: ['99^Copya^Fictional'],
        constants: { 'ZOR-1': 'WEB', 'PV1-2': 'O' },
      },
    })
    assert.equal(names, 'MSH PID NK1 PV1 IN1 GT1 ORC TQ1 OBR NTE NTE DG1 DG1 OBX OBX SPM ORC TQ1 OBR OBX OBX OBX SPM ZOR')
    assertTexts(segments, {
      'MSH-3': 'DRAWBRIDGE',
      'MSH-4': 'CLINIC',
      'MSH-4.2': '1.2.3',
      'MSH-4.3': 'ISO',
      'MSH-5': 'LIS',
      'MSH-6': 'LAB',
      'MSH-7': '20300102050000-0700',
      'MSH-9': 'OML',
      'MSH-9.2': 'O21',
      'MSH-9.3': 'OML_O21',
      'MSH-10': 'CTRL-1',
      'MSH-11': 'P',
      'MSH-12': '2.5.1',
      'MSH-15': 'AL',
      'MSH-16': 'NE',
      'MSH-18': 'UNICODE UTF-8',
      'MSH-21.3': '2.16.840.1.113883.9.66',
      'PID-3': '0198a000-0000-7000-8000-0000000000aa',
      'PID-3.4': 'DB',
      'PID-3.5': 'PI',
      'PID-5': 'Fictional',
      'PID-5.2': 'Testa',
      'PID-7': '20150131',
      'PID-8': 'F',
      'PID-10': '2028-9',
      'PID-11': '1 Invented Way',
      'PID-11.2': 'Unit 2',
      'PID-11.3': 'Phoenix',
      'PID-11.4': 'AZ',
      'PID-11.5': '85004',
      'PID-11.6': 'US',
      'PID-13': '+14805550199',
      'PID-13(2).4': 'testa@example.com',
      'NK1-2.2': 'Parenta',
      'NK1-3': 'GRD',
      'NK1-5': '+15550100177',
      'PV1-2': 'O',
      'IN1-2': 'PAY-1',
      'IN1-3': 'PAY-1',
      'IN1-4': 'Fictional Insurance',
      'IN1-5': 'P.O. Box 1',
      'IN1-8': 'GRP-9',
      'IN1-16.2': 'Parenta',
      'IN1-17': 'OTH',
      'IN1-18': '19800506',
      'IN1-19': '1 Invented Way',
      'IN1-36': 'MEM-1',
      'IN1-43': 'M',
      'IN1-47': 'T',
      'GT1-3.2': 'Parenta',
      'GT1-5': '3 Other Way',
      'GT1-6': '+15550100177',
      'GT1-11': 'OTH',
      'ORC-1': 'NW',
      'ORC-2': 'FIC-4711',
      'ORC-4': undefined,
      'ORC-9': '20300102011500-0700',
      'ORC-12': '1234567890',
      'ORC-12.2': 'Fictional',
      'ORC-12.3': 'Medica',
      'ORC-12.13': 'NPI',
      'ORC-20': '2',
      'ORC-21': 'Fictional Clinic',
      'ORC-21.10': 'ACC-77',
      'TQ1-9': 'S',
      'OBR-1': '1',
      'OBR-2': 'FIC-4711',
      'OBR-4': '100',
      'OBR-4.2': 'Glucose',
      'OBR-4.3': 'L',
      'OBR-5': undefined,
      'OBR-7': '20300103023000-0700',
      'OBR-11': undefined,
      'OBR-13': 'FASTING',
      'OBR-15': undefined,
      'OBR-16': '1234567890',
      'OBR-27': undefined,
      'OBR-28': '99',
      'OBR-28.2': 'Copya',
      'NTE-3': 'First note',
      'NTE[2]-3': 'Second note',
      'DG1-3': 'E11.9',
      'DG1-3.2': 'Type 2 diabetes mellitus without complications',
      'DG1-3.3': 'I10C',
      'DG1[2]-3': 'Z00.00',
      'OBX-2': 'CWE',
      'OBX-3': 'FSTING',
      'OBX-3.2': 'Fasting?',
      'OBX-5': 'Y',
      'OBX-5.2': 'Yes',
      'OBX-11': 'O',
      'OBX-29': 'QST',
      'OBX[2]-2': 'NM',
      'OBX[2]-5': '12',
      'OBX[3]-3': 'SITES',
      'OBX[3]-4': '1',
      'OBX[3]-5': 'L',
      'OBX[4]-4': '2',
      'OBX[4]-5': 'R',
      'OBX[5]-2': 'ST',
      'OBX[5]-5': 'Tired',
      'SPM-2': 'FIC-4711',
      'SPM-4': 'SER',
      'SPM-4.2': 'serum',
      'SPM-17': '20300103023000-0700',
      'SPM-27.2': 'gold (SST)',
      'OBR[2]-1': '2',
      'OBR[2]-2': 'FIC-4711',
      'OBR[2]-4': '200',
      'SPM[2]-4': 'UR',
      'ZOR-1': 'WEB',
    })
  })

  test('ORM^O01 in version 2.3 has the older places of its facts', async () => {
    const { segments, names } = await writeAndRead({
      identity: { version: '2.3' },
      text: { sent_charset: 'ASCII' },
      patient: { phone: 'us', name_case: 'upper', id: 'client_user_id', id_fields: ['PID-2', 'PID-3', 'PID-4'], id_type: '' },
      order_number: { per_test: true, prefix: 'D', namespace: 'DB', number: 'sample_id' },
      order_content: {
        message: 'ORM',
        test_code: 'fourth',
        coding_system: '99LAB',
        specimen: 'OBR-15',
        priority_field: 'OBR-27',
        account_fields: ['PID-18', 'MSH-4'],
        account_name_fields: [],
        billing_field: 'PID-18.4',
        answers: 'obx',
        diagnoses: 'test',
        notes: 'PID',
      },
    })
    assert.equal(names, 'MSH PID NTE NTE IN1 GT1 ORC OBR DG1 DG1 OBX OBX ORC OBR DG1 DG1 OBX OBX OBX')
    assertTexts(segments, {
      'MSH-4': 'ACC-77',
      'MSH-9': 'ORM',
      'MSH-9.2': 'O01',
      'MSH-9.3': undefined,
      'MSH-12': '2.3',
      'MSH-18': undefined,
      'PID-2': 'CLIENT-1',
      'PID-3': 'CLIENT-1',
      'PID-4': 'CLIENT-1',
      'PID-5': 'FICTIONAL',
      'PID-5.2': 'TESTA',
      'PID-13': '(480)555-0199',
      'PID-18': 'ACC-77',
      'PID-18.4': 'T',
      'ORC-2': 'DFIC-4711-1',
      'ORC-2.2': 'DB',
      'ORC-4': 'DFIC-4711',
      'ORC-12': '1234567890',
      'ORC-12.8': 'NPI',
      'ORC-12.13': undefined,
      'ORC[2]-2': 'DFIC-4711-2',
      'OBR-2': 'DFIC-4711-1',
      'OBR-4': undefined,
      'OBR-4.4': '100',
      'OBR-4.5': 'Glucose',
      'OBR-4.6': '99LAB',
      'OBR-7': '20300103023000-0700',
      'OBR-15': 'SER',
      'OBR-15.1.2': 'serum',
      'OBR-15.3': 'gold (SST)',
      'OBR-27.6': 'S',
      'DG1-2': 'I10C',
      'OBX-2': 'CE',
      'OBX-11': 'F',
      'OBX-29': undefined,
    })
  })

  test('has answers as notes or in ZSE, and one message for each specimen, if the profile says so', async () => {
    const notes = await writeAndRead({
      order_content: {
        answers: 'nte',
        notes: 'none',
        diagnoses: 'none',
        insurance: 'none',
        guarantor: 'none',
        billing_values: {},
      },
    })
    assert.equal(notes.names, 'MSH PID NK1 ORC TQ1 OBR NTE NTE SPM ORC TQ1 OBR NTE NTE SPM')
    assert.deepEqual(
      [1, 2, 3, 4].map((i) => notes.at(`NTE[${i}]-3`)),
      ['Fasting?: Yes', 'Hours since food: 12', 'Sites: Left, Right', 'Reason: Tired'],
    )
    const zse = await writeAndRead({ order_content: { answers: 'zse' } })
    assertTexts(zse.segments, { 'ZSE-2': 'FSTING', 'ZSE-3': 'Y', 'ZSE[2]-3': '12', 'ZSE[5]-3': 'Tired' })

    const messages = write({ order_content: { messages_per: 'specimen' }, order_number: { per_test: true } })
    const read = await readAllByPython(messages.map(({ bytes }) => bytes))
    assert.deepEqual(
      read.map((segments, i) => [
        messages[i]!.control_id,
        messages[i]!.placer_numbers,
        segments.filter(({ name }) => name === 'OBR').length,
        textAt(segments, 'MSH-10'),
        textAt(segments, 'ORC-2'),
        textAt(segments, 'SPM-4'),
        textAt(segments, 'NTE-3'),
      ]),
      [
        ['CTRL-1', ['FIC-4711-1'], 1, 'CTRL-1', 'FIC-4711-1', 'SER', 'First note'],
        ['CTRL-2', ['FIC-4711-2'], 1, 'CTRL-2', 'FIC-4711-2', 'UR', 'First note'],
      ],
    )
  })

  test('says that a collection center takes the sample, until it is taken', async () => {
    const options: ProfileOptions = { order_content: { collection_center_value: 'PSC' } }
    const { order } = fullContent
    const held = await writeAndRead(options, { ...fullContent, order: { ...order, collected_at: null } })
    assertTexts(held.segments, { 'OBR-11': 'PSC', 'OBR-7': undefined, 'SPM-17': undefined, 'OBR[2]-11': 'PSC' })
    assert.equal((await writeAndRead(options)).at('OBR-11'), undefined)
    const atHome = { ...fullContent, order: { ...order, method: 'at_home_phlebotomy' as const, collected_at: null } }
    assert.equal((await writeAndRead(options, atHome)).at('OBR-11'), undefined)
  })

  test('cancels and changes an order by its numbers', async () => {
    const cancel = await writeAndRead({}, fullContent, { action: 'cancel', filler_number: 'FILL-9', processing_id: 'T' })
    assert.equal(cancel.names, 'MSH PID ORC TQ1 OBR ORC TQ1 OBR')
    assertTexts(cancel.segments, {
      'MSH-11': 'T',
      'ORC-1': 'CA',
      'ORC-2': 'FIC-4711',
      'ORC-3': 'FILL-9',
      'OBR-3': 'FILL-9',
      'ORC[2]-1': 'CA',
    })
    const change = await writeAndRead({}, fullContent, { action: 'change', filler_number: 'FILL-9' })
    assertTexts(change.segments, { 'ORC-1': 'XO', 'ORC-3': 'FILL-9', 'OBR-7': '20300103023000-0700' })
  })

  test('writes the billing type, the notice and the answer on fasting only as the profile has values for them', async () => {
    const { order } = fullContent
    const content = {
      ...fullContent,
      order: { ...order, billing: 'client_bill' as const, has_abn: false, fasting: { isRequired: true, answer: null } },
    }
    const clientBill = await writeAndRead(
      { order_content: { abn_values: { signed: '2' }, fasting_values: { yes: 'Y', no: 'N' } } },
      content,
    )
    assert.equal(clientBill.names.includes('GT1'), false)
    assertTexts(clientBill.segments, {
      'IN1-1': '1',
      'IN1-47': 'C',
      'IN1-36': undefined,
      'ORC-20': undefined,
      'OBR-13': undefined,
    })
    const notNeeded = await writeAndRead({ order_content: { abn_values: { not_needed: '4' }, billing_values: {} } }, content)
    assertTexts(notNeeded.segments, { 'ORC-20': '4', 'IN1-1': undefined })
  })

  test('adds and leaves out what the profile says', async () => {
    const { order } = fullContent
    const billed = { ...fullContent, order: { ...order, billing: 'client_bill' as const, priority: false } }
    const more = await writeAndRead(
      { order_content: { insurance: 'always', guarantor: 'always', priority_field: 'OBR-5' } },
      billed,
    )
    assertTexts(more.segments, { 'IN1-36': 'MEM-1', 'IN1-47': 'C', 'GT1-3.2': 'Parenta', 'OBR-5': 'R', 'TQ1-9': undefined })
    const fewer = await writeAndRead({
      identity: { version: '2.4' },
      patient: { has_address: false, sex_codes: { female: 'W' }, phone: 'digits' },
      order_content: {
        physician_id: 'none',
        priority_values: {},
        account_fields: [],
        account_name_fields: [],
        specimen_codes: {},
        diagnosis_system: 'ICD',
      },
    })
    assertTexts(fewer.segments, {
      'PID-8': 'W',
      'PID-11': undefined,
      'PID-13': '4805550199',
      'ORC-12': undefined,
      'ORC-12.2': 'Fictional',
      'ORC-21': undefined,
      'OBR-27.6': undefined,
      'SPM-4': undefined,
      'SPM-4.2': 'serum',
      'DG1-2': 'ICD',
      'DG1-3.3': 'ICD',
      'OBX-2': 'CE',
    })
  })

  test('has the codes of the laboratory for our tests', async () => {
    assert.equal((await writeAndRead({ codes: { tests: { GLU: '100' } } })).at('OBR-4'), 'GLU')
    assert.throws(() => write({ codes: { tests: { GLU: '100', GLU2: '100' } } }), /2 codes of the laboratory are of one test/)
    const unknown = { ...fullContent, tests: [{ ...fullContent.tests[0]!, code: '' }] }
    assert.throws(() => write({}, unknown), /OBR-4: a test of the order has no code/)
    assert.throws(() => write({}, { ...fullContent, tests: [] }), /no tests/)
    assert.throws(() => write({}, { ...fullContent, patient: null }), /The patient is not known/)
  })

  test('has every fact of the order in each preset, in the places of its version', async () => {
    const common = {
      'MSH-10': 'CTRL-1',
      'MSH-11': 'P',
      'PID-3': '0198a000-0000-7000-8000-0000000000aa',
      'PID-5': 'Fictional',
      'PID-5.2': 'Testa',
      'PID-7': '20150131',
      'PID-8': 'F',
      'PID-11': '1 Invented Way',
      'PID-11.5': '85004',
      'ORC-1': 'NW',
      'ORC-2': 'FIC-4711',
      'ORC-12': '1234567890',
      'OBR-4': '100',
      'OBR-4.2': 'Glucose',
      'OBR-7': '20300103023000-0700',
      'OBR-16': '1234567890',
      'OBR[2]-4': '200',
      'NTE-3': 'First note',
      'OBX-3': 'FSTING',
      'OBX-5': 'Y',
      'OBX[2]-5': '12',
      'OBX[4]-5': 'R',
      'OBX[5]-5': 'Tired',
    }
    const insured = { 'IN1-3': 'PAY-1', 'IN1-8': 'GRP-9', 'IN1-36': 'MEM-1', 'IN1-47': 'T', 'GT1-3.2': 'Parenta' }
    const older = { 'OBR-15': 'SER', 'SPM-4': undefined, 'TQ1-9': undefined, 'NK1-3': undefined }
    const newer = { 'OBR-15': undefined, 'SPM-4': 'SER', 'SPM[2]-4': 'UR', 'SPM-17': '20300103023000-0700' }
    const upper = {
      'PID-5': 'FICTIONAL',
      'PID-5.2': 'TESTA',
      'PID-2': common['PID-3'],
      'PID-13': '(480)555-0199',
      'PID-18': 'ACC-77',
    }
    const uninsured = { 'IN1-1': undefined, 'GT1-1': undefined }
    const expected: Record<string, Record<string, string | undefined>> = {
      'loi-lri-251': {
        ...insured,
        ...newer,
        'MSH-9.3': 'OML_O21',
        'MSH-12': '2.5.1',
        'PID-10': '2028-9',
        'PID-22': 'N',
        'MSH-21': 'LOI_NG_PRU_Profile',
        'ORC-2': 'FIC-4711-1',
        'ORC[2]-2': 'FIC-4711-2',
        'OBR[2]-2': 'FIC-4711-2',
        'ORC-4': 'FIC-4711',
        'ORC-21.10': 'ACC-77',
        'TQ1-9': 'S',
        'DG1-3': 'E11.9',
        'DG1[4]-3': 'Z00.00',
        'OBX-29': 'QST',
        'NK1-3': 'GRD',
      },
      'ihe-ltw': {
        ...uninsured,
        ...newer,
        'MSH-12': '2.5.1',
        'TQ1-9': 'S',
        'OBR-27': undefined,
        'DG1-3': undefined,
        'ORC-21.10': 'ACC-77',
      },
      'us-23': {
        ...insured,
        ...older,
        ...upper,
        'GT1-3.2': 'PARENTA',
        'MSH-12': '2.3',
        'MSH-9.3': undefined,
        'OBR-27.6': 'S',
        'DG1-3': 'E11.9',
        'ORC-21.10': undefined,
      },
      'us-22': {
        ...insured,
        ...older,
        ...upper,
        'GT1-3.2': 'PARENTA',
        'MSH-12': '2.2',
        'MSH-18': undefined,
        'OBR-4': undefined,
        'OBR-4.4': '100',
        'OBR-4.2': undefined,
        'OBR-4.5': 'Glucose',
        'OBR[2]-4': undefined,
        'OBR[2]-4.4': '200',
        'OBR-5': 'S',
        'IN1-17': 'OTH',
        'PID-13(2).4': undefined,
      },
      'au-24': { ...uninsured, ...older, 'MSH-12': '2.4', 'MSH-9.3': 'ORM_O01', 'OBR-27.6': 'S', 'ORC-21.10': 'ACC-77' },
      'de-25': {
        ...uninsured,
        ...newer,
        'MSH-12': '2.5',
        'MSH-18': '8859/1',
        'MSH-7': '20300102130000+0100',
        'OBR-7': '20300103103000+0100',
        'SPM-17': '20300103103000+0100',
        'DG1-3.3': 'I10',
        'TQ1-9': 'S',
      },
    }
    assert.deepEqual(Object.keys(expected), [...presetNames])
    const messages = presetNames.map(
      (preset) => write({ preset, ...(preset === 'de-25' && { text: { time_zone: 'Europe/Berlin' } }) })[0]!.bytes,
    )
    for (const [i, segments] of (await readAllByPython(messages)).entries())
      assertTexts(segments, { ...common, ...expected[presetNames[i]!] })
  })

  test('keeps every hostile text within its field', async () => {
    const texts = [
      '|^~\\&',
      'a\\F\\b',
      '\u000b\u001c\r',
      'x\r\nMSH|^~\\&|EVIL\rPID|9',
      '🩸 Łącka ß',
      `${'ab '.repeat(3333)}c`,
      '""',
      '\\.br\\',
      '\u0000\u001b',
    ]
    const profiles: Options[] = [
      {},
      { identity: { version: '2.3' }, order_content: { message: 'ORM' } },
      { text: { delimiters: '#*!/%' } },
    ]
    const places = 'PID-5 PID-5.2 PID-11 IN1-36 IN1-4 GT1-3 ORC-2 OBR-2 OBR-4 OBR[2]-4.2 OBX-3.2 OBX[5]-5 DG1-3 DG1-3.2'.split(
      ' ',
    )
    const cases = profiles.flatMap((options) => texts.map((text) => ({ options, text })))
    const messages = cases.map(({ options, text }) => write(options, withText(fullContent, text))[0]!.bytes)
    const plain = await readAllByPython(profiles.map((options) => write(options)[0]!.bytes))
    const names = (segments: Written) => segments.map(({ name }) => name).filter((name) => name !== 'NTE')
    for (const [i, segments] of (await readAllByPython(messages)).entries()) {
      const { options, text } = cases[i]!
      // eslint-disable-next-line no-control-regex -- these are what must be absent.
      assert(!/[\u000b\u001c\u0000]/u.test(messages[i]!.toString()), 'no byte ends a frame')
      assert.deepEqual(names(segments), names(plain[profiles.indexOf(options)]!))
      const read = (place: string) => (textAt(segments, place) ?? '').replaceAll('\r', '\n')
      const written = text.replaceAll(/\r\n|\r/gu, '\n')
      for (const place of places) assert.equal(read(place), written, `${place} of ${JSON.stringify(text.slice(0, 20))}`)
      assert.equal(read('NTE-3'), text.split(/\r\n|\r|\n/u)[0])
    }
  })

  test('refuses a text that is too long or not of the character set, names the field, and cuts only what the profile names', async () => {
    const faultsOf = (options: ProfileOptions, content?: RequisitionContent) => {
      try {
        write(options, content)
      } catch (error) {
        assert(error instanceof Unsendable)
        return error.faults
      }
      return []
    }
    assert.deepEqual(faultsOf({ text: { length_limits: { 'PID-5.1': 8, 'PID-11': 13 } } }), [
      'PID-5.1: has more than 8 characters (text.length_limits)',
      'PID-11.1: has more than 13 characters (text.length_limits)',
    ])
    const cut = await writeAndRead({ text: { length_limits: { 'PID-11': 13 }, cut_fields: ['PID-11'] } })
    assertTexts(cut.segments, { 'PID-11': '1 Invented Wa', 'PID-11.3': 'Phoenix' })
    const wrapped = await writeAndRead({ text: { length_limits: { 'NTE-3': 7 } } })
    assert.deepEqual(
      [1, 2, 3, 4].map((i) => wrapped.at(`NTE[${i}]-3`)),
      ['First ', 'note', 'Second ', 'note'],
    )

    const { patient } = fullContent
    const accented = { ...fullContent, patient: { ...patient!, first_name: 'Łucja', last_name: 'Größe-Ñandú' } }
    assert.deepEqual(faultsOf({ text: { sent_charset: '8859/1' } }, accented), [
      'PID-5.2: has a character that 8859/1 lacks (text.sent_charset)',
    ])
    const ascii = await writeAndRead({ text: { transliterates: true } }, accented)
    assertTexts(ascii.segments, { 'PID-5': 'Groesse-Nandu', 'PID-5.2': 'Lucja' })
    assert.deepEqual(
      faultsOf({ text: { transliterates: true } }, { ...fullContent, patient: { ...patient!, first_name: '🩸' } }),
      ['PID-5.2: has a character that ASCII lacks (text.sent_charset)'],
    )
    assert.deepEqual(faultsOf({}, { ...fullContent, patient: { ...patient!, first_name: '\ud800' } }), [
      'PID-5.2: has a character that UNICODE UTF-8 lacks (text.sent_charset)',
    ])
    const latin = write(
      { text: { sent_charset: '8859/2' } },
      { ...fullContent, patient: { ...patient!, first_name: 'Łucja' } },
    )[0]!.bytes
    assert(latin.includes(Buffer.from([0xa3, 0x75])), 'Ł is one byte of Latin 2')
  })

  test('wraps a long note without losing a character', async () => {
    for (const [line, limit] of [
      ['a bb ccc dddd', 4],
      ['unbreakable', 3],
      ['🩸🩸🩸', 2],
    ] as const) {
      const content = { ...fullContent, order: { ...fullContent.order, notes: line } }
      const { segments } = await writeAndRead({ text: { length_limits: { 'NTE-3': limit } } }, content)
      const parts = segments.filter(({ name }) => name === 'NTE').map((_, i) => textAt(segments, `NTE[${i + 1}]-3`) ?? '')
      assert(parts.length > 1)
      assert.equal(parts.join(''), line)
      assert(parts.every((part) => Array.from(part).length <= limit))
    }
  })
})
