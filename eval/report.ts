// Prints an evaluation: as a table, or as JSON.
import type { Kind } from './corpus/kinds.ts'
import type { Evaluation } from './evaluate.ts'
import {
  metadataFields,
  metadataShare,
  ratio,
  rowScores,
  scoreIntervals,
  wholeRowScores,
  type Comparison,
  type Figures,
  type Share,
} from './metrics.ts'

const COLUMNS = [
  'docs',
  'rows',
  'whole F1',
  'caught',
  'doubted',
  'sure',
  'precision',
  'recall',
  'F1',
  'units',
  'range',
  'interp',
  'panel',
  'comments',
  'LOINC',
  'autoerr',
  'metadata',
  's/doc',
]

const percent = ({ right, total }: Share): string => (total === 0 ? '–' : (100 * (right / total)).toFixed(1))
const hundredths = (value: number): string => (100 * value).toFixed(1)

function cells(figures: Figures): string[] {
  const { precision, recall, f1 } = rowScores(figures)
  const { documents, failures, rows, duration_ms } = figures
  return [
    failures ? `${documents} (${failures} failed)` : String(documents),
    String(rows.expected),
    hundredths(wholeRowScores(figures).f1),
    ...[figures.caughtShare, figures.doubtedShare, figures.sure].map(percent),
    ...[precision, recall, f1].map(hundredths),
    ...[
      figures.units,
      figures.range,
      figures.interpretation,
      figures.panel,
      figures.comments,
      figures.loinc,
      figures.wrongAutoMatches,
      metadataShare(figures),
    ].map(percent),
    (duration_ms / Math.max(1, documents) / 1000).toFixed(2),
  ]
}

const intervalNames = scoreIntervals.map((start, index) => `${start} to ${scoreIntervals[index + 1] ?? 1}`)

/** What leads: whole rows, and what is said of those that are wrong. Then percentages by layout and kind, totals, metadata, and codes by score. */
export function printTable({ byLayout, byKind }: Evaluation): string {
  const lead: string[][] = [['kind', 'whole rows F1', 'wrong rows caught', 'right rows doubted', 'right at 0.9 and more']]
  for (const [kind, figures] of byKind)
    lead.push([
      kind,
      hundredths(wholeRowScores(figures).f1),
      ...[figures.caughtShare, figures.doubtedShare, figures.sure].map(percent),
    ])
  const table: string[][] = [['layout', 'kind', ...COLUMNS]]
  for (const [name, kinds] of byLayout) for (const [kind, figures] of kinds) table.push([name, kind, ...cells(figures)])
  for (const [kind, figures] of byKind) table.push(['ALL', kind, ...cells(figures)])
  const fields: string[][] = [['metadata', ...byKind.keys()]]
  for (const field of metadataFields)
    fields.push([field, ...[...byKind.values()].map(({ metadata }) => percent(metadata[field]))])
  const scores: string[][] = [['LOINC score', ...[...byKind.keys()].flatMap((kind) => [kind, 'rows'])]]
  for (const [index, name] of intervalNames.entries())
    scores.push([
      name,
      ...[...byKind.values()].flatMap((figures) => [percent(figures.scores[index]!), String(figures.scores[index]!.total)]),
    ])
  return [lead, table, fields, scores].map((block) => `${align(block)}\n`).join('\n')
}

function align(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) => row.map((cell, i) => (i < 1 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '))
    .join('\n')
}

function summary(figures: Figures) {
  const share = ({ right, total }: Share) => ({ share: ratio(right, total), right, total })
  const { documents, failures, duration_ms, rows } = figures
  return {
    documents,
    failed: failures,
    duration_ms: Math.round(duration_ms),
    whole_rows: { right: figures.wholeRows, ...wholeRowScores(figures) },
    caught: share(figures.caughtShare),
    doubted: share(figures.doubtedShare),
    sure: share(figures.sure),
    rows: { ...rows, ...rowScores(figures) },
    units: share(figures.units),
    range: share(figures.range),
    interpretation: share(figures.interpretation),
    panel: share(figures.panel),
    comments: share(figures.comments),
    loinc: share(figures.loinc),
    wrong_auto_matches: share(figures.wrongAutoMatches),
    scores: Object.fromEntries(figures.scores.map((intervalShare, index) => [intervalNames[index]!, share(intervalShare)])),
    metadata: {
      ...share(metadataShare(figures)),
      fields: Object.fromEntries(metadataFields.map((field) => [field, share(figures.metadata[field])])),
    },
  }
}

export function toJson({ byLayout, byKind }: Evaluation): unknown {
  const kinds = (figures: Map<Kind, Figures>) => Object.fromEntries([...figures].map(([kind, one]) => [kind, summary(one)]))
  return { layouts: Object.fromEntries([...byLayout].map(([name, figures]) => [name, kinds(figures)])), totals: kinds(byKind) }
}

/** What a parser got wrong in one document. The people of the corpus are invented. */
export function printFailures(
  name: string,
  { lostResults, falseRows, differences, metadata }: Comparison,
  error: Error | undefined,
): string {
  const lines = [
    ...(error ? [`  failed: ${error.message}`] : []),
    ...metadata.map(
      ({ field, expected, read }) => `  ${field}: expected ${JSON.stringify(expected)}, read ${JSON.stringify(read)}`,
    ),
    ...lostResults.map(({ test_name, value }) => `  missed: ${test_name} = ${value}`),
    ...falseRows.map(({ test_name, value }) => `  false: ${test_name} = ${value}`),
    ...differences.map(
      ({ expected, read, fields }) =>
        `  ${expected.test_name}: ${fields.map((field) => difference(field, expected, read)).join('; ')}`,
    ),
  ]
  return lines.length ? `${name}\n${lines.join('\n')}\n` : ''
}

type Difference = Comparison['differences'][number]

function difference(field: string, expected: Difference['expected'], read: Difference['read']): string {
  const [right, wrong]: [unknown, unknown] =
    field === 'units'
      ? [expected.units, read.units]
      : field === 'range'
        ? [expected.range, { min: read.min_reference_range, max: read.max_reference_range }]
        : field === 'interpretation'
          ? [expected.interpretations, read.interpretation]
          : field === 'panel'
            ? [expected.source_panel_name, read.source_panel_name]
            : field === 'comments'
              ? [expected.comments, read.comments]
              : [expected.loinc, read.loinc_matches?.[0]?.loinc_code]
  return `${field} expected ${JSON.stringify(right)}, read ${JSON.stringify(wrong)}`
}
