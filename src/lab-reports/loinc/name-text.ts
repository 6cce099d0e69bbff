// Reads names of tests as reports print them: what says the specimen, the method or the form of the value is separated from what is
// measured. Pure.
import { foldText, nameKeys, tokensOf } from './name-words.ts'

export interface NameParts {
  /** Readings of what is measured, the most literal first, each with how certain it is that it is the name. */
  readings: { text: string; tokens: string[]; certainty: number; isInBrackets: boolean }[]
  /** The name cut at dashes, slashes and commas. */
  parts: string[]
  /** What the name says about the specimen, or undefined. */
  specimen: string | undefined
  /** The name without what is in brackets. */
  outsideBrackets: string
  /** Words for methods in the name. */
  methods: string[]
  /** 24H if the name says so. */
  timing: string | undefined
  /** The name says that the result is a word, or a number. */
  scale: 'word' | 'number' | undefined
}

/** A word for the specimen of a name or heading → a family of specimens. */
const SPECIMENS: [RegExp, string][] = [
  [/\b(?:arterial|abg|pac?o2)\b/, 'arterial'],
  [/\b(?:venous|vbg)\b/, 'venous'],
  [/\b(?:capillary|fingerstick)\b/, 'capillary'],
  [/\bcord\b/, 'cord'],
  [/\b(?:urine|urinary|ur|urinalysis|random urine|spot urine)\b/, 'urine'],
  [/\b(?:csf|cerebrospinal|cerebral spinal|spinal fluid)\b/, 'csf'],
  [/\b(?:stool|feces|faeces|fecal|faecal|stl)\b/, 'stool'],
  [/\b(?:saliva|salivary|oral fluid)\b/, 'saliva'],
  [/\b(?:semen|seminal)\b/, 'semen'],
  [/\b(?:pleural)\b/, 'pleural'],
  [/\b(?:synovial|joint)\b/, 'synovial'],
  [/\b(?:peritoneal|ascitic|ascites)\b/, 'peritoneal'],
  [/\b(?:bone marrow|marrow)\b/, 'marrow'],
  [/\b(?:body fluid|fluid)\b/, 'fluid'],
  [/\b(?:sputum)\b/, 'sputum'],
  [/\b(?:throat|pharyn\w*)\b/, 'throat'],
  [/\b(?:vaginal|vagina)\b/, 'vaginal'],
  [/\b(?:cervix|cervical|endocervical)\b/, 'cervix'],
  [/\b(?:whole blood|wb)\b/, 'wholeblood'],
  [/\b(?:rbc|erythrocyte|red cell|red blood cell)\b/, 'rbc'],
  [/\b(?:serum|plasma|ser|plas|serpl)\b/, 'serum'],
  [/\b(?:blood|bld)\b/, 'blood'],
]
const SPECIMEN_WORDS =
  /\b(?:24 ?-?(?:h|hr|hrs|hour|hours)\b|random|spot|timed|routine|serum|plasma|ser|plas|serpl|whole|blood|bld|wb|urine|urinary|ur|urinalysis|csf|cerebrospinal|cerebral|spinal|fluid|stool|feces|faeces|fecal|faecal|stl|saliva|salivary|oral|semen|seminal|arterial|abg|venous|vbg|capillary|fingerstick|pleural|synovial|peritoneal|ascitic|body|marrow|bone|sputum|throat|edta|fluoride|citrate plasma)\b/g
