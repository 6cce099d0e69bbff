// Messages of laboratories for the bench: results of an order, with 20 observations of about 200 bytes.
import { randomBytes } from 'node:crypto'
import { expectations } from '../src/lab/results/expected-results.ts'
import type { ExpectedMarker } from '../src/lab/catalog/analytes.ts'
import { writeSegments, type Hl7Fields } from '../src/lab/hl7/writer.ts'

export const PATIENT = { first_name: 'Testa', last_name: 'Fictional', dob: '1990-01-31', gender: 'female' }

export interface BenchOrder {
  id: string
  sample_id: string
}

const blanks = (count: number): undefined[] => Array<undefined>(count).fill(undefined)

/** A final report on an order. @param value of every observation */
export function resultMessage(
  { sample_id }: BenchOrder,
  markers: ExpectedMarker[],
  {
    control_id,
    value = '5',
    facility = 'CLINIC',
    document,
  }: { control_id: string; value?: string; facility?: string; document?: Buffer },
): Buffer {
  const items = expectations(markers)
  const segments = markers.flatMap(({ provider_id, name }, i): Hl7Fields[] => [
    ['ORC', 'RE', sample_id, `F-${sample_id}-${i}`],
    [
      'OBR',
      String(i + 1),
      sample_id,
      `F-${sample_id}-${i}`,
      [provider_id, name, 'L'],
      ...blanks(2),
      TIME,
      ...blanks(14),
      TIME,
      ...blanks(2),
      'F',
    ],
    ...items
      .filter(({ source_markers }) => source_markers[0]!.provider_id === provider_id)
      .map((item, n): Hl7Fields => [
        'OBX',
        String(n + 1),
        'NM',
        [item.provider_id ?? item.slug, item.name, 'L', ...(item.loinc ? [item.loinc, item.name, 'LN'] : [])],
        undefined,
        value,
        'mg/dL',
        '1-10',
        'N',
        ...blanks(2),
        'F',
        ...blanks(2),
        TIME,
        ...blanks(3),
        'Analyzer 7',
        TIME,
        ...blanks(3),
        [
          'Fictional Laboratory of the Bench',
          'D',
          undefined,
          undefined,
          undefined,
          undefined,
          'XX',
          undefined,
          undefined,
          '99D0000000',
        ],
      ]),
  ])
  const pdf: Hl7Fields[] = document
    ? [
        [
          'OBX',
          '999',
          'ED',
          ['PDF', 'Report', 'L'],
          undefined,
          [undefined, 'application', 'pdf', 'Base64', document.toString('base64')],
          ...blanks(5),
          'F',
        ],
      ]
    : []
  const text = writeSegments([
    [
      'MSH',
      'LIS',
      'BENCH',
      'DRAWBRIDGE',
      facility,
      TIME,
      undefined,
      ['ORU', 'R01', 'ORU_R01'],
      control_id,
      'T',
      '2.5.1',
      ...blanks(5),
      'UNICODE UTF-8',
    ],
    ['PID', '1', undefined, ['P-1'], undefined, [PATIENT.last_name, PATIENT.first_name], undefined, '19900131', 'F'],
    ...segments,
    ...pdf,
  ])
  return Buffer.from(text)
}

const TIME = '20300104101500+0000'

/** A PDF of so many bytes: one page, and an object that no page shows. */
export function pdfOfSize(bytes: number): Buffer {
  const objects = [
    '1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n',
    '2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n',
    '3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>\nendobj\n',
  ]
  const parts = [Buffer.from('%PDF-1.7\n'), ...objects.map((text) => Buffer.from(text))]
  const filling = randomBytes(bytes)
  parts.push(Buffer.from(`4 0 obj\n<< /Length ${filling.length} >>\nstream\n`), filling, Buffer.from('\nendstream\nendobj\n'))
  const offsets: number[] = []
  let position = parts[0]!.length
  for (const part of parts.slice(1, 5)) {
    offsets.push(position)
    position += part.length
  }
  const start = Buffer.concat(parts).length
  const table = ['0000000000 65535 f ', ...offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n `)]
  return Buffer.concat([
    ...parts,
    Buffer.from(`xref\n0 5\n${table.join('\n')}\ntrailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`),
  ])
}
