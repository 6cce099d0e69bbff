// How well the method of a term fits the methods that a row names. Pure.
import type { NameHit } from './name-index.ts'
import type { Term } from './terms.ts'

const METHOD_PATTERNS: Record<string, RegExp> = {
  calculation: /calc|formula/i,
  direct: /direct/i,
  sensitive: /high sensitiv/i,
  automated: /automated/i,
  manual: /manual/i,
  hplc: /hplc/i,
  ifcc: /ifcc/i,
  // Radioimmunoassays are named as such.
  immunoassay: /(?<!radio)immunoassay|\bia\b|immunologic/i,
  amplification: /naa|probe|amplif|molecular/i,
  immunofluorescence: /immunofluorescence|\bif\b/i,
  electrophoresis: /electrophoresis/i,
  ms: /lc\/ms|\bms\b/i,
  strip: /test strip/i,
  microscopy: /microscop/i,
  screen: /screen/i,
  confirm: /confirm/i,
  culture: /culture/i,
  rapid: /rapid/i,
  blot: /blot/i,
  mdrd: /MDRD/i,
  ckd_epi: /CKD-EPI/i,
  ckd_epi_2021: /CKD-EPI 2021/i,
  cockcroft_gault: /cockcroft/i,
}

const isOfMethod = (term: Term, method: string): boolean =>
  METHOD_PATTERNS[method]?.test(`${term.method} ${term.longName}`) ?? false

/** What these measure is something else than what the name without them says. */
const DECISIVE_METHODS = new Set([
  'electrophoresis',
  'amplification',
  'culture',
  'blot',
  'confirm',
  'rapid',
  'mdrd',
  'ckd_epi_2021',
  'cockcroft_gault',
])

/** Laboratories print them beside results of terms that name no method. */
const USUAL_METHODS = new Set(['immunoassay', 'automated'])

/** Methods count only where they tell terms apart: "screen" is part of many names. `printedMethods` are those that stand beside the name. */
export function methodFit(
  term: Term,
  { methodsOfName, printedMethods }: { methodsOfName: readonly string[]; printedMethods: readonly string[] },
  hits: readonly NameHit[],
): number {
  const counted = term.method === '' ? printedMethods.filter((method) => !USUAL_METHODS.has(method)) : printedMethods
  const asked = [...methodsOfName, ...counted].filter((method) => hits.some((hit) => isOfMethod(hit.term, method)))
  if (asked.length === 0 || asked.some((method) => isOfMethod(term, method))) return 1
  return term.method === '' ? 0.94 : 0.88
}

/** Whether a method of a name says that another term than this one is meant. */
export const isDecisive = (term: Term, method: string): boolean => DECISIVE_METHODS.has(method) && !isOfMethod(term, method)
