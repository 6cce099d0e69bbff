// Results and statuses of laboratories in HL7, read by the profile of their link. The kinds of messages are those that laboratories send.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  line,
  readLinkMessage as read,
  readLinkMessages as readAll,
  RESULT_HEADER as HEADER,
  RESULT_ORDER as ORDER,
  RESULT_PATIENT as PATIENT,
  RESULT_REQUEST as REQUEST,
} from '../../../test/support/hl7-lines.ts'
import type { ProfileOptions } from '../links/profile/link-profile.ts'

const observe = (result: string, options: ProfileOptions = {}) =>
  read([ORDER, REQUEST, result], options).tests[0]!.observations[0]!
const value = (type: string, text: string) => {
  const { value: read, value_kind } = observe(`OBX|1|${type}|A^A^L||${text}||||||F`)
  return value_kind === undefined ? read : [read, value_kind]
}

describe('a message with results', () => {
  test('has its sender, its patient, the numbers and the tests of its order', () => {
    const message = read([
      ORDER,
      REQUEST,
      'NTE|1||Fasting sample',
      'OBX|1|NM|2093-3^Cholesterol^LN^CHOL^Cholesterol total^L||182|mg/dL^milligram per deciliter^UCUM|<200|N|||F|||20300103083000',
      'NTE|1||First line',
      'NTE|2||Second\\.br\\line~third',
      'OBX|2|NM|HDL^HDL cholesterol^L^2085-9^HDL^LN||38|mg/dL|40-60|L|||F',
      line('SPM', { 1: '1', 2: '4711^S-9', 4: 'SER^Serum^HL70487', 17: '20300103083000', 18: '20300103120000' }),
    ])
    assert.deepEqual(message, {
      sender: 'LIS|LAB',
      control_id: 'C1',
      sent_at: '20300104101500-0500',
      patient: { first_name: 'Testina', last_name: 'Samplewoman', dob: '19850314', gender: 'female' },
      numbers: { placer: ['4711'], filler: ['F-1'], specimen: ['S-9'], accession: [], group: [] },
      order_status: 'CM',
      tests: [
        {
          code: '100',
          name: 'Lipid panel',
          filler: 'F-1',
          status: 'F',
          collected_at: '20300103083000',
          received_at: '20300103120000',
          reported_at: '20300104100000',
          notes: 'Fasting sample',
          observations: [
            {
              code: 'CHOL',
              name: 'Cholesterol total',
              loinc: '2093-3',
              value: '182',
              unit: 'mg/dL',
              reference_range: '<200',
              flag: 'N',
              status: 'F',
              notes: 'First line\nSecond\nline\nthird',
            },
            {
              code: 'HDL',
              name: 'HDL cholesterol',
              loinc: '2085-9',
              value: '38',
              unit: 'mg/dL',
              reference_range: '40-60',
              flag: 'L',
              status: 'F',
            },
          ],
        },
      ],
    })
  })

  test('of version 2.3 without ORC, in another character set and with other ends of lines, is read', () => {
    const text = [
      'MSH|^~\\&|LIS||||203001041015||ORU|9|P|2.3||||||8859/9',
      'PID|||77||\u0130nci^Ay\u015fe||19850314|F',
      line('OBR', { 1: '1', 2: '4711', 4: 'GLU^Glucose', 25: 'F' }),
      'OBX|1|NM|GLU^Glucose||112|mg/dl|65-99|H|||F',
    ].join('\r\n')
    const latin5 = Buffer.from(text.replace('\u0130', '\u00dd').replace('\u015f', '\u00fe'), 'latin1')
    const [message] = readAll(latin5)
    assert.deepEqual(message!.patient, { first_name: 'Ay\u015fe', last_name: '\u0130nci', dob: '19850314', gender: 'female' })
    const [observation] = message!.tests[0]!.observations
    assert.deepEqual([observation!.value, observation!.flag, observation!.reference_range], ['112', 'H', '65-99'])
  })

  test('has values of every type as the laboratory wrote them', () => {
    const cases: [type: string, text: string, expected: unknown][] = [
      ['NM', '5.0', '5.0'],
      ['SN', '>^100', '>100'],
      ['SN', '<=^3.5', '<=3.5'],
      ['SN', '=^5', '5'],
      ['SN', '^1^:^128', '1:128'],
      ['SN', '^3^-^5', '3-5'],
      ['SN', '^2^+', '2+'],
      ['ST', 'a^b&c', 'a^b&c'],
      ['ST', 'AT\\T\\T < 5 \\F\\ 6', 'AT&T < 5 | 6'],
      ['TX', 'one~two', 'one\ntwo'],
      ['FT', 'one\\.br\\two\\.br\\', 'one\ntwo'],
      ['CE', 'POS^Positive^L', ['Positive', 'coded']],
      ['CWE', 'NEG', ['NEG', 'coded']],
      ['CWE', '^^^^^^^^As written', ['As written', 'coded']],
      ['CWE', 'A^Alpha~B^Beta', ['Alpha\nBeta', 'coded']],
      ['DT', '20300102', ['2030-01-02', 'text']],
      ['TS', '203001020815', ['2030-01-02 08:15', 'text']],
      ['DTM', '20300102081530+0100', ['2030-01-02 08:15:30 +0100', 'text']],
      ['TS', 'yesterday', ['yesterday', 'text']],
      ['TM', '0815', ['08:15', 'text']],
      ['NR', '3^5', '3-5'],
      ['CQ', '5^mL', '5 mL'],
      ['', 'free', 'free'],
      ['ZZ', 'a^b', 'a^b'],
      ['NM', '""', undefined],
      ['NM', '', undefined],
    ]
    for (const [type, text, expected] of cases) assert.deepEqual(value(type, text), expected, `${type} ${text}`)
  })

  test('has flags, ranges and texts as they are, and several flags as several', () => {
    for (const flag of ['N', 'H', 'L', 'A', 'HH', 'LL', '*', '>']) assert.equal(observe(`OBX|1|NM|A||1|||${flag}|||F`).flag, flag)
    assert.equal(observe('OBX|1|NM|A||1|||H^High^HL70078~A|||F').flag, 'H~A')
    assert.equal(observe('OBX|1|NM|A||1||< 5.0||||F').reference_range, '< 5.0')
  })

  test('has a LOINC code of a first component without a system only by the profile', () => {
    const line = 'OBX|1|NM|2093-3^Cholesterol||1||||||F'
    assert.equal(observe(line).loinc, undefined)
    assert.equal(observe(line, { results: { loinc_without_system: true } }).loinc, '2093-3')
    assert.equal(observe('OBX|1|NM|100^Cholesterol||1||||||F', { results: { loinc_without_system: true } }).loinc, undefined)
  })

  test('has tests by their fourth component, and refuses a test or a result without a code', () => {
    const [test] = read([
      ORDER,
      line('OBR', { 1: '1', 2: '4711', 3: 'F-1', 4: '^^^100^Lipids', 25: 'F' }),
      'OBX|1|NM|A||1||||||F',
    ]).tests
    assert.deepEqual([test!.code, test!.name], ['100', 'Lipids'])
    assert.throws(() => read([ORDER, 'OBR|1|4711']), { message: 'OBR-4 of line 4 is empty' })
    assert.throws(() => read([ORDER, REQUEST, 'OBX|1|NM|||1']), { message: 'OBX-3 of line 5 is empty' })
    assert.throws(() => read([ORDER, REQUEST, 'OBX|1|NM|A||1||||||FINAL']), { message: 'OBX-11 of line 5 is not supported' })
    assert.throws(() => read(['OBX|1|NM|A||1||||||F']), { message: 'Line 3 is a result without an ordered test' })
    assert.throws(() => read([]), { message: 'The message has no test' })
  })

  test('refuses what is longer than its limits instead of cutting it', () => {
    assert.throws(() => observe(`OBX|1|ST|${'A'.repeat(201)}||1||||||F`), {
      message: 'OBX-3 of line 5 has more than 200 characters',
    })
    assert.throws(() => observe(`OBX|1|ST|A||${'1'.repeat(1_000_001)}||||||F`), { message: /^OBX-5 of line 5 has more than/u })
    const requests = Array.from({ length: 501 }, (_, i) =>
      line('OBR', { 1: `${i}`, 2: '4711', 3: `F-${i}`, 4: `T${i}`, 25: 'F' }),
    )
    assert.throws(() => read([ORDER, ...requests]), { message: 'The message has more than 500 tests' })
    const results = Array.from({ length: 10_001 }, (_, i) => `OBX|${i}|NM|A${i}||1||||||F`)
    assert.throws(() => read([ORDER, REQUEST, ...results]), { message: 'The message has more than 10000 observations' })
  })

  test('has several segments of one result as its lines, and none of them is lost', () => {
    const { observations } = read([
      ORDER,
      REQUEST,
      'OBX|1|TX|MIC^Culture||Gram positive cocci||||||F',
      'NTE|1||Note',
      'OBX|2|TX|MIC^Culture||in clusters||||||F',
      'OBX|3|TX|MIC^Culture||||||||F',
      'OBX|4|TX|MIC^Culture||seen||||||F',
      'OBX|5|CE|ORG^Organism|1|E^E. coli||||||F',
      'OBX|6|CE|ORG^Organism|2|K^K. pneumoniae||||||F',
      'OBX|7|NM|A||5|||H|||F',
      'OBX|8|NM|A||5|||H|||F',
      'OBX|9|NM|B||5||||||P',
      'OBX|10|NM|B||6||||||F',
    ]).tests[0]!
    assert.deepEqual(
      observations.map(({ code, sub_id, value: text, status, notes }) => [code, sub_id, text, status, notes]),
      [
        ['MIC', undefined, 'Gram positive cocci\nin clusters\n\nseen', 'F', 'Note'],
        ['ORG', '1', 'E. coli', 'F', undefined],
        ['ORG', '2', 'K. pneumoniae', 'F', undefined],
        ['A', undefined, '5', 'F', undefined],
        ['B', undefined, '5', 'P', undefined],
        ['B', undefined, '6', 'F', undefined],
      ],
    )
  })

  test('has comments where they stand: behind results, tests, specimens, orders, the patient, and as the footer by the profile', () => {
    const lines = [
      'NTE|1||On the patient',
      ORDER,
      'NTE|1||On the order',
      REQUEST,
      ...Array.from({ length: 20 }, (_, i) => `NTE|${i + 1}||Line ${i + 1}`),
      'OBX|1|NM|A||1||||||F',
      line('SPM', { 1: '1', 4: 'SER', 21: 'RH^Hemolyzed' }),
      'OBX|1|NM|VOL^Volume||3|mL|||||F',
      'OBX|2|NM|B||1||||||F',
      'ZPS|1|S1|Site',
      'NTE|1||Footer',
      'ZZZ|1|unknown',
    ]
    const message = read(lines)
    assert.equal(message.notes, 'On the patient\nFooter')
    assert.deepEqual(message.tests[0]!.notes!.split('\n'), [
      'On the order',
      ...Array.from({ length: 20 }, (_, i) => `Line ${i + 1}`),
      'Volume: 3 mL',
      'B: 1',
      'Specimen rejected: Hemolyzed',
    ])
    const withFooter = [ORDER, REQUEST, 'OBX|1|NM|A||1||||||F', 'NTE|1||Footer', 'NTE|2||of the report']
    assert.equal(read(withFooter).tests[0]!.observations[0]!.notes, 'Footer\nof the report')
    const footed = read(withFooter, { results: { has_footer: true } })
    assert.deepEqual([footed.notes, footed.tests[0]!.observations[0]!.notes], ['Footer\nof the report', undefined])
  })

  test('leaves out by the profile what is a comment, an answer of the order or a rendering', () => {
    const results = { comment_codes: ['COM'], answer_codes: ['ASK'], rendering_codes: ['TXT'] }
    const message = read(
      [
        ORDER,
        REQUEST,
        'OBX|1|ST|COM||Called to the office||||||F',
        'OBX|2|ST|ASK||Yes||||||F',
        'OBX|3|TX|TXT||GLUCOSE 5||||||F',
        'OBX|4|NM|A||5||||||F',
        line('OBX', { 1: '5', 2: 'CE', 3: 'AOE', 5: 'N', 11: 'F', 29: 'QST' }),
      ],
      { results },
    )
    assert.equal(message.notes, 'Called to the office')
    assert.deepEqual(
      message.tests[0]!.observations.map(({ code }) => code),
      ['A'],
    )
  })

  test('ends with segments of the laboratory that nobody knows', () => {
    const { tests } = read([
      ORDER,
      'ZOR|x',
      REQUEST,
      'TQ1|1',
      'CTD|1',
      'OBX|1|NM|A||1||||||F',
      'ZXX|a|b',
      'OBX|2|NM|B||2||||||F',
      'ZZZ|1',
    ])
    assert.deepEqual(
      tests[0]!.observations.map(({ code }) => code),
      ['A', 'B'],
    )
  })
})