/** `Calcium, Total, S`, `Ferritin (S)`, `Leucocytes (E)`, `Ketones, UA`, `pCO2, Ven`: what stands behind a name says its specimen. */
const SPECIMEN_BEHIND = /(?<=\S)(?:\s?,\s?(s|p|b|u|ua|csf|ven|art)|\s?\((s|p|b|u|e|ua|ven|art)\))$/u
/** In Nordic and British names one letter is the specimen; elsewhere it is part of the name ("Protein S"). */
const SPECIMEN_LETTERS = /\b(?:s|p|u|b|fs|fp)\b/g
const METHODS: [RegExp, string][] = [
  [/\bcalc(?:ulated|ulation|d)?\b|\bfriedewald\b|\bderived\b/g, 'calculation'],
  [/\bdirect\b|\bhomogeneous\b|\bmeasured\b/g, 'direct'],
  [/\bhigh(?:ly)? ?-?sens(?:itiv\w*)?\b|\bhs\b|\bultrasensitive\b/g, 'sensitive'],
  [/\bauto(?:mated)?\b|\banalyzer\b/g, 'automated'],
  [/\bmanual\b/g, 'manual'],
  [/\bhplc\b/g, 'hplc'],
  [/\bifcc\b/g, 'ifcc'],
  [/\b(?:ia|eia|elisa|immunoassay|clia|eclia|cmia|meia|fpia|ict)\b/g, 'immunoassay'],
  [/\b(?:pcr|rt pcr|naa|naat|tma|nat|amplif\w*)\b/g, 'amplification'],
  [/\b(?:ifa|immunofluorescence|iif)\b/g, 'immunofluorescence'],
  [/\b(?:electrophoresis|elp|spe)\b/g, 'electrophoresis'],
  [/\blc ?\/? ?ms(?: ?\/? ?ms)?\b|\bms\b|\blcms(?:ms)?\b/g, 'ms'],
  [/\b(?:dipstick|test strip|strip|reagent strip)\b/g, 'strip'],
  [/\b(?:microscopic|microscopy|hpf|lpf|sediment)\b/g, 'microscopy'],
  [/\b(?:screen|screening|scr)\b/g, 'screen'],
  [/\b(?:confirm\w*|confirmation)\b/g, 'confirm'],
  [/\b(?:culture)\b/g, 'culture'],
  [/\brapid\b(?! plasma)/g, 'rapid'],
  [/\b(?:blot|immunoblot|western blot)\b/g, 'blot'],
  [
    /\b(?:nephelometry|turbidimetry|turbidimetric|immunoturbidimetric|colorimetric|enzymatic|kinetic|photometric|hexokinase|god pod|god-pod|bcg|biuret|diazo|jaffe|ise|uricase|gpo|cedia|kims|atomic absorption|icp ms|westergren|mod westergren)\b/g,
    'other',
  ],
]
const FILLERS =
  /\b(?:quantitative|quant|qn|quan|qnt|qualitative|qual|ql|total|status|titer|titre|count|reading|observed|patient|fasting|estimated|estimation|lc|cascade|3rd gen(?:eration)?|4th gen(?:eration)?|5th gen(?:eration)?|generation|adult|modified|monitor|good|bad)\b/g

/** The family of the specimen that a heading or a specimen field names; undefined if it names none. */
export function specimenIn(text: string): string | undefined {
  const folded = foldText(text).replace(/[_/.-]/g, ' ')
  return SPECIMENS.find(([pattern]) => pattern.test(folded))?.[1]
}

const OF_BLOOD = new Set(['arterial', 'venous', 'capillary', 'cord', 'wholeblood', 'rbc', 'serum', 'blood'])

/** The families of specimens that a text names; those of blood are one, and a fluid of a named place is that alone. */
export function specimensIn(text: string): string[] {
  const folded = foldText(text).replace(/[_/.-]/g, ' ')
  const found = SPECIMENS.filter(([pattern]) => pattern.test(folded)).map(([, family]) =>
    OF_BLOOD.has(family) ? 'blood' : family,
  )
  const families = [...new Set(found)]
  return families.length > 1 ? families.filter((family) => family !== 'fluid') : families
}

/** 24H if a text says that it was collected over a day. */
export const timingIn = (text: string): string | undefined =>
  /\b24 ?-?(?:h|hr|hrs|hour|hours)\b/i.test(text) ? '24H' : undefined

/** Formulas of calculated results: parts of names, which stay in them. */
const FORMULAS: [RegExp, string][] = [
  [/\bmdrd\b/, 'mdrd'],
  [/\bckd ?epi\b/, 'ckd_epi'],
  [/\bckd ?epi\b.{0,20}\b2021\b|\b2021\b.{0,20}\bckd ?epi\b/, 'ckd_epi_2021'],
  [/\bcockcroft\b/, 'cockcroft_gault'],
]

/** The kinds of methods that a text names. */
export function methodsIn(text: string): string[] {
  const folded = foldText(text).replace(/[-_]/g, ' ')
  return [...METHODS, ...FORMULAS].filter(([pattern]) => folded.search(pattern) >= 0).map(([, method]) => method)
}

/** `S-ALAT`, `S. Bilirubin`, and `B -Hb` where the names stand below each other. */
const PREFIX = /^(?:(?:f?[spbue]|pt|du|fs|fp) ?[-:]|[su]\.) ?(?=\p{L}{2}|\p{L}-\p{L}{2})/u

