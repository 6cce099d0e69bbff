// The particulars of the patient on a printed report: label and value in cells, in one cell, below each other, or as a table with names of columns.
import { fillText } from '../template.ts'
import type { Content } from '../content.ts'
import type { Random } from '../random.ts'
import type { Cell, Grid, PrintedBlock } from './model.ts'
import type { PrintedStyle } from './style.ts'

type Field = [label: string, template: string]

/** Blocks, and the tokens that they print. */
export function describeParticulars(
  style: PrintedStyle,
  content: Content,
  random: Random,
): { blocks: PrintedBlock[]; printedTexts: Set<string> } {
  const printedTexts = new Set<string>()
  const { first, last } = content.person
  const provider = `${random.pick('ABCDEFG'.split(''))}. ${random.pick(['Example', 'Mockford', 'Testwell'])}, ${random.pick(['MD', 'MD', 'DO', 'NP'])}`
  const valueOf = (token: string) => {
    if (token === 'provider') return provider
    printedTexts.add(token)
    return content.textOf(token)!
  }
  const fields = listFields(style, random).map(([label, template]): [string, string] => [label, fillText(template, valueOf)])
  printedTexts.add('lab')
  // Long names wrap where a cell is narrow.
  const isNarrow = `${first} ${last}`.length > 14
  const blocks: PrintedBlock[] = [
    { kind: 'title', text: content.layout.lab.name },
    { kind: 'small', text: `${content.layout.lab.address} · Phone ${content.layout.lab.phone}` },
    ...layoutGrids(style, fields, isNarrow),
  ]
  return { blocks, printedTexts }
}

function listFields({ splitsTimes, particulars }: PrintedStyle, random: Random): Field[] {
  const collected: Field[] = splitsTimes
    ? [
        [random.pick(['Collected', 'Date collected', 'Collection date']), '{collected:DD MMM YYYY}'],
        [random.pick(['Time', 'Collection time', 'Time collected']), '{collected:HH:mm}'],
      ]
    : [[random.pick(['Collected', 'Date collected', 'Collected on', 'Specimen collected']), '{collected}']]
  const provider: Field = [
    random.pick(['Ordering provider', 'Provider', 'Physician', 'Ordered by', 'Requested by']),
    '{provider}',
  ]
  const head: Field[] = [
    [random.pick(['Patient', 'Patient name', 'Name']), '{name}'],
    [random.pick(['Date of birth', 'DOB', 'Birth date']), '{dob}'],
    [random.pick(['Sex', 'Gender']), '{sex}'],
  ]
  const specimen: Field = [random.pick(['Specimen no.', 'Accession', 'Specimen ID', 'Sample number']), '{specimen}']
  const rest: Field[] = [
    [random.pick(['MRN', 'Patient ID', 'Record no.']), '{mrn}'],
    [random.pick(['Reported', 'Report date', 'Date reported']), '{reported}'],
  ]
  // A provider beside times, as in `A. Example, MD  09:05`.
  return particulars === 'table'
    ? [...head, provider, ...collected, specimen]
    : [...head, specimen, provider, ...collected, ...rest]
}

const cell = (text: string, isBold = false): Cell => ({ lines: [text], ...(isBold ? { isBold } : {}) })

const particulars = (rows: Cell[][], widths: number[] | undefined, header: Cell[][] = []): Grid => ({
  kind: 'grid',
  widths,
  header,
  rows,
  isOfResults: false,
})

function layoutGrids(style: PrintedStyle, fields: readonly [string, string][], isNarrow: boolean): PrintedBlock[] {
  const rowsOf = (count: number) =>
    Array.from({ length: Math.ceil(fields.length / count) }, (_, index) => fields.slice(index * count, (index + 1) * count))
  const name = isNarrow ? 15 : 30
  switch (style.particulars) {
    case 'pairs':
      return [
        particulars(
          rowsOf(2).map((row) => row.flatMap(([label, value]) => [cell(`${label}:`, true), cell(value)])),
          [16, name, 20, 30],
        ),
      ]
    case 'inline':
      return [
        particulars(
          rowsOf(2).map((row) => row.map(([label, value]) => cell(`${label}: ${value}`))),
          [name + 20, 40],
        ),
      ]
    case 'stacked':
      return [
        particulars(
          rowsOf(4).flatMap((row) => [
            row.map(([label]) => ({ ...cell(label), color: '#666666' })),
            row.map(([, value]) => cell(value)),
          ]),
          [name, 20, 22, 24],
        ),
      ]
    case 'table':
      return [particulars([fields.map(([, value]) => cell(value))], undefined, [fields.map(([label]) => cell(label, true))])]
  }
}