describe('the order of results', () => {
  const test100 = (number: string, filler: string, fields: Record<number, string> = {}) =>
    line('OBR', { 1: '1', 2: number, 3: filler, 4: '100^A', 25: 'F', ...fields })

  test('has its number by the fields, the pattern and the prefix of the profile', () => {
    const placer = (order_number: NonNullable<ProfileOptions['order_number']>, lines = [ORDER, REQUEST]) =>
      read(lines, { order_number }).numbers.placer
    assert.deepEqual(placer({}), ['4711'])
    assert.deepEqual(placer({ pattern: '{number}-*' }, ['ORC|RE|4711-0175|F', test100('', 'F')]), ['4711'])
    assert.deepEqual(placer({ pattern: '*-L{number}' }, ['ORC|RE|310137493-L700107|F', test100('', 'F')]), ['700107'])
    assert.deepEqual(placer({ prefix: 'DB' }, ['ORC|RE|DB4711|F', test100('DB', 'F')]), ['4711', 'DB'])
    const elsewhere = ['ORC|RE||F', line('OBR', { 1: '1', 4: '100^A', 20: '4711', 25: 'F', 28: '^9&LAB', 29: '4712&X' })]
    assert.deepEqual(placer({ fields: ['OBR-20'] }, elsewhere), ['4711'])
    assert.deepEqual(placer({ fields: ['OBR-29.1', 'PID-3.1'] }, elsewhere), ['4712', '77'])
    assert.deepEqual(read(['ORC|RE|4711|F|G1', test100('4711', 'F')], { order_number: { fields: ['ORC-2.1'] } }).numbers.group, [
      'G1',
    ])
  })

  test('has the spellings of its number that the profile says to ignore, and is one order whatever its spelling', () => {
    const placer = (number: string, order_number: NonNullable<ProfileOptions['order_number']>) =>
      read([`ORC|RE|${number}|F`, test100('', 'F')], { order_number }).numbers.placer!
    assert.deepEqual(placer('ab-1', { ignores_case: true }), ['ab-1', 'AB-1'])
    const spellings = placer('0047', { ignores_leading_zeros: true })
    assert.deepEqual(spellings.slice(0, 3), ['0047', '47', '047'])
    assert(spellings.includes('000000000047'))
    assert.deepEqual(placer('000', { ignores_leading_zeros: true }).slice(0, 2), ['000', '0'])
    assert.deepEqual(placer('0047', {}), ['0047'])
    const lines = [test100('ab', 'F-1'), test100('0AB', 'F-2')]
    const options = { order_number: { ignores_case: true, ignores_leading_zeros: true } }
    assert.equal(read(lines, options).tests.length, 2)
    assert.equal(readAll([HEADER, PATIENT, ...lines].join('\r')).length, 2)
  })

  test('is split from others, so that nothing of one comes to another', () => {
    const messages = readAll(
      [
        HEADER,
        PATIENT,
        'ORC|RE|1|F-1',
        test100('1', 'F-1'),
        'OBX|1|NM|A||1||||||F',
        test100('2', 'F-2'),
        'OBX|1|NM|A||2||||||F',
        'ORC|RE|1|F-3',
        test100('1', 'F-3'),
        'OBX|1|NM|B||3||||||F',
        // A reflex test without a number of ours, but with its parent.
        'ORC|RE||F-4',
        test100('', 'F-4', { 29: '^F-2' }),
        'OBX|1|NM|C||4||||||F',
        'PID|2||78||Invented^Bob||19700101|M',
        'ORC|RE|1|F-5',
        test100('1', 'F-5'),
        'OBX|1|NM|A||5||||||F',
      ].join('\r'),
    )
    assert.deepEqual(
      messages.map(({ patient, numbers, tests }) => [
        patient!.last_name,
        numbers.placer,
        numbers.filler,
        tests.flatMap(({ observations }) => observations.map(({ code, value: text }) => `${code}=${text}`)),
      ]),
      [
        ['Samplewoman', ['1'], ['F-1', 'F-3'], ['A=1', 'B=3']],
        ['Samplewoman', ['2'], ['F-2', 'F-4'], ['A=2', 'C=4']],
        ['Invented', ['1'], ['F-5'], ['A=5']],
      ],
    )
  })

  test('is the only one of a message for a test without a number, and unknown among several', () => {
    assert.deepEqual(read(['ORC|RE|1|F-1', test100('1', 'F-1'), 'ORC|RE||F-2', test100('', 'F-2')]).tests.length, 2)
    const messages = readAll(
      [
        HEADER,
        PATIENT,
        'ORC|RE|1|F-1',
        test100('1', 'F-1'),
        'ORC|RE|2|F-2',
        test100('2', 'F-2'),
        'ORC|RE||F-3',
        test100('', 'F-3'),
      ].join('\r'),
    )
    assert.deepEqual(
      messages.map(({ numbers }) => numbers.placer),
      [['1'], ['2'], []],
    )
  })

  test('has its status only if all of its tests have the same', () => {
    const status = (a: string, b: string) =>
      read([`ORC|RE|1|F-1||${a}`, test100('1', 'F-1'), `ORC|RE|1|F-2||${b}`, test100('1', 'F-2')]).order_status
    assert.deepEqual([status('CM', 'CM'), status('CM', 'IP'), status('', '')], ['CM', undefined, undefined])
  })
})

