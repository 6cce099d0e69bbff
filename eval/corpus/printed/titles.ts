// The names of the columns of printed reports.
import type { Content } from '../content.ts'
import type { Random } from '../random.ts'
import type { ColumnKind, PrintedStyle } from './style.ts'

/** `/` is where a laboratory breaks it. */
const TITLES: Record<ColumnKind, string[]> = {
  name: ['Test', 'Test Name', 'Analyte', 'Investigation', 'Component', 'Test/Description', 'Examination'],
  value: ['Result', 'Results', 'Value', 'Observed/Value', 'Your/Result', 'Current/Result'],
  'value and units': ['Result', 'Result/with Unit', 'Your Result', 'Value'],
  'value and flag': ['Result', 'Value', 'Result/and Flag'],
  flag: ['Flag', 'Abnormal/Flag', 'H/L', 'Abn.', 'Flags'],
  word: ['Status', 'Interpretation', 'Comment'],
  units: ['Units', 'Unit', 'Unit of/Measure', 'Measurement/Unit'],
  range: [
    'Reference Range',
    'Reference/Range',
    'Reference/Interval',
    'Normal Range',
    'Biological/Reference/Interval',
    'Expected/Values',
    'Ref. Range',
  ],
  low: ['Low', 'Lower', 'From', 'Min.'],
  high: ['High', 'Upper', 'To', 'Max.'],
  previous: ['Previous/Result', 'Previous', 'Prior/Result'],
  laboratory: ['Lab', 'Site'],
  method: ['Method', 'Methodology', 'Test/Method'],
  sample: ['Specimen', 'Sample/Type', 'Sample'],
  collected: ['Collected', 'Collection/Date', 'Date and/Time'],
  panel: ['Panel', 'Profile', 'Test/Group'],
}

/** The lines of the name of a column. Low and upper bounds have names that go together. */
export function columnTitle(kind: ColumnKind, style: PrintedStyle, unit: string, content: Content, random: Random): string[] {
  const pair = kind === 'low' || kind === 'high' ? content.panels.length % TITLES.low.length : undefined
  const title = pair === undefined ? random.pick(TITLES[kind]) : TITLES[kind][pair]!
  // `H/L` is not broken.
  const lines = title === 'H/L' ? [title] : style.breaksTitles ? title.split('/') : [title.replaceAll('/', ' ')]
  if (kind === 'previous' && !style.breaksTitles)
    lines[0] += ` (${content.textOf('collected:YYYY-MM-DD')!.replace(/^\d+/u, (year) => String(Number(year) - 1))})`
  if (unit && style.unitInTitle && (kind === 'value' || kind === 'value and flag'))
    lines.push(style.unitInTitle === 'brackets' ? `(${unit})` : `[${unit}]`)
  return style.breaksTitles ? lines : [lines.join(' ')]
}
