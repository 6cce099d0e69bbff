// Similarity of two names of laboratory tests. Pure.

/** Abbreviations of laboratories, expanded for comparison. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  a1c: 'hemoglobin a1c',
  alt: 'alanine aminotransferase',
  ast: 'aspartate aminotransferase',
  b12: 'vitamin b12',
  bmp: 'basic metabolic panel',
  bun: 'urea nitrogen',
  cbc: 'complete blood count',
  cmp: 'comprehensive metabolic panel',
  comp: 'comprehensive',
  crp: 'c reactive protein',
  esr: 'erythrocyte sedimentation rate',
  fsh: 'follicle stimulating hormone',
  ft3: 'free t3',
  ft4: 'free t4',
  ggt: 'gamma glutamyl transferase',
  hba1c: 'hemoglobin a1c',
  hcg: 'human chorionic gonadotropin',
  hscrp: 'high sensitivity c reactive protein',
  lft: 'hepatic function panel',
  lh: 'luteinizing hormone',
  psa: 'prostate specific antigen',
  pth: 'parathyroid hormone',
  shbg: 'sex hormone binding globulin',
  tibc: 'total iron binding capacity',
  tsh: 'thyroid stimulating hormone',
  ua: 'urinalysis',
}

/** A name, normalized for comparison. */
export interface NormalizedName {
  text: string
  words: string[]
  trigrams: Set<string>
}

const NAME_LENGTH_MAX = 300

/** Words in lower case, without accents and punctuation. */
const tokenize = (text: string): string[] =>
  text
    .slice(0, NAME_LENGTH_MAX)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? []

function nameOf(words: string[]): NormalizedName {
  const text = words.join(' ')
  const padded = ` ${text} `
  const trigrams = new Set(Array.from({ length: Math.max(padded.length - 2, 0) }, (_, i) => padded.slice(i, i + 3)))
  return { text, words, trigrams }
}

export const normalizeName = (text: string): NormalizedName => nameOf(tokenize(text))

/** The name with its abbreviations expanded; undefined if it has none. */
export function expandAbbreviations(text: string): NormalizedName | undefined {
  const words = tokenize(text)
  if (!words.some((word) => Object.hasOwn(ABBREVIATIONS, word))) return undefined
  return nameOf(words.flatMap((word) => (Object.hasOwn(ABBREVIATIONS, word) ? ABBREVIATIONS[word]!.split(' ') : word)))
}

/** From 0 to 1: 1 is the same name, from 0.7 a name with every word of the query, below 0.7 the share of common letters. */
export function similarity(query: NormalizedName, candidate: NormalizedName): number {
  if (!query.words.length || !candidate.words.length) return 0
  if (query.text === candidate.text) return 1
  const common = query.trigrams.size && candidate.trigrams.size ? dice(query.trigrams, candidate.trigrams) : 0
  const isThere = (word: string) =>
    candidate.words.some((candidateWord) => candidateWord === word || (word.length > 2 && candidateWord.startsWith(word)))
  if (!query.words.every(isThere)) return 0.7 * common
  return 0.7 + 0.28 * Math.min(1, query.text.length / candidate.text.length)
}

function dice(a: Set<string>, b: Set<string>): number {
  let shared = 0
  for (const trigram of a) if (b.has(trigram)) shared++
  return (2 * shared) / (a.size + b.size)
}