describe('microbiology', () => {
  const culture = [
    ORDER,
    line('OBR', { 1: '1', 2: '4711', 3: 'F-1', 4: 'CULT^Culture', 25: 'F' }),
    'OBX|1|CWE|600-7^Bacteria^LN^ORG^Organism^L|1|ECOLI^Escherichia coli^L||||||F',
    'OBX|2|CWE|600-7^Bacteria^LN^ORG^Organism^L|2|KPN^Klebsiella pneumoniae^L||||||F',
  ]
  const susceptibilities = (parent: string) => [
    line('OBR', {
      1: '2',
      2: '4711',
      3: 'F-2',
      4: 'SUSC^Susceptibility',
      25: 'F',
      26: parent.split('|')[0]!,
      29: parent.split('|')[3] ?? '',
    }),
    'OBX|1|SN|AMP^Ampicillin|1|>=^32|ug/mL||R|||F',
  ]
  const parentOf = (lines: string[]) => read(lines).tests.at(-1)!.parent

  test('has susceptibilities below the organism that OBR-26 names by code and sub-id', () => {
    const message = read([...culture, ...susceptibilities('600-7&Bacteria&LN^2^K. pneumoniae'), ...susceptibilities('ORG^1')])
    assert.deepEqual(
      message.tests.map(({ parent }) => parent),
      [undefined, { code: 'ORG', sub_id: '2' }, { code: 'ORG', sub_id: '1' }],
    )
    assert.equal(message.tests[1]!.observations[0]!.value, '>=32')
  })

  test('has the parent of OBR-29 if this test has one result', () => {
    const child = (filler: string) => susceptibilities(`|||4711^${filler}&LAB`)
    assert.deepEqual(parentOf([...culture.slice(0, 3), ...child('F-1')]), { code: 'ORG', sub_id: '1' })
    assert.equal(parentOf([...culture, ...child('F-1')]), undefined)
    assert.equal(parentOf([...culture, ...child('F-9')]), undefined)
  })
})

