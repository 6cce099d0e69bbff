// Texts of results: the opposite of each normal text, and comments in place of numbers.
import type { AnalyteDefinition } from '../../lab/catalog/analytes.ts'
import type { Interpretation } from '../../lab-values/interpret.ts'

/** Normal text, in lower case → texts of results that are not normal. */
const abnormalTexts: Record<string, string[]> = {
  negative: ['Positive'],
  positive: ['Negative'],
  'non-reactive': ['Reactive'],
  'not detected': ['Detected'],
  'none seen': ['Few', 'Moderate', 'Many'],
  yellow: ['Amber', 'Red'],
  clear: ['Cloudy', 'Turbid'],
  'no growth': ['Escherichia coli, more than 100,000 CFU/mL'],
  'no pathogens isolated': ['Campylobacter species isolated'],
}

/** Analytes without a normal text. Blood groups have no abnormal value. */
const textsByAnalyte: Record<string, { normal: string[]; abnormal: string[] }> = {
  'abo-group': { normal: ['O', 'A', 'B', 'AB'], abnormal: ['O', 'A', 'B', 'AB'] },
  'rh-type': { normal: ['Positive', 'Negative'], abnormal: ['Positive', 'Negative'] },
  'ana-pattern': { normal: ['No pattern observed'], abnormal: ['Homogeneous', 'Speckled', 'Nucleolar', 'Centromere'] },
}

const TITERS = ['1:80', '1:160', '1:320', '1:640']

/** Returns the text of an analyte with text results. */
export function textResult(
  slug: string,
  definition: AnalyteDefinition | null,
  kind: Interpretation,
  random: () => number,
): string {
  const pick = (texts: string[]) => texts[Math.floor(random() * texts.length)]!
  if (kind === 'unknown') return 'Indeterminate'
  if (Object.hasOwn(textsByAnalyte, slug)) return pick(textsByAnalyte[slug]![kind === 'normal' ? 'normal' : 'abnormal'])
  const usual = definition?.range_text ?? null
  if (kind === 'normal') return usual ?? 'No abnormality reported'
  if (usual === null) return 'Abnormality reported'
  if (definition?.unit === '{titer}') return pick(TITERS)
  return pick(abnormalTexts[usual.toLowerCase()] ?? [`Not ${usual.toLowerCase()}`])
}

/** Returns a comment in place of a number. */
export function commentText(kind: Interpretation, side: 'high' | 'low' | undefined): string {
  if (kind === 'unknown') return 'Indeterminate'
  if (side === undefined) return 'Within normal limits'
  const where = side === 'high' ? 'above' : 'below'
  return kind === 'critical' ? `Critically ${where} normal limits` : `${where === 'above' ? 'Above' : 'Below'} normal limits`
}

/** Returns a constant in place of any value. */
export const constantText = (kind: Interpretation): string =>
  kind === 'normal' ? 'NOT_DETECTED' : kind === 'unknown' ? 'INDETERMINATE' : 'DETECTED'