/** Reads a name as a report prints it. At most 300 characters are read. */
export function readName(name: string): NameParts {
  const folded = foldText(name.slice(0, 300))
    .replace(/^[*+•·>\s-]+|[*:;,.\s†‡]+$/gu, '')
    .replace(/\b(lp|lipoprotein)\s*\(\s*a\s*\)/gu, '$1 a')
  const readings: NameParts['readings'] = []
  const seen = new Set<string>()
  const add = (text: string, certainty: number, isInBrackets = false): void => {
    const tokens = tokensOf(text)
    const key = nameKeys(text, tokens)[0]
    if (key === undefined || seen.has(key)) return
    seen.add(key)
    readings.push({ text, tokens, certainty, isInBrackets })
  }
  add(folded, 1)
  // Laboratories print the number of the allergen: "F013-IgE Peanut", "Egg white (F1) IgE".
  if (/\bige\b/.test(folded)) add(folded.replace(/[([]?\b[a-z]{1,2}\d{1,4}\b[)\]]?-?/g, ' '), 0.98)
  const outside = folded.replace(/[([{][^)\]}]*[)\]}]?/g, ' ').trim()
  const inside = [...folded.matchAll(/[([{]([^)\]}]+)[)\]}]?/g)].map(([, text]) => text!.trim())
  const variants = [folded, outside, ...inside]
  for (const [i, text] of variants.entries()) {
    const start = i === 0 ? 1 : i === 1 ? 0.99 : 0.97
    const isInBrackets = i > 1
    add(text, start, isInBrackets)
    const bare = text.replace(PREFIX, '').replace(SPECIMEN_BEHIND, '')
    add(bare, start, isInBrackets)
    const withoutSpecimen = strip(bare, [SPECIMEN_WORDS])
    add(withoutSpecimen, start, isInBrackets)
    // Direct bilirubin is not measured directly: it is a part of all of it.
    const methods = METHODS.filter(([, method]) => method !== 'direct' || !/bili/u.test(folded)).map(([pattern]) => pattern)
    const withoutMethod = strip(bare, methods)
    add(withoutMethod, start - 0.01, isInBrackets)
    add(strip(withoutMethod, [SPECIMEN_WORDS]), start - 0.01, isInBrackets)
    add(strip(withoutMethod, [SPECIMEN_WORDS, FILLERS]), start - 0.02, isInBrackets)
    add(strip(withoutMethod, [SPECIMEN_WORDS, SPECIMEN_LETTERS, FILLERS]), start - 0.08, isInBrackets)
  }
  // "ALT - SGPT", "SGOT / AST", "Hematology: WBC"
  // A part of a ratio is something else.
  const ends = /\bratio\b/u.test(outside) ? /\s+-\s+|,\s+/u : /\s+-\s+|\s*[/|;:]\s*|,\s+/u
  // Behind a comma a letter is no name: `S` is serum.
  const parts = outside.split(ends).filter((part) => /\p{L}/u.test(part) && part.length > 1)
  if (parts.length > 1) {
    for (const part of parts) add(strip(part, [SPECIMEN_WORDS]), 0.72)
    add(parts.slice(1).join(' '), 0.86)
  }
  const scale = /\b(?:qualitative|qual|ql)\b/.test(folded)
    ? 'word'
    : /\b(?:quantitative|quant|qn|quan|qnt)\b/.test(folded)
      ? 'number'
      : undefined
  return {
    readings: readings.sort((a, b) => b.certainty - a.certainty),
    parts: parts.map((part) => strip(part, [SPECIMEN_WORDS])).filter(Boolean),
    specimen: specimenOfName(folded),
    outsideBrackets: outside,
    methods: methodsIn(folded),
    timing: timingIn(folded),
    scale,
  }
}

const LETTERS_OF_SPECIMENS: Record<string, string> = {
  s: 'serum',
  p: 'serum',
  b: 'blood',
  e: 'blood',
  u: 'urine',
  ua: 'urine',
  csf: 'csf',
  ven: 'venous',
  art: 'arterial',
}

/** The specimen that a letter or a short form names in brackets or behind a name. */
export const specimenOfLetter = (letter: string): string | undefined => LETTERS_OF_SPECIMENS[letter]

/** Whether a text has only words for specimens. */
export const namesSpecimen = (text: string): boolean => strip(text, [SPECIMEN_WORDS]) === ''

/** Whether a text has only words that change nothing about what is measured. */
export const saysNothing = (text: string): boolean => tokensOf(strip(foldText(text), [FILLERS])).length === 0

/** In names, blood and red cells are part of many analytes ("blood urea nitrogen", "RBC"), so that they say little about the specimen. */
function specimenOfName(name: string): string | undefined {
  const prefix = /^(f?[spbue]|fs|fp) ?-(?=\p{L}{2}|\p{L}-\p{L}{2})/u.exec(name)?.[1]
  if (prefix) return prefix.endsWith('u') ? 'urine' : prefix === 'b' || prefix === 'e' ? 'blood' : 'serum'
  const behind = SPECIMEN_BEHIND.exec(name)?.slice(1).find(Boolean) ?? /\((s|p|b|u|e)\)/u.exec(name)?.[1]
  return specimenIn(name) ?? specimenOfLetter(behind ?? '')
}

const strip = (text: string, patterns: readonly RegExp[]): string =>
  patterns
    .reduce((rest, pattern) => rest.replace(pattern, ' '), text)
    .replace(/\s+/g, ' ')
    .trim()