describe('the laboratory that performed a test', () => {
  const site = (result: string, performing_laboratory: 'OBX-23' | 'OBX-15' | 'ZPS', sites: string[] = []) =>
    read([ORDER, REQUEST, result, ...sites], { results: { performing_laboratory } }).tests[0]!.observations[0]!
      .performing_laboratory
  const obx = (fields: Record<number, string>) => line('OBX', { 1: '1', 2: 'NM', 3: 'A', 5: '1', 11: 'F', ...fields })

  test('is in OBX-23 to OBX-25', () => {
    assert.deepEqual(
      site(
        obx({
          23: 'Lantern Bay Laboratory^L^^^^CLIA&2.16&ISO^XX^^^99D9999999',
          24: '1 Harbor Street^Suite 2^Fictionville^CA^90001^USA',
          25: '17^Example^Ada^B^^Dr',
        }),
        'OBX-23',
      ),
      {
        code: '99D9999999',
        name: 'Lantern Bay Laboratory',
        clia: '99D9999999',
        medical_director: 'Dr Ada B Example',
        address: {
          first_line: '1 Harbor Street',
          second_line: 'Suite 2',
          city: 'Fictionville',
          state: 'CA',
          zip: '90001',
          country: 'USA',
        },
      },
    )
    assert.equal(site(obx({}), 'OBX-23'), undefined)
  })

  test('is in OBX-15, or in a segment ZPS with its code', () => {
    assert.deepEqual(site(obx({ 15: 'S1^Site One^CLIA' }), 'OBX-15'), { code: 'S1', name: 'Site One' })
    const zps =
      'ZPS|1|S1|Lantern Bay|1 Harbor Street^^Fictionville^CA^90001|4055550123|contact|17^Example^Ada^^^Dr|mnemo|99D9999999'
    const whole = {
      code: 'S1',
      name: 'Lantern Bay',
      clia: '99D9999999',
      medical_director: 'Dr Ada Example',
      phone_number: '4055550123',
      address: { first_line: '1 Harbor Street', city: 'Fictionville', state: 'CA', zip: '90001' },
    }
    assert.deepEqual(site(obx({ 15: 'S1' }), 'OBX-15', [zps]), whole)
    assert.deepEqual(site(obx({}), 'ZPS', [zps]), whole)
    const two = [zps, 'ZPS|2|S2|Second|||Dr. Bob Invented, MD|CLIA#99D8888888']
    assert.equal(site(obx({}), 'ZPS', two), undefined)
    assert.deepEqual(site(obx({ 15: 'S2' }), 'ZPS', two), {
      code: 'S2',
      name: 'Second',
      clia: '99D8888888',
      medical_director: 'Dr. Bob Invented, MD',
    })
  })
})

