// Reads a report that is written out line by line: what is printed where, and what is true about each result. See README.md.
import type { Emission, Font, Layout } from '../language.ts'
import type { TrueMetadata } from '../truth.ts'

/** What a column of a written report holds, and where it begins, ends or has its middle. */
export interface WrittenColumn {
  role: 'name' | 'value' | 'unit' | 'range' | 'flag' | 'other'
  x: number
  align: 'left' | 'center' | 'right'
}

export type Command =
  | { kind: 'columns'; columns: WrittenColumn[] }
  /** `isResult`: its cells are a result, unless `truth` says otherwise. */
  | { kind: 'line'; cells: string[]; isResult: boolean; truth: Record<string, string> }
  | { kind: 'truth'; truth: Record<string, string> }
  | { kind: 'heading'; text: string; panel: string }
  | { kind: 'panel'; panel: string | null }
  | { kind: 'space'; height: number }
  | { kind: 'at'; y: number }
  | { kind: 'leading'; height: number }
  | { kind: 'rule' }
  | { kind: 'page' }
  | { kind: 'turned'; x: number; y: number; angle: number; text: string }

/** What of a layout a written report has as well. */
export interface Written extends Pick<Layout, 'name' | 'emission' | 'watermark'> {
  page: NonNullable<Layout['page']>
  font: Font
  size: number
  metadata: TrueMetadata
  ambiguousDates: Record<string, string>
  commands: Command[]
}

const ROLES: Record<string, WrittenColumn['role']> = {
  n: 'name',
  v: 'value',
  u: 'unit',
  r: 'range',
  f: 'flag',
  o: 'other',
}
const ALIGNS: Record<string, WrittenColumn['align']> = { r: 'right', c: 'center' }
const TRUTH: Record<string, string> = {
  n: 'name',
  v: 'value',
  u: 'unit',
  r: 'range',
  i: 'interpretation',
  l: 'loinc',
  c: 'comment',
}

export function parseWritten(name: string, text: string): Written {
  const lines = text.split('\n')
  const end = lines.indexOf('---')
  if (end < 0) throw new Error(`${name}: no line --- behind its head`)
  const head = new Map(
    lines.slice(0, end).map((line): [string, string] => {
      const [key = '', value = ''] = line.split(/:\s*(.*)/su)
      return [key, value]
    }),
  )
  const of = (key: string) => {
    const value = head.get(key)
    return value === undefined || value === '-' ? null : value
  }
  const emission: Emission = {
    ...(of('pieces') && { pieces: of('pieces') as NonNullable<Emission['pieces']> }),
    ...(of('order') && { order: of('order') as NonNullable<Emission['order']> }),
  }
  return {
    name,
    page: (of('page') ?? 'letter') as Written['page'],
    font: (of('font') ?? 'helvetica') as Font,
    size: Number(of('size') ?? 9),
    emission,
    ...(of('watermark') && { watermark: of('watermark')! }),
    metadata: {
      patient_first_name: of('first'),
      patient_last_name: of('last'),
      dob: of('dob'),
      gender: (of('sex') ?? 'other') as TrueMetadata['gender'],
      lab_name: of('lab')?.split('|') ?? [],
      date_reported: of('reported'),
      date_collected: of('collected') === '?' ? undefined : of('collected'),
      specimen_number: of('specimen'),
    },
    ambiguousDates: Object.fromEntries(
      (of('open') ?? '')
        .split(/\s*;\s*/u)
        .filter(Boolean)
        .map((part) => part.split('=')),
    ),
    commands: lines.slice(end + 1).flatMap((line) => commandOf(line)),
  }
}

function commandOf(line: string): Command[] {
  if (!line.trim()) return [{ kind: 'space', height: 6 }]
  const [, sign = '', rest = ''] = /^(@|\+|;;|#|~|===|---|%\w+)?\s?(.*)$/su.exec(line)!
  switch (sign) {
    case '@':
      return [{ kind: 'columns', columns: rest.split(/\s+/u).filter(Boolean).map(columnOf) }]
    case ';;':
      return [{ kind: 'truth', truth: truthOf(rest) }]
    case '#': {
      const [text = '', panel = text] = rest.split(/\s*;;\s*/u)
      return [{ kind: 'heading', text, panel: panel.replace(/^<[^>]*>/u, '') }]
    }
    case '~':
      return [{ kind: 'space', height: Number(rest) }]
    case '===':
      return [{ kind: 'page' }]
    case '---':
      return [{ kind: 'rule' }]
    case '%panel':
      return [{ kind: 'panel', panel: rest === '-' ? null : rest }]
    case '%y':
      return [{ kind: 'at', y: Number(rest) }]
    case '%leading':
      return [{ kind: 'leading', height: Number(rest) }]
    case '%turned': {
      const [x = '', y = '', angle = '', ...words] = rest.split(' ')
      return [{ kind: 'turned', x: Number(x), y: Number(y), angle: Number(angle), text: words.join(' ') }]
    }
    default: {
      const [printed = '', truth = ''] = (sign === '+' ? rest : line).split(/\s*;;\s*/u)
      return [{ kind: 'line', cells: printed.split(/\s?\|\s?/u), isResult: sign === '+', truth: truthOf(truth) }]
    }
  }
}

function columnOf(text: string): WrittenColumn {
  const [, role = '', x = '', align = ''] = /^([a-z])(\d+)([rc]?)$/u.exec(text) ?? []
  const known = ROLES[role]
  if (!known) throw new Error(`${text} is no column`)
  return { role: known, x: Number(x), align: ALIGNS[align] ?? 'left' }
}

/** `n=Glucose; v=95; l=2345-7`; without a sign LOINC codes. */
function truthOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(/\s*;\s+/u).flatMap((part) => {
      if (!part.trim()) return []
      const [, key, value] = /^([nvurilc])=(.*)$/su.exec(part) ?? [undefined, 'l', part]
      return [[TRUTH[key]!, value!.trim()]]
    }),
  )
}