describe('a message about specimens', () => {
  test('has the tests below each specimen, with ORC behind OBR', () => {
    const [message] = readAll(
      [
        HEADER.replace('ORU^R01^ORU_R01', 'OUL^R22^OUL_R22'),
        PATIENT,
        line('SPM', { 1: '1', 2: '^S-1', 4: 'SER', 17: '20300103083000' }),
        'OBX|1|NM|VOL^Volume||3|mL|||||F',
        'SAC|1|ACC-1',
        line('OBR', { 1: '1', 2: '4711', 3: 'F-1', 4: '100^A', 25: 'F' }),
        'ORC|RE|4711|F-1||CM',
        'OBX|1|NM|A||1||||||F',
        line('OBR', { 1: '2', 2: '4711', 3: 'F-2', 4: '200^B', 25: 'F' }),
        'ORC|RE|4711|F-2||CM',
        'OBX|1|NM|B||2||||||F',
        'SPM|2|^S-2||URN',
        line('OBR', { 1: '3', 2: '4711', 3: 'F-3', 4: '300^C', 25: 'P' }),
        'ORC|RE|4711|F-3||CM',
        'OBX|1|NM|C||3||||||P',
      ].join('\r'),
    )
    assert.deepEqual(message!.numbers, {
      placer: ['4711'],
      filler: ['F-1', 'F-2', 'F-3'],
      specimen: ['S-1', 'S-2'],
      accession: ['ACC-1'],
      group: [],
    })
    assert.deepEqual(
      message!.tests.map(({ code, collected_at, notes, observations }) => [code, collected_at, notes, observations.length]),
      [
        ['100', '20300103083000', 'Volume: 3 mL', 1],
        ['200', '20300103083000', undefined, 1],
        ['300', undefined, undefined, 1],
      ],
    )
    assert.equal(message!.order_status, 'CM')
  })
})

describe('a message about the status of an order', () => {
  const status = (order: string, request = 'OBR|1|4711|F-1|100^A') => {
    const [message] = readAll(
      [HEADER.replace('ORU^R01^ORU_R01', 'ORM^O01'), PATIENT, order, request, 'OBX|1|ST|AOE||Yes'].join('\r'),
    )
    return [message!.tests[0]!.status, message!.tests[0]!.observations.length, message!.order_status]
  }

  test('says of tests that they are in process, on hold or canceled by the laboratory, and nothing of results', () => {
    assert.deepEqual(status('ORC|SC|4711|F-1||IP'), ['I', 0, 'IP'])
    assert.deepEqual(status('ORC|SC|4711|F-1||CM'), ['I', 0, 'CM'])
    assert.deepEqual(status('ORC|SC|4711|F-1||HD'), ['S', 0, 'HD'])
    assert.deepEqual(status('ORC|SC|4711|F-1||CA'), ['X', 0, 'CA'])
    assert.deepEqual(status('ORC|OC|4711|F-1'), ['X', 0, undefined])
    assert.deepEqual(status('ORC|SC|4711|F-1', line('OBR', { 1: '1', 2: '4711', 3: 'F-1', 4: '100^A', 25: 'I' })), [
      'I',
      0,
      undefined,
    ])
  })

  test('of a type that links do not read is not supported', () => {
    for (const [type, text] of [
      ['ADT^A40', 'ADT^A40'],
      ['Doe^Jane', 'in MSH-9'],
    ] as const)
      assert.throws(() => readAll(`MSH|^~\\&|LIS|||||x|${type}|1|P|2.3`), {
        name: 'UnsupportedMessage',
        message: `Messages of the type ${text} are not supported`,
      })
  })
})
